"""Opening a task: its desk is laid, with the drafts as undecided rows where there are drafts to post-edit."""

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Desk, Event, ListedNugget, Task, WorkingNugget
from evaluation.services.practice import check_practised
from evaluation.services.task_acts import lock_own_task
from evaluation.terms import Making, TaskState
from evaluation.workload import missing_machine_labels


def open_desk(*, task: str, user: User) -> None:
    """Start a task; opened again it stays as it is. Raises `NoSuchTask`, or `Refused`: blocked, practice first."""
    with transaction.atomic():
        found = lock_own_task(task, user)
        if found.state == TaskState.BLOCKED:
            raise Refused("blocked", found.blocked_reason or "This task is blocked.")
        if found.state != TaskState.NOT_STARTED:
            return
        check_practised(found, user)
        check_ready(found)
        found.state, found.opened_at = TaskState.IN_PROGRESS, timezone.now()
        found.save(update_fields=["state", "opened_at"])
        Desk.objects.create(task=found)
        WorkingNugget.objects.bulk_create(_proposed_rows(found))
        Event.objects.create(
            campaign=found.campaign, kind="task.opened", actor=user, payload={"task": found.public_id}
        )


def check_ready(task: Task) -> None:
    """Raise `Refused` while a task waits for machine labels that its condition shows."""
    if missing := missing_machine_labels(task):
        raise Refused(
            "waiting",
            "1 label that this task shows is not there yet. It can be started when it is."
            if missing == 1
            else f"{missing} labels that this task shows are not there yet. It can be started when they are.",
        )


def _proposed_rows(task: Task) -> list[WorkingNugget]:
    if task.drafts is None:
        return []
    listed = ListedNugget.objects.filter(nugget_list=task.drafts).select_related("nugget_version")
    return [
        WorkingNugget(
            task=task,
            key=f"d{one.position + 1}",
            position=one.position + 1,
            number=one.position + 1,
            importance=one.importance,
            draft_importance=one.importance,
            text=one.nugget_version.text,
            making=Making.PROPOSED,
            draft=one.nugget_version,
        )
        for one in listed
    ]
