"""Messages that are lost, doubled or swept away: a job ends all the same, and no call is paid twice."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis

from loadtest.servers.simulator import LoggedSimulator, running_simulator
from tests.llmjobs.processes import WAIT, Environment, shell, wait_for_lines, worker
from tests.worlds.llm import repeated_requests

pytestmark = pytest.mark.slow

ITEMS = 60
MAKE_WORLD = """
from tests.worlds.llm import make_world, start_assigning
start_assigning(make_world(topics=3, runs=20, nuggets=2))
"""
SEND_MANY = """
from jobs.queue import send_wake_up
for _ in range(30):
    send_wake_up("llm")
"""
CHECK = """
from jobs.models import Job, WorkItem
print(Job.objects.get().state, WorkItem.objects.filter(state="done").count())
"""


@pytest.fixture(params=["embedded", "services"])
def environment(request: pytest.FixtureRequest) -> Environment:
    own: Environment = os.environ | request.getfixturevalue(request.param)
    return own | {"DJANGO_SETTINGS_MODULE": "config.settings", "OPENAI_MODEL": "word-overlap-simulator"}


@contextmanager
def at_work(environment: Environment, log: Path) -> Iterator[LoggedSimulator]:
    """Run the simulated LLM and a worker that looks at an empty database."""
    with running_simulator(latency_ms=50) as simulator:
        environment["OPENAI_BASE_URL"] = simulator.base_url
        with worker(environment, log):
            yield simulator


def test_a_job_ends_whose_message_was_lost(environment: Environment, tmp_path: Path) -> None:
    with at_work(environment, tmp_path / "worker.log") as simulator:
        shell(environment | {"CELERY_BROKER_URL": "memory://"}, MAKE_WORLD)
        shell(environment, WAIT)
        assert len(simulator.log.served()) == ITEMS
    assert shell(environment, CHECK) == ["done", str(ITEMS)]


def test_doubled_messages_pay_no_call_twice(environment: Environment, tmp_path: Path) -> None:
    with at_work(environment, tmp_path / "worker.log") as simulator:
        shell(environment, MAKE_WORLD)
        shell(environment, SEND_MANY)
        shell(environment, WAIT)
        served = simulator.log.served()
    assert (len(served), repeated_requests(served)) == (ITEMS, [])
    assert shell(environment, CHECK) == ["done", str(ITEMS)]


def test_a_job_outlives_an_emptied_broker(environment: Environment, tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    with at_work(environment, log) as simulator:
        shell(environment, MAKE_WORLD)
        wait_for_lines(simulator, 1, log)
        if environment["CELERY_BROKER_URL"].startswith("redis"):
            with Redis.from_url(environment["CELERY_BROKER_URL"]) as broker:
                broker.flushall()
        shell(environment, WAIT)
        assert len(simulator.log.served()) == ITEMS
    assert shell(environment, CHECK) == ["done", str(ITEMS)]
