"""A judge's later submission wins; the earlier one stays as it was given."""

import pytest
from django.utils import timezone

from evaluation.domain.conditions import resolve
from evaluation.labelling import touch
from evaluation.labels import AssignmentLabel
from evaluation.models import Assignment, Campaign
from evaluation.terms import Condition
from exchange.demo_campaign import SLUG
from reports.frames import assignment_sheet
from tests.worlds.demo import make_demo

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("numbers", [(2,), (2, 7), (300, 2)])
def test_the_latest_submission_is_the_one_that_counts(numbers: tuple[int, ...]) -> None:
    make_demo()
    campaign = Campaign.objects.get(slug=SLUG)
    choice = resolve(campaign, Condition.MM)
    before = assignment_sheet(choice)
    labels = Assignment.objects.filter(nugget_version__nugget__nugget_set__in=choice.nugget_sets)
    first = labels.filter(judge__in=choice.judges, label=AssignmentLabel.SUPPORT).earliest("pk")
    for number in numbers:
        label = AssignmentLabel.NOT_SUPPORT if number == max(numbers) else AssignmentLabel.PARTIAL_SUPPORT
        Assignment.objects.create(
            judge=first.judge,
            answer=first.answer,
            nugget_version=first.nugget_version,
            submission=number,
            label=label,
            given_at=timezone.now(),
        )
    touch(campaign.pk)
    after = assignment_sheet(choice)
    changed = before.labels != after.labels
    assert (before.labels[changed].tolist(), after.labels[changed].tolist()) == ([2], [0])
