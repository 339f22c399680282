"""Endpoints that fail, jobs that are cancelled, workers that stop, a database that hiccups: nothing lost or doubled."""

import time
from threading import Event as Signal
from typing import Any

import pytest
from django.db import OperationalError
from pytest_django.fixtures import Settings

from evaluation.judges import add_judge
from evaluation.labelling import touch
from evaluation.models import AnswerProvenance, Assignment, Sentence
from evaluation.terms import Condition, JudgeKind
from jobs import queue
from jobs.models import Job, WorkItem
from llmjobs.client import CallRefusal, default_endpoint
from llmjobs.engine import calls as engine_calls
from llmjobs.engine import outcomes as engine_outcomes
from llmjobs.engine.loop import Engine, run
from llmjobs.engine.send import MOST_ATTEMPTS, Circuit, Sending
from llmjobs.job_service import JobRequest, plan_evaluation, start
from llmjobs.models import Attempt, Call
from llmjobs.simulator.server import FAILURES
from loadtest.servers.simulator import LoggedSimulator, running_simulator
from tests.llmjobs.conftest import PointAt
from tests.worlds.llm import (
    World,
    assert_calls_are_sound,
    in_thread,
    make_world,
    repeated_requests,
    start_assigning,
    states_of,
    wait_until,
    work_on,
)

pytestmark = pytest.mark.usefixtures("transactional_db", "_quick_retries")


def work_beside(worker: str, stopping: Signal) -> Any:
    def work() -> None:
        while not stopping.is_set() and WorkItem.objects.filter(state__in=["queued", "leased"]).exists():
            run(worker, stopping)
            time.sleep(0.05)

    return in_thread(work)


def test_faults_lose_and_double_nothing(simulator: LoggedSimulator) -> None:
    simulator.chooser.switch({"fail_rate": 0.1, "malformed_rate": 0.1, "latency_ms": 5})
    world = make_world(topics=4, runs=15, nuggets=4)
    job = start_assigning(world)
    work_on(concurrency=8)
    assert sum(states_of(job).values()) == states_of(job)["done"] == 60
    assert Assignment.objects.count() == 240
    assert repeated_requests(simulator.log.served()) == []
    assert_calls_are_sound()
    served = simulator.log.served()
    assert {entry.fault for entry in served} & set(FAILURES)
    assert Attempt.objects.count() == len(served)
    assert not Attempt.objects.filter(ended_at=None).exists()


@pytest.mark.parametrize("down", ["503", "close"])
def test_a_dead_endpoint_makes_the_job_wait_and_fails_nothing(simulator: LoggedSimulator, down: str) -> None:
    simulator.chooser.switch({"down": down})
    job = start_assigning(make_world(runs=8))
    stopping = Signal()
    with work_beside("w", stopping):
        wait_until(lambda: "does not answer" in Job.objects.get(pk=job.pk).waiting_for)
        time.sleep(0.5)
        assert states_of(job) == {"leased": 8}
        assert Assignment.objects.count() == 0
        simulator.chooser.switch({"down": ""})
        wait_until(lambda: Job.objects.get(pk=job.pk).state == Job.State.DONE)
    job.refresh_from_db()
    assert (job.waiting_for, states_of(job)) == ("", {"done": 8})
    assert Assignment.objects.count() == 24


def test_a_dead_endpoint_keeps_no_other_judge_from_its_work(
    simulator: LoggedSimulator, point_at: PointAt, settings: Settings
) -> None:
    settings.LLM_ALLOWED_HOSTS = [simulator.base_url.removeprefix("http://").removesuffix("/v1")]
    world = make_world(topics=1, runs=80)
    point_at("http://127.0.0.1:9/v1")
    dead = start_assigning(world)
    other = add_judge(name="other", kind=JudgeKind.LLM, model="m", base_url=simulator.base_url)[0]
    request = JobRequest(world.campaign, other)
    plan = plan_evaluation(request, Condition.AA, nuggets=f"auto-{world.judge.name}")
    alive = start(request, "alive", plan)
    stopping = Signal()
    with work_beside("w", stopping):
        try:
            wait_until(lambda: Job.objects.get(pk=alive.pk).state == Job.State.DONE)
            dead.refresh_from_db()
            assert "127.0.0.1:9" in dead.waiting_for
        finally:
            stopping.set()
    assert states_of(alive) == {"done": 80}
    assert states_of(dead) == {"queued": 80}


def test_a_reason_that_a_dead_worker_left_goes_away(simulator: LoggedSimulator) -> None:
    simulator.chooser.switch({"latency_ms": 300})
    job = start_assigning(make_world(runs=1))
    queue.wait_for([job.pk], "left behind")
    stopping = Signal()
    with work_beside("w", stopping):
        wait_until(lambda: not Job.objects.get(pk=job.pk).waiting_for)
        assert states_of(job) == {"leased": 1}


