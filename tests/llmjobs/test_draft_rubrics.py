"""Rubric from nuggets: criteria of the nuggets' importance and one call a topic, paid for once, for post-editing."""

import pytest
from django.core.management import call_command
from django.utils import timezone

from evaluation.errors import Refused
from evaluation.labelling import GivenNugget, ensure_nugget_set, give_nugget_list
from evaluation.models import Event, ListedNugget, NuggetSet
from evaluation.terms import Importance, Origin
from jobs.models import Job, WorkItem
from llmjobs.budget import NO_LIMIT, Budget
from llmjobs.job_service import JobRequest, estimate, plan_rubrics, start
from llmjobs.models import Call, CallUse
from llmjobs.steps.single import rubric
from loadtest.servers.simulator import LoggedSimulator
from tests.llmjobs.steps.scripted import between, parts, play
from tests.worlds.llm import World, make_world, work_on, work_until_it_rests

IMPORTANCES = (Importance.VITAL, Importance.OKAY, Importance.UNKNOWN)


@pytest.fixture
def world(transactional_db: None) -> World:
    """Two topics with a list each: a vital nugget, an okay one, and one of unknown importance."""
    world = make_world(topics=2, runs=0, nuggets=0)
    for topic in world.topics:
        nuggets = [
            GivenNugget(f"{topic.topic_id} fact {n}", importance) for n, importance in enumerate(IMPORTANCES)
        ]
        final = ensure_nugget_set(world.campaign, world.judge, Origin.AUTO)
        assert give_nugget_list(final, topic, nuggets, Event.objects.all()[0])
    return world


def order_rubrics(world: World, budget: Budget = NO_LIMIT) -> Job:
    request = JobRequest(world.campaign, world.judge, budget=budget)
    return start(request, "Rubric from nuggets", plan_rubrics(request))


def criteria(topic: str) -> list[tuple[str, float | None, int, str]]:
    rows = ListedNugget.objects.filter(
        nugget_list__nugget_set__name__startswith="rubric-", nugget_list__topic__topic_id=topic
    )
    return list(rows.order_by("position").values_list("nugget_version__text", "weight", "importance", "group"))


def test_nuggets_become_criteria_and_an_llm_adds_some(world: World, simulator: LoggedSimulator) -> None:
    order_rubrics(world)
    work_on()
    assert [row[1:] for row in criteria("t1")] == [
        (5, Importance.VITAL, "facts"),
        (2, Importance.OKAY, "facts"),
        (0, Importance.UNKNOWN, "facts"),
        (2, Importance.UNKNOWN, "synthesis"),
        (2, Importance.UNKNOWN, "references"),
        (2, Importance.UNKNOWN, "clarity"),
    ]
    assert [row[0] for row in criteria("t2")][:3] == ["t2 fact 0", "t2 fact 1", "t2 fact 2"]
    assert criteria("t1")[3][0] == "The answer brings together what it says about what is topic1"
    assert NuggetSet.objects.get(name=f"rubric-{world.judge.name}").origin == Origin.DRAFT
    assert len(simulator.log.served()) == 2


def test_a_topic_is_paid_for_once(world: World, simulator: LoggedSimulator) -> None:
    order_rubrics(world)
    work_on()
    request = JobRequest(world.campaign, world.judge)
    assert (plan_rubrics(request).items, plan_rubrics(request).judged) == ([], 2)
    NuggetSet.objects.get(name__startswith="rubric-").lists.all().delete()
    assert estimate(plan_rubrics(request), world.judge).reused == 2
    order_rubrics(world)
    work_on()
    assert len(criteria("t2")) == 6
    assert len(simulator.log.served()) == 2


def test_a_budget_pauses_it(world: World, simulator: LoggedSimulator) -> None:
    job = order_rubrics(world, budget=Budget(1, None, None))
    assert work_until_it_rests(job) == "paused"
    assert len(simulator.log.served()) == 1
    assert NuggetSet.objects.get(name__startswith="rubric-").lists.count() == 1


def test_a_killed_worker_pays_nothing_twice(world: World, simulator: LoggedSimulator) -> None:
    """It died between the stored replies and their outcomes: the next worker replays them."""
    order_rubrics(world)
    work_on()
    NuggetSet.objects.get(name__startswith="rubric-").lists.all().delete()
    CallUse.objects.all().delete()
    WorkItem.objects.update(state="leased", holder="dead", lease_until=timezone.now(), ended_at=None)
    Job.objects.update(state=Job.State.RUNNING, ended_at=None)
    work_on(worker="the next")
    assert len(criteria("t1")) == len(criteria("t2")) == 6
    assert len(simulator.log.served()) == Call.objects.count() == 2


def test_what_cannot_become_a_rubric_is_named(world: World) -> None:
    ListedNugget.objects.filter(nugget_list__topic=world.topics[0]).update(weight=1)
    plan = plan_rubrics(JobRequest(world.campaign, world.judge))
    name = f"auto-{world.judge.name}"
    assert plan.blocked == {"t1": f"its list in {name} is a rubric already"}
    assert [item.key for item in plan.items] == ["topic t2"]
    with pytest.raises(Refused, match="nugget set nowhere"):
        plan_rubrics(JobRequest(world.campaign, world.judge), nuggets="nowhere")
    ensure_nugget_set(world.campaign, world.judge, Origin.AUTO, "other")
    with pytest.raises(Refused, match="Several nugget sets fit"):
        plan_rubrics(JobRequest(world.campaign, world.judge))


def test_the_command_tells_what_it_would_do(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("draft_rubrics", campaign="river", dry_run=True)
    assert "calls           2" in capsys.readouterr().out
    assert not Job.objects.exists()


def test_a_reply_in_another_form_is_asked_again() -> None:
    replies = ['["Clear headings"]', '["Clarity: Clear headings", "references:  Names its sources"]']
    outcome, requests = play(rubric("why", ("a", "b")), replies)
    assert [(new.text, new.kind) for new in outcome.criteria] == [
        ("Clear headings", "clarity"),
        ("Names its sources", "references"),
    ]
    assert parts(requests) == ["criteria", "criteria, re-ask 1"]
    assert between(requests[0], "criteria") == '["a", "b"]'


@pytest.mark.parametrize(
    "reply", ["[]", '["clarity: a", "clarity: b", "clarity: c", "clarity: d"]', '["style: a"]']
)
def test_what_are_no_criteria_of_a_kind_fail_with_the_reason(reply: str) -> None:
    outcome, _ = play(rubric("why", ("a",)), [reply] * 3)
    assert outcome.criteria == ()
    assert outcome.failure
