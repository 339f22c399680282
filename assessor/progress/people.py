"""Work of each assessor of a campaign, for its organizers: tasks by stage, and the mix of their labels."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import lru_cache

from django.db.models import Count, Max, Q
from django.utils import timezone

from accounts.models import User
from assessor.desk.context import OPEN_STATES
from assessor.models import Desk
from evaluation.campaigns.access import may_see, within
from evaluation.campaigns.contents import tally_of
from evaluation.labels import LabelSet
from evaluation.models import Campaign, Judge, Judgment, Membership, SupportJudgment, Task
from evaluation.rules.tasks import ACTIVE
from evaluation.stages import STAGES, Stage
from evaluation.terms import JudgeKind, SupportCondition, TaskState


@dataclass(frozen=True, slots=True)
class Assessor:
    """One assessor. `paused_at`: since when they are given nothing new; `seen_at`: when they were last at a desk."""

    pk: int
    username: str
    name: str
    member: bool
    paused_at: datetime | None
    seen_at: datetime | None


@dataclass(frozen=True, slots=True)
class TaskCount:
    done: int
    unfinished: int

    @property
    def all(self) -> int:
        return self.done + self.unfinished


@dataclass(frozen=True, slots=True)
class Mix:
    """Labels of a set by code, and how many of them the nugget sweep changed."""

    label_set: LabelSet
    labels: Mapping[int, int] = field(default_factory=dict)
    swept: int = 0

    @property
    def total(self) -> int:
        """All labels, those that say that it cannot be judged included."""
        return sum(self.labels.values())

    @property
    def shares(self) -> tuple[float, ...] | None:
        counts = [self.labels.get(code, 0) for code in self.label_set.codes]
        return tuple(count / sum(counts) for count in counts) if any(counts) else None

    @property
    def cant_judge(self) -> float | None:
        return self.labels.get(self.label_set.cant_judge.code, 0) / self.total if self.total else None


@dataclass(slots=True)
class TaskLoad:
    """Tasks of one assessor by state, expected minutes of the unfinished; next due day, and how many are late."""

    states: Counter[TaskState] = field(default_factory=Counter)
    minutes: int = 0
    next_due: date | None = None
    late: int = 0

    @property
    def total(self) -> int:
        return self.states.total()

    @property
    def done(self) -> int:
        return self.states[TaskState.SUBMITTED]

    @property
    def hours_left(self) -> float:
        return self.minutes / 60

    @property
    def days_late(self) -> int:
        return max(0, (timezone.localdate() - self.next_due).days) if self.next_due else 0

    @property
    def bar(self) -> list[tuple[TaskState, int, int]]:
        """State, number of tasks and where it begins, in the order of the work."""
        begin, parts = 0, []
        for state in (TaskState.SUBMITTED, *OPEN_STATES, TaskState.NOT_STARTED, TaskState.BLOCKED):
            if self.states[state]:
                parts.append((state, self.states[state], begin))
                begin += self.states[state]
        return parts


Mixes = dict[tuple[int, Stage], tuple[Mix, Mix]]
"""By judge and stage: the judge's own labels, and everybody else's of the same topics."""
Latencies = dict[int, list[int]]
"""By judge: milliseconds from when a machine's label was shown to when it was accepted."""


def assessors_at_work(viewer: User, campaign: Campaign) -> list[Assessor]:
    mine = within(viewer, campaign)
    roles = Membership.objects.of_assessors().filter(campaign__in=mine)
    paused = dict(roles.values_list("user", "paused_at"))
    held = Task.objects.filter(campaign__in=mine).not_withdrawn().order_by()
    holders = set(held.values_list("assessor", flat=True).distinct())
    desks = Desk.objects.filter(task__in=held).order_by().values_list("task__assessor")
    seen = dict(desks.annotate(Max("held_at")))
    assessors = [
        Assessor(user.pk, user.username, user.name, user.pk in paused, paused.get(user.pk), seen.get(user.pk))
        for user in User.objects.filter(pk__in={*paused, *holders})
    ]
    return sorted(assessors, key=lambda person: (person.name.casefold(), person.username))


def task_counts_for(viewer: User, campaign: Campaign) -> dict[tuple[int, Stage], TaskCount]:
    tasks = Task.objects.filter(campaign__in=within(viewer, campaign), study=None).not_withdrawn().order_by()
    counted = tasks.values_list("assessor", "stage").annotate(
        done=Count("pk", filter=Q(state=TaskState.SUBMITTED)),
        unfinished=Count("pk", filter=Q(state__in=[*ACTIVE, TaskState.BLOCKED])),
    )
    return {(user, stage): TaskCount(done, unfinished) for user, stage, done, unfinished in counted}


