"""The pairs on which a person and an LLM differ: found, named in a way that every database has, and drawn."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet

from evaluation.models import (
    AnswerProvenance,
    Assignment,
    Campaign,
    Judge,
    ListedNugget,
    NuggetList,
    NuggetSet,
    StudyPair,
    SupportJudgment,
    Topic,
)
from evaluation.models.querysets import CurrentQuerySet
from evaluation.models.study import REAL_LABELS
from evaluation.rules.studies import Differing, draw
from evaluation.terms import JudgeKind, SupportCondition

BATCH = 500


@dataclass(slots=True)
class Found:
    """A pair on which both gave a real label, and not the same: the row to be, without its study."""

    pair: Differing
    row: StudyPair


@dataclass(frozen=True, slots=True)
class Labels:
    """Where the labels of one kind of study are."""

    rows: CurrentQuerySet[Assignment] | CurrentQuerySet[SupportJudgment]
    item: tuple[str, str]
    conditions: dict[JudgeKind, dict[str, SupportCondition]] = field(default_factory=dict)

    def of(self, judge: Judge) -> dict[tuple[int, int], int]:
        """Return a judge's real labels that stand, by item; the last submission's."""
        named = self.conditions.get(JudgeKind(judge.kind), {})
        given = self.rows.current().filter(judge=judge, **named).order_by("submission")
        found = {(one, other): label for one, other, label in given.values_list(*self.item, "label")}
        return {item: label for item, label in found.items() if label in REAL_LABELS}

    def judges(self, kind: JudgeKind) -> QuerySet[Judge]:
        """Return who has such labels, those of other studies left out."""
        given = self.rows.current().filter(**self.conditions.get(kind, {})).order_by()
        return Judge.objects.filter(kind=kind, aside=False, pk__in=given.values_list("judge", flat=True)).order_by(
            "name"
        )


def labels_between(
    campaign: Campaign, topics: Sequence[Topic], nugget_set: NuggetSet | None, condition: SupportCondition
) -> Labels:
    """Return the labels that count here: of the newest lists, or of each citation, on answers with a word."""
    of_topics = {"topic__in": [one.pk for one in topics], "words__gt": 0}
    if nugget_set is None:
        given = SupportJudgment.objects.filter(
            **{f"sentence__answer__{name}": value for name, value in of_topics.items()}
        )
        given = given.filter(sentence__answer__topic__campaign=campaign, segment__has_text=True)
        conditions = {
            JudgeKind.HUMAN: {"condition": condition},
            JudgeKind.LLM: {"condition": SupportCondition.LLM},
        }
        return Labels(given, ("sentence", "segment"), conditions)
    assigned = Assignment.objects.filter(**{f"answer__{name}": value for name, value in of_topics.items()})
    return Labels(assigned.filter(nugget_version__nugget__nugget_set=nugget_set), ("answer", "nugget_version"))


Given = dict[tuple[int, int], int]


def differing(person: Given, machine: Given, nugget_set: NuggetSet | None) -> list[Found]:
    """Return the pairs with two different labels, each with a key that is the same in every database."""
    items = {item for item, label in person.items() if machine.get(item, label) != label}
    describe = _of_citations if nugget_set is None else _of_nuggets
    found = []
    for item, (topic, key, row) in describe(items, nugget_set).items():
        row.person_label, row.machine_label = person[item], machine[item]
        found.append(Found(Differing(topic, key, (person[item], machine[item])), row))
    return found


Described = dict[tuple[int, int], tuple[str, str, StudyPair]]
"""An item's topic id, its key within the topic, and its row to be."""


def _of_nuggets(items: set[tuple[int, int]], nugget_set: NuggetSet | None) -> Described:
    """Describe pairs of answer and wording, as far as that wording stands in the newest list."""
    lists = NuggetList.objects.newest_submitted().filter(nugget_set=nugget_set)
    listed = ListedNugget.objects.filter(nugget_list__in=lists)
    position = dict(listed.values_list("nugget_version", "position"))
    runs = _runs({answer for answer, _ in items})
    return {
        (answer, wording): (
            runs[answer].topic.topic_id,
            f"{runs[answer].run.run_id} {position[wording]}",
            StudyPair(topic=runs[answer].topic, answer_id=answer, nugget_version_id=wording),
        )
        for answer, wording in items
        if wording in position
    }


def _of_citations(items: set[tuple[int, int]], _nugget_set: NuggetSet | None) -> Described:
    """Describe pairs of sentence and segment."""
    found: Described = {}
    fields = ("sentence", "segment", "sentence__answer", "sentence__index", "segment__docid")
    rows = [
        row
        for part in _parts({sentence for sentence, _ in items})
        for row in SupportJudgment.objects.filter(sentence__in=part).order_by().values_list(*fields).distinct()
        if row[:2] in items
    ]
    runs = _runs({answer for _, _, answer, _, _ in rows})
    for sentence, segment, answer, index, docid in rows:
        row = StudyPair(topic=runs[answer].topic, answer_id=answer, sentence_id=sentence, segment_id=segment)
        found[sentence, segment] = runs[answer].topic.topic_id, f"{runs[answer].run.run_id} {index} {docid}", row
    return found


def _runs(answers: set[int]) -> dict[int, AnswerProvenance]:
    found: dict[int, AnswerProvenance] = {}
    for part in _parts(answers):
        rows = AnswerProvenance.objects.filter(answer__in=part).select_related("run", "topic").defer("references")
        found |= {one.answer_id: one for one in rows}
    return found


def _parts(pks: Collection[int]) -> Iterator[list[int]]:
    """Cut keys into parts, because SQLite takes a limited number of parameters."""
    wanted = sorted(pks)
    for start in range(0, len(wanted), BATCH):
        yield wanted[start : start + BATCH]


def drawn_from(found: Sequence[Found], per_topic: int, *, seed: int, stratified: bool) -> list[StudyPair]:
    rows = {(one.pair.topic, one.pair.key): one.row for one in found}
    drawn = draw((one.pair for one in found), per_topic, seed=seed, stratified=stratified)
    return [rows[one.topic, one.key] for one in drawn]