def test_a_call_that_alone_is_refused_ends_failed(simulator: LoggedSimulator) -> None:
    """Its server errors speak for no endpoint."""
    simulator.chooser.switch({"rates": {"server_error": 1.0}})
    job = start_assigning(make_world(runs=1))
    work_on()
    assert states_of(job) == {"failed": 1}
    assert "server_error" in job.items.get().reason
    assert Attempt.objects.count() == MOST_ATTEMPTS


def test_many_server_errors_without_an_answer_are_the_endpoints(simulator: LoggedSimulator) -> None:
    simulator.chooser.switch({"rates": {"server_error": 1.0}})
    job = start_assigning(make_world(runs=12))
    stopping = Signal()
    with work_beside("w", stopping):
        wait_until(lambda: bool(Job.objects.get(pk=job.pk).waiting_for))
        simulator.chooser.switch({"rates": {}})
    assert states_of(job) == {"done": 12}


def test_an_endpoint_that_says_too_many_requests_is_not_down() -> None:
    sending = Sending(Call(pk=1), wanted=_wanted(), campaign=1, job=1)
    circuit = Circuit()
    circuit.failed(CallRefusal("unreachable", None, "gone.", None, 1), sending)
    assert circuit.down
    circuit.failed(CallRefusal("rate_limited", 429, "slowly.", 1.0, 1), sending)
    assert not circuit.down


def _wanted() -> Any:
    class Wanted:
        endpoint = default_endpoint()

    return Wanted()


def test_too_many_requests_fail_nobody(simulator: LoggedSimulator) -> None:
    simulator.chooser.switch({"next": ["rate_limited"] * (3 * MOST_ATTEMPTS), "retry_after": 0.001})
    job = start_assigning(make_world(runs=2))
    work_on()
    assert states_of(job) == {"done": 2}


def test_what_is_cancelled_is_not_asked_and_what_is_answered_is_kept(
    simulator: LoggedSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "RENEW_EVERY", 0.05)
    monkeypatch.setattr("django.conf.settings.LLM_CONCURRENCY", 2)
    simulator.chooser.switch({"latency_ms": 400})
    world = make_world(runs=20)
    job = start_assigning(world)
    stopping = Signal()
    with work_beside("w", stopping):
        wait_until(Attempt.objects.exists)
        left = queue.cancel(Job.objects.get(pk=job.pk))
    job.refresh_from_db()
    assert (job.state, left, states_of(job)) == (Job.State.CANCELLED, 20, {"cancelled": 20})
    assert Assignment.objects.count() == 0
    sent = len(simulator.log.served())
    assert sent == 4
    assert Call.objects.filter(state="answered").count() == sent
    assert not Call.objects.filter(state="sent").exclude(holder="").exists()
    simulator.chooser.switch({"latency_ms": 0})
    repeated = start_assigning(world)
    work_on(worker="another")
    assert states_of(repeated) == {"done": 20}
    assert len(simulator.log.served()) == 20


