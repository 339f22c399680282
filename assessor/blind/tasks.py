"""An assessor's own tasks, and why there are none to do. Nothing here is about anybody else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

from django.utils import timezone
from django.utils.formats import date_format

from accounts.models import User
from assessor.desk.task_progress import Progress, progress_of
from assessor.practice.items import practice_of
from assessor.timing.record import active_seconds
from evaluation.campaigns.access import judged_by, may_judge
from evaluation.errors import NoSuchTask
from evaluation.models import Campaign, NuggetList, Remark, Submission, Task
from evaluation.rules.tasks import ACTIVE
from evaluation.stages import Stage
from evaluation.tasks.remarks import Ending, endings_of, reminders_of, role_taken
from evaluation.terms import Origin, RemarkKind, TaskState
from web.text import plural

ORDER = (TaskState.REOPENED, TaskState.IN_PROGRESS, TaskState.NOT_STARTED, TaskState.BLOCKED, TaskState.SUBMITTED)
"""Nearest to being finished first, submitted last."""

STEPS = {
    TaskState.REOPENED: "Continue",
    TaskState.IN_PROGRESS: "Continue",
    TaskState.NOT_STARTED: "Start",
    TaskState.SUBMITTED: "Read",
}
ANSWERS_SHOWN = 3
TOLD_FOR = timedelta(days=30)
"""A task that was taken back stays in the list so long."""


class Empty(StrEnum):
    """Reason why a campaign has no task to do."""

    DONE = "done"
    HELD = "held"
    DRAFTS = "drafts"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class AnsweredRemark:
    kind: str
    about: str
    text: str
    answer: str
    answered_at: datetime


@dataclass(frozen=True, slots=True)
class TaskLine:
    """One task in the list. `waiting`: own remarks that are not answered yet. `practice`: items that come first."""

    public_id: str
    topic: str
    campaign: str
    stage: Stage
    state: str
    version: int
    due: date | None
    overdue: bool
    progress: tuple[str, ...]
    share: float
    step: str
    reopened_reason: str
    blocked_reason: str
    reminder: tuple[datetime, str] | None
    answers: tuple[AnsweredRemark, ...]
    waiting: int
    practice: int


@dataclass(frozen=True, slots=True)
class TaskGroup:
    state: str
    tasks: tuple[TaskLine, ...]


@dataclass(frozen=True, slots=True)
class EndedTask:
    """A task that its person had. `ending`: who took it back, when and why; None where nothing tells."""

    public_id: str
    topic: str
    campaign: str
    stage: Stage
    ending: Ending | None

    @property
    def sentence(self) -> str:
        if self.ending is None:
            return "It was taken back."
        what = f"took your role in {self.campaign} away" if self.ending.role else "took this task back"
        when = date_format(timezone.localtime(self.ending.at), "j M Y, H:i")
        return f"{self.ending.by} {what} on {when}."

    @property
    def reason(self) -> str:
        return self.ending.reason if self.ending else ""


@dataclass(frozen=True, slots=True)
class EmptyCampaign:
    """A campaign in which there is nothing to do now, and why. `blocked` and `done` count own tasks."""

    campaign: str
    why: str
    done: int
    blocked: int


@dataclass(frozen=True, slots=True)
class Home:
    """First page of an assessor. `ended`: taken back lately; `empty`: why there is nothing to do at all."""

    groups: tuple[TaskGroup, ...]
    ended: tuple[EndedTask, ...]
    open: int
    empty: tuple[EmptyCampaign, ...]
    campaigns: int


def home_for(user: User) -> Home:
    mine = judged_by(user)
    tasks = list(Task.objects.open_for(user).select_related("topic", "campaign", "protocol"))
    lines = _lines(tasks, _practice_left(user, tasks))
    groups = tuple(
        TaskGroup(state, of_state)
        for state in ORDER
        if (of_state := tuple(line for line in lines if line.state == state))
    )
    open_ = sum(task.state in ACTIVE for task in tasks)
    empty = tuple(_empty(campaign, tasks) for campaign in (() if open_ else mine))
    return Home(groups, _ended_lately(user), open_, empty, len(mine))


def _ended_lately(user: User) -> tuple[EndedTask, ...]:
    rows = Task.objects.filter(assessor=user, state=TaskState.WITHDRAWN).select_related("topic", "campaign")
    tasks = {task.public_id: task for task in rows}
    since = timezone.now() - TOLD_FOR
    newest = sorted(endings_of(list(tasks.values())).items(), key=lambda item: item[1].at, reverse=True)
    return tuple(_ended(tasks[public_id], ending) for public_id, ending in newest if ending.at >= since)


def _ended(task: Task, ending: Ending | None) -> EndedTask:
    return EndedTask(task.public_id, task.topic.text, task.campaign.name, task.stage, ending)


def is_own_task(task: str, user: User) -> bool:
    """Return whether a task is, or was, the user's."""
    return Task.objects.filter(public_id=task, assessor=user).exists()


