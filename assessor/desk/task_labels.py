"""Pairs that a judging task asks (nuggets in answers, citations of sentences) and their labels in the making."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import connection
from django.db.models import QuerySet

from assessor.desk.context import DeskContext
from assessor.models import WorkingAssignment, WorkingSupport
from assessor.rules.label_ops import NO_MACHINE_LABEL, LabelRow
from evaluation.domain.counted_pairs import first_different
from evaluation.errors import Refused
from evaluation.labels import CITATION_LABELS, AssignmentLabel, SupportLabel
from evaluation.models import Citation, ListedNugget, NuggetList, StudyPair, SupportJudgment, TaskAnswer
from evaluation.rules.text import shuffled
from evaluation.terms import Stage, SupportCondition

Rest = TypeVar("Rest")

SEPARATOR = "/"
"""Between answer and nugget in the key of an assignment; the key of a cited passage is the citation's own id."""


@dataclass(frozen=True, slots=True)
class AskedNugget:
    """A nugget of the list that is assigned: its lasting id, and the wording in force."""

    key: str
    wording: int
    text: str
    importance: int


@dataclass(frozen=True, slots=True)
class AskedPair:
    """A cited segment of one sentence. `number`: as the screen numbers the answer's citations, from 1.

    `machine`: the label that is shown with it; None where the condition shows none, or the machine gave none yet.
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


def nuggets_of(context: DeskContext) -> list[AskedNugget]:
    """Return the nuggets of the newest submitted list, in an order that tells neither importance nor place.

    Of a study only those that were drawn for some answer, as they were worded then.
    """
    lists = NuggetList.objects.filter(nugget_set=context.nugget_set, topic=context.topic)
    if context.study:
        drawn = drawn_pairs(context).values("nugget_version")
        # The newest list last: its importance is the one in force where several lists have a wording.
        items = ListedNugget.objects.filter(nugget_list__in=lists, nugget_version__in=drawn)
        items = items.order_by("nugget_list__version")
    else:
        items = ListedNugget.objects.filter(nugget_list__in=lists.newest_submitted())
    nuggets = {
        item.nugget_version.nugget.public_id: AskedNugget(
            item.nugget_version.nugget.public_id, item.nugget_version_id, item.nugget_version.text, item.importance
        )
        for item in items.select_related("nugget_version__nugget")
    }
    # A list with the vital nuggets first would tell importance, which assigning must not know.
    return [nuggets[key] for key in shuffled(f"topic {context.topic}", list(nuggets))]


def drawn_pairs(context: DeskContext) -> QuerySet[StudyPair]:
    """Return the pairs that a study's desk keeps to. Only what they are about may be read: never their labels."""
    return StudyPair.objects.filter(study=context.study, topic=context.topic)


def nuggets_by_answer(context: DeskContext, nuggets: Sequence[AskedNugget]) -> dict[str, list[str]] | None:
    """Return the nuggets to label in each answer, in their order; None where every answer has all of them."""
    if not context.study:
        return None
    rows = drawn_pairs(context).values_list("answer__public_id", "nugget_version__nugget__public_id")
    order = {nugget.key: number for number, nugget in enumerate(nuggets)}
    keys_by_answer: dict[str, list[str]] = {}
    for answer, nugget in sorted(rows, key=lambda row: order[row[1]]):
        keys_by_answer.setdefault(answer, []).append(nugget)
    return keys_by_answer


def shown_answers(context: DeskContext) -> QuerySet[TaskAnswer]:
    """Return the answers on the screen, in the task's order; of those with the very same text the first."""
    return TaskAnswer.objects.filter(task=context.task, same_as=None).order_by("position")


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
        yield from first_different(citations, context.first_citations)
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


def _pair(citation: Citation, number: int, machine: Mapping[tuple[int, int], str] | None) -> AskedPair:
    segment = citation.segment
    return AskedPair(
        key=citation.public_id,
        answer=citation.sentence.answer.public_id,
        sentence=citation.sentence.index,
        number=number,
        sentence_pk=citation.sentence_id,
        segment_pk=citation.segment_id,
        passage=segment.public_id if segment else None,
        judgeable=segment is not None and segment.has_text,
        machine=None if machine is None else machine.get((citation.sentence_id, citation.segment_id or 0)),
    )


def machine_labels(context: DeskContext, sentences: Collection[int]) -> dict[tuple[int, int], str] | None:
    """Return the labels that this condition shows; None, and nothing is read, where it shows none."""
    # The one door through which a machine's label comes to a desk (docs/decisions/0014).
    if context.stage != Stage.SUPPORT_POST_EDIT:
        return None
    rows = SupportJudgment.objects.current().filter(
        judge=context.machine, condition=SupportCondition.LLM, sentence__in=sentences
    )
    return {
        (sentence, segment): SupportLabel(label).name.lower()
        if label in CITATION_LABELS.codes
        else NO_MACHINE_LABEL
        for sentence, segment, label in rows.values_list("sentence", "segment", "label")
    }


