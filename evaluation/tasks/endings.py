"""End of a task that was taken from its assessor: by whom, when and why, as the log has it and they may read it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from evaluation.models import Event, Task
from evaluation.terms import Role


@dataclass(frozen=True, slots=True)
class Ending:
    """`by`: the organizer's name. `role`: it is the role that was taken, not the task."""

    by: str
    at: datetime
    reason: str
    role: bool = False


def endings_of(tasks: Sequence[Task]) -> dict[str, Ending]:
    """Return the newest ending of each task that was withdrawn or given to somebody else, by public id."""
    if not tasks:
        return {}
    events = Event.objects.filter(
        campaign__in={task.campaign_id for task in tasks},
        kind__in=("task.withdrawn", "task.reassigned"),
        payload__task__in=[task.public_id for task in tasks],
    )
    return {event.payload["task"]: _ending(event) for event in events.select_related("actor").order_by("pk")}


def role_taken(task: Task) -> Ending | None:
    """Return how the assessor of a task lost the role in its campaign; None where the log does not tell."""
    events = Event.objects.filter(campaign=task.campaign_id, kind="member.removed")
    mine = events.filter(payload__user=task.assessor_id, payload__role=Role.ASSESSOR)
    event = mine.select_related("actor").order_by("pk").last()
    return _ending(event, role=True) if event else None


def _ending(event: Event, *, role: bool = False) -> Ending:
    by = event.actor.name if event.actor else "An organizer"
    return Ending(by, event.at, str(event.payload.get("reason", "")), role)
