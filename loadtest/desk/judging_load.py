"""Assessors at their judging desks, each with a label every two seconds, on the server as it is in production.

Afterwards everything that is stored is compared with what each of them did and what they were told.
"""

import os
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from django.core.management import call_command
from django.db import connection, connections

from loadtest.desk.assessor import Assessor
from loadtest.desk.checks import compare
from loadtest.desk.judging_campaign import BRIEF, TRACK, seat_judges
from loadtest.desk.judging_task import JudgingTask
from loadtest.desk.plan import LABEL_EVERY, Plan, Times, run_all
from loadtest.desk.seats import Card, Seat
from loadtest.servers.tables import make_tables
from loadtest.servers.web import WebProcess, running_web
from loadtest.violations import Loss, Violations, print_violations

PAIRS = 270
"""Labels of a topic of the track's size where support is judged; where nuggets are assigned there are more."""

WARMING = 3.0  # seconds until everybody has a session
SHOWN = ("save", "label to receipt", "next answer", "page", "beat", "submit")
BRIEFLY = 60.0  # seconds


class JudgingAssessor(Assessor):
    def task_of(self, card: Card) -> JudgingTask:
        return JudgingTask(self, card)


def run(logs: Path, assessors: int, seconds: float, every: float, spoil: bool) -> int:
    """Have them judge for so long, and compare; return 1 on a violation. `spoil`: lose an acknowledged label."""
    seats = make_world(assessors, seconds, every)
    violations = Violations()
    with running_web(logs / "web.log", own=served_as(seconds)) as web:
        starts = time.monotonic() + WARMING
        plan = Plan(web.address, starts + seconds, violations.add, violations.add, starts, every)
        judges = [JudgingAssessor(seat, plan, number) for number, seat in enumerate(seats)]
        used = Used(web)
        run_all(judges, plan.stopped)
        used.stop()
    if unanswered := len(plan.times.unanswered):
        violations.add(f"{unanswered} requests had no answer")
    counts = compare_all(judges, violations, Loss(wanted=spoil))
    (logs / "violations.txt").write_text("\n".join(violations.found), encoding="utf-8")
    print_violations(violations.found)
    print_times(plan.times, seconds)
    print(f"  {used}")
    saved = sum(moment <= plan.ends for moment, _ in plan.times.found["label to receipt"])
    print(
        f"  due {len(judges) / every:.1f} labels/s; operations acknowledged while they worked {saved / seconds:.1f}/s"
    )
    report(counts, len(judges), seconds, violations.found)
    return 1 if violations.found else 0


def make_world(assessors: int, seconds: float, every: float) -> list[Seat]:
    """Make tables and the campaign: one small topic, and as many of the track's size as can be needed."""
    make_tables()
    needed = 1 + int(seconds / every / PAIRS)
    topics = [BRIEF] * 6 if seconds <= BRIEFLY and every < LABEL_EVERY else [BRIEF, *[TRACK] * needed]
    seats = seat_judges(assessors, topics)
    connections.close_all()
    return seats


def served_as(seconds: float) -> dict[str, str]:
    """Return the web process's environment: as in production, but with static files as they are in a short run."""
    if seconds <= BRIEFLY:
        return {"DJANGO_SETTINGS_MODULE": "loadtest.servers.plain_settings"}
    call_command("collectstatic", interactive=False, verbosity=0)
    return {}


def compare_all(judges: Sequence[Assessor], violations: Violations, loss: Loss) -> Counter[str]:
    counts = sum((judge.counts for judge in judges), start=Counter[str]())
    for judge in judges:
        for card, ledger in judge.done:
            compare(card.pk, ledger, loss, counts, violations.of(judge.seat.username, card.task))
    return counts


class Used:
    """Which share of one core the driver and the web process took while they worked."""

    def __init__(self, web: WebProcess) -> None:
        self._web = web
        self._began, self._driver, self._served = time.monotonic(), time.process_time(), web.cpu_seconds()
        self._usage = ""

    def stop(self) -> None:
        passed = time.monotonic() - self._began
        driver, served = time.process_time() - self._driver, self._web.cpu_seconds() - self._served
        self._usage = (
            f"driver {driver / passed:.0%} of a core, web process {served / passed:.0%}, "
            f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
        )

    def __str__(self) -> str:
        return self._usage


def print_times(times: Times, seconds: float) -> None:
    print("  ms                    p50      p95      p99     number")
    for what in SHOWN:
        found = [1000 * duration for _, duration in times.found[what]]
        if found:
            p50, p95, p99 = np.percentile(found, (50, 95, 99))
            print(f"  {what:16} {p50:8.0f} {p95:8.0f} {p99:8.0f} {len(found):10,}  ({len(found) / seconds:.1f}/s)")


def report(counts: Counter[str], assessors: int, seconds: float, violations: Sequence[str]) -> None:
    """Print what came out of it, in the form that tests read."""
    offered, achieved = counts["offered"] / seconds, counts["operations"] / seconds
    shown = ("tasks", "submitted", "labels", "operations", "resends", "unanswered")
    print(
        f"  {connection.vendor}, {seconds:g} s, {assessors} judging: offered {offered:.1f}/s, "
        f"achieved {achieved:.1f}/s in the end; {', '.join(f'{counts[what]:,} {what}' for what in shown)}, "
        f"{len(violations)} violations"
    )
