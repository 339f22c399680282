"""Claiming, leases and ends of work items: what several workers can rely on."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from threading import Barrier
from typing import Any, TypeVar

import pytest
from celery import current_app
from django.db import connections, transaction
from django.utils import timezone

from jobs import lanes, queue
from jobs.lanes import Lane
from jobs.models import Job, Worker, WorkItem
from jobs.queue import NewItem
from jobs.worker import run_lane, worker_name
from tests.worlds.llm import states_of

pytestmark = [pytest.mark.postgresql, pytest.mark.usefixtures("transactional_db")]
KIND = "test"
Result = TypeVar("Result")


def make_job(items: int = 3, kind: str = KIND) -> Job:
    job = Job.objects.create(kind=kind, title="a test")
    queue.add_items(job, [NewItem(f"item {n}", "thing", {"n": n}) for n in range(items)])
    return job


def claim(holder: str = "w", limit: int = 100) -> list[WorkItem]:
    return queue.claim(holder, limit, kind=KIND)


def let_leases_run_out() -> None:
    WorkItem.objects.filter(state="leased").update(lease_until=timezone.now() - timedelta(seconds=1))


def at_once(act: Callable[[int], Result], times: int) -> list[Result]:
    """Do it in several threads at the same moment, each with a database connection of its own."""
    barrier = Barrier(times)

    def act_with_others(number: int) -> Result:
        try:
            barrier.wait()
            return act(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(act_with_others, range(times)))


def end(item: WorkItem, failed: str = "") -> bool:
    with transaction.atomic():
        queue.lock_jobs([item.job_id])
        held = queue.end(item, failed=failed)
        queue.finish_jobs([item.job_id])
    return held


def test_no_item_is_claimed_twice() -> None:
    make_job(60)

    def claim_all(number: int) -> list[int]:
        mine: list[int] = []
        while items := claim(f"w{number}", 4):
            mine += [item.pk for item in items]
        return mine

    shares = at_once(claim_all, 4)
    claimed = [pk for share in shares for pk in share]
    assert len(claimed) == len(set(claimed)) == 60
    assert set(WorkItem.objects.values_list("attempt", flat=True)) == {1}


def test_items_are_claimed_in_order_and_at_most_as_many_as_asked_for() -> None:
    make_job(5)
    assert [item.payload["n"] for item in claim(limit=3)] == [0, 1, 2]
    assert [item.payload["n"] for item in claim(limit=3)] == [3, 4]


def test_items_of_other_kinds_and_of_jobs_left_alone_are_not_claimed() -> None:
    make_job(1, kind="export")
    job = make_job(1)
    assert queue.claim("w", 9, kind=KIND, besides=[job.pk]) == []
    assert [item.job_id for item in claim()] == [job.pk]


def test_an_item_is_added_once() -> None:
    job = make_job(2)
    queue.add_items(job, [NewItem("item 1", "thing", {"n": 99}), NewItem("item 2", "thing", {"n": 2})])
    assert list(job.items.order_by("pk").values_list("payload__n", flat=True)) == [0, 1, 2]


def test_a_lease_that_ran_out_gives_the_item_to_another() -> None:
    make_job(1)
    (first,) = claim("dead")
    assert (claim("other"), queue.anything_due(KIND)) == ([], False)
    let_leases_run_out()
    assert queue.anything_due(KIND)
    (second,) = claim("other")
    assert (second.pk, second.attempt) == (first.pk, 2)


def test_a_renewed_lease_does_not_run_out() -> None:
    make_job(2)
    claim("w", 1)
    claim("dead", 1)
    let_leases_run_out()
    queue.renew("w")
    assert [item.payload["n"] for item in claim("other")] == [1]
    assert queue.is_alive("w")
    assert not queue.is_alive("dead")
    assert queue.live_workers() == 1


def test_a_late_twin_changes_nothing() -> None:
    job = make_job(1)
    (first,) = claim("slow")
    let_leases_run_out()
    (second,) = claim("quick")
    assert not end(first, failed="too late")
    assert states_of(job) == {"leased": 1}
    assert end(second)
    assert not end(second, failed="twice")
    assert (job.items.get().state, job.items.get().reason) == ("done", "")


def test_a_job_is_done_when_nothing_is_left() -> None:
    job = make_job(2)
    first, second = claim()
    end(first)
    job.refresh_from_db()
    assert (job.state, job.ended_at) == (Job.State.RUNNING, None)
    end(second, failed="for a reason")
    job.refresh_from_db()
    assert job.state == Job.State.DONE
    assert job.ended_at is not None
    progress = queue.progress_of(job)
    assert (progress.total, progress.done, progress.failed, progress.ended) == (2, 1, 1, 2)


def test_a_job_whose_last_items_end_at_once_is_done() -> None:
    """Each of two transactions sees the other's item still leased, unless one waits for the other."""
    for _ in range(5):
        job = make_job(4)
        items = claim()
        assert at_once(lambda number, items=items: end(items[number]), 4) == [True] * 4  # type: ignore[misc]
        job.refresh_from_db()
        assert job.state == Job.State.DONE


