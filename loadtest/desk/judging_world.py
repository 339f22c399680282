"""The campaign of the judging soak: assessors, and the tasks that each of them has."""

from collections.abc import Sequence

from django.contrib.auth.hashers import make_password

from accounts.models import NOTICE_VERSION, User
from evaluation.models import Campaign, Task
from evaluation.terms import Stage
from loadtest.desk.judged_campaign import Extent, hand_all, make_judging_campaign
from loadtest.desk.world import PASSWORD, Card, Seat

STAGES = (Stage.ASSIGN, Stage.SUPPORT_SCRATCH, Stage.ASSIGN, Stage.SUPPORT_POST_EDIT)
"""What assessors do, by turns: one half assigns, the other judges support, in either condition."""


def make_judging_world(assessors: int, extents: Sequence[Extent]) -> list[Seat]:
    """Make the campaign, with one topic of each extent; every assessor judges all of them, in this order."""
    campaign = make_judging_campaign("judging", extents)
    secret = make_password(PASSWORD)
    return [_seat(campaign, n, secret) for n in range(assessors)]


def _seat(campaign: Campaign, number: int, secret: str) -> Seat:
    user = User.objects.create(username=f"judge{number}", password=secret, notice_version=NOTICE_VERSION)
    made = hand_all(campaign, user, STAGES[number % len(STAGES)])
    pks = dict(Task.objects.filter(assessor=user).values_list("public_id", "pk"))
    return Seat(user.username, user.pk, tuple(Card(task, pks[task], {}, None) for task in made))
