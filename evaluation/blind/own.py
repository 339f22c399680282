"""An assessor's own tasks, for the programs that they write themselves. No word more than their first page shows."""

from dataclasses import dataclass
from datetime import date

from accounts.models import User
from evaluation.models import Task
from evaluation.terms import TaskState


@dataclass(frozen=True, slots=True)
class OwnTask:
    """One task, as whoever has it may know it. `campaign` is its slug, `topic` the question."""

    public_id: str
    campaign: str
    topic: str
    stage: str
    state: str
    version: int
    due: date | None
    blocked_reason: str
    reopened_reason: str


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