def test_a_cancelled_job_gives_out_nothing_and_takes_nothing_in() -> None:
    job = make_job(3)
    done, held = claim(limit=2)
    end(done)
    assert queue.cancel(job) == 2
    assert not end(held)
    assert (claim(), queue.anything_due(KIND)) == ([], False)
    assert states_of(job) == {"done": 1, "cancelled": 2}
    job.refresh_from_db()
    assert job.state == Job.State.CANCELLED


def test_cancelling_amid_claims_and_ends_leaves_nothing_open() -> None:
    job = make_job(40)

    def act(number: int) -> None:
        if number == 0:
            queue.cancel(job)
        elif number == 1:
            queue.renew("w3")
            queue.hand_back("w3")
        else:
            for item in claim(f"w{number}", 10):
                end(item)

    at_once(act, 5)
    assert set(states_of(job)) <= {"done", "cancelled"}


def test_failed_items_are_retried_as_new_replicates() -> None:
    job = make_job(2)
    first, second = claim()
    end(first)
    end(second, failed="for a reason")
    assert queue.retry_failed(job) == 1
    job.refresh_from_db()
    assert (job.state, job.ended_at) == (Job.State.RUNNING, None)
    (retry,) = claim()
    assert (retry.pk, retry.attempt, retry.payload, retry.reason) == (second.pk, 2, {"n": 1, "replicate": 1}, "")
    end(retry)
    job.refresh_from_db()
    assert job.state == Job.State.DONE
    assert queue.retry_failed(job) == 0
    job.refresh_from_db()
    assert job.state == Job.State.DONE


def test_what_is_handed_back_is_due_at_once() -> None:
    make_job(3)
    claim("w", 2)
    claim("other", 1)
    queue.hand_back("w")
    assert len(claim("next")) == 2


def test_what_is_postponed_is_due_later() -> None:
    make_job(1)
    (item,) = claim()
    queue.postpone([item], seconds=60)
    assert (claim(), queue.anything_due(KIND)) == ([], False)
    WorkItem.objects.update(not_before=timezone.now())
    assert len(claim()) == 1


def test_a_worker_that_left_is_not_alive() -> None:
    queue.renew("w")
    queue.leave("w")
    assert not queue.is_alive("w")
    assert not Worker.objects.exists()


def test_a_worker_never_has_the_name_of_one_before_it() -> None:
    """In a container host and process id are the same each time, and leases are renewed by name."""
    first = worker_name()
    worker_name.cache_clear()
    assert worker_name() != first


def test_a_second_wake_up_does_not_work_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    lane = Lane(KIND, lambda worker, _stopping: ran.append(worker))
    monkeypatch.setitem(lanes._lanes, KIND, lane)
    with lane.at_work:
        run_lane(KIND)
    assert ran == []
    run_lane(KIND)
    assert ran == [worker_name()]


