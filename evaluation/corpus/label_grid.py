"""Labels beside what they label: nuggets down, runs or judges across. For organizers."""

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import QuerySet

from accounts.models import User
from evaluation.campaigns.access import within
from evaluation.corpus.answers import answers_of_topic
from evaluation.labels import AssignmentLabel
from evaluation.models import AnswerProvenance, Assignment, Campaign, Judge, ListedNugget, NuggetList, Run, Topic
from evaluation.terms import Importance, JudgeKind, Origin

LETTERS = {Origin.AUTO: "A", Origin.EDITED: "E", Origin.MANUAL: "M"}


@dataclass(frozen=True, slots=True)
class Judging:
    """A nugget set's list for a topic, labelled by one judge: a condition in this topic."""

    key: str
    condition: str
    nuggets: str
    judge: str
    list_pk: int
    judge_pk: int

    def __str__(self) -> str:
        return f"{self.nuggets}, labels by {self.judge} ({self.condition})"


@dataclass(frozen=True, slots=True)
class GridCell:
    """A label with its key, which leads to its provenance."""

    label: AssignmentLabel
    pk: int


@dataclass(frozen=True, slots=True)
class GridColumn:
    """An answer of a run, or a run without one."""

    run: Run
    answer: AnswerProvenance | None

    @property
    def answered(self) -> bool:
        return self.answer is not None


@dataclass(frozen=True, slots=True)
class GridRow:
    """A nugget and its labels, one per column; None is unjudged, or belongs to a run without an answer."""

    position: int
    text: str
    importance: Importance
    labels: tuple[GridCell | None, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    judging: Judging
    columns: tuple[GridColumn, ...]
    rows: tuple[GridRow, ...]

    @property
    def cells(self) -> list[tuple[GridRow, list[tuple[GridColumn, GridCell | None]]]]:
        return [(row, list(zip(self.columns, row.labels, strict=True))) for row in self.rows]


@dataclass(frozen=True, slots=True)
class AnswerSheet:
    """One answer's labels in one nugget set: nuggets by judges."""

    nuggets: str
    origin: str
    judges: tuple[str, ...]
    rows: tuple[GridRow, ...]


def judgings_of(viewer: User, campaign: Campaign, topic: Topic) -> list[Judging]:
    """Return the pairs of list and judge that have labels on this topic, by condition; those of studies come last."""
    by_set = {nugget_list.nugget_set_id: nugget_list for nugget_list in _lists(viewer, campaign, topic.pk)}
    labels = Assignment.objects.current().filter(
        answer__topic=topic, nugget_version__nugget__nugget_set__in=list(by_set)
    )
    pairs = list(labels.order_by().values_list("nugget_version__nugget__nugget_set", "judge").distinct())
    judges = Judge.objects.in_bulk([judge for _, judge in pairs])
    judgings = [(judges[judge].aside, _judging(by_set[set_pk], judges[judge])) for set_pk, judge in pairs]
    # Labels of studies last, so that the page opens with labels that count.
    return [judging for _, judging in sorted(judgings, key=lambda row: (row[0], str(row[1])))]


def grid_of(viewer: User, campaign: Campaign, topic: Topic, judging: Judging) -> Grid:
    by_run: dict[int, list[AnswerProvenance]] = defaultdict(list)
    for row in answers_of_topic(viewer, campaign, topic):
        by_run[row.run_id].append(row)
    runs = Run.objects.filter(campaign__in=within(viewer, campaign)).order_by("run_id")
    columns = tuple(GridColumn(run, answer) for run in runs for answer in by_run.get(run.pk, [None]))
    answers = [column.answer.pk if column.answer else 0 for column in columns]
    items = list(_items([judging.list_pk]))
    labels = _labels(answers, items)
    rows = tuple(
        _row(item, [labels.get((answer, item.nugget_version_id, judging.judge_pk)) for answer in answers])
        for item in items
    )
    return Grid(judging, columns, rows)


def sheets_of(viewer: User, campaign: Campaign, provenance: AnswerProvenance) -> list[AnswerSheet]:
    lists = _lists(viewer, campaign, provenance.topic_id).order_by("nugget_set__name")
    by_pk = {nugget_list.pk: nugget_list for nugget_list in lists}
    items = list(_items(list(by_pk)))
    labels = _labels([provenance.answer_id], items)
    judges = Judge.objects.in_bulk(list({judge for _, _, judge in labels}))
    by_list = defaultdict(list)
    for item in items:
        by_list[item.nugget_list_id].append(item)
    sheets = [_sheet(by_pk[pk], by_list[pk], provenance.answer_id, labels, judges) for pk in by_pk]
    return [sheet for sheet in sheets if sheet.judges]


def _lists(viewer: User, campaign: Campaign, topic: int) -> QuerySet[NuggetList]:
    lists = NuggetList.objects.newest_submitted().select_related("nugget_set")
    return lists.filter(nugget_set__campaign__in=within(viewer, campaign), topic=topic)


def _sheet(
    nugget_list: NuggetList,
    items: list[ListedNugget],
    answer: int,
    labels: dict[tuple[int, int, int], GridCell],
    judges: dict[int, Judge],
) -> AnswerSheet:
    wordings = {item.nugget_version_id for item in items}
    here = {judge for _, wording, judge in labels if wording in wordings}
    columns = sorted((judges[pk] for pk in here), key=lambda judge: judge.name)
    return AnswerSheet(
        nuggets=nugget_list.nugget_set.name,
        origin=nugget_list.nugget_set.origin,
        judges=tuple(judge.name for judge in columns),
        rows=tuple(
            _row(item, [labels.get((answer, item.nugget_version_id, judge.pk)) for judge in columns])
            for item in items
        ),
    )


def _judging(nugget_list: NuggetList, judge: Judge) -> Judging:
    letter = LETTERS.get(Origin(nugget_list.nugget_set.origin), "draft")
    return Judging(
        key=f"{nugget_list.nugget_set_id}-{judge.pk}",
        condition=f"{letter}/{'A' if judge.kind == JudgeKind.LLM else 'M'}",
        nuggets=nugget_list.nugget_set.name,
        judge=judge.name,
        list_pk=nugget_list.pk,
        judge_pk=judge.pk,
    )


def _items(lists: list[int]) -> list[ListedNugget]:
    items = ListedNugget.objects.filter(nugget_list__in=lists).select_related("nugget_version")
    return list(items.order_by("nugget_list", "position"))


def _labels(answers: list[int], items: list[ListedNugget]) -> dict[tuple[int, int, int], GridCell]:
    """Labels by answer, wording and judge, the newest submission of each."""
    rows = Assignment.objects.current().filter(
        answer__in=answers, nugget_version__in=[item.nugget_version_id for item in items]
    )
    fields = rows.order_by("submission").values_list("answer", "nugget_version", "judge", "label", "pk")
    return {
        (answer, wording, judge): GridCell(AssignmentLabel(label), pk)
        for answer, wording, judge, label, pk in fields
    }


def _row(item: ListedNugget, labels: list[GridCell | None]) -> GridRow:
    return GridRow(item.position + 1, item.nugget_version.text, Importance(item.importance), tuple(labels))
