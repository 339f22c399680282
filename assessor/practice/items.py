"""Practice of a person: the items of their campaigns, and those they have answered."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from assessor.models import PracticeAnswer, PracticeItem
from assessor.practice.rules import Offered, check_done, codes_of, items_of_stage
from evaluation.campaigns.access import within
from evaluation.errors import Refused
from evaluation.models import Campaign, Event, Membership, Protocol, Task
from evaluation.stages import STAGES, Stage
from evaluation.tasks.changes import lock_own_task
from evaluation.terms import PracticeKind


@dataclass(frozen=True, slots=True)
class Practice:
    """One person's practice: items by campaign, none where it is switched off, and what was answered."""

    offered: Mapping[int, Sequence[Offered]]
    answered: frozenset[int]

    def items_before(self, task: Task) -> tuple[int, ...]:
        offered = self.offered.get(task.campaign_id, ())
        if task.stage.dealt:
            # A protocol may leave out ties: what is known as one could not be answered.
            codes = task.protocol.labels_of(task.stage).codes
            offered = [item for item in offered if item.label in codes]
        return items_of_stage(task.stage, offered)

    def left(self, task: Task) -> tuple[int, ...]:
        return tuple(item for item in self.items_before(task) if item not in self.answered)


def practice_of(user: User, campaigns: Iterable[int]) -> Practice:
    newest = Protocol.objects.filter(campaign__in=set(campaigns)).order_by("version")
    is_on = dict(newest.values_list("campaign", "practice"))
    offered = offered_in([campaign for campaign, practice in is_on.items() if practice])
    answers = PracticeAnswer.objects.filter(user=user, item__campaign__in=offered)
    return Practice(offered, frozenset(answers.values_list("item", flat=True)))


def offered_in(campaigns: Sequence[int]) -> dict[int, list[Offered]]:
    offered: dict[int, list[Offered]] = {campaign: [] for campaign in campaigns}
    rows = PracticeItem.objects.current().filter(campaign__in=campaigns)
    for campaign, pk, kind, label, shown_label in rows.values_list(
        "campaign", "pk", "kind", "label", "shown_label"
    ):
        offered[campaign].append(Offered(pk, PracticeKind(kind), shown_label is not None, label))
    return offered


def answer_practice(*, task: str, user: User, item: str, label: str) -> PracticeItem:
    """Answer an item that a task's stage asks for, and return it. The first answer counts; a second changes nothing.

    Raises `NoSuchTask`; `Refused` for an item that is not asked here, or a word that is no label of it.
    """
    with transaction.atomic():
        locked = lock_own_task(task, user)
        # First the campaign, then its items: an import takes them in this order.
        Campaign.objects.select_for_update().get(pk=locked.campaign_id)
        pks = practice_of(user, [locked.campaign_id]).items_before(locked)
        # Locked, so that an import does not replace an item while it is answered.
        rows = PracticeItem.objects.select_for_update().current().filter(pk__in=pks)
        row = next((row for row in rows if row.public_id == item), None)
        if row is None:
            raise Refused("no_such_item", "This is not part of the practice any more. Go on with the next item.")
        code = codes_of(PracticeKind(row.kind)).get(label)
        if code is None:
            raise Refused("no_label", "This is not a label of the item.")
        # A second click or window must not replace a first answer by a better-informed one.
        _, is_new = PracticeAnswer.objects.get_or_create(
            item=row, user=user, defaults={"label": code, "given_at": timezone.now()}
        )
        if is_new:
            # Without the label: events are exported, and what was practised counts nowhere.
            payload = {"item": row.public_id, "kind": row.kind}
            Event.objects.create(campaign=locked.campaign, kind="practice.answered", actor=user, payload=payload)
        return row


def check_practised(task: Task, user: User) -> None:
    check_done(len(practice_of(user, [task.campaign_id]).left(task)))


def switch_practice(*, campaign: Campaign, on: bool, actor: User) -> None:
    """Ask for practice from now on, or no more, as a new protocol version; what is so already stays as it is."""
    with transaction.atomic():
        protocol = Campaign.objects.select_for_update().get(pk=campaign.pk).protocol
        if protocol.practice is on:
            return
        # A protocol that tasks were handed out under is never changed: they keep what they began with.
        protocol.pk, protocol.version, protocol.practice = None, protocol.version + 1, on
        protocol._state.adding = True
        protocol.reason, protocol.changed_by = f"practice is switched {'on' if on else 'off'}", actor
        protocol.save(force_insert=True)
        payload = {"protocol": {"practice": on}}
        Event.objects.create(campaign=campaign, kind="campaign.changed", actor=actor, payload=payload)


@dataclass(frozen=True, slots=True)
class PracticeSet:
    """Items, each with how many answered it and how many of them as known; and people with their answers.

    A person's answers are (own, known) codes in the order of the items, and when the newest was given.
    """

    stages: tuple[Stage, ...]
    kind: PracticeKind
    items: list[tuple[PracticeItem, int, int]]
    people: list[tuple[User, list[tuple[int, int]], datetime | None]]


def practice_sets_for(viewer: User, campaign: Campaign) -> list[PracticeSet]:
    """Return the practice of each stage that has one; stages that ask for the same items are one."""
    seen = list(within(viewer, campaign).values_list("pk", flat=True))
    offered = offered_in(seen).get(campaign.pk, [])
    stages: dict[tuple[int, ...], list[Stage]] = {}
    for stage in STAGES.values():
        if pks := items_of_stage(stage, offered):
            stages.setdefault(pks, []).append(stage)
    items = {item.pk: item for item in PracticeItem.objects.current().filter(campaign__in=seen)}
    answers = list(PracticeAnswer.objects.filter(item__in=items).select_related("user"))
    people = _people(seen, answers)
    return [_set(tuple(asking), [items[pk] for pk in pks], answers, people) for pks, asking in stages.items()]


def replaced_items_for(viewer: User, campaign: Campaign) -> int:
    return PracticeItem.objects.filter(campaign__in=within(viewer, campaign), stands=False).count()


def _people(campaigns: Sequence[int], answers: Sequence[PracticeAnswer]) -> list[User]:
    """Return the assessors, and who was one and has answered, by name."""
    members = Membership.objects.of_assessors().filter(campaign__in=campaigns).select_related("user")
    people = {member.user for member in members} | {answer.user for answer in answers}
    return sorted(people, key=lambda user: (user.name, user.username))


def _set(
    stages: tuple[Stage, ...],
    items: Sequence[PracticeItem],
    answers: Sequence[PracticeAnswer],
    people: Sequence[User],
) -> PracticeSet:
    answer_of = {(answer.user_id, answer.item_id): answer for answer in answers}
    rows = []
    for item in items:
        labels = [answer_of[user.pk, item.pk].label for user in people if (user.pk, item.pk) in answer_of]
        rows.append((item, len(labels), labels.count(item.label)))
    persons = []
    for user in people:
        own = [(answer_of[user.pk, item.pk], item) for item in items if (user.pk, item.pk) in answer_of]
        last = max((answer.given_at for answer, _ in own), default=None)
        persons.append((user, [(answer.label, item.label) for answer, item in own], last))
    return PracticeSet(stages, PracticeKind(items[0].kind), rows, persons)
