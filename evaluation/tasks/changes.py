"""Changes to tasks that are handed out: block, unblock, withdraw, reopen, set another due date.

The same acts serve one task and many: each task that allows the act is changed, with one event; the others are named
with the reason. Nothing is written when none allows it.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from evaluation.campaigns.people import lock_assessor
from evaluation.errors import NoSuchTask, Refused
from evaluation.labelling import touch
from evaluation.models import Campaign, Event, Judge, NuggetList, Remark, Task
from evaluation.rules.tasks import Act, check_act, check_reopen, check_withdrawal, state_after
from evaluation.tasks.asking import asking_of
from evaluation.tasks.pooling import add_new_answers
from evaluation.tasks.turning import facts_of, turn
from evaluation.terms import RemarkKind, TaskState
from web.text import plural, trimmed

LONGEST_REASON = 2000


class Change(StrEnum):
    """What an organizer can do to several tasks at once."""

    REOPEN = "reopen"
    BLOCK = "block"
    UNBLOCK = "unblock"
    WITHDRAW = "withdraw"
    RESCHEDULE = "reschedule"

    @property
    def done(self) -> str:
        return f"task.{PAST[self]}"

    @property
    def needs_reason(self) -> bool:
        # The assessor reads the reason, or the log keeps it.
        return self in (Change.REOPEN, Change.BLOCK, Change.WITHDRAW)


PAST = {
    Change.REOPEN: "reopened",
    Change.BLOCK: "blocked",
    Change.UNBLOCK: "unblocked",
    Change.WITHDRAW: "withdrawn",
    Change.RESCHEDULE: "rescheduled",
}


@dataclass(frozen=True, slots=True)
class TaskChange:
    """A change of some tasks, by public id.

    `due`, `priority` and `drops_due`, which takes the due date away, are for a reschedule; None stays as it is.
    """

    change: Change
    tasks: tuple[str, ...]
    reason: str = ""
    due: date | None = None
    priority: int | None = None
    drops_due: bool = False


@dataclass(frozen=True, slots=True)
class UnchangedTask:
    task: str
    topic_id: str
    assessor: str
    reason: str

    @classmethod
    def of(cls, task: Task, reason: str) -> "UnchangedTask":
        return cls(task.public_id, task.topic.topic_id, task.assessor.name, reason)


@dataclass(frozen=True, slots=True)
class ChangeReceipt:
    """The tasks that are changed, or would be, by public id; those that are not; what the change takes away."""

    changed: tuple[str, ...]
    left: tuple[UnchangedTask, ...] = ()
    takes_away: tuple[str, ...] = ()


def plan_change(campaign: Campaign, order: TaskChange) -> ChangeReceipt:
    """Return the effect of a change, and write nothing. Raises `Refused` for tasks that are not there."""
    _check_says_something(order)
    return _parted(tasks_named(campaign, order.tasks), order)


def change_tasks(*, campaign: Campaign, order: TaskChange, actor: User) -> ChangeReceipt:
    """Change each task that allows it. Raises `Refused` without a reason where one is needed, and if none allows it."""
    if order.change.needs_reason:
        check_reason(order.reason)
    _check_says_something(order)
    with transaction.atomic():
        # Locked before the rules are checked: an assessor may submit between the preview and this.
        tasks = tasks_named(campaign, order.tasks, lock=True)
        receipt = _parted(tasks, order)
        refuse_if_nothing_changed(receipt)
        # Several tasks are one act: those that are refused are named, and the rest goes on.
        for task in tasks:
            if task.public_id in receipt.changed:
                _carry_out(task, order, actor)
        return receipt


def refuse_if_nothing_changed(receipt: ChangeReceipt) -> None:
    if not receipt.changed:
        raise Refused("nothing_to_change", " ".join(dict.fromkeys(task.reason for task in receipt.left)))


def lock_task(campaign: Campaign, public_id: str) -> Task:
    """Return a task that is not withdrawn, locked. Raises `Refused`."""
    # Locked before its state is checked, or a submission could come in between.
    [task] = tasks_named(campaign, [public_id], lock=True)
    check_act(Act.WITHDRAW, TaskState(task.state))
    return task


def lock_own_task(task: str, user: User) -> Task:
    """Return a task that its assessor may open, locked until the transaction ends. Raises `NoSuchTask`."""
    row = (
        # The task's row alone: PostgreSQL cannot lock rows of joins that may be empty.
        Task.objects.select_for_update(of=("self",))
        .select_related("campaign", "topic", "protocol", "nugget_set", "drafts")
        .filter(pk__in=Task.objects.open_for(user), public_id=task)
        .first()
    )
    # The same answer for a task of somebody else as for none, so that nobody learns that it exists.
    if row is None:
        raise NoSuchTask
    return row


def lock_any_task(campaign: Campaign, public_id: str) -> Task:
    """Return a task, locked, in whatever state it is. Raises `Refused` for a task that is not there."""
    return tasks_named(campaign, [public_id], lock=True)[0]


def check_reason(reason: str) -> None:
    if not trimmed(reason):
        raise Refused("no_reason", "Say why: the reason is recorded.")
    # A reason goes into the log, where it can never be shortened.
    if len(reason) > LONGEST_REASON:
        raise Refused("long_reason", f"A reason has at most {LONGEST_REASON} characters.")


def withdraw_task(task: Task) -> None:
    """Take a task from its assessor. Its lists and labels are kept and do not count any more. Inside a transaction.

    Raises `Refused` for a list that somebody assigns.
    """
    check_withdrawal(_assigning([task]).get(_list_key(task), []))
    task.state = state_after(Act.WITHDRAW, facts_of(task))
    task.save(update_fields=["state"])
    lists = NuggetList.objects.filter(pk__in=task.submissions.values("nugget_list")).update(submitted=False)
    # Reports are kept by revision, so it rises only where something stopped counting.
    if lists + _take_back_labels(task):
        touch(task.campaign_id)


def undo_hand_out(*, campaign: Campaign, task: str, actor: User) -> Task:
    """Withdraw a task that was handed out by one click; return it. Raises `Refused` once its assessor has opened it."""
    with transaction.atomic():
        row = lock_task(campaign, task)
        if row.opened_at:
            what = f"{row.topic.topic_id}, {row.stage.words}"
            raise Refused("begun", f"{row.assessor.name} has begun {what}, so it stays handed out.")
        _carry_out(row, TaskChange(Change.WITHDRAW, (task,), "Handed out and undone before it was begun."), actor)
        return row


def _take_back_labels(task: Task) -> int:
    """Withdraw the labels of a task; return their number. Labels that were only imported stay as they are."""
    # Without a submission here the judge's labels came from a file, which a withdrawal must not undo.
    if not task.stage.judges or not task.submissions.exists():
        return 0
    # A person has a judge of their own for each study; the other labels of theirs stay.
    judge = Judge.objects.filter(user=task.assessor_id, study=task.study_id)
    asking = asking_of(task.stage)
    count = asking.labels_of(task).current().filter(judge__in=judge).update(stands=False)
    asking.settle(task, judge)
    return count


def tasks_named(campaign: Campaign, public_ids: Collection[str], *, lock: bool = False) -> list[Task]:
    """Return a campaign's tasks by public id. Raises `Refused` unless all of them are there."""
    rows = Task.objects.select_for_update(of=("self",)) if lock else Task.objects.all()
    rows = rows.select_related("topic", "assessor", "campaign")
    tasks = list(rows.filter(campaign=campaign, public_id__in=public_ids))
    if not tasks or len(tasks) != len(set(public_ids)):
        raise Refused("no_such_task", "Choose tasks of this campaign, at least one.")
    return tasks


