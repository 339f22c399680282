"""Judging desk as its assessor sees it: answers without runs, and the pairs to label.

The one place where a machine's label is shown is a pair of the condition that shows it; the others' pairs have no
such key at all.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from accounts.models import User
from assessor.blind.cited import CitedPassage, cited_passage
from assessor.blind.tasks import own_task
from assessor.desk.battle_labels import battles_of, look_of, sides_of
from assessor.desk.citation_labels import number_of, pairs_of
from assessor.desk.context import DeskContext, context_of
from assessor.desk.desks import desk_of
from assessor.desk.task_labels import SEPARATOR, shown_answers
from assessor.rules.citation_marks import CitationName, Piece, pieces_of
from evaluation.battles import BattleLook
from evaluation.errors import NoSuchTask
from evaluation.models import Citation, Segment, Sentence, Task
from evaluation.rules.markdown import betweens, without_marks
from evaluation.rules.sentences import split
from evaluation.terms import BattleMarkdown, BattleShow


@dataclass(frozen=True, slots=True)
class CitedInPlace:
    """Citation in an answer of a battle; without a `text` there is only its number to see."""

    number: int
    title: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class ShownSentence:
    """One sentence of an answer, as its run wrote it; `markdown`: to be shown as it reads. `citations` are from 1.

    `cited`: in battles, in place of the citations.
    """

    index: int
    pieces: tuple[Piece, ...]
    citations: tuple[int, ...]
    markdown: bool = False
    cited: tuple[CitedInPlace, ...] = ()

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """An answer or a passage as its assessor reads it; `number` is its place among the `of` texts of the task.

    `sides`: of a battle, the sentences of the answer on the left and of that on the right.
    """

    public_id: str
    number: int
    of: int
    sentences: tuple[ShownSentence, ...]
    noun: str = "answer"
    title: str = ""
    sides: tuple[tuple[ShownSentence, ...], ...] = ()


Reading: TypeAlias = tuple[ShownAnswer, tuple[CitedPassage, ...]]
"""An answer, and what it cites where support is judged."""


@dataclass(frozen=True, slots=True)
class FirstPair:
    """Pair that is asked first; `number` is its place among the `of` pairs."""

    key: str
    number: int
    of: int
    sentence: ShownSentence
    citation: int
    passage: CitedPassage


@dataclass(frozen=True, slots=True)
class FirstView:
    """Part of a judging desk that is in its page: an answer, what it cites, and the pair that is asked first.

    `passages` are the cited ones but for the pair's own; `pane` is the one to show first where there is room for one;
    rows of nuggets are drawn by the script alone.
    """

    answer: ShownAnswer
    passages: tuple[CitedPassage, ...]
    pair: FirstPair | None
    pane: str


def judging_state(task: Task) -> dict[str, Any]:
    """Return the state that only judging desks have, for their script; see docs/guide-assessors.md."""
    context, desk = context_of(task), desk_of(task.stage)
    work = desk.read(context)
    return {
        "limit": None,
        "marks": {},
        "rows": [desk.row_json(label.row) for label in work.labels.values()],
        "answers": [
            {"id": answer, "number": number, "seen": seen} | desk.answer_state(work, answer)
            for number, (answer, seen) in enumerate(work.answers, start=1)
        ],
        **desk.state(task, work),
    }


def shown_answer(task: str, user: User, answer: str) -> Reading:
    """Passages only where support is judged. Raises `NoSuchTask`, also for an answer that is not among the task's."""
    own = own_task(task, user, opened=True)
    if not own.stage.judges:
        raise NoSuchTask
    context = context_of(own)
    order = dict(shown_answers(context).values_list("public_id", "key"))
    # Of identical answers only the first is on the screen; its copies belong to other runs.
    if answer not in order:
        raise NoSuchTask
    number, noun = list(order).index(answer) + 1, own.stage.reads
    if noun == "passage":
        title, texts = _passage(order[answer])
        return ShownAnswer(answer, number, len(order), texts, noun, title), ()
    if own.stage.dealt:
        look = look_of(own)
        sides = sides_of(battles_of(own.pk).get(battle=order[answer]))
        shown = tuple(tuple(_side(side, look)) for side in sides)
        return ShownAnswer(answer, number, len(order), (), noun, sides=shown), ()
    sentences = tuple(_sentences(order[answer], own.protocol.markdown))
    answer_shown = ShownAnswer(answer, number, len(order), sentences)
    return answer_shown, tuple(_passages(own, context, answer_shown)) if desk_of(own.stage).cites else ()


def _side(answer: int, look: BattleLook) -> Iterator[ShownSentence]:
    """Yield the sentences of one answer of a battle, whose citations are set in one way whatever its run wrote.

    Only where the set says so: people prefer the answer with more citations, whatever these support.
    """
    passages = _cited_in_place(answer) if look.show == BattleShow.PASSAGES else {}
    is_plain = look.markdown == BattleMarkdown.PLAIN
    sentences = list(_sentences(answer, markdown=not is_plain))
    texts = [_unmarked(sentence.pieces) for sentence in sentences]
    if is_plain:
        texts = [between + without_marks(text) for between, text in zip(betweens(texts), texts, strict=True)]
    for sentence, text in zip(sentences, texts, strict=True):
        numbers = () if look.show == BattleShow.ANSWER else sentence.citations
        cited = tuple(passages.get(number, CitedInPlace(number)) for number in numbers)
        yield replace(sentence, pieces=(Piece(text),), citations=(), cited=cited)


def _cited_in_place(answer: int) -> dict[int, CitedInPlace]:
    numbers: dict[object, int] = {}
    citations = Citation.objects.filter(sentence__answer=answer).order_by("sentence__index", "position")
    places = [(number_of(numbers, citation), citation.segment) for citation in citations.select_related("segment")]
    return {
        number: CitedInPlace(number, segment.title.strip(), segment.text.strip())
        for number, segment in places
        if segment
    }


