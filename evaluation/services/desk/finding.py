"""Finding a task: only its own assessor finds it, and what is not theirs answers as what does not exist."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from uuid import UUID

from django.db import connection
from django.utils import timezone

from accounts.models import User
from evaluation.errors import NoSuchTask
from evaluation.models import Desk, Operation, Task
from evaluation.terms import PageState, Stage, TaskState

LEASE = timedelta(seconds=29)
"""A window in view sends a heartbeat every 15 s. After this silence another is ready to write within 30 s."""

REMEMBERED = 200
"""Operations that a window may have under way at most, several times over."""

OPEN_STATES = (TaskState.IN_PROGRESS, TaskState.REOPENED)
OPENED_STATES = (*OPEN_STATES, TaskState.SUBMITTED, TaskState.BLOCKED)


# Written out, because an assessor waits for it at each key: building it anew from a queryset took a third of a save.
_PLACE = """
SELECT task.id, task.campaign_id, task.state, task.version, desk.holder,
       COALESCE((SELECT MAX(seq) FROM evaluation_operation WHERE task_id = task.id), 0),
       task.stage, task.topic_id, task.nugget_set_id, task.machine_id, protocol.first_citations,
       task.study_id
FROM evaluation_desk desk JOIN evaluation_task task ON task.id = desk.task_id
     JOIN evaluation_protocol protocol ON protocol.id = task.protocol_id
WHERE task.public_id = %s AND task.assessor_id = %s AND EXISTS (
    SELECT 1 FROM evaluation_membership member
    WHERE member.campaign_id = task.campaign_id AND member.user_id = task.assessor_id AND member.role = 'assessor'
)
"""


@dataclass(slots=True)
class Place:
    """What an operation needs to know of its desk. `seq` is the number of the newest operation, 0 before the first.

    `machine`: the judge whose labels are shown; `first_citations`: how many of a sentence are judged, None: all.
    `study`: the study to whose pairs the desk keeps.
    """

    task: int
    campaign: int
    state: str
    version: int
    holder: str
    seq: int
    stage: str
    topic: int
    nugget_set: int | None
    machine: int | None
    first_citations: int | None
    study: int | None

    @property
    def is_open(self) -> bool:
        """Whether the list can be changed."""
        return self.state in OPEN_STATES

    @property
    def judges(self) -> bool:
        """Whether answers are judged here, rather than nuggets made."""
        return Stage(self.stage).judges


def lock_place(task: str, user: User) -> Place:
    """Return a task's desk; task and desk are locked until the transaction ends. Raises `NoSuchTask`."""
    lock = "FOR UPDATE OF desk, task" if connection.features.has_select_for_update_of else ""
    with connection.cursor() as cursor:
        cursor.execute(_PLACE + lock, [task, user.pk])
        found = cursor.fetchone()
    place = Place(*found) if found else None
    if place is None or place.state not in OPENED_STATES:
        raise NoSuchTask
    return place


def place_of(task: Task, holder: str = "", seq: int = 0) -> Place:
    """Return the place of a task that was read with its protocol, for reading."""
    return Place(
        task=task.pk,
        campaign=task.campaign_id,
        state=task.state,
        version=task.version,
        holder=holder,
        seq=seq,
        stage=task.stage,
        topic=task.topic_id,
        nugget_set=task.nugget_set_id,
        machine=task.machine_id,
        first_citations=task.protocol.first_citations,
        study=task.study_id,
    )


def seq_of(task: Task) -> int:
    """Return the number of a task's newest operation; 0 before the first."""
    return Operation.objects.filter(task=task).order_by("-seq").values_list("seq", flat=True).first() or 0


def newest_operations(task: Task) -> list[UUID]:
    """Return the ids of a task's newest operations: a window that lost a receipt finds what arrived all the same."""
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
    desk = (
        # The task too: who waited for a submit must not go on with the task as it was before.
        Desk.objects.select_for_update(of=("self", "task"))
        .select_related("task")
        .filter(task__in=Task.objects.open_for(user), task__public_id=task)
        .first()
    )
    if desk is None:
        raise NoSuchTask
    return desk
