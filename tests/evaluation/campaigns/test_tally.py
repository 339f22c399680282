"""The count of a campaign's labels is made once a revision, for all processes; so are the intervals of a report."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from evaluation.campaigns import contents
from evaluation.campaigns.contents import TallyCell, tally_of
from evaluation.domain.conditions import resolve
from evaluation.models import Assignment, Campaign
from evaluation.terms import Condition
from reports.agreement import figures
from reports.metrics.bootstrap import intervals
from reports.metrics.intervals import Interval
from reports.metrics.policies import Policies
from tests.worlds.campaign import make_world

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("transactional_db"),
    pytest.mark.postgresql,
]


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    contents._tally.cache_clear()
    yield make_world(tmp_path).campaign
    contents._tally.cache_clear()


def in_a_new_process(campaign: Campaign) -> tuple[tuple[TallyCell, ...], int]:
    """What a process that remembers nothing is told, and how often it read labels for it."""
    contents._tally.cache_clear()
    with CaptureQueriesContext(connection) as captured:
        tally = tally_of(Campaign.objects.get(pk=campaign.pk))
    return tally, sum("evaluation_assignment" in query["sql"] for query in captured)


def test_a_second_process_reads_no_label(campaign: Campaign) -> None:
    first, reads = in_a_new_process(campaign)
    assert sum(cell.number for cell in first) == Assignment.objects.count()
    assert reads > 0
    assert in_a_new_process(campaign) == (first, 0)


def test_another_revision_is_counted_anew(campaign: Campaign) -> None:
    first, _ = in_a_new_process(campaign)
    Assignment.objects.filter(pk=Assignment.objects.earliest("pk").pk).update(stands=False)
    Campaign.objects.filter(pk=campaign.pk).update(revision=F("revision") + 1)
    second, reads = in_a_new_process(campaign)
    assert reads > 0
    assert sum(cell.number for cell in second) == sum(cell.number for cell in first) - 1
    assert in_a_new_process(campaign) == (second, 0)


def test_what_a_transaction_counts_is_kept_for_nobody(campaign: Campaign) -> None:
    with transaction.atomic():
        Campaign.objects.filter(pk=campaign.pk).update(revision=F("revision") + 1)
        Assignment.objects.update(stands=False)
        assert in_a_new_process(campaign)[0] == ()
        transaction.set_rollback(True)
    Campaign.objects.filter(pk=campaign.pk).update(revision=F("revision") + 1)
    tally, reads = in_a_new_process(campaign)
    assert (sum(cell.number for cell in tally), reads > 0) == (Assignment.objects.count(), True)


def test_a_second_process_resamples_no_topic(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    resampled = []

    def counted(*args: Any, **options: Any) -> dict[str, Interval]:
        resampled.append(args)
        return intervals(*args, **options)

    monkeypatch.setattr(figures, "intervals", counted)
    choice = resolve(campaign, Condition.AA)
    request = figures.AgreementRequest(campaign, choice, choice, "vital", Policies())
    first, second = (figures.correlate(request) for _ in range(2))
    assert first.intervals == second.intervals
    assert len(resampled) == 1
    figures.correlate(request, resamples=10)
    assert len(resampled) == 2


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="only SQLite has one lock for all writes")
def test_a_long_write_keeps_nobody_waiting(campaign: Campaign) -> None:
    writer = connections.create_connection("default")
    try:
        with writer.cursor() as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            started = time.perf_counter()
            tally, _ = in_a_new_process(campaign)
            waited = time.perf_counter() - started
            cursor.execute("ROLLBACK")
    finally:
        writer.close()
    assert tally
    assert waited < 5