def _unmarked(pieces: tuple[Piece, ...]) -> str:
    text = ""
    for piece in pieces:
        # The blank before a mark is not one before a full stop.
        text = text.rstrip() if piece.is_mark and text.endswith(" ") else text
        text += "" if piece.is_mark else piece.text
    return text


def _passage(segment: int) -> tuple[str, tuple[ShownSentence, ...]]:
    title, text = Segment.objects.values_list("title", "text").get(pk=segment)
    sentences = enumerate(split(text.strip()))
    return title.strip(), tuple(
        ShownSentence(index, (Piece(sentence.strip()),), ()) for index, sentence in sentences
    )


def first_view(state: Mapping[str, Any], read: Callable[[str], Reading]) -> FirstView | None:
    """Return None without answers; `read` returns one by its id.

    `static/js/desk/start.js` decides anew by what is unsent and what its window remembers.
    """
    to_judge = list(_to_judge(state))
    answer, row, pane = _place(state, to_judge)
    if answer is None:
        return None
    answer_shown, passages = read(answer)
    if "pairs" not in state or row is None:
        return FirstView(answer_shown, passages, None, "passages")
    pair = next(pair for pair in state["pairs"] if pair["key"] == row)
    cited = next((passage for passage in passages if passage.public_id == pair["passage"]), None)
    # Its text was taken away since the state was read.
    if cited is None:
        return FirstView(answer_shown, passages, None, "passages")
    first = FirstPair(
        key=row,
        number=to_judge.index((answer, row)) + 1,
        of=len(to_judge),
        sentence=next(sentence for sentence in answer_shown.sentences if sentence.index == pair["sentence"]),
        citation=pair["citation"],
        passage=cited,
    )
    return FirstView(answer_shown, tuple(passage for passage in passages if passage is not cited), first, pane)


def _place(state: Mapping[str, Any], to_judge: list[tuple[str, str]]) -> tuple[str | None, str | None, str]:
    """Return answer, row and pane where work goes on: those of the last visit, else the first without a label."""
    labelled = {row["key"] for row in state["rows"] if row["label"]}
    unlabelled = [(answer, key) for answer, key in to_judge if key not in labelled]
    # The newest place of a window that did not say that it was left is not known.
    if unlabelled and state["holder"] and state["holder"]["page"] != "left":
        return *unlabelled[0], "rows"
    answers = [answer["id"] for answer in state["answers"]]
    there = _last_visit(state, "answers", "answer")
    answer = there if there in answers else next((pair[0] for pair in unlabelled), next(iter(answers), None))
    keys = [key for answer_id, key in to_judge if answer_id == answer]
    row = _last_visit(state, "labels", "row")
    if row not in keys:
        row = next((key for key in keys if key not in labelled), next(iter(keys), None))
    return answer, row, "rows" if _last_visit(state, "shell", "shown") == "rows" else "passages"


def _last_visit(state: Mapping[str, Any], part: str, name: str) -> str | None:
    """Return what a window remembered of its last visit, which only its script has checked."""
    place = state["place"].get(part)
    value = place.get(name) if isinstance(place, dict) else None
    return value if isinstance(value, str) else None


def _to_judge(state: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Answer and row key of every label to give, in the order of the answers."""
    if "pairs" not in state:
        nuggets = [nugget["key"] for nugget in state["nuggets"]]
        for answer in state["answers"]:
            keys = answer.get("nuggets", nuggets)
            yield from ((answer["id"], f"{answer['id']}{SEPARATOR}{key}") for key in keys)
        return
    # A pair whose machine label is still to come cannot be judged yet.
    waits = state["stage"].shows_label
    for pair in state["pairs"]:
        if pair["judgeable"] and (pair.get("machine") or not waits):
            yield pair["answer"], pair["key"]


def _sentences(answer: int, markdown: bool) -> Iterator[ShownSentence]:
    cited: dict[int, list[CitationName]] = {}
    numbers: dict[object, int] = {}
    citations = Citation.objects.filter(sentence__answer=answer).order_by("sentence__index", "position")
    for citation in citations.select_related("segment").defer("segment__text"):
        docid = citation.segment.docid if citation.segment else None
        name = CitationName(citation.raw, docid, number_of(numbers, citation))
        cited.setdefault(citation.sentence_id, []).append(name)
    sentences = list(Sentence.objects.filter(answer=answer).order_by("index"))
    cited_names = [cited.get(sentence.pk, []) for sentence in sentences]
    pieces = pieces_of([(sentence.text, names) for sentence, names in zip(sentences, cited_names, strict=True)])
    for sentence, names, parts in zip(sentences, cited_names, pieces, strict=True):
        yield ShownSentence(sentence.index, parts, tuple(dict.fromkeys(name.number for name in names)), markdown)


def _passages(own: Task, context: DeskContext, answer: ShownAnswer) -> Iterator[CitedPassage]:
    citing: dict[str, list[int]] = {}
    for pair in pairs_of(context, answer.public_id):
        if pair.judgeable and pair.passage:
            citing.setdefault(pair.passage, []).append(pair.sentence)
    text_of = {sentence.index: sentence.text for sentence in answer.sentences}
    language = own.topic.language or own.campaign.language
    for segment in Segment.objects.filter(campaign=context.campaign, public_id__in=citing):
        sentences = {index: text_of[index] for index in citing[segment.public_id]}
        yield cited_passage(
            segment.public_id,
            segment.text,
            title=segment.title,
            headings=segment.headings,
            helped=sentences if own.protocol.place_help else None,
            language=language,
        )
