"""Remarks of assessors, the organizers' answers, and reminders of late tasks. Other assessors never see any of it.

A person gets one reminder a day at most; reminders are kept as events of their tasks. From the log too comes how a task
ended that was taken from its assessor.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, time

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign, Event, Remark, Task
from evaluation.models.fields import new_public_id
from evaluation.tasks.changes import lock_own_task
from evaluation.terms import RemarkKind, Role, TaskState
from web.text import trimmed

LONGEST_TEXT = 5000
LONGEST_ABOUT = 200
LONGEST_ID = 36  # a UUID of the page: a remark that is sent again is stored once


@dataclass(frozen=True, slots=True)
class RemarkReceipt:
    public_id: str
    kind: str
    at: datetime


def remark(
    *, task: str, user: User, kind: RemarkKind, about: str = "", text: str = "", public_id: str = ""
) -> RemarkReceipt:
    """Store an assessor's remark on their task; the same `public_id` again returns its receipt and stores nothing.

    `about`: the nugget or passage meant, as the screen names it. A flag asks for help and changes no state: the
    organizer blocks. Raises `NoSuchTask`; `Refused` for an empty text, and for a request to reopen what is not
    submitted.
    """
    with transaction.atomic():
        row = lock_own_task(task, user)
        there = Remark.objects.filter(public_id=public_id).first() if public_id else None
        if there is None:
            _check(row, kind, about, text, public_id)
            there = Remark.objects.create(
                task=row,
                kind=kind,
                about=trimmed(about),
                text=trimmed(text),
                public_id=public_id or new_public_id(),
            )
            _note("remark.made", there, user, {"kind": kind, "about": there.about, "text": there.text})
        # Ids are made by browsers, so another's remark may have it: it must not be shown here.
        elif there.task_id != row.pk:
            raise Refused("id_taken", "Send this again: its id is in use.")
        return RemarkReceipt(there.public_id, there.kind, there.at)


def answer_remark(*, campaign: Campaign, remark: str, answer: str, actor: User) -> RemarkReceipt:
    """Answer a remark; its assessor reads the answer. An empty answer marks it as seen. Raises `Refused`."""
    if len(answer) > LONGEST_TEXT:
        raise Refused("long_text", f"An answer has at most {LONGEST_TEXT} characters.")
    with transaction.atomic():
        rows = Remark.objects.select_for_update(of=("self",)).select_related("task__campaign")
        row = rows.filter(task__campaign=campaign, public_id=remark).first()
        if row is None:
            raise Refused("no_such_remark", "There is no such remark in this campaign.")
        if row.answered_at:
            raise Refused("answered", "This remark is answered already.")
        row.answered_at, row.answered_by, row.answer = timezone.now(), actor, trimmed(answer)
        row.save(update_fields=["answered_at", "answered_by", "answer"])
        _note("remark.answered", row, actor, {"answer": row.answer})
        return RemarkReceipt(row.public_id, row.kind, row.at)


def _check(task: Task, kind: RemarkKind, about: str, text: str, public_id: str) -> None:
    if kind is RemarkKind.REOPEN and task.state != TaskState.SUBMITTED:
        raise Refused("not_submitted", "Only submitted work can be reopened; this can still be changed.")
    if not trimmed(text):
        raise Refused("empty_text", "Write what the organizers should know.")
    if len(text) > LONGEST_TEXT or len(about) > LONGEST_ABOUT or len(public_id) > LONGEST_ID:
        raise Refused("long_text", f"This is too long; a text has at most {LONGEST_TEXT} characters.")


def _note(kind: str, about: Remark, actor: User, details: dict[str, str]) -> None:
    payload = {"task": about.task.public_id, "remark": about.public_id, **details}
    Event.objects.create(campaign=about.task.campaign, kind=kind, actor=actor, payload=payload)


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
        if not trimmed(text):
            raise Refused("empty_text", "Write what the reminder says.")
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
