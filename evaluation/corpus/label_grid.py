"""Labels beside what they label: nuggets down, runs or judges across. For organizers."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from accounts.models import User
from evaluation.campaigns.access import within
from evaluation.corpus.answers import answers_of_topic
from evaluation.models import (
    AnswerProvenance,
    Assignment,
    Campaign,
    Judge,
    ListedNugget,
    NuggetList,
    NuggetSet,
    Run,
    Topic,
)
from evaluation.terms import Condition, JudgeKind, Origin

Labels = dict[tuple[int, int, int], Assignment]
"""By answer, wording and judge."""


def condition_of(nugget_set: NuggetSet, judge: Judge) -> str:
    if nugget_set.origin == Origin.DRAFT:
        return f"draft/{'A' if judge.kind == JudgeKind.LLM else 'M'}"
    return Condition.of(Origin(nugget_set.origin), JudgeKind(judge.kind))


@dataclass(frozen=True, slots=True)
class Judging:
    """A nugget set's list for a topic, labelled by one judge: a condition in this topic."""

    nugget_list: NuggetList
    judge: Judge

    @property
    def key(self) -> str:
        return f"{self.nugget_list.nugget_set_id}-{self.judge.pk}"

    @property
    def condition(self) -> str:
        return condition_of(self.nugget_list.nugget_set, self.judge)

    def __str__(self) -> str:
        return f"{self.nugget_list.nugget_set}, labels by {self.judge} ({self.condition})"


@dataclass(frozen=True, slots=True)
class Grid:
    """Nuggets with their labels by runs: the answer of each, None without one, and its label, None if unjudged."""

    judging: Judging
    columns: list[tuple[Run, AnswerProvenance | None]]
    rows: list[tuple[ListedNugget, list[tuple[AnswerProvenance | None, Assignment | None]]]]


@dataclass(frozen=True, slots=True)
class AnswerSheet:
    """One answer's labels in one nugget set: nuggets by judges; None is unjudged."""

    nugget_set: NuggetSet
    judges: list[Judge]
    rows: list[tuple[ListedNugget, list[Assignment | None]]]


def judgings_of(viewer: User, campaign: Campaign, topic: Topic) -> list[Judging]:
    """Return the pairs of list and judge that have labels on this topic, by condition; those of studies come last."""
    by_set = {nugget_list.nugget_set_id: nugget_list for nugget_list in _lists(viewer, campaign, topic.pk)}
    labels = Assignment.objects.current().filter(
        answer__topic=topic, nugget_version__nugget__nugget_set__in=list(by_set)
    )
    pairs = list(labels.order_by().values_list("nugget_version__nugget__nugget_set", "judge").distinct())
    judges = Judge.objects.in_bulk([judge for _, judge in pairs])
    judgings = [Judging(by_set[set_pk], judges[judge]) for set_pk, judge in pairs]
    # Labels of studies last, so that the page opens with labels that count.
    return sorted(judgings, key=lambda judging: (judging.judge.aside, str(judging)))


def grid_of(viewer: User, campaign: Campaign, topic: Topic, judging: Judging) -> Grid:
    by_run: dict[int, list[AnswerProvenance]] = defaultdict(list)
    for row in answers_of_topic(viewer, campaign, topic):
        by_run[row.run_id].append(row)
    runs = Run.objects.filter(campaign__in=within(viewer, campaign)).order_by("run_id")
    columns = [(run, answer) for run in runs for answer in by_run.get(run.pk, [None])]
    items = _items([judging.nugget_list.pk])
    labels = _labels([answer.pk for _, answer in columns if answer], items)

    def cells(item: ListedNugget) -> list[tuple[AnswerProvenance | None, Assignment | None]]:
        own = (item.nugget_version_id, judging.judge.pk)
        return [(answer, labels.get((answer.pk, *own)) if answer else None) for _, answer in columns]

    return Grid(judging, columns, [(item, cells(item)) for item in items])


def sheets_of(viewer: User, campaign: Campaign, provenance: AnswerProvenance) -> list[AnswerSheet]:
    lists = list(_lists(viewer, campaign, provenance.topic_id).order_by("nugget_set__name"))
    items = _items([nugget_list.pk for nugget_list in lists])
    labels = _labels([provenance.answer_id], items)
    judges = Judge.objects.in_bulk(list({judge for _, _, judge in labels}))
    by_list = defaultdict(list)
    for item in items:
        by_list[item.nugget_list_id].append(item)
    sheets = [_sheet(row.nugget_set, by_list[row.pk], provenance.answer_id, labels, judges) for row in lists]
    return [sheet for sheet in sheets if sheet.judges]


def _lists(viewer: User, campaign: Campaign, topic: int) -> QuerySet[NuggetList]:
    lists = NuggetList.objects.newest_submitted().select_related("nugget_set")
    return lists.filter(nugget_set__campaign__in=within(viewer, campaign), topic=topic)


def _sheet(
    nugget_set: NuggetSet, items: list[ListedNugget], answer: int, labels: Labels, judges: dict[int, Judge]
) -> AnswerSheet:
    wordings = {item.nugget_version_id for item in items}
    here = {judge for _, wording, judge in labels if wording in wordings}
    columns = sorted((judges[pk] for pk in here), key=lambda judge: judge.name)
    rows = [
        (item, [labels.get((answer, item.nugget_version_id, judge.pk)) for judge in columns]) for item in items
    ]
    return AnswerSheet(nugget_set, columns, rows)


def _items(lists: Iterable[int]) -> list[ListedNugget]:
    items = ListedNugget.objects.filter(nugget_list__in=lists).select_related("nugget_version")
    return list(items.order_by("nugget_list", "position"))


def _labels(answers: Sequence[int], items: Sequence[ListedNugget]) -> Labels:
    wordings = [item.nugget_version_id for item in items]
    rows = Assignment.objects.current().filter(answer__in=answers, nugget_version__in=wordings)
    # Submissions ascend, so that the newest label of each stays.
    ordered = rows.order_by("submission").only("answer", "nugget_version", "judge", "label")
    return {(row.answer_id, row.nugget_version_id, row.judge_id): row for row in ordered}