def _parted(tasks: Sequence[Task], order: TaskChange) -> ChangeReceipt:
    seen, assigning = _handed_drafts(tasks), _assigning(tasks)
    changed, left = list[Task](), []
    for task in tasks:
        try:
            _check(task, order, seen, assigning)
        except Refused as refused:
            left.append(UnchangedTask.of(task, refused.message))
        else:
            changed.append(task)
    return ChangeReceipt(
        tuple(task.public_id for task in changed), tuple(left), tuple(_taken_away(changed, order))
    )


def _taken_away(tasks: Sequence[Task], order: TaskChange) -> Iterator[str]:
    """Yield in words what is lost by a change, for whoever previews it."""
    if order.change is Change.RESCHEDULE:
        dated = [task.due for task in tasks if task.due and task.due != order.due]
        if dated and order.drops_due:
            yield f"Takes the due date of {len(dated):,} {plural(len(dated), 'task')} away."
        elif dated and order.due:
            yield f"Replaces the due date of {len(dated):,} {plural(len(dated), 'task')}."
        ranked = [task for task in tasks if task.priority and order.priority not in (None, task.priority)]
        if ranked:
            yield f"Replaces the priority of {len(ranked):,} {plural(len(ranked), 'task')}."
    elif order.change is Change.WITHDRAW:
        submitted = sum(task.state == TaskState.SUBMITTED for task in tasks)
        if submitted:
            yield f"Takes the submitted work of {submitted:,} {plural(submitted, 'task')} out of every report."


def _check_says_something(order: TaskChange) -> None:
    """Raise `Refused` for a reschedule that sets nothing, or a date that it takes away too."""
    if order.change is not Change.RESCHEDULE:
        return
    if order.due is None and order.priority is None and not order.drops_due:
        raise Refused("nothing_set", "Set a due date or a priority: what is left empty stays as it is.")
    if order.due and order.drops_due:
        raise Refused("two_orders", "Set a due date or take it away, not both.")


