"""Reminders of tasks past their due date: one a day for each person at most, kept as events of their tasks."""

from collections.abc import Collection, Iterable
from datetime import datetime, time

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign, Event, Task

REMINDED = "task.reminded"


def reminded_today(campaign: Campaign) -> set[int]:
    # The day of the site's zone, as due dates are.
    day = timezone.make_aware(datetime.combine(timezone.localdate(), time()))
    events = Event.objects.filter(campaign=campaign, kind=REMINDED, at__gte=day)
    tasks = list(events.values_list("payload__task", flat=True))
    return set(Task.objects.filter(public_id__in=tasks).values_list("assessor", flat=True))


def remind(*, campaign: Campaign, tasks: Iterable[Task], text: str, actor: User) -> list[Task]:
    """Note a reminder of each task whose assessor had none today, and return these. Raises `Refused` for none."""
    with transaction.atomic():
        Campaign.objects.select_for_update().get(pk=campaign.pk)  # two organizers may remind at once
        done = reminded_today(campaign)
        about = [task for task in tasks if task.assessor_id not in done]
        if not about:
            raise Refused("reminded", "Everybody who is ticked was reminded today.")
        for task in about:
            payload = {"task": task.public_id, "reason": text}
            Event.objects.create(campaign=campaign, kind=REMINDED, actor=actor, payload=payload)
    return about


def reminders_of(tasks: Collection[Task]) -> dict[str, tuple[datetime, str]]:
    """Moment and text of the newest, by the task's public id."""
    events = Event.objects.filter(kind=REMINDED, campaign__in={task.campaign_id for task in tasks})
    newest = events.filter(payload__task__in=[task.public_id for task in tasks]).order_by("pk")
    return {event.payload["task"]: (event.at, event.payload["reason"]) for event in newest}
