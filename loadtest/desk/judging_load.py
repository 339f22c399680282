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

from loadtest.desk.checks import check_task, read_record
from loadtest.desk.judged_campaign import BRIEF, TRACK
from loadtest.desk.judging_assessor import LABEL_EVERY, JudgingAssessor, JudgingPlan, Times
from loadtest.desk.judging_world import make_judging_world
from loadtest.desk.together import work
from loadtest.desk.world import Seat, own_connection
from loadtest.servers.tables import make_tables
from loadtest.servers.web import WebProcess, running_web
from loadtest.violations import Spoiler, Violations, leave, print_violations

PAIRS = 270
"""Labels of a topic of the track's size where support is judged; where nuggets are assigned there are more."""

WARMING = 3.0  # seconds until everybody has a session
SHOWN = ("save", "label to receipt", "next answer", "page", "beat", "submit")
BRIEFLY = 60.0  # seconds


def run(
    logs: Path, assessors: int, seconds: float = 600.0, every: float = LABEL_EVERY, spoilt: bool = False
) -> int:
    """Have them judge for so long, and compare; return 1 on a violation. `spoilt`: lose an acknowledged label."""
    seats = make_world(assessors, seconds, every)
    violations = Violations()
    with running_web(logs / "web.log", own=served_as(seconds)) as web:
        starts = time.monotonic() + WARMING
        times = Times()
        plan = JudgingPlan(
            web.address, starts, starts + seconds, violations.complain, violations.complain, times, every
        )
        judges = [JudgingAssessor(seat, plan, number) for number, seat in enumerate(seats)]
        used = Used(web)
        work(judges, plan.stopped)
        used.stop()
    unanswered = len(times.unanswered)
    if unanswered:
        violations.complain(f"{unanswered} requests had no answer")
    counts = compare(judges, violations, Spoiler() if spoilt else None)
    (logs / "violations.txt").write_text("\n".join(violations.found), encoding="utf-8")
    print_violations(violations.found)
    print_times(times, seconds)
    print(f"  {used}")
    saved = sum(moment <= plan.ends for moment, _ in times.found["label to receipt"])
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
    seats = make_judging_world(assessors, topics)
    connections.close_all()
    return seats


def served_as(seconds: float) -> dict[str, str]:
    """Return the web process's environment: as in production, but with static files as they are in a short run."""
    if seconds <= BRIEFLY:
        return {"DJANGO_SETTINGS_MODULE": "loadtest.servers.plain_settings"}
    call_command("collectstatic", interactive=False, verbosity=0)
    return {}


def compare(judges: Sequence[JudgingAssessor], violations: Violations, spoiler: Spoiler | None) -> Counter[str]:
    """Compare each task with what its assessor knows of it; return the figures."""
    counts = sum((one.counts for one in judges), start=Counter[str]())
    for judge in judges:
        for card, ledger in judge.done:
            acts = ledger.acts.values()
            counts["labels"] += sum(act.outcome == "applied" and act.op["kind"] == "label" for act in acts)
            counts["operations"] += sum(act.outcome == "applied" for act in acts)
            counts["offered"] += len(acts)
            counts["resends"] += sum(max(0, act.sends - 1) for act in acts)
            if not ledger.first:
                continue  # never opened
            with own_connection():
                (spoiler.spoil if spoiler else leave)(card.pk, [act.op_id for act in ledger.applied()])
                found = check_task(read_record(card.pk), ledger)
            for violation in found.violations:
                violations.complain(f"{judge.seat.username}, task {card.task}: {violation}")
    return counts


class Used:
    """Which share of one core the driver and the web process took while they worked."""

    def __init__(self, web: WebProcess) -> None:
        self._web = web
        self._began, self._driver, self._served = time.monotonic(), time.process_time(), web.cpu_seconds()
        self._said = ""

    def stop(self) -> None:
        """Take the figures."""
        passed = time.monotonic() - self._began
        driver, served = time.process_time() - self._driver, self._web.cpu_seconds() - self._served
        self._said = (
            f"driver {driver / passed:.0%} of a core, web process {served / passed:.0%}, "
            f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
        )

    def __str__(self) -> str:
        """Say it in a line."""
        return self._said


def print_times(times: Times, seconds: float) -> None:
    """Print the percentiles of what was asked, and how often."""
    print("  ms                    p50      p95      p99     number")
    for what in SHOWN:
        found = [1000 * one for _, one in times.found[what]]
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
