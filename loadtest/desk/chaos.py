"""Assessors at their desks in two windows each, over a network that loses everything, on a server that is killed.

Afterwards every log, list and time is compared with what the assessors did and what they were told.
"""

import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from threading import Event as Signal
from threading import Thread

from django.core.management import call_command
from django.db import connection, connections
from django.db.models import Count

from assessor.models import Operation
from loadtest.desk.assessor import Assessor, Plan
from loadtest.desk.together import work
from loadtest.desk.world import make_world
from loadtest.servers.web import WebProcess, running_web
from loadtest.violations import Spoiler, Violations, leave, print_violations

ASSESSORS = 12
SECONDS_A_TASK = 8.0
"""Nobody is faster than that on average, so that the tasks last."""

UP_BETWEEN_KILLS = (2.0, 20.0)  # seconds; in a short run at most a quarter of it


def run(logs: Path, seconds: float = 1800.0, spoilt: bool = False) -> int:
    """Have them work for so long, and compare; return 1 on a violation. `spoilt`: lose an acknowledged operation."""
    call_command("migrate", verbosity=0)
    seats = make_world(ASSESSORS, topics=2 + int(seconds / SECONDS_A_TASK / 2))
    connections.close_all()
    violations = Violations()
    spoil = Spoiler().spoil if spoilt else leave
    with running_web(logs / "web.log") as web:
        plan = Plan(web.address, time.monotonic() + seconds, violations.complain, spoil)
        assessors = [Assessor(seat, plan, number) for number, seat in enumerate(seats)]
        kills = _work(web, assessors, plan)
    _check_settled(assessors, violations)
    counts = sum((one.counts for one in assessors), start=Counter[str]())
    (logs / "violations.txt").write_text("\n".join(violations.found), encoding="utf-8")
    _report(counts, kills, seconds, violations.found)
    return 1 if violations.found else 0


def _work(web: WebProcess, assessors: Sequence[Assessor], plan: Plan) -> int:
    """Let all assessors work, and kill the web process now and then; return how often."""
    over, kills = Signal(), list[float]()
    killer = Thread(target=_kill, args=(web, over, plan, kills))
    killer.start()
    try:
        work(assessors, plan.stopped)
    finally:
        over.set()
        killer.join()
    return len(kills)


def _kill(web: WebProcess, over: Signal, plan: Plan, kills: list[float]) -> None:
    draw = random.Random(0)  # noqa: S311
    shortest, longest = UP_BETWEEN_KILLS
    longest = max(shortest, min(longest, (plan.ends - time.monotonic()) / 4))
    while not over.wait(draw.uniform(shortest, longest)) and not plan.is_over:
        web.kill()
        kills.append(time.monotonic())
        web.start()


def _check_settled(assessors: Sequence[Assessor], violations: Violations) -> None:
    """What was compared when its task was done has not grown or shrunk since; and no task lacks a comparison."""
    settled = {task: number for one in assessors for task, number in one.settled.items()}
    logged = dict(Operation.objects.values_list("task").annotate(Count("pk")).order_by())
    for task in settled.keys() | logged.keys():
        if logged.get(task, 0) != settled.get(task):
            violations.complain(f"task {task} has {logged.get(task, 0)} operations, compared: {settled.get(task)}")


def _report(counts: Counter[str], kills: int, seconds: float, violations: Sequence[str]) -> None:
    print_violations(violations)
    others = ("given up", "late", "conflicts", "unanswered", "old copies", "sign-ins", "beats", "server errors")
    fates = sorted(name for name in counts if name.startswith("requests "))
    print(f"  {', '.join(f'{counts[name]:,} {name}' for name in (*others, *fates))}")
    print(
        f"  {connection.vendor}, {seconds:g} s, {ASSESSORS} assessors: {counts['tasks']} tasks, "
        f"{counts['submitted']} submitted, {counts['operations']:,} operations, {counts['resends']:,} resends, "
        f"{kills} kills, {counts['takeovers']:,} takeovers, {len(violations)} violations"
    )
