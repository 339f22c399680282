"""Cited passages at the desk, each beside the sentence that cites it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from django.db import connection

from assessor.desk.context import DeskContext
from assessor.desk.task_labels import (
    JudgingDesk,
    StoredLabel,
    TaskLabels,
    answers_of,
    drawn_pairs,
    filled,
    same_answers,
    shown_answers,
)
from assessor.models import WorkingSupport
from assessor.rules.label_ops import NO_MACHINE_LABEL
from evaluation.domain.counted_pairs import first_different, sentences_with_candidates
from evaluation.errors import Refused
from evaluation.labels import CITATION_LABELS
from evaluation.models import Citation, SupportJudgment, Task
from evaluation.terms import SupportCondition

Rest = TypeVar("Rest")


@dataclass(frozen=True, slots=True)
class AskedPair:
    """A cited segment of one sentence. `number`: as the screen numbers the answer's citations, from 1.

    `machine`: the label that is shown with it; None where the condition shows none, or the machine gave none yet.
    `quoted`: the passage's sentence that the machine quotes for it; `quote`: the words that it quotes.
    """

    key: str
    answer: str
    sentence: int
    number: int
    sentence_pk: int
    segment_pk: int | None
    passage: str | None
    judgeable: bool
    machine: str | None
    quoted: int | None
    quote: str


class MachineLabel(NamedTuple):
    """A machine's label, the sentence of the passage in which its quote begins, and the quote's words."""

    word: str
    quoted: int | None
    quote: str


class CitationDesk(JudgingDesk):
    fields: tuple[str, ...] = ("evidence",)
    working = WorkingSupport
    cites = True
    template, pane = "assessor/judge_pair.html", "Cited passage and label"

    def find(self, context: DeskContext, key: str) -> StoredLabel:
        with connection.cursor() as cursor:
            cursor.execute(_PAIRS_OF_SENTENCE, [key, context.task])
            cited = cursor.fetchall()
        rows = ((row[3], row[1], row) for row in cited)
        for sentence, segment, (public_id, _, has_text, _, pk, *values, accepted) in task_citations(context, rows):
            # A citation without a text is not asked, and nobody may label one that is not on the page.
            if segment is not None and public_id == key and has_text:
                shown = (machine_labels(context, [sentence]) or {}).get((sentence, segment))
                stored = WorkingSupport(task_id=context.task, sentence_id=sentence, segment_id=segment, version=0)
                fields = ("version", "label", "reason", "evidence", "shown_label", "shown_ms", "accepted")
                # SQLite has no booleans: its raw rows have 0 and 1.
                row = filled(stored, pk, fields, (*values, bool(accepted)))
                return StoredLabel(key, row, self, shown.word if shown else None)
        raise Refused("no_such_pair", "This citation is not among those to judge.")

    def read(self, context: DeskContext) -> TaskLabels:
        answers, pairs = answers_of(context), pairs_of(context)
        numbers = {answer: number for number, (answer, _) in enumerate(answers, start=1)}
        return TaskLabels(
            answers,
            pairs,
            [pair.key for pair in pairs if pair.judgeable],
            {pair.key: f"Answer {numbers[pair.answer]}, S{pair.sentence + 1} [{pair.number}]" for pair in pairs},
            self._labels(context, pairs),
            sum(not pair.judgeable for pair in pairs),
        )

    def _labels(self, context: DeskContext, pairs: Sequence[AskedPair]) -> dict[str, StoredLabel]:
        # A submission needs the sentence's place, nobody its text.
        rows = WorkingSupport.objects.filter(task=context.task).select_related("sentence").defer("sentence__text")
        stored = {(row.sentence_id, row.segment_id): row for row in rows}
        return {
            pair.key: StoredLabel(pair.key, row, self, pair.machine)
            for pair in pairs
            if (row := stored.get((pair.sentence_pk, pair.segment_pk or 0)))
        }

    def state(self, task: Task, work: TaskLabels) -> dict[str, Any]:
        return {"pairs": [_pair_json(pair) for pair in work.asked]}

    def frozen(self, task: Task, work: TaskLabels) -> Iterator[SupportJudgment]:
        condition, same = SupportCondition(str(task.stage.condition)), same_answers(task)
        # A label on a pair that is not asked any more must not count beside those that are.
        supports = [work.labels[key].stored for key in work.judgeable]
        for row in sorted(supports, key=lambda row: (row.sentence_id, row.segment_id)):
            for sentence in _same_sentences(row, same):
                yield SupportJudgment(
                    condition=condition,
                    sentence_id=sentence,
                    segment_id=row.segment_id,
                    label=row.label,
                    raw=row.reason,
                    evidence=row.evidence,
                    shown_label=row.shown_label,
                    shown_ms=row.shown_ms,
                    # Accepting means that a machine's label was shown; without one the question does not arise.
                    accepted=row.accepted if task.stage.shows_label else None,
                )


class ShownLabelDesk(CitationDesk):
    fields = ("evidence", "shown_label", "shown_ms", "accepted")


def _same_sentences(label: WorkingSupport, same: dict[int, list[int]]) -> Iterable[int]:
    """Return the sentences that a label is about: that of each answer with the very same text."""
    answers = same.get(label.sentence.answer_id)
    if answers is None:
        return [label.sentence_id]
    # Copies have sentences of their own, so the label is written for each of them.
    cited = Citation.objects.filter(
        sentence__answer__in=answers, sentence__index=label.sentence.index, segment=label.segment_id
    )
    return list(cited.values_list("sentence", flat=True).distinct().order_by("sentence_id"))


def _pair_json(pair: AskedPair) -> dict[str, Any]:
    row = {
        "key": pair.key,
        "answer": pair.answer,
        "sentence": pair.sentence,
        "citation": pair.number,
        "passage": pair.passage if pair.judgeable else None,
        "judgeable": pair.judgeable,
    }
    # No key at all on the other desks: an empty one would tell that there is something to hide.
    return (
        row
        if pair.machine is None
        else row | {"machine": pair.machine, "quoted": pair.quoted, "quote": pair.quote}
    )


def pairs_of(context: DeskContext, answer: str = "") -> list[AskedPair]:
    """Pairs in the order of judging: by answer and sentence. `answer`: only those of one answer, by public id."""
    answers = shown_answers(context)
    position = dict(
        (answers.filter(answer__public_id=answer) if answer else answers).values_list("answer", "position")
    )
    rows = Citation.objects.filter(sentence__answer__in=position).select_related("sentence__answer", "segment")
    cited = sorted(
        rows.defer("sentence__text", "segment__text"),
        key=lambda citation: (position[citation.sentence.answer_id], citation.sentence.index, citation.position),
    )
    machine = machine_labels(context, {citation.sentence_id for citation in cited})
    numbers: dict[int, dict[object, int]] = defaultdict(dict)
    # Numbered before the protocol leaves any out: the answer shows all of its citations.
    numbered = [(citation, number_of(numbers[citation.sentence.answer_id], citation)) for citation in cited]
    keyed = ((citation.sentence_id, citation.segment_id, (citation, number)) for citation, number in numbered)
    return [_pair(citation, number, machine) for _, _, (citation, number) in task_citations(context, keyed)]


def task_citations(
    context: DeskContext, citations: Iterable[tuple[int, int | None, Rest]]
) -> Iterator[tuple[int, int | None, Rest]]:
    """Yield the citations that a task asks, of rows as `first_different` takes them; a study asks what was drawn."""
    if not context.study:
        here = sentences_with_candidates().filter(answer__topic=context.topic)
        yield from first_different(citations, context.first_citations, set(here.values_list("pk", flat=True)))
        return
    # A study asks what it drew, whatever the protocol counts since.
    drawn = set(drawn_pairs(context).values_list("sentence", "segment"))
    for sentence, segment, rest in first_different(citations, None):
        if (sentence, segment) in drawn:
            yield sentence, segment, rest


def number_of(numbers: dict[object, int], citation: Citation) -> int:
    """Return a citation's number in its answer, by first appearance: what its run calls it is not shown."""
    # A citation without a segment still has a mark in the text, and takes a number.
    return numbers.setdefault(citation.segment_id or citation.raw, len(numbers) + 1)