# Written out, as the context is: an assessor waits for it at each key, and it takes the place of three statements.
_PAIR_OF_NUGGET = """
SELECT shown.answer_id, version.id, work.id, work.version, work.label, work.reason, work.sentence, work.first_label
FROM evaluation_taskanswer shown
     JOIN evaluation_answer answer ON answer.id = shown.answer_id
     JOIN evaluation_nugget nugget ON nugget.public_id = %s
     JOIN evaluation_nuggetversion version ON version.nugget_id = nugget.id
     LEFT JOIN assessor_workingassignment work
     ON work.task_id = shown.task_id AND work.answer_id = shown.answer_id AND work.nugget_version_id = version.id
WHERE shown.task_id = %s AND shown.same_as_id IS NULL AND answer.public_id = %s
"""
# The wording of the newest submitted list, or the one that was drawn for this answer.
_LISTED = """
AND version.id IN (
    SELECT item.nugget_version_id FROM evaluation_listednugget item WHERE item.nugget_list_id = (
        SELECT id FROM evaluation_nuggetlist
        WHERE nugget_set_id = %s AND topic_id = %s AND submitted ORDER BY version DESC LIMIT 1
    )
)
"""
_DRAWN = """
AND version.id IN (
    SELECT pair.nugget_version_id FROM evaluation_studypair pair
    WHERE pair.study_id = %s AND pair.topic_id = %s AND pair.answer_id = shown.answer_id
)
"""

# All citations of the sentence: which of them count is told from all of them.
_PAIRS_OF_SENTENCE = """
SELECT cited.public_id, cited.segment_id, segment.has_text, cited.sentence_id,
       work.id, work.version, work.label, work.reason, work.shown_label, work.shown_ms, work.accepted
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


@dataclass(slots=True)
class StoredLabel:
    """Stored label of a pair, unsaved and of version 0 while nobody touched it. `machine`: the label that is shown."""

    key: str
    stored: WorkingAssignment | WorkingSupport
    machine: str | None = None

    @property
    def row(self) -> LabelRow:
        stored = self.stored
        if isinstance(stored, WorkingAssignment):
            return LabelRow(
                key=self.key,
                version=stored.version,
                label=_word(AssignmentLabel, stored.label),
                reason=stored.reason,
                sentence=stored.sentence,
                first_label=_word(AssignmentLabel, stored.first_label),
            )
        return LabelRow(
            key=self.key,
            version=stored.version,
            label=_word(SupportLabel, stored.label),
            reason=stored.reason,
            # Agreement with a machine is measured on what was seen, not on what the machine says by now.
            shown_label=_word(SupportLabel, stored.shown_label) or self.machine,
            shown_ms=stored.shown_ms,
            accepted=stored.accepted,
        )

    def write(self, row: LabelRow) -> None:
        """Store a changed row: insert or update as it was read, because the task is locked since."""
        stored = self.stored
        stored.version, stored.reason = row.version, row.reason
        if isinstance(stored, WorkingAssignment):
            stored.label = _code(AssignmentLabel, row.label)
            stored.first_label = _code(AssignmentLabel, row.first_label)
            stored.sentence = row.sentence
        else:
            stored.label, stored.shown_label = _code(SupportLabel, row.label), _code(SupportLabel, row.shown_label)
            stored.shown_ms, stored.accepted = row.shown_ms, row.accepted
        stored.save(force_insert=stored.pk is None, force_update=stored.pk is not None)


def _word(labels: type[AssignmentLabel] | type[SupportLabel], code: int | None) -> str | None:
    return None if code is None else labels(code).name.lower()


def _code(labels: type[AssignmentLabel] | type[SupportLabel], word: str | None) -> int | None:
    # A machine that gave no label leaves no code behind.
    return None if word in (None, NO_MACHINE_LABEL) else labels[word.upper()]


def find_label(context: DeskContext, key: str) -> StoredLabel:
    """Return the label of one pair. Raises `Refused` for a key that is not one of the task's."""
    return _find_assignment(context, key) if context.stage == Stage.ASSIGN else _find_support(context, key)


def _find_assignment(context: DeskContext, key: str) -> StoredLabel:
    answer_id, _, nugget_id = key.partition(SEPARATOR)
    listed = (_DRAWN, context.study) if context.study else (_LISTED, context.nugget_set)
    with connection.cursor() as cursor:
        cursor.execute(_PAIR_OF_NUGGET + listed[0], [nugget_id, context.task, answer_id, listed[1], context.topic])
        row = cursor.fetchone()
    if row is None:
        raise Refused("no_such_pair", "This answer or nugget is not among those of the task.")
    answer, wording, pk, *values = row
    stored = WorkingAssignment(task_id=context.task, answer_id=answer, nugget_version_id=wording, version=0)
    return StoredLabel(key, _filled(stored, pk, ("version", "label", "reason", "sentence", "first_label"), values))


