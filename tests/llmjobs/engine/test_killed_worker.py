"""A worker killed in the middle, twice: one outcome an item, and no answer asked for again.

The worker is a process of its own, with the embedded broker on SQLite, and with Redis on PostgreSQL where they are
found.
"""

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from loadtest.servers.simulator import LoggedSimulator, running_simulator
from tests.llmjobs.processes import SLOTS, WAIT, Environment, shell, wait_for_lines, worker
from tests.worlds.llm import repeated_requests

pytestmark = pytest.mark.slow

LATENCY_MS, ITEMS = 50, 60

MAKE_WORLD = """
from tests.worlds.llm import make_world, start_assigning
start_assigning(make_world(topics=3, runs=20, nuggets=2))
"""
CHECK = """
from evaluation.models import Assignment
from jobs.models import Job, WorkItem
from tests.worlds.llm import assert_calls_are_sound
assert_calls_are_sound()
done = WorkItem.objects.filter(state="done")
print(Job.objects.get().state, done.count(), WorkItem.objects.count(), Assignment.objects.count())
print(done.filter(attempt__gt=1).exists())
"""
ONCE = 30
MAKE_ONCE = """
from evaluation.labelling import GivenNugget, ensure_nugget_set, give_nugget_list
from evaluation.models import Event
from evaluation.terms import Importance, Origin
from llmjobs.job_service import plan_relevance, plan_rubrics, start
from tests.worlds.llm import grade_segments, make_world
world = make_world(topics={topics}, runs=0, nuggets=0)
{made}
start(world.request, "killed", {plan})
"""
WORKS = {
    "Rubric from nuggets": (
        ONCE,
        """
for topic in world.topics:
    fact = [GivenNugget(f"{topic.topic_id} fact", Importance.VITAL)]
    give_nugget_list(ensure_nugget_set(world.campaign, world.judge, Origin.AUTO), topic, fact, Event.objects.all()[0])
""",
        "plan_rubrics(world.request)",
        "NuggetList.objects.filter(nugget_set__name__startswith='rubric-').count()",
    ),
    "Grade passages": (
        1,
        f"grade_segments(world, {ONCE})",
        "plan_relevance(world.request, source='robot')",
        "Qrel.objects.filter(source__name='robot').count()",
    ),
}
"""How many topics, what is made, the plan of the job, and what counts its outcomes."""
CHECK_ONCE = """
from evaluation.models import NuggetList, Qrel
from jobs.models import Job, WorkItem
from tests.worlds.llm import assert_calls_are_sound
assert_calls_are_sound()
print(Job.objects.get().state, WorkItem.objects.filter(state="done").count(), {counted})
"""


@pytest.mark.parametrize("name", WORKS)
def test_a_killed_worker_of_the_newer_kinds_pays_no_answer_twice(
    name: str, embedded: Environment, tmp_path: Path
) -> None:
    """Check X15."""
    topics, made, plan, counted = WORKS[name]
    with running_simulator(latency_ms=LATENCY_MS) as simulator:
        environment = environment_of(embedded, simulator)
        shell(environment, MAKE_ONCE.format(topics=topics, made=made, plan=plan))
        log = tmp_path / "worker.log"
        with worker(environment, log):
            wait_for_lines(simulator, 8, log)
        with worker(environment, log):
            shell(environment, WAIT)
        lines = simulator.log.served()
    assert shell(environment, CHECK_ONCE.format(counted=counted)) == ["done", str(ONCE), str(ONCE)]
    # Those under way at the kill were not recorded, and may be asked for again.
    assert len(repeated_requests(lines)) <= 2 * SLOTS
    assert len(lines) <= ONCE + 2 * SLOTS


def environment_of(database: Environment, simulator: LoggedSimulator) -> Environment:
    return (
        os.environ
        | database
        | {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "JOB_LEASE_SECONDS": "2",
            "LLM_CONCURRENCY": str(SLOTS),
            "OPENAI_MODEL": "word-overlap-simulator",
            "OPENAI_BASE_URL": simulator.base_url,
        }
    )


@pytest.mark.parametrize("kind", ["embedded", "services"])
def test_a_worker_killed_twice_loses_and_doubles_nothing(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    log = tmp_path / "worker.log"
    with ExitStack() as stack:
        simulator = stack.enter_context(running_simulator(latency_ms=LATENCY_MS))
        environment = environment_of(request.getfixturevalue(kind), simulator)
        shell(environment, MAKE_WORLD)
        for served in (12, 32):
            with worker(environment, log):
                wait_for_lines(simulator, served, log)
        with worker(environment, log) as last:
            shell(environment, WAIT)
            last.terminate()
            assert last.wait(timeout=15) == 0, log.read_text(encoding="utf-8")
        lines = simulator.log.served()
    items = str(ITEMS)
    assert shell(environment, CHECK) == ["done", items, items, str(2 * ITEMS), "True"]
    # Those under way at a kill were paid for and not recorded; at most what two kills can have had under way.
    assert len(repeated_requests(lines)) <= 2 * 2 * SLOTS
    assert len(lines) <= ITEMS + 2 * 2 * SLOTS
