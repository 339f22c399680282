"""AutoAssign over real HTTP: the engine beside a bare `openai` client in threads, and the web beside the engine.

The simulated LLM answers from a process of its own. A row is a call.
"""

import os
import resource
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event as Signal
from typing import Any, cast

import numpy as np
import openai
from django.conf import settings
from django.db import connection
from django.db.models import Max, Min, QuerySet
from openai.types.chat import ChatCompletionMessageParam

from accounts.models import User
from evaluation.models import Answer, AnswerProvenance, Campaign, Judge, NuggetSet, Run, Sentence
from evaluation.terms import Condition, Origin
from jobs.models import Job, WorkItem
from llmjobs.engine import loop as engine_loop
from llmjobs.job_plan import assign_items
from llmjobs.job_service import JobRequest, judge_for, plan_evaluation, start
from llmjobs.kinds import ITEM_KINDS
from llmjobs.models import Attempt, Call
from llmjobs.prompt_store import BUILT_IN_PROMPTS
from llmjobs.simulator.answering import MODEL
from loadtest.bench import synthetic
from loadtest.bench.measuring import Measured
from loadtest.bench.sizes import SMALL, Size
from loadtest.servers.sessions import session_cookie
from loadtest.servers.web import served
from loadtest.servers.worker import running_worker

LONGEST_WAIT = 60.0  # seconds
SENTENCES, WORDS = 10, 20
PAGE_EVERY, PAGES_FOR = 0.04, 6.0


@dataclass(frozen=True, slots=True)
class Shape:
    """So many calls: two for each answer of so many runs to each topic, of so long, so many at once."""

    name: str
    topics: int
    runs: int
    latency_ms: int
    concurrency: int

    def of(self, size: Size) -> Size:
        topics, runs = (2, 4) if size is SMALL else (self.topics, self.runs)
        return Size(topics=topics, runs=runs, nuggets=20, segments=0)

    def calls(self, size: Size) -> int:
        own = self.of(size)
        return own.topics * own.runs * 2


USUAL = Shape("calls", topics=20, runs=20, latency_ms=200, concurrency=16)
WIDE = Shape("wide", topics=20, runs=40, latency_ms=1000, concurrency=64)
QUICK = Shape("quick", topics=20, runs=40, latency_ms=10, concurrency=32)


def campaigns(size: Size, turn: int) -> Measured:
    for name in (USUAL.name, "pages"):
        make_campaign(f"{name}-{turn}", USUAL.of(size))
    return Measured(rows=USUAL.calls(size))


def _campaign(shape: Shape, size: Size, turn: int) -> Measured:
    make_campaign(f"{shape.name}-{turn}", shape.of(size))
    return Measured(rows=shape.calls(size))


def _bare(shape: Shape, size: Size, turn: int) -> Measured:
    """Make the same requests with one client in threads, and throw the answers away."""
    with (
        simulator(shape.latency_ms) as base_url,
        openai.OpenAI(base_url=base_url, api_key="none", max_retries=0) as client,
    ):
        requests = _messages(campaign_of(shape.name, turn))
        measured = Measured(rows=len(requests))

        def ask(messages: list[ChatCompletionMessageParam]) -> str | None:
            completion = client.chat.completions.create(model=MODEL, messages=messages, temperature=0.0)
            return completion.choices[0].message.content

        before = _cpu()
        with measured.timing("all"), ThreadPoolExecutor(shape.concurrency) as pool:
            replies = list(pool.map(ask, requests))
        measured.seconds["cpu"] = _cpu() - before
    if not all(replies) or len(requests) != shape.calls(size):
        raise SystemExit("not every request was answered")
    return with_ideal(measured, shape)


def assay(size: Size, turn: int) -> Measured:
    """Have the engine do the job. `all` is its sending phase: first attempt sent to last reply written."""
    measured, statements = Measured(rows=USUAL.calls(size)), count()

    def counted(execute: Callable[..., Any], *args: Any) -> Any:
        next(statements)
        return execute(*args)

    with simulator(USUAL.latency_ms) as base_url:
        os.environ |= {"OPENAI_BASE_URL": base_url, "OPENAI_MODEL": MODEL}
        settings.LLM_CONCURRENCY = USUAL.concurrency
        # Without a job: connections, queries and threads that every start makes.
        with measured.timing("idle"):
            engine_loop.run("bench", Signal())
        job = start_job(campaign_of(USUAL.name, turn))
        before = _cpu()
        with measured.timing("engine"), connection.execute_wrapper(counted):
            engine_loop.run("bench", Signal())
        measured.seconds["cpu"] = _cpu() - before
    measured.seconds["all"] = sending_seconds(job)
    measured.seconds["statements"] = next(statements) / measured.rows
    if job.items.exclude(state=WorkItem.State.DONE).exists() or calls_of(job).count() != measured.rows:
        raise SystemExit("not every item is done, or two shared a call")
    return with_ideal(measured, USUAL)


# The steps of loadtest/bench/plan.py: usual calls, many long ones at once, and calls that are answered at once.
bare = partial(_bare, USUAL)
wide_campaign, wide_bare = partial(_campaign, WIDE), partial(_bare, WIDE)
quick_campaign, quick_bare = partial(_campaign, QUICK), partial(_bare, QUICK)