def test_a_stopping_worker_ends_its_calls_and_hands_the_rest_back(
    simulator: LoggedSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("django.conf.settings.LLM_CONCURRENCY", 2)
    simulator.chooser.switch({"latency_ms": 300})
    job = start_assigning(make_world(runs=12))
    stopping = Signal()
    with work_beside("w", stopping):
        wait_until(lambda: Attempt.objects.count() >= 4)
        stopping.set()
    served = len(simulator.log.served())
    assert states_of(job) == {"done": served, "queued": 12 - served}
    assert 4 <= served < 12
    simulator.chooser.switch({"latency_ms": 0})
    work_on(worker="next")
    assert states_of(job) == {"done": 12}
    assert len(simulator.log.served()) == 12


def test_a_worker_told_to_stop_asks_nothing_more(
    simulator: LoggedSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even what follows from a reply that still came in."""
    simulator.chooser.switch({"latency_ms": 200, "rates": {"out_of_vocabulary": 1.0}})
    job = start_assigning(make_world(runs=1))
    stopping = Signal()
    with work_beside("w", stopping):
        wait_until(Attempt.objects.exists)
        stopping.set()
    assert states_of(job) == {"queued": 1}
    assert Attempt.objects.count() == 1
    simulator.chooser.switch({"latency_ms": 0, "rates": {}})
    work_on(worker="next")
    assert states_of(job) == {"done": 1}
    assert repeated_requests(simulator.log.served()) == []


@pytest.mark.parametrize("where", ["note_answers", "note_sending", "insert_calls"])
def test_a_database_that_hiccups_costs_no_answer(
    simulator: LoggedSimulator, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    job = start_assigning(make_world(runs=10))
    monkeypatch.setattr(engine_calls, where, _failing(getattr(engine_calls, where), times=(1, 3)))
    work_on(concurrency=2)
    assert states_of(job) == {"done": 10}
    assert len(simulator.log.served()) == 10
    assert_calls_are_sound()


def test_a_hiccup_while_outcomes_are_written_costs_nothing(
    simulator: LoggedSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = start_assigning(make_world(runs=10))
    monkeypatch.setattr(engine_outcomes, "touch", _failing(touch, times=(1, 2)))
    work_on(concurrency=2)
    assert states_of(job) == {"done": 10}
    assert Assignment.objects.count() == 30
    assert len(simulator.log.served()) == 10


def _failing(act: Any, times: tuple[int, ...]) -> Any:
    done = 0

    def acting(*args: Any) -> Any:
        nonlocal done
        done += 1
        if done in times:
            raise OperationalError("the database is away")
        return act(*args)

    return acting


def test_two_workers_share_the_work(simulator: LoggedSimulator) -> None:
    simulator.chooser.switch({"latency_ms": 20, "malformed_rate": 0.1})
    world = make_world(topics=8, runs=20, nuggets=3)
    same_questions(world)
    job = start_assigning(world)
    stopping = Signal()
    with work_beside("one", stopping), work_beside("two", stopping):
        pass
    job.refresh_from_db()
    assert (job.state, states_of(job)) == (Job.State.DONE, {"done": 160})
    assert Assignment.objects.count() == 480
    assert repeated_requests(simulator.log.served()) == []
    hashes = [entry.hash for entry in simulator.log.served()]
    assert len(hashes) == len(set(hashes))
    assert_calls_are_sound()


def same_questions(world: World) -> None:
    """Make every second run say the same, so that the workers meet at the same calls."""
    answers = AnswerProvenance.objects.filter(run__in=world.runs[::2]).values("answer")
    Sentence.objects.filter(answer__in=answers).update(text="We all say the same.")


def test_a_call_of_a_dead_worker_is_taken_over(simulator: LoggedSimulator) -> None:
    job = start_assigning(make_world(runs=1))
    dead = Engine("dead", 1)
    dead._round(queue.claim("dead", 1, kind="llm"), stopping=True)
    assert Call.objects.get().holder == "dead"
    dead.sender.close()
    WorkItem.objects.update(lease_until=job.made_at)
    work_on(worker="heir")
    assert states_of(job) == {"done": 1}


def test_a_call_of_a_live_worker_is_waited_for(simulator: LoggedSimulator) -> None:
    job = start_assigning(make_world(runs=1))
    other = Engine("other", 1)
    other._round(queue.claim("other", 1, kind="llm"), stopping=True)
    queue.renew("other")
    WorkItem.objects.update(lease_until=job.made_at)
    engine = Engine("w", 1)
    engine.work(Signal())
    engine.close()
    item = job.items.get()
    assert (item.state, item.not_before is None, Attempt.objects.count()) == ("queued", False, 0)
    other.sender.close()


def test_a_late_twin_of_a_taken_item_changes_nothing(simulator: LoggedSimulator) -> None:
    job = start_assigning(make_world(runs=1))
    engine = Engine("slow", 1)
    engine._round(queue.claim("slow", 1, kind="llm"), stopping=False)
    WorkItem.objects.update(attempt=5, holder="quick")
    engine.work(Signal())
    engine.close()
    assert (Assignment.objects.count(), job.items.get().state) == (0, "leased")
    assert Call.objects.get().state == Call.State.ANSWERED


def test_a_call_is_waited_for_as_long_as_the_setting_says(
    simulator: LoggedSimulator, point_at: PointAt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("django.conf.settings.LLM_TIMEOUT_SECONDS", 0.3)
    point_at(simulator.base_url)
    simulator.chooser.switch({"next": ["timeout"], "hang_s": 20})
    job = start_assigning(make_world(runs=1))
    work_on()
    first = Attempt.objects.earliest("number")
    assert (states_of(job), first.error) == ({"done": 1}, "timeout")
    assert first.message == "No answer within 0.3 s."


def test_a_simulator_that_comes_late_is_waited_for(point_at: PointAt) -> None:
    with running_simulator() as first:
        port = first.server_port
        point_at(first.base_url)
    job = start_assigning(make_world(runs=2))
    stopping = Signal()
    with work_beside("w", stopping):
        wait_until(lambda: "does not answer" in Job.objects.get(pk=job.pk).waiting_for)
        with running_simulator(port=port):
            wait_until(lambda: Job.objects.get(pk=job.pk).state == Job.State.DONE)
    assert states_of(job) == {"done": 2}
