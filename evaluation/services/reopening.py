"""Reopening submitted lists, one or many.

Version 1 stays as it was submitted. The rows at the desk continue as they were, which is the copy that version 2
starts from; what is done and timed from now on counts to version 2.
"""

from collections.abc import Sequence

from accounts.models import User
from evaluation.models import Campaign
from evaluation.services.task_acts import Change, ChangeReceipt, Wish, change_tasks, plan_change


def plan_reopening(campaign: Campaign, tasks: Sequence[str]) -> ChangeReceipt:
    """Return which of these tasks would be reopened, and which not and why."""
    return plan_change(campaign, Wish(Change.REOPEN, tuple(tasks)))


def reopen(*, campaign: Campaign, tasks: Sequence[str], reason: str, actor: User) -> ChangeReceipt:
    """Reopen the tasks that are submitted, each with one event that carries the reason. Raises `Refused`."""
    wish = Wish(Change.REOPEN, tuple(tasks), reason)
    return change_tasks(campaign=campaign, wish=wish, actor=actor)
