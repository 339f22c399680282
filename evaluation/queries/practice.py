"""Practice for organizers: how each assessor answered beside what is known, and which items mislead."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from accounts.models import User
from evaluation.models import Campaign, Membership, PracticeAnswer, PracticeItem
from evaluation.practising import offered_in
from evaluation.queries.campaigns import within
from evaluation.rules.practice import KINDS, asked
from evaluation.terms import PracticeKind, Role, Stage


@dataclass(frozen=True, slots=True)
class ItemRow:
    """One item: how many answered it, and how many of them as known."""

    number: int
    question: str
    statement: str
    known: int
    shown: int | None
    answered: int
    right: int


@dataclass(frozen=True, slots=True)
class PersonRow:
    """One assessor's answers: (own, known) codes in the order of the items. `last`: when the newest was given."""

    username: str
    name: str
    given: tuple[tuple[int, int], ...]
    last: datetime | None


@dataclass(frozen=True, slots=True)
class PracticeSet:
    """The items that some stages ask for, and who has answered them."""

    stages: tuple[Stage, ...]
    kind: PracticeKind
    items: tuple[ItemRow, ...]
    people: tuple[PersonRow, ...]


def practice_sets_for(viewer: User, campaign: Campaign) -> list[PracticeSet]:
    """Return the practice of each stage that has one; stages that ask for the same items stand together."""
    seen = list(within(viewer, campaign).values_list("pk", flat=True))
    offered = offered_in(seen).get(campaign.pk, [])
    stages: dict[tuple[int, ...], list[Stage]] = {}
    for stage in Stage:
        if pks := asked(stage, offered):
            stages.setdefault(pks, []).append(stage)
    items = {one.pk: one for one in PracticeItem.objects.current().filter(campaign__in=seen)}
    answers = list(PracticeAnswer.objects.filter(item__in=items).select_related("user"))
    people = _people(seen, answers)
    return [_set(tuple(named), [items[pk] for pk in pks], answers, people) for pks, named in stages.items()]


def replaced_items_for(viewer: User, campaign: Campaign) -> int:
    """Count the items that were replaced after somebody had answered them."""
    return PracticeItem.objects.filter(campaign__in=within(viewer, campaign), stands=False).count()


def _people(campaigns: Sequence[int], answers: Sequence[PracticeAnswer]) -> list[User]:
    """Return the assessors, and who was one and has answered, by name."""
    members = Membership.objects.filter(campaign__in=campaigns, role=Role.ASSESSOR).select_related("user")
    found = {user.pk: user for user in (*(one.user for one in members), *(one.user for one in answers))}
    return sorted(found.values(), key=lambda user: (user.name, user.username))


def _set(
    stages: tuple[Stage, ...],
    items: Sequence[PracticeItem],
    answers: Sequence[PracticeAnswer],
    people: Sequence[User],
) -> PracticeSet:
    given = {(one.user_id, one.item_id): one for one in answers}
    rows = tuple(_item(number, one, people, given) for number, one in enumerate(items, start=1))
    return PracticeSet(stages, KINDS[stages[0]], rows, tuple(_rows(items, people, given)))


def _item(
    number: int, item: PracticeItem, people: Sequence[User], given: Mapping[tuple[int, int], PracticeAnswer]
) -> ItemRow:
    labels = [given[user.pk, item.pk].label for user in people if (user.pk, item.pk) in given]
    right = labels.count(item.label)
    return ItemRow(number, item.question, item.statement, item.label, item.shown_label, len(labels), right)


def _rows(
    items: Sequence[PracticeItem], people: Sequence[User], given: Mapping[tuple[int, int], PracticeAnswer]
) -> Iterator[PersonRow]:
    for user in people:
        own = [(given[user.pk, item.pk], item) for item in items if (user.pk, item.pk) in given]
        pairs = tuple((answer.label, item.label) for answer, item in own)
        last = max((answer.given_at for answer, _ in own), default=None)
        yield PersonRow(user.username, user.name, pairs, last)
