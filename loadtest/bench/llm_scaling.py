"""One, two and four worker processes that share an endpoint's limit, which the simulated LLM enforces and logs."""

import json
import tempfile
import urllib.request
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from jobs.models import WorkItem
from llmjobs.simulator.answering import MODEL
from loadtest.bench.llm import Shape, campaign_of, make_campaign, sending_seconds, simulator, start_job
from loadtest.bench.llm_worker import broker, wait_for
from loadtest.bench.measuring import Measured
from loadtest.bench.sizes import Size
from loadtest.servers.simulator import Served, most_within
from loadtest.servers.worker import running_worker

PER_MINUTE = 3_000
SHAPE = Shape("scaling", topics=20, runs=100, latency_ms=500, concurrency=16)


def _with(workers: int, size: Size, turn: int) -> Measured:
    name = f"{SHAPE.name}{workers}"
    make_campaign(f"{name}-{turn}", SHAPE.of(size))
    job = start_job(campaign_of(name, turn))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-bench-")))
        base_url = stack.enter_context(simulator(SHAPE.latency_ms, requests_per_minute=PER_MINUTE))
        own = {
            "OPENAI_BASE_URL": base_url,
            "OPENAI_MODEL": MODEL,
            "LLM_CONCURRENCY": str(SHAPE.concurrency),
            "LLM_REQUESTS_PER_MINUTE": str(PER_MINUTE),
            "CELERY_BROKER_URL": broker(stack, folder),
        }
        for number in range(workers):
            stack.enter_context(running_worker(folder / f"worker{number}.log", own))
        wait_for(job)
        served = _log(base_url)
    if job.items.exclude(state=WorkItem.State.DONE).exists():
        raise SystemExit("not every item is done")
    measured = Measured(rows=SHAPE.calls(size))
    measured.seconds = {
        "all": sending_seconds(job),
        "most": most_within(served, 60.0),
        "refused": sum(request.fault == "over_limit" for request in served),
    }
    return measured


# One worker is slower than the limit, two together are as quick as it lets them, and four without it would go far over.
with_1, with_2, with_4 = (partial(_with, workers) for workers in (1, 2, 4))


def _log(base_url: str) -> list[Served]:
    with urllib.request.urlopen(base_url.replace("/v1", "/log")) as reply:  # noqa: S310
        return [Served(**json.loads(line)) for line in reply]
