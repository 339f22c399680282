"""Finding a task: only its own assessor finds it, and what is not theirs answers as what does not exist."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.utils import timezone

from accounts.models import User
from assessor.models import Desk, Operation, WorkingNugget
from assessor.practice.items import check_practised
from assessor.rules.undo import NOTED, Undoable, UndoEntry, stacks
from evaluation.domain.counted_pairs import counted_citations
from evaluation.errors import NoSuchTask, Refused
from evaluation.models import Event, ListedNugget, SupportJudgment, Task, TaskAnswer
from evaluation.stages import Stage, stage_of
from evaluation.tasks.changes import lock_own_task
from evaluation.terms import Making, PageState, SupportCondition, TaskState
from web.text import plural

LEASE = timedelta(seconds=29)
"""A window in view sends a heartbeat every 15 s. After this silence another is ready to write within 30 s."""

REMEMBERED = 200
"""Operations that a window may have under way at most, several times over."""

OPEN_STATES = (TaskState.IN_PROGRESS, TaskState.REOPENED)
OPENED_STATES = (*OPEN_STATES, TaskState.SUBMITTED, TaskState.BLOCKED)

# Written out, because an assessor waits for it at each key: building it anew from a queryset took a third of a save.
_CONTEXT = """
SELECT task.id, task.campaign_id, task.state, task.version, desk.holder,
       COALESCE((SELECT MAX(seq) FROM assessor_operation WHERE task_id = task.id), 0),
       task.stage, task.topic_id, task.nugget_set_id, task.judge_id, protocol.first_citations,
       task.study_id, protocol.relevance_max, protocol.grade_words, protocol.battle_ties, protocol.battle_both_bad,
       protocol.battle_refuse
FROM assessor_desk desk JOIN evaluation_task task ON task.id = desk.task_id
     JOIN evaluation_protocol protocol ON protocol.id = task.protocol_id
WHERE task.public_id = %s AND task.assessor_id = %s AND EXISTS (
    SELECT 1 FROM evaluation_membership member
    WHERE member.campaign_id = task.campaign_id AND member.user_id = task.assessor_id AND member.role = 'assessor'
)
"""


@dataclass(slots=True)
class DeskContext:
    """Desk of an operation, read under its lock. `seq`: number of the newest operation, 0 before the first.

    `judge`: the judge whose labels are shown; `first_citations`: how many of a sentence are judged, None: all.
    `study`: the study to whose pairs the desk keeps. The last ones say which labels may be given.
    """

    task: int
    campaign: int
    state: str
    version: int
    holder: str
    seq: int
    stage: Stage
    topic: int
    nugget_set: int | None
    judge: int | None
    first_citations: int | None
    study: int | None
    relevance_max: int
    grade_words: str
    battle_ties: bool
    battle_both_bad: bool
    battle_refuse: bool

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_STATES

    @property
    def judges(self) -> bool:
        return self.stage.judges


def lock_desk_context(task: str, user: User) -> DeskContext:
    """Return a task's desk; task and desk are locked until the transaction ends. Raises `NoSuchTask`."""
    # SQLite has no row locks: its transactions take the write lock at their beginning.
    lock = "FOR UPDATE OF desk, task" if connection.features.has_select_for_update_of else ""
    with connection.cursor() as cursor:
        cursor.execute(_CONTEXT + lock, [task, user.pk])
        row = cursor.fetchone()
    context = DeskContext(*row) if row else None
    # A stranger, a wrong id and a task never opened answer alike, so that nobody learns what exists.
    if context is None or context.state not in OPENED_STATES:
        raise NoSuchTask
    context.stage = stage_of(context.stage)
    return context