def ended_task(task: str, user: User) -> EndedTask | None:
    """Return a task that was the user's and is not any more. None for any other: nobody learns what others do."""
    row = Task.objects.filter(public_id=task, assessor=user).select_related("topic", "campaign").first()
    if row is None:
        return None
    if row.state == TaskState.WITHDRAWN:
        return _ended(row, endings_of([row]).get(task))
    if may_judge(user, row.campaign):
        return None
    return _ended(row, role_taken(row))


def _practice_left(user: User, tasks: Sequence[Task]) -> dict[int, int]:
    waiting = [task for task in tasks if task.state == TaskState.NOT_STARTED]
    practice = practice_of(user, {task.campaign_id for task in waiting})
    return {task.pk: len(practice.left(task)) for task in waiting}


def _lines(tasks: Sequence[Task], practice: Mapping[int, int]) -> list[TaskLine]:
    progress, remarks = progress_of(tasks), _remarks(tasks)
    reminders = reminders_of([task for task in tasks if task.is_late])
    return [
        TaskLine(
            public_id=task.public_id,
            topic=task.topic.text,
            campaign=task.campaign.name,
            stage=task.stage,
            state=task.state,
            version=task.version,
            due=task.due,
            overdue=task.is_late,
            reminder=reminders.get(task.public_id),
            progress=progress_text(task, progress[task.pk]),
            share=progress[task.pk].share,
            step=STEPS[TaskState(task.state)] if task.state in STEPS else "",
            practice=practice.get(task.pk, 0),
            # The reason of a reopening stays on the row after the next submit, and would be read as new there.
            reopened_reason=task.reopened_reason if task.state == TaskState.REOPENED else "",
            blocked_reason=task.blocked_reason if task.state == TaskState.BLOCKED else "",
            answers=_answered(remarks[task.pk]),
            waiting=sum(
                remark.answered_at is None and remark.kind != RemarkKind.INTERRUPTION
                for remark in remarks[task.pk]
            ),
        )
        for task in tasks
    ]


def progress_text(task: Task, progress: Progress) -> tuple[str, ...]:
    is_done = task.state == TaskState.SUBMITTED
    if task.stage.judges:
        labels = f"{progress.judged:,} of {progress.labels:,} {plural(progress.labels, 'label')}"
        finished = f"{progress.finished} of {progress.answers} {plural(progress.answers, task.stage.reads)}"
        return (labels,) if is_done else (finished, labels)
    read = f"{progress.read} of {progress.passages} read"
    listed = f"{progress.listed} {plural(progress.listed, 'nugget')}"
    if is_done:
        return (listed, read)
    if task.stage.by_hand:
        return (read, listed)
    return (f"{progress.undecided} undecided of {progress.proposed}", read)


def _remarks(tasks: Sequence[Task]) -> dict[int, list[Remark]]:
    by_task: dict[int, list[Remark]] = {task.pk: [] for task in tasks}
    for remark in Remark.objects.filter(task__in=by_task):
        by_task[remark.task_id].append(remark)
    return by_task


