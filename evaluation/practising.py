"""What somebody is asked to practise: the items of their campaigns, and which of them they have answered."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from accounts.models import User
from evaluation.models import PracticeAnswer, PracticeItem, Protocol, Task
from evaluation.rules.practice import Offered, asked
from evaluation.terms import PracticeKind, Stage


@dataclass(frozen=True, slots=True)
class Practice:
    """One person's practice: items by campaign, none where it is switched off, and what was answered."""

    offered: Mapping[int, Sequence[Offered]]
    answered: frozenset[int]

    def asked(self, task: Task) -> tuple[int, ...]:
        """Return the items that a task's stage asks for."""
        return asked(Stage(task.stage), self.offered.get(task.campaign_id, ()))

    def left(self, task: Task) -> tuple[int, ...]:
        """Return those of them that are not answered yet."""
        return tuple(one for one in self.asked(task) if one not in self.answered)


def practice_of(user: User, campaigns: Iterable[int]) -> Practice:
    """Return somebody's practice in some campaigns, in three queries."""
    newest = Protocol.objects.filter(campaign__in=set(campaigns)).order_by("version")
    is_on = dict(newest.values_list("campaign", "practice"))
    offered = offered_in([campaign for campaign, practice in is_on.items() if practice])
    answers = PracticeAnswer.objects.filter(user=user, item__campaign__in=offered)
    return Practice(offered, frozenset(answers.values_list("item", flat=True)))


def offered_in(campaigns: Sequence[int]) -> dict[int, list[Offered]]:
    """Return the items that stand, by campaign, in their order."""
    offered: dict[int, list[Offered]] = {campaign: [] for campaign in campaigns}
    rows = PracticeItem.objects.current().filter(campaign__in=campaigns)
    for campaign, pk, kind, shown in rows.values_list("campaign", "pk", "kind", "shown_label"):
        offered[campaign].append(Offered(pk, PracticeKind(kind), shown is not None))
    return offered
