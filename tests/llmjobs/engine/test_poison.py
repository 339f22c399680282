"""Texts that break an endpoint each time: they fail alone and with a reason, while a dead endpoint fails nothing."""

import time
from threading import Event as Signal

import pytest

from evaluation.labels import AssignmentLabel
from evaluation.models import Assignment
from jobs.models import Job
from llmjobs.client import CallRefusal, default_endpoint
from llmjobs.engine.send import MOST_ATTEMPTS, Circuit, Sending, probe_call
from llmjobs.models import Attempt, Call, CallUse
from loadtest.servers.simulator import LoggedSimulator
from tests.llmjobs.conftest import PointAt
from tests.llmjobs.engine.test_trouble import _wanted, work_beside
from tests.worlds.llm import (
    World,
    answer_with,
    assert_calls_are_sound,
    make_world,
    repeated_requests,
    start_assigning,
    states_of,
    wait_until,
    work_on,
)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("transactional_db", "_quick_retries")]
# What the simulated LLM is told to do, and what is said of it.
BREAKING = [
    ("server_error", "server_error"),
    ("unavailable", "overloaded"),
    ("dropped", "unreachable"),
    ("auth", "auth"),
]


@pytest.fixture(autouse=True)
def _less_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llmjobs.engine.send.MOST_PATIENT_ATTEMPTS", MOST_ATTEMPTS)


def make_poison(world: World, number: int) -> None:
    """Have further runs answer with a text that the endpoint cannot take."""
    for n in range(number):
        run = world.campaign.runs.create(run_id=f"poison{n}")
        answer_with(world.topics[0], run, f"POISON number{n}.")


@pytest.mark.parametrize(("fault", "message"), BREAKING)
def test_items_that_alone_break_the_endpoint_end_failed(
    simulator: LoggedSimulator, fault: str, message: str
) -> None:
    simulator.chooser.switch({"always": {"POISON": fault}})
    world = make_world(runs=0)
    make_poison(world, 7)
    job = start_assigning(world)
    work_on()
    job.refresh_from_db()
    assert (job.state, job.waiting_for, states_of(job)) == (Job.State.DONE, "", {"failed": 7})
    assert all(message in reason for reason in job.items.values_list("reason", flat=True))
    assert set(Assignment.objects.values_list("label", flat=True)) == {AssignmentLabel.FAILED}
    poison = Attempt.objects.exclude(call__template="control")
    assert poison.count() <= 7 * 3 * MOST_ATTEMPTS
    assert Attempt.objects.count() == len(simulator.log.served())
    assert repeated_requests(simulator.log.served()) == []


@pytest.mark.parametrize(("fault", "message"), BREAKING)
def test_others_are_judged_beside_them(simulator: LoggedSimulator, fault: str, message: str) -> None:
    simulator.chooser.switch({"always": {"POISON": fault}, "latency_ms": 5})
    world = make_world(runs=20)
    make_poison(world, 2)
    job = start_assigning(world)
    work_on()
    assert states_of(job) == {"done": 20, "failed": 2}
    assert all(message in item.reason for item in job.items.filter(state="failed"))
    assert Assignment.objects.exclude(label=AssignmentLabel.FAILED).count() == 60


def test_what_was_asked_to_find_out_is_on_record_and_no_items_call(simulator: LoggedSimulator) -> None:
    simulator.chooser.switch({"always": {"POISON": "unavailable"}})
    world = make_world(runs=0)
    make_poison(world, 1)
    start_assigning(world)
    work_on()
    controls = Call.objects.filter(template="control")
    assert set(controls.values_list("state", flat=True)) == {Call.State.ANSWERED}
    assert not CallUse.objects.filter(call__in=controls).exists()
    assert_calls_are_sound()


@pytest.mark.parametrize("fault", ["server_error", "unavailable", "dropped", "auth"])
def test_while_nothing_is_answered_nothing_fails(simulator: LoggedSimulator, fault: str) -> None:
    """However often it was tried; and what had failed before the endpoint went down waits like all others."""
    simulator.chooser.switch({"rates": {fault: 1.0}})
    job = start_assigning(make_world(runs=8))
    stopping = Signal()
    with work_beside("w", stopping):
        wait_until(lambda: bool(Job.objects.get(pk=job.pk).waiting_for))
        wait_until(lambda: Attempt.objects.count() > 8 + 2 * MOST_ATTEMPTS)
        assert states_of(job) == {"leased": 8}
        assert Assignment.objects.count() == 0
        simulator.chooser.switch({"rates": {}})
        wait_until(lambda: Job.objects.get(pk=job.pk).state == Job.State.DONE)
    assert states_of(job) == {"done": 8}
    assert Call.objects.filter(template="control").count() <= 1


def test_a_try_counts_only_if_an_answer_came_since_the_last() -> None:
    sending, circuit = Sending(Call(pk=1), wanted=_wanted(), campaign=1, job=1), Circuit()
    gone = CallRefusal("unreachable", None, "gone.", None, 1)
    circuit.failed(gone, sending)
    assert circuit.is_to_blame(sending)
    sending.failed_at = time.monotonic()
    circuit.answered()
    for to_blame in (False, True, True):
        circuit.failed(gone, sending)
        assert circuit.down is to_blame
        assert circuit.is_to_blame(sending) is to_blame
        sending.failed_at = time.monotonic()


def test_who_says_too_many_requests_has_answered_nothing() -> None:
    sending, circuit = Sending(Call(pk=1), wanted=_wanted(), campaign=1, job=1), Circuit()
    sending.failed_at = time.monotonic()
    circuit.failed(CallRefusal("rate_limited", 429, "slowly.", 1.0, 1), sending)
    circuit.failed(CallRefusal("server_error", 503, "down.", None, 1), sending)
    assert circuit.is_to_blame(sending)


def test_a_control_is_another_one_each_time(point_at: PointAt) -> None:
    point_at("http://127.0.0.1:9/v1")
    ask = type("Asked", (), {"temperature": None, "parameters": (("reasoning_effort", "low"),)})()
    wanted = type("Wanted", (), {"endpoint": default_endpoint(), "model": "m", "ask": ask})()
    first, second = probe_call(wanted), probe_call(wanted)
    assert (first.ask.temperature, first.ask.parameters) == (None, (("reasoning_effort", "low"),))
    assert (first.model, first.endpoint) == ("m", wanted.endpoint)
    assert first.sha256 != second.sha256
    assert first.request.messages != second.request.messages
