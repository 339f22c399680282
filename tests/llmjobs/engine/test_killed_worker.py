"""A worker killed in the middle, twice: one outcome an item, and no answer asked for again.

The worker is a process of its own, with the embedded broker on SQLite, and with Redis on PostgreSQL where they are
found.
"""

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from loadtest.servers.simulator import running_simulator
from tests.llmjobs.processes import SLOTS, WAIT, Environment, shell, wait_for_lines, worker
from tests.worlds.llm import repeated_requests

pytestmark = pytest.mark.slow

LATENCY_MS, ITEMS = 50, 60

MAKE_WORLD = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
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


@pytest.mark.parametrize("kind", ["embedded", "services"])
def test_a_worker_killed_twice_loses_and_doubles_nothing(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    environment: Environment = os.environ | request.getfixturevalue(kind)
    environment |= {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "JOB_LEASE_SECONDS": "2",
        "LLM_CONCURRENCY": str(SLOTS),
        "OPENAI_MODEL": "word-overlap-simulator",
    }
    log = tmp_path / "worker.log"
    with ExitStack() as stack:
        simulator = stack.enter_context(running_simulator(latency_ms=LATENCY_MS))
        environment["OPENAI_BASE_URL"] = simulator.base_url
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
