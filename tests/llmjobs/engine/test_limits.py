"""Limits of endpoints: kept by all workers together, told on the job's page, and nobody else's trouble."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event as Signal

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from evaluation.judges import add_judge
from evaluation.terms import Condition, JudgeKind
from jobs.models import Job
from llmjobs.client import default_endpoint
from llmjobs.engine.limits import (
    BURST,
    PERIOD,
    SLACK,
    Limits,
    LimitState,
    Visit,
    consult,
    limits_of,
)
from llmjobs.job_service import JobRequest, estimate, plan_evaluation, start
from llmjobs.models import EndpointLimits, EndpointUse, LlmJob
from loadtest.servers.services import free_port
from loadtest.servers.simulator import LoggedSimulator, most_at_once
from tests.llmjobs.engine.test_trouble import work_beside
from tests.worlds.llm import (
    assert_calls_are_sound,
    make_world,
    repeated_requests,
    start_assigning,
    states_of,
    wait_until,
    work_on,
)

pytestmark = pytest.mark.usefixtures("transactional_db", "_quick_retries")


def state_of(address: str) -> LimitState:
    return LimitState.stored(EndpointUse.objects.get(address=address).state)


def test_visits_at_the_same_moment_come_one_after_the_other() -> None:
    def count(_number: int) -> None:
        try:
            for _ in range(5):
                consult("http://llm.example", Visit("w", Limits(tokens=round(2 * PERIOD)), beyond=2))
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count, range(4)))
    assert state_of("http://llm.example").tokens_until == pytest.approx(20)


def test_two_workers_keep_one_pace(simulator: LoggedSimulator, settings: Settings) -> None:
    settings.LLM_REQUESTS_PER_MINUTE = 900
    job = start_assigning(make_world(runs=48))
    stopping = Signal()
    with work_beside("one", stopping), work_beside("two", stopping):
        wait_until(lambda: Job.objects.get(pk=job.pk).waiting_for != "")
        reason = Job.objects.get(pk=job.pk).waiting_for
    came = sorted(entry.at for entry in simulator.log.served())
    assert (states_of(job), len(came)) == ({"done": 48}, 48)
    late = 1.0  # how late the first call may arrive: it loads the client
    assert came[-1] - came[0] >= 47 * PERIOD / 900 - BURST - late
    name = default_endpoint().name
    assert reason == f"Held back by the limit of {name}: 900 requests a minute, for all workers."
    assert_calls_are_sound()


def test_two_workers_have_no_more_under_way_than_the_limit(simulator: LoggedSimulator, settings: Settings) -> None:
    settings.LLM_MOST_AT_ONCE = 3
    simulator.chooser.switch({"latency_ms": 20})
    job = start_assigning(make_world(runs=24))
    stopping = Signal()
    with work_beside("one", stopping), work_beside("two", stopping):
        pass
    served = simulator.log.served()
    assert (states_of(job), most_at_once(served)) == ({"done": 24}, 3)
    assert repeated_requests(served) == []
    left = state_of(default_endpoint().name).under_way
    assert sum(number for number, _ in left.values()) == 0


def test_tokens_are_reserved_and_settled_by_the_replies(simulator: LoggedSimulator, settings: Settings) -> None:
    settings.LLM_TOKENS_PER_MINUTE = 100_000
    job = start_assigning(make_world(runs=6))
    work_on()
    llm = LlmJob.objects.get(pk=job.pk)
    spent = llm.prompt_tokens + llm.completion_tokens
    use = EndpointUse.objects.get()
    came = min(entry.at for entry in simulator.log.served())
    assert states_of(job) == {"done": 6}
    # Reckoned from when the first request was let go, some time before it came, as on a machine with other work.
    late = 0.5
    taken = (use.state["tokens_until"] - came) * 100_000 / PERIOD
    assert spent - late * 100_000 / PERIOD <= taken <= 1.15 * spent


def test_a_limit_keeps_no_other_endpoint_from_its_work(simulator: LoggedSimulator, settings: Settings) -> None:
    settings.LLM_ALLOWED_HOSTS = [simulator.base_url.removeprefix("http://").removesuffix("/v1")]
    world = make_world(topics=1, runs=80)
    settings.LLM_REQUESTS_PER_MINUTE = 1
    slow = start_assigning(world)
    elsewhere = simulator.base_url.replace("/v1", "/other/v1")
    other = add_judge(name="other", kind=JudgeKind.LLM, model="m", base_url=elsewhere)[0]
    request = JobRequest(world.campaign, other)
    plan = plan_evaluation(request, Condition.AA, nuggets=f"auto-{world.judge.name}")
    quick = start(request, "quick", plan)
    stopping = Signal()
    with work_beside("w", stopping):
        try:
            wait_until(lambda: Job.objects.get(pk=quick.pk).state == Job.State.DONE)
            wait_until(lambda: "1 requests a minute" in Job.objects.get(pk=slow.pk).waiting_for)
        finally:
            stopping.set()
    assert states_of(quick) == {"done": 80}
    assert states_of(slow) == {"done": 1, "queued": 79}


def test_jobs_at_one_endpoint_share_its_limit(simulator: LoggedSimulator, settings: Settings) -> None:
    settings.LLM_REQUESTS_PER_MINUTE = 1_200
    world = make_world(topics=2, runs=60)
    large = start_assigning(world)
    stopping = Signal()
    with work_beside("w", stopping):
        try:
            wait_until(lambda: len(simulator.log.served()) >= 12)
            topic = world.topics[1].topic_id
            second_judge = add_judge(name="second", kind=JudgeKind.LLM, model="m")[0]
            request = JobRequest(world.campaign, second_judge, topics=(topic,), runs=("r1", "r2", "r3"))
            plan = plan_evaluation(request, Condition.AA, nuggets=f"auto-{world.judge.name}")
            small = start(request, "small", plan)
            wait_until(lambda: Job.objects.get(pk=small.pk).state == Job.State.DONE)
        finally:
            stopping.set()
    assert states_of(large)["done"] < 60


def test_without_a_limit_nothing_is_asked_or_kept(simulator: LoggedSimulator) -> None:
    job = start_assigning(make_world(runs=4))
    with CaptureQueriesContext(connection) as queries:
        work_on()
    assert states_of(job) == {"done": 4}
    assert not EndpointUse.objects.exists()
    about = [query["sql"] for query in queries.captured_queries if "endpoint" in query["sql"]]
    assert len(about) <= 2  # the limits, when the job is taken up and every few seconds


def test_a_limit_is_kept_while_the_broker_is_away(simulator: LoggedSimulator, settings: Settings) -> None:
    settings.CELERY_BROKER_URL = f"redis://127.0.0.1:{free_port()}/0"
    settings.LLM_REQUESTS_PER_MINUTE = 600
    job = start_assigning(make_world(runs=12))
    work_on()
    came = sorted(entry.at for entry in simulator.log.served())
    assert states_of(job) == {"done": 12}
    assert came[-1] - came[0] >= 11 * PERIOD / 600 - BURST - SLACK


def test_a_simulated_limit_refuses_what_is_over_it(simulator: LoggedSimulator, settings: Settings) -> None:
    simulator.quota.requests_per_minute = 3
    settings.LLM_REQUESTS_PER_MINUTE = None
    job = start_assigning(make_world(runs=5))
    stopping = Signal()
    with work_beside("w", stopping):
        try:
            wait_until(lambda: any(entry.fault == "over_limit" for entry in simulator.log.served()))
        finally:
            stopping.set()
    refused = [entry for entry in simulator.log.served() if entry.fault == "over_limit"]
    assert {entry.status for entry in refused} == {429}
    assert states_of(job)["done"] == 3


def test_limits_of_other_addresses_are_set_by_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("limit_endpoint", "http://llm.example/v1/", "--requests-per-minute", "60", "--most-at-once", "4")
    assert "http://llm.example/v1: 60 requests a minute, 4 requests at once." in capsys.readouterr().err
    assert limits_of(["http://llm.example/v1"]) == {"http://llm.example/v1": Limits(60, None, 4)}
    call_command("limit_endpoint", "http://llm.example/v1")
    assert "no limit" in capsys.readouterr().err
    assert not EndpointLimits.objects.exists()


@pytest.mark.parametrize("limit", ["0", "-1", "many", str(2**31)])
def test_a_limit_that_is_no_number_above_0_is_wrong_usage(limit: str) -> None:
    with pytest.raises(CommandError, match="is not a number above 0"):
        call_command("limit_endpoint", "http://llm.example", f"--requests-per-minute={limit}")
    assert not EndpointLimits.objects.exists()


def test_limits_of_no_address_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="1"):
        call_command("limit_endpoint", "ftp://llm.example", "--most-at-once", "4")
    assert "not an http or https address" in capsys.readouterr().err
    assert not EndpointLimits.objects.exists()


def test_a_dry_run_foretells_how_long_the_limit_makes_it_last(
    simulator: LoggedSimulator, settings: Settings
) -> None:
    world = make_world(runs=10)
    request = JobRequest(world.campaign, world.judge, runs=("r1",))
    start(request, "one", plan_evaluation(request, Condition.AA))
    work_on()
    plan = plan_evaluation(world.request, Condition.AA)
    quick = estimate(plan, world.judge).forecast.seconds
    settings.LLM_REQUESTS_PER_MINUTE = 6
    slow = estimate(plan, world.judge).forecast.seconds
    assert quick is not None
    assert quick < 1
    assert slow == pytest.approx(9 * PERIOD / 6)


def test_the_environments_limits_go_before_those_that_were_set(
    settings: Settings, simulator: LoggedSimulator
) -> None:
    name = default_endpoint().name
    EndpointLimits.objects.create(address=name, requests_per_minute=5)
    assert limits_of([name]) == {name: Limits(requests=5)}
    settings.LLM_TOKENS_PER_MINUTE = 1_000
    assert limits_of([name]) == {name: Limits(tokens=1_000)}
