"""Assessors at their judging desks while what the service stands on fails, one thing after the other.

Everything runs on services of its own. Whatever was acknowledged must be stored once, whatever was not must wait in the
outbox and arrive once when the service is back, and the service must come back without anybody's help.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from django.db import connection, connections

from evaluation.models import Campaign, SupportJudgment
from jobs.models import Job, WorkItem
from llmjobs.job_service import JobRequest, judge_for, plan_support, start
from llmjobs.simulator.answering import MODEL
from loadtest.desk.judging_load import (
    WARMING,
    JudgingAssessor,
    compare_all,
    make_world,
    print_times,
    report,
    served_as,
)
from loadtest.desk.plan import Plan, Times, alongside, run_all
from loadtest.desk.seats import own_connection
from loadtest.servers.services import Services, SmallDisk
from loadtest.servers.simulator import running_simulator
from loadtest.servers.web import WebProcess, running_web
from loadtest.servers.worker import WorkerProcess, running_worker
from loadtest.violations import Loss, Violations, print_violations

LONGEST_RECOVERY, LONGEST_FAULT = 90.0, 240.0
"""Seconds; the second is only there so that a run that hangs ends."""

JOB_ENDS_WITHIN = 120.0
WORKER = {"JOB_LEASE_SECONDS": "5", "LLM_CONCURRENCY": "1"}


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that fails, for at least so many seconds. `spares`: nobody who judges may notice it."""

    name: str
    begin: Callable[[], object]
    end: Callable[[], object]
    lasts: float
    spares: bool = False


@dataclass(slots=True)
class Happened:
    fault: Fault
    began: float
    ended: float = 0.0
    recovered: float = 0.0

    def explains(self, sent: float, answered: float) -> bool:
        return not self.fault.spares and answered >= self.began and sent <= (self.recovered or float("inf"))


def run(logs: Path, services: Services, assessors: int, seconds: float, every: float, spoil: bool) -> int:
    """Have them judge for so long while things fail, and compare; return 1 on a violation."""
    seats = make_world(assessors, seconds, every)
    violations, refused = Violations(), list[str]()
    with ExitStack() as stack:
        simulator = stack.enter_context(running_simulator(log=logs / "served.jsonl"))
        os.environ |= {"OPENAI_BASE_URL": simulator.base_url, "OPENAI_MODEL": MODEL}
        with own_connection():
            job = _start_job()
            simulator.chooser.switch({"latency_ms": int(700 * seconds / max(1, job.items.count()))})
        web = stack.enter_context(running_web(logs / "web.log", own=served_as(seconds)))
        worker = stack.enter_context(running_worker(logs / "worker.log", WORKER))
        starts, faults = time.monotonic() + WARMING, _faults(services, web, worker, seconds)
        ends = starts + seconds + LONGEST_FAULT * len(faults)
        plan = Plan(web.address, ends, violations.add, refused.append, starts, every)
        judges = [JudgingAssessor(seat, plan, number) for number, seat in enumerate(seats)]
        happened = list[Happened]()
        with _failing(faults, seconds / (len(faults) + 1), judges, plan, happened):
            run_all(judges, plan.stopped)
        _wait_for(job, violations)
        worker.stop()
    _check_failures(plan.times, happened, violations)
    counts = compare_all(judges, violations, Loss(wanted=spoil))
    (logs / "violations.txt").write_text("\n".join(violations.found), encoding="utf-8")
    print_violations(violations.found)
    print_times(plan.times, seconds)
    for fault in happened:
        _print(fault, plan.times)
    for what in services.left_out:
        print(f"  left out: {what}")
    print(f"  {len(refused)} answers of 5xx")
    report(counts, len(judges), seconds, violations.found)
    return 1 if violations.found else 0