def _pair(citation: Citation, number: int, machine: Mapping[tuple[int, int], MachineLabel] | None) -> AskedPair:
    segment = citation.segment
    shown = (machine or {}).get((citation.sentence_id, citation.segment_id or 0))
    return AskedPair(
        key=citation.public_id,
        answer=citation.sentence.answer.public_id,
        sentence=citation.sentence.index,
        number=number,
        sentence_pk=citation.sentence_id,
        segment_pk=citation.segment_id,
        passage=segment.public_id if segment else None,
        judgeable=segment is not None and segment.has_text,
        machine=shown.word if shown else None,
        quoted=shown.quoted if shown else None,
        quote=shown.quote if shown else "",
    )


def machine_labels(context: DeskContext, sentences: Collection[int]) -> dict[tuple[int, int], MachineLabel] | None:
    """Return the labels that this condition shows; None, and nothing is read, where it shows none."""
    # The one door through which a machine's label comes to a desk (docs/decisions/0014).
    if not context.stage.shows_label:
        return None
    rows = SupportJudgment.objects.current().filter(
        judge=context.judge, condition=SupportCondition.LLM, sentence__in=sentences
    )
    return {
        (sentence, segment): MachineLabel(
            CITATION_LABELS.by_code[label].word if label in CITATION_LABELS.codes else NO_MACHINE_LABEL,
            evidence,
            quote,
        )
        for sentence, segment, label, evidence, quote in rows.values_list(
            "sentence", "segment", "label", "evidence", "quote"
        )
    }


# All citations of the sentence: which of them count is told from all of them.
_PAIRS_OF_SENTENCE = """
SELECT cited.public_id, cited.segment_id, segment.has_text, cited.sentence_id,
       work.id, work.version, work.label, work.reason, work.evidence, work.shown_label, work.shown_ms, work.accepted
FROM evaluation_citation asked
     JOIN evaluation_sentence sentence ON sentence.id = asked.sentence_id
     JOIN evaluation_taskanswer shown ON shown.answer_id = sentence.answer_id AND shown.same_as_id IS NULL
     JOIN evaluation_citation cited ON cited.sentence_id = sentence.id
     LEFT JOIN evaluation_segment segment ON segment.id = cited.segment_id
     LEFT JOIN assessor_workingsupport work
     ON work.task_id = shown.task_id AND work.sentence_id = cited.sentence_id AND work.segment_id = cited.segment_id
WHERE asked.public_id = %s AND shown.task_id = %s
ORDER BY cited.position
"""
