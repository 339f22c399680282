"""What a job may spend, pausing and going on: it stops in time, loses nothing, and pays nothing twice."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from threading import Event as Signal

import pytest
from pytest_django.fixtures import Settings

from evaluation.errors import Refused
from evaluation.judges import add_judge
from evaluation.models import Assignment, Event, Sentence
from evaluation.terms import Condition, JudgeKind
from jobs import queue
from jobs.models import Job, WorkItem
from llmjobs.budget import Budget, ForecastCall, forecast, forecast_rows, price_of, set_budget
from llmjobs.engine.calls import REPLY_TOKENS
from llmjobs.engine.loop import Engine
from llmjobs.job_service import estimate, plan_evaluation, start
from llmjobs.models import Call, LlmJob
from loadtest.servers.simulator import LoggedSimulator
from tests.llmjobs.conftest import PointAt
from tests.worlds.llm import (
    World,
    assert_calls_are_sound,
    in_thread,
    make_world,
    repeated_requests,
    scripted_endpoint,
    start_assigning,
    states_of,
    wait_until,
    work_on,
    work_until_it_rests,
)

pytestmark = pytest.mark.usefixtures("transactional_db")

PRICES = """version = "test-1"
currency = "EUR"
[models]
"word-overlap-simulator" = { prompt = "%s", completion = "%s" }
"""
LABELS = '["support", "support", "support"]'


def start_with(world: World, budget: Budget) -> Job:
    return start(replace(world.request, budget=budget), "A/A", plan_evaluation(world.request, Condition.AA))


def go_on(job: Job, budget: Budget) -> None:
    llm = LlmJob.objects.get(pk=job.pk)
    set_budget(llm, budget)
    llm.save()
    assert queue.resume(job.pk)


@pytest.fixture
def priced(settings: Settings, tmp_path: Path) -> None:
    """A million tokens of a prompt cost 1,000 euros, of a reply 2,000."""
    path = tmp_path / "prices.toml"
    path.write_text(PRICES % ("1000", "2000"), encoding="utf-8")
    settings.LLM_PRICES = str(path)


@pytest.mark.parametrize("workers", [1, 2])
def test_no_more_requests_go_out_than_the_budget_allows(simulator: LoggedSimulator, workers: int) -> None:
    world = make_world(runs=9)
    job = start_with(world, Budget(calls=5))
    assert work_until_it_rests(job, workers=workers) == "paused"
    assert job.waiting_for == "The budget of 5 requests is used up."
    assert len(simulator.log.served()) == 5
    assert states_of(job).keys() <= {"done", "queued"}
    assert not Assignment.objects.filter(label=9).exists()
    go_on(job, Budget(calls=20))
    work_on()
    assert states_of(job) == {"done": 9}
    assert len(simulator.log.served()) == 9
    assert repeated_requests(simulator.log.served()) == []
    assert Assignment.objects.count() == 27
    assert_calls_are_sound()


def test_tries_that_are_refused_count_as_requests(simulator: LoggedSimulator) -> None:
    simulator.chooser.switch({"next": ["rate_limited"] * 3})
    world = make_world(runs=6)
    job = start_with(world, Budget(calls=4))
    assert work_until_it_rests(job) == "paused"
    assert len(simulator.log.served()) == LlmJob.objects.get().sent_calls == 4


def test_tokens_may_run_over_by_what_is_under_way_only(point_at: PointAt) -> None:
    with scripted_endpoint(lambda _texts: LABELS) as endpoint:  # 18 tokens a reply
        point_at(endpoint.base_url)
        world = make_world(runs=30)
        job = start_with(world, Budget(tokens=100))
        assert work_until_it_rests(job, concurrency=2) == "paused"
        llm = LlmJob.objects.get()
        spent = llm.prompt_tokens + llm.completion_tokens
        assert spent == 18 * len(endpoint.calls)
        assert 100 <= spent <= 100 + 18 * 2 * 2  # a queue as long as the pool stands behind it
        assert job.waiting_for == "The budget of 100 tokens is used up."
        go_on(job, Budget())
        work_on()
        assert len(endpoint.calls) == 30


@pytest.mark.usefixtures("priced")
def test_money_is_reckoned_with_the_prices_of_the_start(
    point_at: PointAt, settings: Settings, tmp_path: Path
) -> None:
    with scripted_endpoint(lambda _texts: LABELS) as endpoint:  # 11 and 7 tokens: 0.025 euros a reply
        point_at(endpoint.base_url)
        job = start_with(make_world(runs=20), Budget(money=Decimal("0.2")))
        dearer = tmp_path / "dearer.toml"
        dearer.write_text(PRICES % ("9000", "9000"), encoding="utf-8")
        settings.LLM_PRICES = str(dearer)
        assert work_until_it_rests(job, concurrency=1) == "paused"
        request_count = len(endpoint.calls)
        assert 8 <= request_count <= 8 + 2
        assert job.waiting_for == "The budget of 0.2 EUR is used up."
        assert LlmJob.objects.get().price_table == "test-1"


@pytest.mark.usefixtures("priced")
@pytest.mark.parametrize("limit", [Budget(money=Decimal(100)), Budget(tokens=100_000)])
@pytest.mark.parametrize("usage", [None, {"prompt_tokens": 11}])
def test_a_budget_that_cannot_be_kept_pauses_the_job(
    point_at: PointAt, limit: Budget, usage: dict[str, int] | None
) -> None:
    with scripted_endpoint(lambda _texts: LABELS, usage=usage) as endpoint:
        point_at(endpoint.base_url)
        job = start_with(make_world(runs=30), limit)
        assert work_until_it_rests(job, concurrency=1) == "paused"
        assert job.waiting_for.startswith("Replies come without their number of tokens")
        assert len(endpoint.calls) < 10
        go_on(job, Budget(calls=100))
        work_on()
        assert states_of(job) == {"done": 30}
        assert len(endpoint.calls) == 30


def test_a_budget_that_is_used_up_is_the_reason_even_where_replies_lack_a_count(point_at: PointAt) -> None:
    with scripted_endpoint(lambda _texts: LABELS, usage={"prompt_tokens": 200}) as endpoint:
        point_at(endpoint.base_url)
        job = start_with(make_world(runs=30), Budget(tokens=100))
        assert work_until_it_rests(job, concurrency=1) == "paused"
        assert job.waiting_for == "The budget of 100 tokens is used up."


@pytest.mark.postgresql
@pytest.mark.usefixtures("priced")
@pytest.mark.parametrize(("workers", "concurrency"), [(1, 16), (2, 16)])
def test_money_runs_over_by_one_call_at_most(point_at: PointAt, workers: int, concurrency: int) -> None:
    with scripted_endpoint(lambda _texts: LABELS) as endpoint:  # 11 and 7 tokens: 0.025 euros a reply
        point_at(endpoint.base_url)
        world = make_world(runs=40)
        job = start_with(world, Budget(money=Decimal("0.1")))
        assert work_until_it_rests(job, workers=workers, concurrency=concurrency) == "paused"
        assert 4 <= len(endpoint.calls) <= 5
        llm = LlmJob.objects.get()
        assert (llm.prompt_tokens, llm.completion_tokens) == (11 * len(endpoint.calls), 7 * len(endpoint.calls))
        assert not any(llm.reserved.values())
        go_on(job, Budget(money=Decimal(40)))
        work_on(concurrency=16)
        assert states_of(job) == {"done": 40}
        assert len(endpoint.calls) == 40
        assert len({"".join(texts) for texts in endpoint.calls}) == 40


@pytest.mark.usefixtures("priced")
def test_what_a_job_waits_to_pay_holds_no_other_job_up(point_at: PointAt) -> None:
    with scripted_endpoint(lambda _texts: LABELS) as endpoint:
        point_at(endpoint.base_url)
        first = make_world(runs=100)
        poor = start_with(first, Budget(money=Decimal("0.1")))
        LlmJob.objects.filter(pk=poor.pk).update(reserved={"tester": {"0": [10, 10]}})
        other = add_judge(name="other", kind=JudgeKind.LLM, model="other")[0]
        request = replace(first.request, judge=other)
        rich = start(request, "A/A", plan_evaluation(request, Condition.AA))
        engine, stopping = Engine("tester", 4), Signal()

        def look() -> None:
            try:
                wait_until(lambda: states_of(rich) == {"done": 100})
            finally:
                stopping.set()

        with in_thread(look):
            engine.work(stopping)
        engine.close()
        assert states_of(rich) == {"done": 100}
        assert states_of(poor).get("done", 0) < 10


def test_a_budget_of_money_needs_a_price(settings: Settings, tmp_path: Path, simulator: LoggedSimulator) -> None:
    path = tmp_path / "prices.toml"
    path.write_text('version = "1"\ncurrency = "EUR"\nmodels = {}\n', encoding="utf-8")
    settings.LLM_PRICES = str(path)
    world = make_world()
    with pytest.raises(Refused, match="No price is known of word-overlap-simulator"):
        start_with(world, Budget(money=Decimal(1)))
    assert not Job.objects.exists()
    assert start_with(world, Budget(calls=1)).state == "running"


@pytest.mark.parametrize("wrong", ["no toml at [all", 'version = "1"\ncurrency = "euro"\nmodels = {}\n', None])
def test_a_price_table_that_makes_no_sense_is_named(settings: Settings, tmp_path: Path, wrong: str | None) -> None:
    path = tmp_path / "wrong.toml"
    if wrong is not None:
        path.write_text(wrong, encoding="utf-8")
    settings.LLM_PRICES = str(path)
    with pytest.raises(Refused, match=f"LLM_PRICES: {path}"):
        price_of("gpt-4o")


def test_a_model_with_a_date_has_the_price_of_its_name() -> None:
    dated, plain = price_of("gpt-4o-2024-08-06"), price_of("gpt-4o")
    assert dated == plain is not None
    assert price_of("gpt-4o-realtime") is None


@pytest.mark.usefixtures("priced")
def test_a_dry_run_foretells_what_is_paid(point_at: PointAt) -> None:
    with scripted_endpoint(lambda _texts: LABELS) as endpoint:
        point_at(endpoint.base_url)
        world = make_world(runs=10)
        never = dict(forecast_rows(estimate(plan_evaluation(world.request, Condition.AA), world.judge).forecast))
        assert never["calls to pay"] == "10"
        assert never["time"] == "unknown: the model was never called"
        work_on_part(start_with(world, Budget(calls=4)))
        plan = plan_evaluation(world.request, Condition.AA)
        known = estimate(plan, world.judge).forecast
        assert (known.calls, known.completion_tokens, known.price_table) == (6, 42, "test-1")
        assert known.cost is not None
        assert known.seconds is not None


def test_what_is_answered_or_asked_twice_is_foretold_once() -> None:
    nuggets = ForecastCall("a", "nuggetize", "nuggetize", 3, 300)
    labels = [ForecastCall(name, "support", "support", 1, 10) for name in "bbc"]
    expected = forecast([nuggets, *labels], {"a", "c"}, make_world(runs=1).judge)
    usual = 2 * REPLY_TOKENS["nuggetize"] + REPLY_TOKENS["support"]
    assert (expected.calls, expected.prompt_tokens, expected.completion_tokens) == (3, 210, usual)


def work_on_part(job: Job) -> None:
    assert work_until_it_rests(job) == "paused"
    queue.cancel(job)


def test_a_paused_job_keeps_the_replies_that_were_under_way(simulator: LoggedSimulator) -> None:
    world = make_world(runs=12)
    job = start_assigning(world)
    simulator.chooser.switch({"latency_ms": 300})
    stopping = Signal()
    engine = Engine("tester", 3)
    with in_thread(lambda: engine.work(stopping)):
        wait_until(lambda: len(simulator.log.served()) >= 2)
        assert queue.pause(job.pk, "Paused by Olga.")
    engine.close()
    job.refresh_from_db()
    assert (job.state, job.waiting_for) == (Job.State.PAUSED, "Paused by Olga.")
    assert not WorkItem.objects.filter(state="leased").exists()
    request_count = len(simulator.log.served())
    assert request_count < 12
    assert Assignment.objects.count() == 3 * request_count
    assert Call.objects.filter(state="answered").count() == request_count
    assert not queue.anything_due("llm")
    assert queue.resume(job.pk)
    work_on()
    assert states_of(job) == {"done": 12}
    assert len(simulator.log.served()) == 12


def test_what_two_jobs_want_is_paid_by_the_one_that_may(simulator: LoggedSimulator) -> None:
    world = make_world(runs=6)
    Sentence.objects.update(text="All say the same.")
    poor, rich = start_with(world, Budget(calls=1)), start_assigning(world)
    LlmJob.objects.filter(pk=poor.pk).update(sent_calls=1)
    wait_for_both = work_until_it_rests(rich)
    poor.refresh_from_db()
    assert (poor.state, wait_for_both) == ("paused", "done")
    assert len(simulator.log.served()) == 1
    assert LlmJob.objects.get(pk=rich.pk).sent_calls == 1


def test_an_event_tells_the_budget(simulator: LoggedSimulator) -> None:
    start_with(make_world(), Budget(calls=7, money=Decimal("1.50")))
    assert Event.objects.get(kind="job.started").payload["budget"] == {"calls": 7, "money": "1.50"}