def loads_for(viewer: User, campaign: Campaign) -> dict[int, TaskLoad]:
    rows = Task.objects.filter(campaign__in=within(viewer, campaign)).not_withdrawn().order_by()
    today, loads = timezone.localdate(), defaultdict[int, TaskLoad](TaskLoad)
    for user, state, due, minutes in rows.values_list("assessor", "state", "due", "expected_minutes"):
        load = loads[user]
        load.states[TaskState(state)] += 1
        load.minutes += minutes if state != TaskState.SUBMITTED else 0
        if due and state in ACTIVE:
            load.next_due = min(due, load.next_due or due)
            load.late += due < today
    return loads


def judges_by_user(users: Iterable[int]) -> dict[int, int]:
    rows = Judge.objects.filter(user__in=users, aside=False, kind=JudgeKind.HUMAN)
    return dict(rows.values_list("user", "pk"))


def mixes_for(viewer: User, campaign: Campaign) -> Mixes:
    """LLMs are among the others. Only current labels count, and so only submitted work."""
    if not may_see(viewer, campaign):
        return {}
    return _mixes(campaign, *campaign.revision_key)


def latencies_for(viewer: User, campaign: Campaign) -> Latencies:
    if not may_see(viewer, campaign):
        return {}
    return _latencies(campaign, *campaign.revision_key)


@lru_cache(maxsize=16)
def _latencies(campaign: Campaign, _made: datetime, _revision: int) -> Latencies:
    by_judge: Latencies = defaultdict(list)
    # Very short times may mean that labels are accepted unread.
    accepted = SupportJudgment.objects.current().filter(condition=SupportCondition.POST_EDIT, accepted=True)
    rows = accepted.filter(judge__kind=JudgeKind.HUMAN, segment__campaign=campaign, shown_ms__isnull=False)
    for judge, shown_ms in rows.order_by().values_list("judge", "shown_ms"):
        if shown_ms is not None:
            by_judge[judge].append(shown_ms)
    return by_judge


@lru_cache(maxsize=16)
def _mixes(campaign: Campaign, _made: datetime, _revision: int) -> Mixes:
    """Count once per state of the campaign. `_made` tells databases apart."""
    protocol = campaign.protocol
    parts: dict[Stage, list[Row]] = {}
    supported = SupportJudgment.objects.current().filter(segment__campaign=campaign, judge__aside=False)
    labels = supported.order_by().values_list("judge", "judge__kind", "sentence__answer__topic", "label")
    others = Judgment.objects.current().filter(topic__campaign=campaign, judge__aside=False)
    for stage in STAGES.values():
        if stage.by_list:
            parts[stage] = _assigned(campaign)
        elif stage.condition:
            rows = labels.filter(condition__in=[stage.condition, SupportCondition.LLM])
            parts[stage] = [(*row, 0) for row in rows.annotate(Count("pk"))]
        elif stage.judges:
            judgments = others.filter(stage=stage).order_by().values_list("judge", "judge__kind", "topic", "label")
            parts[stage] = [(*row, 0) for row in judgments.annotate(Count("pk"))]
    return {
        (judge, stage): pair
        for stage, rows in parts.items()
        for judge, pair in _beside_others(protocol.labels_of(stage), rows).items()
    }


Row = tuple[int, str, int, int, int, int]


def _assigned(campaign: Campaign) -> list[Row]:
    tally = tally_of(campaign)
    judges = Judge.objects.filter(aside=False, pk__in={cell.judge for cell in tally})
    kinds = dict(judges.values_list("pk", "kind"))
    return [
        (cell.judge, kinds[cell.judge], cell.topic, cell.label, cell.number, cell.swept)
        for cell in tally
        if cell.judge in kinds
    ]


def _beside_others(labels: LabelSet, rows: Iterable[Row]) -> dict[int, tuple[Mix, Mix]]:
    """Return each person's mix, and that of all others on the topics that the person labelled."""
    everybody: dict[int, Counter[int]] = defaultdict(Counter)
    own: dict[int, dict[int, Counter[int]]] = defaultdict(lambda: defaultdict(Counter))
    swept = Counter[int]()
    for judge, kind, topic, label, number, changed in rows:
        everybody[topic][label] += number
        if kind == JudgeKind.HUMAN:
            own[judge][topic][label] += number
            swept[judge] += changed
    return {
        judge: (
            Mix(labels, sum(topics.values(), Counter()), swept[judge]),
            # On the same topics only: topics differ in how much of them is answered at all.
            Mix(labels, sum((everybody[topic] - counts for topic, counts in topics.items()), Counter())),
        )
        for judge, topics in own.items()
    }
