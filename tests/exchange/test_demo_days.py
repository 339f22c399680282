"""Whenever the demo is loaded, it looks as if it had happened in the days before."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from assessor.models import TimeSegment
from evaluation.models import Event, Task
from evaluation.terms import TaskState
from exchange.demo_campaign import load_demo
from exchange.models import Snapshot
from jobs.models import Job


@pytest.mark.django_db
@pytest.mark.parametrize("clock", ["2024-02-29T03:00:00Z", "2031-12-31T23:30:00Z"])
def test_the_demo_happened_lately_whenever_it_is_loaded(clock: str) -> None:
    with time_machine.travel(clock, tick=False):
        assert load_demo()
        now = timezone.now()
        for last in (
            Event.objects.latest("at").at,
            Snapshot.objects.get(name="before-judging").made_at,
            Job.objects.latest("made_at").made_at + timedelta(days=1),
        ):
            assert now - timedelta(days=1) < last <= now
        recorded = TimeSegment.objects.order_by("-ended_at").first()
        assert recorded
        assert now - timedelta(days=3) < recorded.ended_at <= now
        late = Task.objects.filter(due__lt=timezone.localdate()).exclude(state=TaskState.SUBMITTED)
        assert late.count() == 1
        assert not load_demo()
