"""Giving many tasks to somebody else at once. The preview is the act itself, taken back, so it cannot differ."""

from collections.abc import Collection

from django.db import transaction

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign, Task
from evaluation.services.handing_out import reassign
from evaluation.services.task_acts import ChangeReceipt, Left, check_reason
from evaluation.terms import TaskState


def plan_reassigning(
    *, campaign: Campaign, tasks: Collection[str], assessor: str, reason: str, actor: User
) -> ChangeReceipt:
    """Return which of these tasks somebody else would get, and which not and why; nothing is written."""
    with transaction.atomic():
        receipt = _reassigned(campaign, tasks, assessor, reason, actor)
        transaction.set_rollback(True)
        return receipt


def reassign_many(
    *, campaign: Campaign, tasks: Collection[str], assessor: str, reason: str, actor: User
) -> ChangeReceipt:
    """Give each task that allows it to somebody else, each with its events. Raises `Refused` if none allows it."""
    with transaction.atomic():
        receipt = _reassigned(campaign, tasks, assessor, reason, actor)
        if not receipt.changed:
            raise Refused("nothing_to_change", " ".join(dict.fromkeys(one.reason for one in receipt.left)))
        return receipt


def _reassigned(
    campaign: Campaign, tasks: Collection[str], assessor: str, reason: str, actor: User
) -> ChangeReceipt:
    check_reason(reason)
    if not assessor:
        raise Refused("nobody", "Choose to whom the tasks are given.")
    changed, left = [], []
    for task in _tasks(campaign, tasks):
        if task.state == TaskState.SUBMITTED:
            left.append(_left(task, "This task is submitted: reopen or withdraw it by itself."))
            continue
        try:
            with transaction.atomic():
                reassign(campaign=campaign, task=task.public_id, assessor=assessor, reason=reason, actor=actor)
            changed.append(task.public_id)
        except Refused as refused:
            left.append(_left(task, refused.message))
    return ChangeReceipt(tuple(changed), tuple(left))


def _tasks(campaign: Campaign, public_ids: Collection[str]) -> list[Task]:
    rows = Task.objects.filter(campaign=campaign, public_id__in=public_ids).select_related("topic", "assessor")
    found = list(rows.order_by("pk"))
    if not found or len(found) != len(set(public_ids)):
        raise Refused("no_such_task", "Choose tasks of this campaign, at least one.")
    return found


def _left(task: Task, reason: str) -> Left:
    return Left(task.public_id, task.topic.topic_id, task.assessor.name, reason)
