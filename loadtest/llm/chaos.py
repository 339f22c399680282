"""A/A of a campaign by two workers while everything fails, for `--seconds`, and then until it is done.

Every tenth request meets a fault, of all kinds; either worker is killed every 20 s; Redis and PostgreSQL are restarted,
and the endpoint is dead for a minute, or for a tenth of the time if that is less. The endpoint has a limit, and the job
budgets that stop it twice. Afterwards everything that came out is counted against what had to, and every call against
the simulated LLM's own log.
"""

import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from threading import Event as Signal
from typing import TypeVar

from django.core.management import call_command
from django.db import Error as DatabaseError
from django.db import close_old_connections, connection
from django.db.models import F, Max
from django.utils import timezone

from evaluation.models import Assignment, ListedNugget
from jobs.models import Job, WorkItem
from llmjobs import job_service
from llmjobs.budget import NO_LIMIT, Budget
from llmjobs.models import Attempt, Call, LlmJob
from llmjobs.simulator.answering import MODEL
from loadtest.desk.plan import alongside
from loadtest.llm.checks import (
    SHOWN,
    Paid,
    Stop,
    check_budgets,
    check_calls,
    check_failures,
    check_items,
    check_labels,
    check_limit,
    check_payments,
)
from loadtest.llm.world import CALLS_A_TOPIC, CALLS_AN_ANSWER, FAULTS, queue_everything, size_for
from loadtest.servers.services import Cluster, Redis, Services
from loadtest.servers.simulator import LoggedSimulator, Served, running_simulator
from loadtest.servers.worker import WorkerProcess, running_worker
from loadtest.violations import Checks

WORKERS, LLM_CONCURRENCY, PER_MINUTE = 2, 8, 1_500
# What a worker may have sent or be about to send.
AT_ONCE = 2 * LLM_CONCURRENCY
WORKER = {
    "JOB_LEASE_SECONDS": "5",
    "LLM_CONCURRENCY": str(LLM_CONCURRENCY),
    "LLM_REQUESTS_PER_MINUTE": str(PER_MINUTE),
}
LATENCY_MS = (100, 500)
KILL_EVERY = (10.0, 30.0)  # seconds, drawn for each worker
AWAY = 4.0  # seconds for which a service that is restarted is away
LONGEST_DEAD = 60.0
# So many times the wished length may pass until the job counts as stuck; and some minutes.
LONGEST, MORE = 3.0, 300.0
A_TOKEN_BUDGET = 450  # tokens for each call that is to be made before it stops the job
LONGEST_OUTAGE = 60.0
T = TypeVar("T")


@dataclass(slots=True)
class Storm:
    simulator: LoggedSimulator
    workers: Sequence[WorkerProcess]
    services: Services | None
    seconds: float
    over: Signal = field(default_factory=Signal)
    kills: list[datetime] = field(default_factory=list)
    happened: list[str] = field(default_factory=list)

    def acts(self) -> list[tuple[float, Callable[[], None]]]:
        draw = random.Random(0)  # noqa: S311
        dead = min(LONGEST_DEAD, self.seconds / 10)
        found: list[tuple[float, Callable[[], None]]] = [
            (0.7 * self.seconds, lambda: self._switch("503")),
            (0.7 * self.seconds + dead / 2, lambda: self._switch("close")),
            (0.7 * self.seconds + dead, lambda: self._switch("")),
        ]
        if self.services and self.services.redis:
            found.append((0.3 * self.seconds, partial(self._restart, "Redis", self.services.redis)))
        if self.services and self.services.cluster:
            found.append((0.5 * self.seconds, partial(self._restart, "PostgreSQL", self.services.cluster)))
        for worker in self.workers:
            moment = draw.uniform(*KILL_EVERY)
            while moment < self.seconds:
                found.append((moment, partial(self._kill, worker)))
                moment += draw.uniform(*KILL_EVERY)
        return sorted(found, key=lambda act: act[0])

    def _kill(self, worker: WorkerProcess) -> None:
        worker.kill()
        self.kills.append(timezone.now())
        worker.start()

    def _switch(self, down: str) -> None:
        self.simulator.chooser.switch({"down": down})
        self.happened.append(f"endpoint {down or 'back'}")

    def _restart(self, name: str, service: Redis | Cluster) -> None:
        """Stop a service, and start it again; what workers had under way then may have been written or not."""
        service.stop()
        self.kills += [timezone.now()] * WORKERS
        self.over.wait(AWAY)
        service.start()
        self.happened.append(f"{name} restarted")