def pages(size: Size, turn: int) -> Measured:
    """Read the campaign's page: while nothing happens, and while a worker has calls under way."""
    campaign = campaign_of("pages", turn)
    with simulator(USUAL.latency_ms) as base_url, served() as address:
        url, cookie = f"{address}/campaigns/{campaign.slug}/today/", _signed_in()
        for _ in range(20):
            _seconds_of(url, cookie)
        idle = _read_pages(url, cookie)
        os.environ |= {"OPENAI_BASE_URL": base_url, "OPENAI_MODEL": MODEL}
        job = start_job(campaign)
        with running_worker(Path(os.devnull), {"LLM_CONCURRENCY": str(USUAL.concurrency)}):
            _wait_for_calls(job)
            busy = _read_pages(url, cookie)
            still = Job.objects.filter(pk=job.pk, state=Job.State.RUNNING).exists()
    if not still and size is not SMALL:
        raise SystemExit("the job was over before the pages were read")
    seconds = {"all": float(np.percentile(idle, 95)), "busy": float(np.percentile(busy, 95))}
    seconds |= {"median": float(np.median(idle)), "busy median": float(np.median(busy))}
    return Measured(rows=len(idle), seconds=seconds)


def with_ideal(measured: Measured, shape: Shape) -> Measured:
    """Add the seconds that the calls take where nothing but their latency counts."""
    measured.seconds["ideal"] = measured.rows * shape.latency_ms / 1000 / shape.concurrency
    return measured


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def make_campaign(slug: str, size: Size) -> None:
    """Make a campaign whose answers are all different: equal questions would be one call."""
    campaign = synthetic.make_campaign(slug, size.topics)
    synthetic.make_nuggets(campaign, size, Origin.AUTO, MODEL)
    Judge.objects.filter(name=MODEL).update(model=MODEL)
    topics = list(campaign.topics.all())
    for number in range(size.runs):
        run = Run.objects.create(campaign=campaign, run_id=synthetic.run_id(number))
        for topic in topics:
            answer = Answer.objects.create(topic=topic, words=SENTENCES * WORDS)
            AnswerProvenance.objects.create(answer=answer, run=run, topic=topic)
            seeds = range(answer.pk * SENTENCES, (answer.pk + 1) * SENTENCES)
            texts = [f"{synthetic.phrase(seed, WORDS)}." for seed in seeds]
            Sentence.objects.bulk_create([Sentence(answer=answer, index=n, text=t) for n, t in enumerate(texts)])


def campaign_of(name: str, turn: int) -> Campaign:
    return Campaign.objects.get(slug=f"{name}-{turn}")


def _messages(campaign: Campaign) -> list[list[ChatCompletionMessageParam]]:
    lists = NuggetSet.objects.get(campaign=campaign).lists.all()
    runs = list(campaign.runs.values_list("pk", flat=True))
    items = [WorkItem(key=item.key, payload=item.payload) for item in assign_items(lists, runs, 10)]
    requests = [next(step) for step in ITEM_KINDS["assign"].begin(items, [BUILT_IN_PROMPTS] * len(items))]
    written = [
        [{"role": message.role, "content": message.content} for message in request.messages]
        for request in requests
    ]
    return cast(list[list[ChatCompletionMessageParam]], written)


def start_job(campaign: Campaign) -> Job:
    request = JobRequest(campaign, judge_for(""))
    return start(request, "AutoAssign A/A", plan_evaluation(request, Condition.AA))


def calls_of(job: Job) -> QuerySet[Call]:
    return Call.objects.filter(uses__item__job=job).distinct()


def sending_seconds(job: Job) -> float:
    attempts = Attempt.objects.filter(call__uses__item__job=job)
    found = attempts.aggregate(first=Min("sent_at"), last=Max("ended_at"))
    return float((found["last"] - found["first"]).total_seconds())


@contextmanager
def simulator(latency_ms: int, *, requests_per_minute: int = 0) -> Iterator[str]:
    command = [sys.executable, "-m", "loadtest.servers.simulator", "--latency-ms", str(latency_ms)]
    command += ["--requests-per-minute", str(requests_per_minute)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=settings.BASE_DIR) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def _signed_in() -> str:
    user, _ = User.objects.get_or_create(username="bench", defaults={"is_staff": True, "is_superuser": True})
    return session_cookie(user)


def _read_pages(url: str, cookie: str) -> Sequence[float]:
    """Read a page again and again at a steady pace; the seconds that each took."""
    found: list[float] = []
    end = time.monotonic() + PAGES_FOR
    while time.monotonic() < end:
        found.append(_seconds_of(url, cookie))
        time.sleep(max(0.0, PAGE_EVERY - found[-1]))
    return found


def _seconds_of(url: str, cookie: str) -> float:
    started = time.perf_counter()
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Cookie": cookie})) as reply:  # noqa: S310
        reply.read()
        if reply.url != url:
            raise SystemExit(f"{url} is not shown, but {reply.url}")
    return time.perf_counter() - started


def _wait_for_calls(job: Job) -> None:
    end = time.monotonic() + LONGEST_WAIT
    while not job.items.filter(state=WorkItem.State.DONE).exists():
        if time.monotonic() > end:
            raise SystemExit("the worker does nothing")
        time.sleep(0.05)
