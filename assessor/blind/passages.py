"""The passages an assessor reads for a task: their text and a neutral number, and nothing of why they are there.

Grades, docids and the names of qrels decide which passages there are and in which order; they stay in this module.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import dropwhile, groupby

from assessor.rules.display import GradedPlace, reading_order, repeats
from evaluation.models import Campaign, Qrel, Task, Topic
from evaluation.rules.places import words_in
from evaluation.rules.sentences import split
from evaluation.terms import PassageOrder


@dataclass(frozen=True, slots=True)
class PassageSentence:
    """A sentence as shown. `repeated`: an earlier passage had it; `note` opens a run of those."""

    index: int
    text: str
    gap: str
    repeated: bool
    note: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage under its number in the order of reading. Its language is unknown; browsers find its direction."""

    public_id: str
    number: int
    title: str
    headings: str
    sentences: tuple[PassageSentence, ...]
    words: int


@dataclass(frozen=True, slots=True)
class PassagesToRead:
    """Passages of a task, and how many cannot be shown because their text is not loaded."""

    passages: tuple[Passage, ...]
    without_text: int


Texts = tuple[str, str, str, str]
"""Public id, title, headings and text of a segment."""


def passages_of(task: Task) -> tuple[Passage, ...]:
    return reading_of(task).passages


def reading_of(task: Task) -> PassagesToRead:
    """Return the passages of a task: one query, if the task came with its topic and protocol."""
    protocol = task.protocol
    text_of, without_text = _graded(task, protocol.grade_threshold)
    grouped = protocol.group_overlaps
    order = reading_order(text_of, PassageOrder(protocol.passage_order), task.topic.public_id, grouped)
    sentences = [split(text_of[place][-1]) for place in order]
    if grouped:
        repeated = repeats(zip((place.document for place in order), sentences, strict=True))
    else:
        repeated = [[None] * len(texts) for texts in sentences]
    passages = []
    for number, (place, texts, earlier) in enumerate(zip(order, sentences, repeated, strict=True), start=1):
        public_id, title, headings, text = text_of[place]
        lines = tuple(_sentences(texts, earlier))
        passages.append(Passage(public_id, number, title, headings, lines, words_in(text)))
    return PassagesToRead(tuple(passages), without_text)


def _graded(task: Task, threshold: int) -> tuple[dict[GradedPlace, Texts], int]:
    """The segments to read by place, as AutoNuggets reads them (llmjobs/job_plan.py), and how many have no text."""
    qrels = Qrel.objects.filter(source=task.qrels_id, topic=task.topic_id, grade__gte=threshold)
    rows = qrels.values_list(
        "segment__docid",
        "segment__document",
        "grade",
        "segment__start_char",
        "segment__public_id",
        "segment__title",
        "segment__headings",
        "segment__text",
        "segment__has_text",
    )
    text_of: dict[GradedPlace, Texts] = {}
    without_text = 0
    # Segments without a text are counted, as the screen says how many cannot be read.
    for docid, document, grade, start, public_id, title, headings, text, has_text in rows:
        if has_text:
            texts = (public_id, _line(title), _line(_below(title, headings)), text.strip())
            text_of[GradedPlace(docid, document, grade, start)] = texts
        else:
            without_text += 1
    return text_of, without_text


def _below(title: str, headings: str) -> str:
    """The headings without the title, which the page shows above them."""
    lines = (line.strip() for line in headings.splitlines())
    return "\n".join(dropwhile(lambda line: line == title.strip(), lines))


def _line(text: str) -> str:
    """Text on one line: headings come one a line."""
    return " · ".join(filter(None, map(str.strip, text.splitlines())))


def _sentences(texts: tuple[str, ...], repeats: list[int | None]) -> Iterator[PassageSentence]:
    """Yield the sentences; the first of a run that an earlier passage had says how long the run is."""
    index = 0
    for earlier, run in groupby(repeats):
        length = len(list(run))
        for place in range(length):
            bare = texts[index].rstrip()
            note = _note(earlier + 1, length) if earlier is not None and place == 0 else ""
            yield PassageSentence(index, bare, texts[index][len(bare) :], earlier is not None, note)
            index += 1


def _note(number: int, length: int) -> str:
    return f"A sentence of P{number} again" if length == 1 else f"{length} sentences of P{number} again"


@dataclass(frozen=True, slots=True)
class TopicText:
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class TopicHead:
    language: str
    texts: tuple[TopicText, ...]


def topic_head(campaign: Campaign, topic: Topic) -> TopicHead:
    texts = {
        "Narrative": str(topic.extra.get("narrative", "")),
        "Problem statement": topic.problem_statement,
        "Background": topic.background,
        "Article": topic.article,
    }
    return TopicHead(
        topic.language or campaign.language,
        tuple(TopicText(name, text) for name, text in texts.items() if text.strip()),
    )