def run(logs: Path, seconds: float, spoil: bool, services: Services | None = None) -> int:
    """Have it done and count; return 1 on a violation. `spoil`: lose a label, to see that it is found."""
    call_command("migrate", verbosity=0)
    checks, started = Checks(), time.monotonic()
    topics, runs = size_for(seconds)
    calls = topics * (CALLS_A_TOPIC + runs * CALLS_AN_ANSWER)
    budget = Budget(tokens=calls // 3 * A_TOKEN_BUDGET)
    with ExitStack() as stack:
        simulator = stack.enter_context(running_simulator(log=logs / "served.jsonl", **FAULTS))
        stack.enter_context(_changing_latency(simulator))
        os.environ |= {"OPENAI_BASE_URL": simulator.base_url, "OPENAI_MODEL": MODEL}
        job = queue_everything(topics, runs, budget)
        workers = [
            stack.enter_context(running_worker(logs / f"worker{number}.log", WORKER)) for number in range(WORKERS)
        ]
        storm = Storm(simulator, workers, services, seconds)
        with _storming(storm):
            stops = _see_it_through(job, storm, started, calls)
        for worker in workers:
            worker.stop()
        lines = simulator.log.served()
    passed = time.monotonic() - started
    if not _is_done(job):
        checks.violations.append(f"the job did not end within {passed:.0f} s")
    if spoil:
        Assignment.objects.order_by("pk")[0].delete()
    check_budgets(checks, stops, wanted=2)
    most = check_limit(checks, lines, PER_MINUTE)
    _report(job, lines, _check_all(checks, job, lines, storm.kills), passed)
    for stop in stops:
        print(f"  {stop.reason} Spent: {stop.spent:,}, of which {stop.spent - stop.budget:,} over it")
    print(f"  {len(storm.kills)} kills; {', '.join(storm.happened)}; {most:,} requests in the fullest minute")
    for violation in checks.violations:
        print(f"  VIOLATION {violation}")
    return 1 if checks.violations else 0


def _check_all(checks: Checks, job: Job, lines: Sequence[Served], kills: Sequence[datetime]) -> Paid:
    for check in (check_items, check_labels, check_failures):
        check(checks, job)
    check_calls(checks)
    return check_payments(checks, lines, kills, AT_ONCE)


@contextmanager
def _storming(storm: Storm) -> Iterator[None]:
    started = time.monotonic()

    def happen() -> None:
        for moment, act in storm.acts():
            if storm.over.wait(max(0.0, started + moment - time.monotonic())):
                return
            act()

    try:
        with alongside(happen, storm.over.set):
            yield
    finally:
        storm.simulator.chooser.switch({"down": ""})


def _changing_latency(simulator: LoggedSimulator) -> AbstractContextManager[None]:
    over = Signal()
    draw = random.Random(0)  # noqa: S311

    def change() -> None:
        while not over.wait(0.05):
            simulator.chooser.switch({"latency_ms": draw.randint(*LATENCY_MS)})

    simulator.chooser.switch({"latency_ms": LATENCY_MS[0]})
    return alongside(change, over.set)


def _see_it_through(job: Job, storm: Storm, started: float, calls: int) -> list[Stop]:
    """Wait for the job's end; where a budget stops it, note what was spent and have it go on with the next one."""
    stops: list[Stop] = []
    ends = started + LONGEST * storm.seconds + MORE
    while time.monotonic() < ends and not _in_spite_of_outages(lambda: _is_done(job)):
        if _in_spite_of_outages(lambda: _is_at_rest(job)):
            stop = _in_spite_of_outages(lambda: _stop_of(job))
            stops.append(stop)
            _in_spite_of_outages(lambda: _go_on(job, calls, first=len(stops) == 1))
        time.sleep(0.2)
    return stops


def _in_spite_of_outages(act: Callable[[], T]) -> T:
    ends = time.monotonic() + LONGEST_OUTAGE
    while True:
        try:
            close_old_connections()
            return act()
        except DatabaseError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.5)


def _is_done(job: Job) -> bool:
    return Job.objects.filter(pk=job.pk, state=Job.State.DONE).exists()


def _is_at_rest(job: Job) -> bool:
    """Say whether the job is paused and what was under way is in, or lost with its worker."""
    paused = Job.objects.filter(pk=job.pk, state=Job.State.PAUSED).exists()
    held = WorkItem.objects.filter(job=job, state=WorkItem.State.LEASED, lease_until__gt=timezone.now())
    return paused and not held.exists()


def _stop_of(job: Job) -> Stop:
    llm = LlmJob.objects.select_related("job").get(pk=job.pk)
    if llm.most_calls is not None:  # counted before they go out
        return Stop(llm.job.waiting_for, llm.sent_calls, llm.most_calls, 0)
    largest = Call.objects.aggregate(most=Max(F("prompt_tokens") + F("completion_tokens")))["most"]
    spent = llm.prompt_tokens + llm.completion_tokens
    return Stop(llm.job.waiting_for, spent, llm.most_tokens or 0, WORKERS * AT_ONCE * largest)


def _go_on(job: Job, calls: int, *, first: bool) -> None:
    llm = LlmJob.objects.select_related("job", "campaign").get(pk=job.pk)
    job_service.resume(llm, None, Budget(calls=llm.sent_calls + calls // 6) if first else NO_LIMIT)


def _report(job: Job, lines: Sequence[Served], paid: Paid, seconds: float) -> None:
    states = Counter(job.items.values_list("state", flat=True))
    errors = Counter(Attempt.objects.exclude(error="").values_list("error", flat=True))
    faults = Counter(line.fault for line in lines if line.fault)
    nuggets = Counter(ListedNugget.objects.values_list("nugget_list", flat=True)).values()
    print(f"  {connection.vendor}, {seconds:.0f} s")
    print(f"  lists {len(nuggets)} of {min(nuggets, default=0)} to {max(nuggets, default=0)} nuggets")
    print(
        f"  items {sum(states.values())}: {_shown(states)}; claimed again: {job.items.filter(attempt__gt=1).count()}"
    )
    print(f"  labels {Assignment.objects.count():,}")
    print(f"  calls {Call.objects.count()}, attempts {Attempt.objects.count()}, refused: {_shown(errors)}")
    print(f"  served {len(lines)}, faults: {_shown(faults)}")
    print(f"  in flight at kills {paid.under_way}, of them cut before the answer {paid.gone}")
    print(f"  answers served a second time {paid.repeats}")
    for item in job.items.filter(state=WorkItem.State.FAILED).order_by("pk")[:SHOWN]:
        print(f"  failed: {item.key}: {item.reason}")


def _shown(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(counts.items())) or "none"
