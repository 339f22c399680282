"""The card after a submission: how much was done, and the next task of the assessor's own list."""

from dataclasses import dataclass

from accounts.models import User
from evaluation.blind.tasks import EmptyCampaign, TaskLine, home_for
from evaluation.models import Submission
from evaluation.rules.work import ACTIVE
from evaluation.services.timekeeping import active_seconds
from evaluation.terms import TaskState

MINUTE = 60


@dataclass(frozen=True, slots=True)
class Done:
    """A submission's size and time. `next` is the first task of the list that can be worked on; None: `empty` says why.

    `nuggets`: None where answers are judged. `minutes`: 0 where no time was measured.
    """

    stage: str
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
    return Done(
        stage=submission.task.stage,
        nuggets=listed.items.count() if listed else None,
        labels=submission.labels,
        minutes=_minutes(submission),
        next=next((task for task in lines if task.state in ACTIVE), None),
        empty=home.empty,
        campaigns=home.campaigns,
    )


def _minutes(submission: Submission) -> int:
    seconds = active_seconds(submission.task, submission.version)
    return max(1, round(seconds / MINUTE)) if seconds else 0
