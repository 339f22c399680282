"""AutoAssign by `celery -A config worker`, as an organizer gets it: broker, engine and database together.

On PostgreSQL the broker is a Redis of our own, on SQLite the embedded one. A row is a call.
"""

import os
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from jobs.models import Job, WorkItem
from llmjobs.simulator.answering import MODEL
from loadtest.bench.llm import (
    QUICK,
    USUAL,
    WIDE,
    Shape,
    calls_of,
    campaign_of,
    make_campaign,
    sending_seconds,
    simulator,
    start_job,
    with_ideal,
)
from loadtest.bench.measuring import Measured
from loadtest.bench.sizes import Size
from loadtest.servers.services import Redis
from loadtest.servers.worker import WorkerProcess, running_worker

LONGEST_WAIT = 600.0  # seconds
AT_REST, LOOK_EVERY = 0.15, 2.0
"""A worker that uses less CPU than this in so many seconds has imported everything."""


def _by_worker(shape: Shape, size: Size, turn: int) -> Measured:
    name = f"worker-{shape.name}"
    make_campaign(f"{name}-{turn}", shape.of(size))
    measured = Measured(rows=shape.calls(size))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-bench-")))
        own = {
            "OPENAI_BASE_URL": stack.enter_context(simulator(shape.latency_ms)),
            "OPENAI_MODEL": MODEL,
            "LLM_CONCURRENCY": str(shape.concurrency),
            "CELERY_BROKER_URL": broker(stack, folder),
        }
        os.environ |= own
        worker = stack.enter_context(running_worker(folder / "worker.log", own))
        before = _at_rest(worker)
        job = start_job(campaign_of(name, turn))
        wait_for(job)
        measured.seconds = {
            "cpu": worker.cpu_seconds() - before,
            "memory": worker.peak_mb(),
            "all": sending_seconds(job),
        }
    if job.items.exclude(state=WorkItem.State.DONE).exists() or calls_of(job).count() != measured.rows:
        raise SystemExit("not every item is done, or two shared a call")
    return with_ideal(measured, shape)


usual, wide, quick = (partial(_by_worker, shape) for shape in (USUAL, WIDE, QUICK))


def _at_rest(worker: WorkerProcess) -> float:
    before, found = float("-inf"), 0.0  # right after its start it has used nothing, and does not rest
    while found - before > AT_REST:
        time.sleep(LOOK_EVERY)
        before, found = found, worker.cpu_seconds()
    return found


def broker(stack: ExitStack, folder: Path) -> str:
    """Return the broker: a Redis of our own beside PostgreSQL, and the embedded one beside SQLite."""
    if not os.environ.get("DATABASE_URL", "").startswith("postgres"):
        return "memory://"
    redis = Redis(folder)
    stack.callback(redis.stop)
    redis.start()
    return redis.url


def wait_for(job: Job) -> None:
    end = time.monotonic() + LONGEST_WAIT
    while Job.objects.filter(pk=job.pk, state=Job.State.RUNNING).exists():
        if time.monotonic() > end:
            raise SystemExit("the job does not end")
        time.sleep(0.5)
