"""Practising: an answer is given once and stands; and a stage's tasks wait until its practice is done."""

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign, Event, PracticeAnswer, PracticeItem, Task
from evaluation.practising import practice_of
from evaluation.rules.practice import check_done, codes_of
from evaluation.services.task_acts import lock_own_task
from evaluation.terms import PracticeKind


def answer_practice(*, task: str, user: User, item: str, label: str) -> None:
    """Answer an item that a task's stage asks for. The first answer stands; another one changes nothing.

    Raises `NoSuchTask`; `Refused` for an item that is not asked here, or a word that is no label of it.
    """
    with transaction.atomic():
        found = lock_own_task(task, user)
        # First the campaign, then its items: an import takes them in this order.
        Campaign.objects.select_for_update().get(pk=found.campaign_id)
        asked = practice_of(user, [found.campaign_id]).asked(found)
        # Locked, so that an import does not replace an item while it is answered.
        rows = PracticeItem.objects.select_for_update().current().filter(pk__in=asked)
        row = next((one for one in rows if one.public_id == item), None)
        if row is None:
            raise Refused("no_such_item", "This is not part of the practice any more. Go on with the next item.")
        code = codes_of(PracticeKind(row.kind)).get(label)
        if code is None:
            raise Refused("no_label", "Choose a label first.")
        _, made = PracticeAnswer.objects.get_or_create(
            item=row, user=user, defaults={"label": code, "given_at": timezone.now()}
        )
        if made:
            # Without the label: events are exported, and what was practised counts nowhere.
            payload = {"item": row.public_id, "kind": row.kind}
            Event.objects.create(campaign=found.campaign, kind="practice.answered", actor=user, payload=payload)


def check_practised(task: Task, user: User) -> None:
    """Raise `Refused` while an assessor has items left to practise before a task."""
    check_done(len(practice_of(user, [task.campaign_id]).left(task)))


def switch_practice(*, campaign: Campaign, on: bool, actor: User) -> None:
    """Ask for practice from now on, or no more, as a new protocol version; what is so already stays as it is."""
    with transaction.atomic():
        protocol = Campaign.objects.select_for_update().get(pk=campaign.pk).protocol
        if protocol.practice is on:
            return
        protocol.pk, protocol.version, protocol.practice = None, protocol.version + 1, on
        protocol._state.adding = True
        protocol.reason, protocol.changed_by = f"practice is switched {'on' if on else 'off'}", actor
        protocol.save(force_insert=True)
        payload = {"protocol": {"practice": on}}
        Event.objects.create(campaign=campaign, kind="campaign.changed", actor=actor, payload=payload)