def _faults(services: Services, web: WebProcess, worker: WorkerProcess, seconds: float) -> list[Fault]:
    lasts = max(1.0, min(20.0, seconds / 15))
    found = [Fault("web killed", web.kill, web.start, 0.0)]
    if services.cluster:
        cluster = services.cluster
        found.append(Fault("PostgreSQL restarted", cluster.stop, cluster.start, 0.0))
        found.append(Fault("PostgreSQL away", cluster.stop, cluster.start, lasts))
    if services.redis:
        found.append(Fault("Redis away", services.redis.stop, services.redis.start, lasts, spares=True))
    if services.disk:
        disk = services.disk
        found.append(Fault("disk full", partial(_fill, disk), disk.free, lasts))
    return [*found, Fault("worker killed", worker.kill, worker.start, 0.0, spares=True)]


def _fill(disk: SmallDisk) -> None:
    """Fill a disk, with nothing left in the journal that could be written over without more place."""
    with own_connection(), connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    disk.fill()


def _failing(
    faults: Sequence[Fault],
    calm: float,
    judges: Sequence[JudgingAssessor],
    plan: Plan,
    happened: list[Happened],
) -> AbstractContextManager[None]:
    """Let one thing after the other fail while the block runs, with so many calm seconds between; then end the work."""

    def fail() -> None:
        time.sleep(max(0.0, plan.starts - time.monotonic()))
        for fault in faults:
            if plan.stopped.wait(calm):
                break
            outage = Happened(fault, time.monotonic())
            happened.append(outage)
            fault.begin()
            plan.stopped.wait(fault.lasts)
            fault.end()
            outage.ended = time.monotonic()
            _await_recovery(outage, judges, plan)
        plan.stopped.wait(calm)
        plan.stopped.set()

    return alongside(fail, end=lambda: None)


def _await_recovery(outage: Happened, judges: Sequence[JudgingAssessor], plan: Plan) -> None:
    while time.monotonic() < outage.ended + LONGEST_RECOVERY:
        if all(judge.is_over or judge.saved_at > outage.ended for judge in judges):
            outage.recovered = time.monotonic()
            return
        time.sleep(0.05)
    plan.violation(f"{outage.fault.name}: not everybody could save again within {LONGEST_RECOVERY:g} s")


def _check_failures(times: Times, happened: Sequence[Happened], violations: Violations) -> None:
    unexplained = [
        (sent, why)
        for sent, answered, why in times.unanswered
        if not any(outage.explains(sent, answered) for outage in happened)
    ]
    if unexplained:
        near = Counter(
            (next((outage.fault.name for outage in reversed(happened) if outage.began <= sent), "before all"), why)
            for sent, why in unexplained
        )
        violations.add(f"{len(unexplained)} requests failed without a reason, after: {dict(near)}")


def _print(outage: Happened, times: Times) -> None:
    failed = [sent for sent, answered, _ in times.unanswered if outage.explains(sent, answered)]
    late = sum(sent > outage.ended for sent in failed)
    recovery = f"after {outage.recovered - outage.ended:.1f} s" if outage.recovered else "never"
    print(
        f"  {outage.fault.name}: for {outage.ended - outage.began:.1f} s; {len(failed)} requests failed, {late} of "
        f"them asked when it was over; everybody saved again: {recovery}"
    )


def _start_job() -> Job:
    request = JobRequest(Campaign.objects.get(), judge_for(""))
    return start(request, "support", plan_support(request))


def _wait_for(job: Job, violations: Violations) -> None:
    end = time.monotonic() + JOB_ENDS_WITHIN
    while Job.objects.get(pk=job.pk).state != Job.State.DONE and time.monotonic() < end:
        time.sleep(0.2)
    states = Counter[str](job.items.values_list("state", flat=True))
    if set(states) != {WorkItem.State.DONE}:
        violations.add(f"the LLM's job ended with {dict(states)}")
    given: Any = SupportJudgment.objects.current().filter(judge__model=MODEL).values_list("sentence", "segment")
    pairs = Counter(given)
    if len(pairs) != sum(states.values()) or any(number > 1 for number in pairs.values()):
        violations.add(f"{sum(states.values())} pairs were asked of the LLM, {pairs.total()} labels came")
    connections.close_all()