def _answered(remarks: Sequence[Remark]) -> tuple[AnsweredRemark, ...]:
    answered = [
        AnsweredRemark(remark.kind, remark.about, remark.text, remark.answer, remark.answered_at)
        for remark in remarks
        if remark.answered_at is not None
    ]
    return tuple(sorted(answered, key=lambda remark: remark.answered_at, reverse=True)[:ANSWERS_SHOWN])


def _empty(campaign: Campaign, tasks: Sequence[Task]) -> EmptyCampaign:
    """Say why there is nothing to do, the reason that somebody must act on first."""
    states = [task.state for task in tasks if task.campaign_id == campaign.pk]
    done, blocked = states.count(TaskState.SUBMITTED), states.count(TaskState.BLOCKED)
    if blocked:
        why = Empty.BLOCKED
    elif done:
        why = Empty.DONE
    else:
        drafts = NuggetList.objects.filter(nugget_set__campaign=campaign, nugget_set__origin=Origin.DRAFT)
        why = Empty.HELD if drafts.filter(submitted=True).exists() else Empty.DRAFTS
    return EmptyCampaign(campaign.name, why, done, blocked)


@dataclass(frozen=True, slots=True)
class OwnTask:
    """One task, as whoever has it may know it. `campaign` is its slug, `topic` the question."""

    public_id: str
    campaign: str
    topic: str
    stage: Stage
    state: str
    version: int
    due: date | None
    blocked_reason: str
    reopened_reason: str


def own_task(task: str, user: User, *, opened: bool = False) -> Task:
    """Return one of the user's own tasks, with `opened` only where its desk was opened. Raises `NoSuchTask`.

    A stranger's task, a withdrawn one and one that never was answer alike: nobody learns what others do.
    """
    rows = Task.objects.open_for(user).select_related("campaign", "topic", "protocol", "qrels")
    row = rows.filter(public_id=task, **({"opened_at__isnull": False} if opened else {})).first()
    if row is None:
        raise NoSuchTask
    return row


def own_tasks(user: User) -> tuple[OwnTask, ...]:
    """Return the tasks of an assessor, those left out that were given to somebody else."""
    return tuple(
        OwnTask(
            public_id=task.public_id,
            campaign=task.campaign.slug,
            topic=task.topic.text,
            stage=task.stage,
            state=task.state,
            version=task.version,
            due=task.due,
            blocked_reason=task.blocked_reason if task.state == TaskState.BLOCKED else "",
            reopened_reason=task.reopened_reason if task.state == TaskState.REOPENED else "",
        )
        for task in Task.objects.open_for(user).select_related("campaign", "topic")
    )


MINUTE = 60


@dataclass(frozen=True, slots=True)
class Done:
    """A submission's size and time. `next` is the first task of the list that can be worked on; None: `empty` says why.

    `nuggets`: None where answers are judged. `minutes`: 0 where no time was measured.
    """

    stage: Stage
    nuggets: int | None
    labels: int
    minutes: int
    next: TaskLine | None
    empty: tuple[EmptyCampaign, ...]
    campaigns: int


def done_for(user: User, public_id: str) -> Done | None:
    """Return the card of a task's newest submission; None where the task is open, or somebody else's."""
    home = home_for(user)
    lines = [task for group in home.groups for task in group.tasks]
    if not any(task.public_id == public_id and task.state == TaskState.SUBMITTED for task in lines):
        return None
    submission = Submission.objects.select_related("task").filter(task__public_id=public_id).latest("version")
    listed = submission.nugget_list
    seconds = active_seconds(submission.task, submission.version)
    return Done(
        stage=submission.task.stage,
        nuggets=listed.items.count() if listed else None,
        labels=submission.labels,
        # Work of seconds shows as a minute: 0 means that no time was measured.
        minutes=max(1, round(seconds / MINUTE)) if seconds else 0,
        next=next((task for task in lines if task.state in ACTIVE), None),
        empty=home.empty,
        campaigns=home.campaigns,
    )