Assigning = dict[tuple[int | None, int], list[str]]
"""Names of those who assign a list, by nugget set and topic."""


def _check(task: Task, order: TaskChange, seen: set[tuple[int, int]], assigning: Assigning) -> None:
    if order.change is Change.RESCHEDULE:
        if task.state in (TaskState.SUBMITTED, TaskState.WITHDRAWN):
            raise Refused("cannot_reschedule", f"This task is {task.state}: only open work has a due date.")
        return
    check_act(Act(order.change), TaskState(task.state))
    # An assessor who has seen the drafts of a topic cannot write its list unaided any more.
    if order.change is Change.REOPEN:
        check_reopen(task.stage, seen_drafts=(task.topic_id, task.assessor_id) in seen)
    if order.change is Change.WITHDRAW:
        check_withdrawal(assigning.get(_list_key(task), []))


def _assigning(tasks: Sequence[Task]) -> Assigning:
    making = [task for task in tasks if not task.stage.judges]
    rows = (
        Task.objects.by_list()
        .filter(
            nugget_set__in={task.nugget_set_id for task in making},
            topic__in={task.topic_id for task in making},
        )
        .not_withdrawn()
    )
    assigning: Assigning = {}
    for row in rows.select_related("assessor"):
        assigning.setdefault((row.nugget_set_id, row.topic_id), []).append(row.assessor.name)
    return assigning


def _list_key(task: Task) -> tuple[int | None, int]:
    """Return the set and topic of the list that a task makes; without a set where it makes none."""
    return (None if task.stage.judges else task.nugget_set_id), task.topic_id


def _handed_drafts(tasks: Sequence[Task]) -> set[tuple[int, int]]:
    edits = Task.objects.filter(topic__in={task.topic_id for task in tasks}, drafts__isnull=False)
    return set(edits.values_list("topic_id", "assessor_id"))


def _carry_out(task: Task, order: TaskChange, actor: User) -> None:
    reason = trimmed(order.reason)
    payload: dict[str, object] = {"task": task.public_id, "topic": task.topic.topic_id, "before": task.state}
    if order.change is Change.RESCHEDULE:
        payload["was"] = task.due.isoformat() if task.due else None
        task.due = None if order.drops_due else order.due or task.due
        task.priority = task.priority if order.priority is None else order.priority
        payload |= {"due": task.due.isoformat() if task.due else None, "priority": task.priority}
        task.save(update_fields=["due", "priority"])
    elif order.change is Change.WITHDRAW:
        withdraw_task(task)
        _let_another_count(task, actor)
    else:
        turn(task, Act(order.change), reason)
        if order.change is Change.REOPEN and not asking_of(task.stage).reopens:
            # Nothing that came since was added while it was submitted.
            add_new_answers(task)
    if reason:
        payload["reason"] = reason
    payload["version"] = task.version
    Event.objects.create(campaign=task.campaign, kind=order.change.done, actor=actor, payload=payload)
    if order.change is Change.REOPEN:
        _answer_requests(task, reason, actor)


def _let_another_count(task: Task, actor: User) -> None:
    """Let the second opinion that was handed out first count where the work that counted was withdrawn."""
    # Battles that nobody has are handed out again.
    if task.second_opinion or task.stage.dealt:
        return
    others = Task.objects.filter(topic=task.topic_id, stage=task.stage, study=None, second_opinion=True)
    if task.stage.by_list:
        others = others.filter(nugget_set=task.nugget_set_id)
    heir = others.not_withdrawn().order_by("pk").first()
    # Else the topic would have no score, although somebody has judged it.
    if heir:
        heir.second_opinion = False
        heir.save(update_fields=["second_opinion"])
        touch(task.campaign_id)
        payload = {"task": heir.public_id, "topic": task.topic.topic_id, "instead": task.public_id}
        Event.objects.create(campaign=task.campaign, kind="task.counts", actor=actor, payload=payload)


def _answer_requests(task: Task, reason: str, actor: User) -> None:
    """Reopening answers the requests for it, so that they leave the inbox."""
    open_requests = Remark.objects.filter(task=task, kind=RemarkKind.REOPEN, answered_at=None)
    open_requests.update(answered_at=timezone.now(), answered_by=actor, answer=f"Reopened: {reason}")


def pause(*, campaign: Campaign, username: str, paused: bool, actor: User) -> User:
    """Pause an assessor, or let them go on; return them. The same again changes nothing. Raises `Refused`."""
    with transaction.atomic():
        locked, member = lock_assessor(campaign, username)
        if bool(member.paused_at) != paused:
            member.paused_at = timezone.now() if paused else None
            member.save(update_fields=["paused_at"])
            kind = "member.paused" if paused else "member.resumed"
            Event.objects.create(campaign=locked, kind=kind, actor=actor, payload={"user": member.user_id})
        return member.user