def _find_support(context: DeskContext, key: str) -> StoredLabel:
    with connection.cursor() as cursor:
        cursor.execute(_PAIRS_OF_SENTENCE, [key, context.task])
        cited = cursor.fetchall()
    rows = ((row[3], row[1], row) for row in cited)
    for sentence, segment, (public_id, _, has_text, _, pk, *values, accepted) in task_citations(context, rows):
        # A citation without a text is not asked, and nobody may label one that is not on the page.
        if segment is not None and public_id == key and has_text:
            machine = machine_labels(context, [sentence]) or {}
            stored = WorkingSupport(task_id=context.task, sentence_id=sentence, segment_id=segment, version=0)
            fields = ("version", "label", "reason", "shown_label", "shown_ms", "accepted")
            # SQLite has no booleans: its raw rows have 0 and 1.
            filled = _filled(stored, pk, fields, (*values, bool(accepted)))
            return StoredLabel(key, filled, machine.get((sentence, segment)))
    raise Refused("no_such_pair", "This citation is not among those to judge.")


def _filled(
    stored: WorkingAssignment | WorkingSupport, pk: int | None, fields: Iterable[str], values: Iterable[Any]
) -> WorkingAssignment | WorkingSupport:
    if pk is not None:
        stored.pk = pk
        for field, value in zip(fields, values, strict=True):
            setattr(stored, field, value)
    return stored


@dataclass(frozen=True, slots=True)
class TaskLabels:
    """A judging task as a whole, in the order of the screen. `by_answer`: its nuggets; None: all for every answer."""

    answers: tuple[tuple[str, bool], ...]
    nuggets: list[AskedNugget]
    by_answer: dict[str, list[str]] | None
    pairs: list[AskedPair]
    labels: dict[str, StoredLabel]

    @property
    def judgeable(self) -> list[str]:
        if self.pairs:
            return [pair.key for pair in self.pairs if pair.judgeable]
        nuggets = [nugget.key for nugget in self.nuggets]
        return [
            f"{answer}{SEPARATOR}{nugget}"
            for answer, _ in self.answers
            for nugget in (nuggets if self.by_answer is None else self.by_answer[answer])
        ]

    @property
    def missing(self) -> list[str]:
        return [key for key in self.judgeable if key not in self.labels or self.labels[key].stored.label is None]


def read_task(context: DeskContext) -> TaskLabels:
    """Read a judging task as a whole. Labels of pairs that are not asked any more are kept, and left out here."""
    answers = tuple(
        (answer, seen_at is not None)
        for answer, seen_at in shown_answers(context).values_list("answer__public_id", "seen_at")
    )
    if context.stage != Stage.ASSIGN:
        pairs = pairs_of(context)
        return TaskLabels(answers, [], None, pairs, _support_labels(context, pairs))
    nuggets = nuggets_of(context)
    return TaskLabels(
        answers, nuggets, nuggets_by_answer(context, nuggets), [], _assignment_labels(context, nuggets)
    )


def _assignment_labels(context: DeskContext, nuggets: Sequence[AskedNugget]) -> dict[str, StoredLabel]:
    current = [nugget.wording for nugget in nuggets]
    rows = WorkingAssignment.objects.filter(task=context.task, nugget_version__in=current)
    # Without an order each engine gives the rows in its own.
    rows = rows.select_related("answer", "nugget_version__nugget").order_by("answer_id", "nugget_version_id")
    keyed = ((f"{row.answer.public_id}{SEPARATOR}{row.nugget_version.nugget.public_id}", row) for row in rows)
    return {key: StoredLabel(key, row) for key, row in keyed}


def _support_labels(context: DeskContext, pairs: Sequence[AskedPair]) -> dict[str, StoredLabel]:
    # A submission needs the sentence's place, nobody its text.
    rows = WorkingSupport.objects.filter(task=context.task).select_related("sentence").defer("sentence__text")
    stored = {(row.sentence_id, row.segment_id): row for row in rows}
    return {
        pair.key: StoredLabel(pair.key, row, pair.machine)
        for pair in pairs
        if (row := stored.get((pair.sentence_pk, pair.segment_pk or 0)))
    }


def row_json(row: LabelRow, stage: str) -> dict[str, Any]:
    """Return a row as the page's script and the log hold it: only the fields that its stage has."""
    data: dict[str, Any] = {"key": row.key, "version": row.version, "label": row.label, "reason": row.reason}
    if stage == Stage.ASSIGN:
        return data | {"sentence": row.sentence, "first_label": row.first_label}
    if stage == Stage.SUPPORT_POST_EDIT:
        return data | {"shown_label": row.shown_label, "shown_ms": row.shown_ms, "accepted": row.accepted}
    return data


def row_from_json(data: Mapping[str, Any] | None) -> LabelRow | None:
    return None if data is None else LabelRow(**data)
