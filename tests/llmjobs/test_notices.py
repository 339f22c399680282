"""What is noted when a job ends, is paused for its budget or waits for too long: once, whoever sees it."""

from datetime import timedelta
from threading import Event as Signal

import pytest
from django.utils import timezone

from jobs import queue, worker
from jobs.health import note_stuck
from jobs.lanes import watchers
from jobs.models import Job, Notice, WorkItem
from llmjobs import job_service
from llmjobs.budget import Budget
from llmjobs.models import LlmJob
from organizer.jobs.mails import send_due
from tests.jobs.test_queue import at_once, claim, end, make_job
from tests.llmjobs.conftest import PointAt
from tests.llmjobs.engine.test_budget import LABELS, start_with
from tests.worlds.llm import make_world, scripted_endpoint, work_until_it_rests

pytestmark = [pytest.mark.postgresql, pytest.mark.usefixtures("transactional_db")]


def notices() -> list[tuple[str, str]]:
    return list(Notice.objects.order_by("pk").values_list("kind", "reason"))


def let_it_wait(job: Job, minutes: float) -> None:
    Job.objects.filter(pk=job.pk).update(waiting_since=timezone.now() - timedelta(minutes=minutes))


def test_two_workers_that_end_the_last_items_tell_once() -> None:
    make_job(8)
    items = claim()
    at_once(lambda number: [end(item) for item in items[number::2]], 2)
    assert Job.objects.get().state == Job.State.DONE
    assert notices() == [("done", "")]


def test_what_is_retried_and_ends_again_is_told_again() -> None:
    job = make_job(1)
    assert end(claim()[0], failed="no reply")
    queue.retry_failed(job)
    assert end(claim()[0])
    assert notices() == [("done", ""), ("done", "")]


def test_two_workers_that_use_up_a_budget_tell_once() -> None:
    job = make_job()
    assert sorted(at_once(lambda _: queue.pause(job.pk, "The budget is used up."), 2)) == [False, True]
    assert notices() == [("paused", "The budget is used up.")]


def test_an_organizers_own_pause_is_no_news() -> None:
    world = make_world()
    job = start_with(world, Budget())
    job_service.pause(LlmJob.objects.get(pk=job.pk), None)
    job_service.cancel(LlmJob.objects.get(pk=job.pk), None)
    assert notices() == []


def test_a_real_job_that_uses_up_its_budget_and_goes_on_tells_both(point_at: PointAt) -> None:
    with scripted_endpoint(lambda _: LABELS) as endpoint:
        point_at(endpoint.base_url)
        job = start_with(make_world(runs=3), Budget(calls=1))
        assert work_until_it_rests(job, workers=2) == Job.State.PAUSED
        assert [kind for kind, _ in notices()] == ["paused"]
        job_service.resume(LlmJob.objects.get(pk=job.pk), None, Budget())
        assert work_until_it_rests(job, workers=2) == Job.State.DONE
    assert [kind for kind, _ in notices()] == ["paused", "done"]


def test_a_job_that_waits_for_too_long_is_told_of_once() -> None:
    job = make_job()
    queue.wait_for([job.pk], "The endpoint is down.")
    note_stuck()
    assert notices() == []
    let_it_wait(job, 20)
    at_once(lambda _: note_stuck(), 3)
    note_stuck()
    assert notices() == [("stuck", "The endpoint is down.")]


def test_another_reason_continues_a_wait_and_progress_ends_it() -> None:
    job = make_job()
    queue.wait_for([job.pk], "The endpoint is down: refused.")
    let_it_wait(job, 20)
    queue.wait_for([job.pk], "The endpoint is down: reset.")
    note_stuck()
    assert notices() == [("stuck", "The endpoint is down: reset.")]
    queue.wait_for([job.pk], "")
    queue.wait_for([job.pk], "Down again.")
    note_stuck()
    let_it_wait(job, 16)
    note_stuck()
    assert notices()[1:] == [("stuck", "Down again.")]


def test_a_job_of_which_items_end_is_not_stuck() -> None:
    job = make_job()
    queue.wait_for([job.pk], "It waits for its turn.")
    let_it_wait(job, 20)
    assert end(claim()[0])
    note_stuck()
    assert notices() == []
    WorkItem.objects.update(ended_at=timezone.now() - timedelta(minutes=16))
    note_stuck()
    assert [kind for kind, _ in notices()] == ["stuck"]


@pytest.mark.parametrize("act", ["pause", "cancel"])
def test_what_does_not_run_is_not_stuck(act: str) -> None:
    job = make_job()
    queue.wait_for([job.pk], "The endpoint is down.")
    let_it_wait(job, 20)
    if act == "pause":
        queue.pause(job.pk)
    else:
        queue.cancel(job)
    note_stuck()
    assert notices() == []


def test_workers_look_repeatedly_and_a_fault_stops_no_other_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stop, looks = Signal(), list[int]()

    def fails() -> None:
        raise ConnectionError

    def looked() -> None:
        looks.append(len(looks))
        if len(looks) == 3:
            stop.set()

    monkeypatch.setattr(worker, "WATCH_EVERY", 0.001)
    monkeypatch.setattr(worker, "stopping", stop)
    monkeypatch.setattr(worker, "note_stuck", fails)
    monkeypatch.setattr(worker, "watchers", lambda: (fails, looked))
    worker.watch()
    assert looks == [0, 1, 2]


def test_mails_about_jobs_are_among_what_workers_look_for() -> None:
    assert send_due in watchers()