def context_of(task: Task) -> DeskContext:
    """Return a task's desk as reads need it, without a lock: nobody holds it, and no operation has a number."""
    return DeskContext(
        task=task.pk,
        campaign=task.campaign_id,
        state=task.state,
        version=task.version,
        holder="",
        seq=0,
        stage=task.stage,
        topic=task.topic_id,
        nugget_set=task.nugget_set_id,
        judge=task.judge_id,
        first_citations=task.protocol.first_citations,
        study=task.study_id,
        relevance_max=task.protocol.relevance_max,
        grade_words=task.protocol.grade_words,
        battle_ties=task.protocol.battle_ties,
        battle_both_bad=task.protocol.battle_both_bad,
        battle_refuse=task.protocol.battle_refuse,
    )


def seq_of(task: Task) -> int:
    return Operation.objects.filter(task=task).order_by("-seq").values_list("seq", flat=True).first() or 0


def newest_operations(task: Task) -> list[UUID]:
    """Return the ids of a task's newest operations: a window that lost a receipt finds what arrived all the same."""
    # A page that loads again must not show an operation of its outbox on rows that have it already.
    newest = Operation.objects.filter(task=task).order_by("-seq")
    return list(newest.values_list("op_id", flat=True)[:REMEMBERED])


def free_in(desk: Desk) -> int | None:
    """Return the seconds until any window may take a desk over unaided; None: not before somebody asks for it.

    A window whose page is hidden sends no heartbeats and may still be at work, so its silence means nothing.
    """
    if desk.holder == "" or desk.held_at is None:
        return 0
    if desk.holder_page == PageState.HIDDEN:
        return None
    silent = timezone.now() - desk.held_at
    return max(0, ceil((LEASE - silent).total_seconds()))


def holder_age(held_at: datetime | None) -> int:
    """Return the whole seconds since the holder of a desk was last heard of."""
    return int((timezone.now() - held_at).total_seconds()) if held_at else 0


def lock_desk(task: str, user: User) -> Desk:
    """Return the desk of an opened task, locked until the transaction ends. Raises `NoSuchTask`."""
    # The task too: who waited for a submit must not go on with the task as it was before.
    desks = Desk.objects.select_for_update(of=("self", "task")).select_related("task")
    desk = desks.filter(task__in=Task.objects.open_for(user), task__public_id=task).first()
    if desk is None:
        raise NoSuchTask
    return desk


@dataclass(frozen=True, slots=True)
class Holding:
    """Holder of the desk as a window sees it, the seconds since it was last heard of, and `free_in`."""

    holder: str
    holder_age_s: int
    free_in_s: int | None


def hold(*, task: str, user: User, window: str, take: bool) -> Holding:
    """Let a window hold a desk: when nobody does, when the holder fell silent, or when it insists (`take`)."""
    with transaction.atomic():
        desk = lock_desk(task, user)
        if take or desk.holder == window or free_in(desk) == 0:
            # From here on operations of the window that held it are answered `moved`, and it stops writing.
            desk.holder, desk.held_at, desk.holder_page = window, timezone.now(), PageState.VISIBLE
            desk.save(update_fields=["holder", "held_at", "holder_page"])
            return Holding("mine", 0, None)
        return Holding("other", holder_age(desk.held_at), free_in(desk))


def release(*, task: str, user: User, window: str) -> Holding:
    """Let go of a desk, as a window does that closes. Another window's hold stays."""
    with transaction.atomic():
        desk = lock_desk(task, user)
        # A closing window's last request may come after another window took the desk over.
        if desk.holder == window:
            desk.holder = ""
            desk.save(update_fields=["holder"])
        return Holding("free" if desk.holder == "" else "other", holder_age(desk.held_at), free_in(desk))


