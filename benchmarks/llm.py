"""AutoAssign over real HTTP: the engine beside a bare `openai` client in threads, and the web beside the engine.

The simulated LLM answers from a process of its own. A row is a call.
"""

import os
import resource
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from threading import Event as Signal
from typing import cast

import numpy as np
import openai
from django.conf import settings
from django.db.models import Max, Min, QuerySet
from openai.types.chat import ChatCompletionMessageParam

from accounts.models import User
from benchmarks import synthetic
from benchmarks.measuring import Measured
from benchmarks.sizes import SMALL, Size
from evaluation.models import Answer, AnswerProvenance, Campaign, Judge, NuggetSet, Run, Sentence
from evaluation.terms import Condition, Origin
from jobs.models import Job, WorkItem
from llmjobs import engine
from llmjobs.kinds import KINDS
from llmjobs.models import Attempt, Call
from llmjobs.planning import assign_items
from llmjobs.simulator import MODEL
from llmjobs.starting import Request, judge_for, plan_evaluation, start
from llmjobs.ways import BUILT_IN
from rig.sessions import session_cookie
from rig.web import served

CONCURRENCY, LATENCY_MS = 16, 200
LONGEST_WAIT = 60.0  # seconds
SENTENCES, WORDS = 10, 20
MANAGE = (sys.executable, "manage.py")
PAGE_EVERY, PAGES_FOR = 0.04, 6.0


def _size(size: Size) -> Size:
    """Return how much is assigned: two calls for each of 400 answers, or next to nothing."""
    topics, runs = (2, 4) if size is SMALL else (20, 20)
    return Size(topics=topics, runs=runs, nuggets=20, segments=0)


def campaigns(size: Size, turn: int) -> Measured:
    """Make a turn's campaigns: one for the calls, one for the calls beside which pages are read."""
    for name in ("calls", "pages"):
        _make_campaign(f"{name}-{turn}", _size(size))
    return Measured(rows=_rows(size))


def bare(size: Size, turn: int) -> Measured:
    """Make the same requests with one client in threads, and throw the answers away."""
    with _simulator() as base_url, openai.OpenAI(base_url=base_url, api_key="none", max_retries=0) as client:
        asked = _messages(_campaign("calls", turn))
        measured = Measured(rows=len(asked))

        def ask(messages: list[ChatCompletionMessageParam]) -> str | None:
            completion = client.chat.completions.create(model=MODEL, messages=messages, temperature=0.0)
            return completion.choices[0].message.content

        before = _cpu()
        with measured.timing("all"), ThreadPoolExecutor(CONCURRENCY) as pool:
            replies = list(pool.map(ask, asked))
        measured.seconds["cpu"] = _cpu() - before
    if not all(replies) or len(asked) != _rows(size):
        raise SystemExit("not every request was answered")
    return _with_ideal(measured)


def assay(size: Size, turn: int) -> Measured:
    """Have the engine do the job. `all` is its sending phase: first attempt sent to last reply written."""
    measured = Measured(rows=_rows(size))
    with _simulator() as base_url:
        os.environ |= {"OPENAI_BASE_URL": base_url, "OPENAI_MODEL": MODEL}
        settings.LLM_CONCURRENCY = CONCURRENCY
        # Without a job: connections, queries and threads that every start makes.
        with measured.timing("idle"):
            engine.run("bench", Signal())
        job = _start(_campaign("calls", turn))
        before = _cpu()
        with measured.timing("engine"):
            engine.run("bench", Signal())
        measured.seconds["cpu"] = _cpu() - before
    first, last = _sending_phase(job)
    measured.seconds["all"] = (last - first).total_seconds()
    if job.items.exclude(state=WorkItem.State.DONE).exists() or _calls(job).count() != measured.rows:
        raise SystemExit("not every item is done, or two shared a call")
    return _with_ideal(measured)


def pages(size: Size, turn: int) -> Measured:
    """Read the campaign's page: while nothing happens, and while a worker has calls under way."""
    campaign = _campaign("pages", turn)
    with _simulator() as base_url, served() as address:
        url, cookie = f"{address}/campaigns/{campaign.slug}/", _signed_in()
        for _ in range(20):
            _seconds_of(url, cookie)
        idle = _read_pages(url, cookie)
        os.environ |= {"OPENAI_BASE_URL": base_url, "OPENAI_MODEL": MODEL, "LLM_CONCURRENCY": str(CONCURRENCY)}
        job = _start(campaign)
        with _worker():
            _wait_for_calls(job)
            busy = _read_pages(url, cookie)
            still = Job.objects.filter(pk=job.pk, state=Job.State.RUNNING).exists()
    if not still and size is not SMALL:
        raise SystemExit("the job was over before the pages were read")
    seconds = {"all": float(np.percentile(idle, 95)), "busy": float(np.percentile(busy, 95))}
    seconds |= {"median": float(np.median(idle)), "busy median": float(np.median(busy))}
    return Measured(rows=len(idle), seconds=seconds)


def _rows(size: Size) -> int:
    own = _size(size)
    return own.topics * own.runs * 2


def _with_ideal(measured: Measured) -> Measured:
    measured.seconds["ideal"] = measured.rows * LATENCY_MS / 1000 / CONCURRENCY
    return measured


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _make_campaign(slug: str, size: Size) -> None:
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


def _campaign(name: str, turn: int) -> Campaign:
    return Campaign.objects.get(slug=f"{name}-{turn}")


def _messages(campaign: Campaign) -> list[list[ChatCompletionMessageParam]]:
    """Return the messages of every call that the engine will make."""
    lists = NuggetSet.objects.get(campaign=campaign).lists.all()
    runs = list(campaign.runs.values_list("pk", flat=True))
    items = [WorkItem(key=one.key, payload=one.payload) for one in assign_items(lists, runs, 10)]
    asks = [next(step) for step in KINDS["assign"].begin(items, [BUILT_IN] * len(items))]
    written = [[{"role": one.role, "content": one.content} for one in ask.messages] for ask in asks]
    return cast(list[list[ChatCompletionMessageParam]], written)


def _start(campaign: Campaign) -> Job:
    request = Request(campaign, judge_for(""))
    return start(request, "AutoAssign A/A", plan_evaluation(request, Condition.AA))


def _calls(job: Job) -> QuerySet[Call]:
    return Call.objects.filter(uses__item__job=job).distinct()


def _sending_phase(job: Job) -> tuple[datetime, datetime]:
    attempts = Attempt.objects.filter(call__uses__item__job=job)
    found = attempts.aggregate(first=Min("sent_at"), last=Max("ended_at"))
    return found["first"], found["last"]


@contextmanager
def _simulator() -> Iterator[str]:
    """Run the simulated LLM in a process of its own; its base URL."""
    command = [*MANAGE, "simulate_llm", "--latency-ms", str(LATENCY_MS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=settings.BASE_DIR) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@contextmanager
def _worker() -> Iterator[None]:
    command = [sys.executable, "-m", "celery", "-A", "config", "worker", "--pool", "threads"]
    command += ["--concurrency", "2", "--loglevel", "ERROR"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=settings.BASE_DIR) as process:
        try:
            yield
        finally:
            process.terminate()


def _signed_in() -> str:
    """Return the cookie of an administrator's session."""
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
    """Wait until replies come in."""
    end = time.monotonic() + LONGEST_WAIT
    while not job.items.filter(state=WorkItem.State.DONE).exists():
        if time.monotonic() > end:
            raise SystemExit("the worker does nothing")
        time.sleep(0.05)
