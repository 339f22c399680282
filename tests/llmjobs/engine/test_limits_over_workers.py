"""A limit kept by two worker processes, as two hosts are that know nothing of each other but broker and database."""

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from llmjobs.engine.limits import BURST, PERIOD, SLACK
from loadtest.servers.simulator import most_within, running_simulator
from tests.llmjobs.processes import WAIT, Environment, shell, worker
from tests.worlds.llm import repeated_requests

pytestmark = pytest.mark.slow
PER_MINUTE, ITEMS = 2_400, 180
MAKE_WORLD = """
from tests.worlds.llm import make_world, start_assigning
start_assigning(make_world(topics=3, runs=60, nuggets=2))
"""
CHECK = """
from jobs.models import Job, WorkItem
print(Job.objects.get().state, WorkItem.objects.filter(state="done").count())
print(WorkItem.objects.values("holder").distinct().count())
"""


@pytest.mark.parametrize("kind", ["embedded", "services"])
def test_two_worker_processes_keep_one_limit(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    environment: Environment = os.environ | request.getfixturevalue(kind)
    environment |= {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "LLM_CONCURRENCY": "4",
        "LLM_REQUESTS_PER_MINUTE": str(PER_MINUTE),
        "OPENAI_MODEL": "word-overlap-simulator",
    }
    with ExitStack() as stack:
        simulator = stack.enter_context(running_simulator(latency_ms=50, requests_per_minute=PER_MINUTE))
        environment["OPENAI_BASE_URL"] = simulator.base_url
        shell(environment, MAKE_WORLD)
        for name in ("one", "two"):
            stack.enter_context(worker(environment, tmp_path / f"{name}.log"))
        shell(environment, WAIT)
        served = simulator.log.served()
    assert shell(environment, CHECK) == ["done", str(ITEMS), "2"]
    assert (len(served), repeated_requests(served)) == (ITEMS, [])
    came = sorted(entry.at for entry in served)
    # Each alone could send 80 a second.
    assert came[-1] - came[0] >= (ITEMS - 1) * PERIOD / PER_MINUTE - BURST - SLACK
    for seconds in (1.0, 2.0, 4.0):
        assert most_within(served, seconds) <= (seconds + SLACK + BURST) * PER_MINUTE / PERIOD + 1