def open_desk(*, task: str, user: User) -> None:
    """Start a task; opened again it stays as it is. Raises `NoSuchTask`, or `Refused`: blocked, practice first."""
    with transaction.atomic():
        row = lock_own_task(task, user)
        if row.state == TaskState.BLOCKED:
            raise Refused("blocked", row.blocked_reason or "This task is blocked.")
        # Two tabs open a task at once: the second must not make a second desk or move the start.
        if row.state != TaskState.NOT_STARTED:
            return
        # Checked here, because an address can be opened without the page that offers it.
        check_practised(row, user)
        if missing := pairs_without_llm_label([row]).get(row.pk, 0):
            raise Refused(
                "waiting",
                f"{missing} {plural(missing, 'label that this task shows is', 'labels that this task shows are')} "
                f"not there yet. It can be started when {plural(missing, 'it is', 'they are')}.",
            )
        row.state, row.opened_at = TaskState.IN_PROGRESS, timezone.now()
        row.save(update_fields=["state", "opened_at"])
        Desk.objects.create(task=row)
        # Copied at the opening: drafts that are replaced later must not change a list under somebody's hands.
        WorkingNugget.objects.bulk_create(_proposed_rows(row))
        Event.objects.create(
            campaign=row.campaign, kind="task.opened", actor=user, payload={"task": row.public_id}
        )


def pairs_without_llm_label(tasks: Sequence[Task]) -> dict[int, int]:
    """A query for each machine and protocol. A failed label is there: the screen says that the machine gave none."""
    aided = [task for task in tasks if task.stage.shows_label]
    gaps: dict[int, int] = defaultdict(int)
    for judge, first in {(task.judge_id, task.protocol.first_citations) for task in aided}:
        mine = [task.pk for task in aided if (task.judge_id, task.protocol.first_citations) == (judge, first)]
        answers = TaskAnswer.objects.filter(task__in=mine, same_as=None).order_by()
        lacking = _without_label(first, judge).filter(sentence__answer__in=answers.values("answer"))
        by_answer = dict(lacking.order_by().values_list("sentence__answer").annotate(Count("pk")))
        for pk, answer in answers.filter(answer__in=by_answer).values_list("task", "answer"):
            gaps[pk] += by_answer[answer]
    return dict(gaps)


def _without_label(first: int | None, judge: int | None) -> QuerySet[Any]:
    labels = SupportJudgment.objects.current().filter(judge=judge, condition=SupportCondition.LLM)
    there = labels.filter(sentence=OuterRef("sentence"), segment=OuterRef("segment"))
    return counted_citations(first).exclude(Exists(there))


def _proposed_rows(task: Task) -> list[WorkingNugget]:
    if task.drafts is None:
        return []
    listed = ListedNugget.objects.filter(nugget_list=task.drafts).select_related("nugget_version")
    return [
        WorkingNugget(
            task=task,
            key=f"d{nugget.position + 1}",
            position=nugget.position + 1,
            number=nugget.position + 1,
            importance=nugget.importance,
            draft_importance=nugget.importance,
            weight=nugget.weight,
            group=nugget.group,
            text=nugget.nugget_version.text,
            making=Making.PROPOSED,
            # Lineage of the submitted nugget starts here, whatever its text becomes.
            draft=nugget.nugget_version,
        )
        for nugget in listed
    ]


@dataclass(frozen=True, slots=True)
class Acted:
    """The rows that an operation changed, by key, as they were and as they are. Empty: it changed none."""

    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stale:
    """Rows that are not as the window saw them, as they are."""

    rows: dict[str, Any]


def log_of(task: int, submission: int) -> list[UndoEntry]:
    # Undo stops at a submission: what was submitted stays as it was.
    rows = Operation.objects.filter(task=task, submission=submission).exclude(kind__in=NOTED)
    return [
        UndoEntry(str(step), kind, payload.get("target", ""), before, after)
        for step, kind, payload, before, after in rows.values_list("step", "kind", "payload", "before", "after")
    ]


def wanted_rows(context: DeskContext, kind: str, target: str) -> dict[str, Any]:
    """Return the rows as an undo or redo wants them. Raises `Refused` unless it is about the newest step."""
    undo, redo = stacks(log_of(context.task, context.version))
    stack: list[Undoable] = undo if kind == "undo" else redo
    # A second window may have gone on meanwhile: undoing an older step would take newer work with it.
    if not stack or stack[-1].step != target:
        newer = "There is something newer to undo." if kind == "undo" else "There is something newer to redo."
        raise Refused("not_newest", newer)
    return stack[-1].before if kind == "undo" else stack[-1].after
