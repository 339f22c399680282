"""A program has an LLM judge: it knows the cost first, waits for the end, and hears why there is none."""

from decimal import Decimal

import pytest

from assay_client import Campaign, Job, JobFailed, JobPaused, NotAllowed, WaitTimeout
from jobs.models import WorkItem
from tests.client.conftest import Library
from tests.client.test_imports import NUGGETS, ROWS, TOPICS
from tests.worlds.llm import work_on

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("simulator")]


@pytest.fixture
def filled(lib: Campaign) -> Campaign:
    lib.imports.topics(TOPICS)
    lib.imports.run(ROWS)
    lib.imports.nuggets(NUGGETS, origin="manual", judge="mara", by="human")
    return lib


def started(lib: Campaign) -> Job:
    return lib.jobs.start("M/A", runs=["heron"], max_money=2.0)


def test_the_cost_is_known_before_anything_is_started(filled: Campaign) -> None:
    estimate = filled.jobs.dry_run("M/A", runs=["heron"], max_money=2.0)
    assert (estimate.items, estimate.cost) == (1, "0")
    assert filled.jobs().count() == 0


def test_a_job_is_waited_for(filled: Campaign) -> None:
    job = started(filled)
    assert Decimal(job.row.max_money or 0) == 2
    work_on()
    assert job.wait(timeout=5, poll=0.01).state == "done"
    assert filled.jobs.get(job.id).row == job.row
    assert filled.scores("M/A")["heron"].judged == 1


def test_a_job_without_a_worker_is_not_waited_for_longer_than_said(filled: Campaign) -> None:
    with pytest.raises(WaitTimeout, match=r"1 queued after 0\.05 s"):
        started(filled).wait(timeout=0.05, poll=0.01)


def test_a_job_that_rests_or_failed_is_no_end(filled: Campaign) -> None:
    job = started(filled)
    with pytest.raises(JobPaused, match=f"job {job.id} is paused"):
        job.pause().wait()
    job.resume(max_requests=5)
    assert (job.state, job.row.max_requests, job.row.max_money) == ("running", 5, None)
    WorkItem.objects.update(state=WorkItem.State.FAILED)
    with pytest.raises(JobFailed, match="1 failed"):
        job.cancel().wait()


def test_work_is_planned_and_handed_out(library: Library, filled: Campaign) -> None:
    filled.imports.qrels(b"t1 0 d1 3\n", source="NIST")
    filled.imports.segments([{"docid": "d1", "segment": "Sand moves."}])
    plan = filled.tasks.plan("manual", topics=["t1"])
    assert filled.tasks().count() == 0
    handed_out = filled.tasks.hand_out("manual", topics=["t1"], expect=plan.key)
    assert [task.id for task in filled.tasks(topic="t1")] == handed_out.tasks
    with pytest.raises(NotAllowed):
        library.api("rita").campaign("library").tasks.plan("manual", topics=["t2"])