def test_a_wake_up_during_the_last_look_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """It meets the lock of a runner that has already found nothing: the runner looks once more."""
    looks: list[int] = []

    def runner(_worker: str, _stopping: object) -> None:
        looks.append(len(looks))
        if len(looks) == 1:
            run_lane(KIND)

    monkeypatch.setitem(lanes._lanes, KIND, Lane(KIND, runner))
    run_lane(KIND)
    assert looks == [0, 1]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[str]:
    """Lanes named by messages to a broker, which is another one than the memory of the process."""
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    names: list[str] = []
    monkeypatch.setattr(queue, "send_wake_up", names.append)
    return names


def test_a_message_goes_out_once_the_job_is_committed(sent: list[str]) -> None:
    with transaction.atomic():
        job = make_job()
        assert sent == []
    assert sent == [KIND]
    queue.pause(job.pk, "a rest")
    queue.resume(job.pk)
    assert sent == [KIND] * 2
    WorkItem.objects.update(state="failed")
    queue.retry_failed(job)
    assert sent == [KIND] * 3


def test_a_job_that_is_rolled_back_sends_nothing(sent: list[str]) -> None:
    with suppress(RuntimeError), transaction.atomic():
        make_job()
        raise RuntimeError
    assert sent == []


def test_without_a_broker_nothing_is_sent(sent: list[str], settings: Any) -> None:
    settings.CELERY_BROKER_URL = "memory://"
    make_job()
    assert sent == []


def test_a_dead_broker_costs_a_line_in_the_log_and_no_request(
    settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.CELERY_BROKER_URL = current_app.conf.broker_url = "redis://127.0.0.1:1/0"
    try:
        make_job()
    finally:
        current_app.conf.broker_url = "memory://"
    assert WorkItem.objects.count() == 3
    assert "broker takes no wake-up" in caplog.text


def test_a_runner_that_fails_leaves_the_worker_free(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_worker: str, _stopping: object) -> None:
        raise RuntimeError("boom")

    lane = Lane(KIND, fail)
    monkeypatch.setitem(lanes._lanes, KIND, lane)
    with pytest.raises(RuntimeError):
        run_lane(KIND)
    assert not lane.at_work.locked()


def test_lanes_of_one_worker_do_not_hand_back_each_others_items() -> None:
    make_job(2)
    claim("w", 1)
    claim(queue.holder_in("w", "data"), 1)
    queue.hand_back("w")
    assert states_of(Job.objects.get()) == {"leased": 1, "queued": 1}
    WorkItem.objects.filter(state="leased").update(lease_until=timezone.now())
    queue.renew("w")
    assert len(claim("other")) == 1


def test_jobs_of_one_priority_share_what_a_worker_takes() -> None:
    large, small = make_job(50), make_job(3)
    taken = [item.job_id for item in claim(limit=10)]
    assert (taken.count(large.pk), taken.count(small.pk)) == (7, 3)


def test_a_job_of_higher_priority_comes_first() -> None:
    ordinary, urgent = make_job(50), make_job(3)
    Job.objects.filter(pk=urgent.pk).update(priority=1)
    taken = [item.job_id for item in claim(limit=10)]
    assert taken == [urgent.pk] * 3 + [ordinary.pk] * 7


def test_a_paused_job_is_not_claimed_until_it_is_resumed() -> None:
    job = make_job(2)
    held = claim(limit=1)
    assert queue.pause(job.pk, "Paused by Olga.")
    assert not queue.pause(job.pk, "again")
    assert claim() == []
    assert end(held[0])
    assert states_of(job) == {"done": 1, "queued": 1}
    assert queue.resume(job.pk)
    assert not queue.resume(job.pk)
    assert len(claim()) == 1


def test_a_paused_job_of_which_all_is_done_is_done() -> None:
    job = make_job(1)
    held = claim()
    queue.pause(job.pk, "Paused by Olga.")
    assert end(held[0])
    job.refresh_from_db()
    assert (job.state, job.waiting_for) == (Job.State.DONE, "")


def test_a_paused_job_can_be_cancelled() -> None:
    job = make_job(2)
    queue.pause(job.pk)
    assert queue.cancel(job) == 2
    job.refresh_from_db()
    assert job.state == Job.State.CANCELLED
