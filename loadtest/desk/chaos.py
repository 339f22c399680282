"""Assessors at their desks in two windows each, over a network that loses everything, on a server that is killed.

Afterwards every log, list and time is compared with what the assessors did and what they were told.
"""

import random
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from threading import Event as Signal
from typing import Any

from django.core.management import call_command
from django.db import connection, connections
from django.db.models import Count

from assessor.models import Operation
from loadtest.desk.assessor import Assessor, DeskTask
from loadtest.desk.checks import compare
from loadtest.desk.nugget_campaign import make_nugget_campaign
from loadtest.desk.nugget_task import NuggetTask
from loadtest.desk.plan import Plan, alongside, run_all
from loadtest.desk.seats import Card, Seat
from loadtest.servers.web import WebProcess, running_web
from loadtest.violations import Loss, Violations, print_violations

ASSESSORS = 12
SECONDS_A_TASK = 8.0
"""Nobody is faster than that on average, so that the tasks last."""

UP_BETWEEN_KILLS = (2.0, 20.0)  # seconds; in a short run at most a quarter of it


class ListMaker(Assessor):
    """An assessor at the nugget desks. Each task is compared at its end, for the ledgers of half an hour are large."""

    devices = 2

    def __init__(self, seat: Seat, plan: Plan, seed: int, loss: Loss) -> None:
        super().__init__(seat, plan, seed)
        self.compared: dict[int, int] = {}  # operations in the log at the end of each task, by key
        self._loss = loss

    def task_of(self, card: Card) -> NuggetTask:
        return NuggetTask(self, card)

    def do(self, card: Card) -> DeskTask[Any]:
        task = super().do(card)
        self.done.pop()
        self.compared[card.pk] = compare(card.pk, task.ledger, self._loss, self.counts, task.violation)
        return task


def run(logs: Path, seconds: float, spoil: bool) -> int:
    """Have them work for so long, and compare; return 1 on a violation. `spoil`: lose an acknowledged operation."""
    call_command("migrate", verbosity=0)
    seats = make_nugget_campaign(ASSESSORS, topics=2 + int(seconds / SECONDS_A_TASK / 2))
    connections.close_all()
    violations, loss = Violations(), Loss(wanted=spoil)
    with running_web(logs / "web.log") as web:
        plan = Plan(web.address, time.monotonic() + seconds, violations.add, violations.add)
        assessors = [ListMaker(seat, plan, number, loss) for number, seat in enumerate(seats)]
        kills = _work(web, assessors, plan)
    _check_compared(assessors, violations)
    counts = sum((assessor.counts for assessor in assessors), start=Counter[str]())
    (logs / "violations.txt").write_text("\n".join(violations.found), encoding="utf-8")
    _report(counts, kills, seconds, violations.found)
    return 1 if violations.found else 0


def _work(web: WebProcess, assessors: Sequence[ListMaker], plan: Plan) -> int:
    over, kills = Signal(), list[float]()
    with alongside(partial(_kill, web, over, plan, kills), over.set):
        run_all(assessors, plan.stopped)
    return len(kills)


def _kill(web: WebProcess, over: Signal, plan: Plan, kills: list[float]) -> None:
    draw = random.Random(0)  # noqa: S311
    shortest, longest = UP_BETWEEN_KILLS
    longest = max(shortest, min(longest, (plan.ends - time.monotonic()) / 4))
    while not over.wait(draw.uniform(shortest, longest)) and not plan.is_over:
        web.kill()
        kills.append(time.monotonic())
        web.start()


def _check_compared(assessors: Sequence[ListMaker], violations: Violations) -> None:
    """No log has grown or shrunk since its task was compared, and no task lacks a comparison."""
    compared = {task: number for assessor in assessors for task, number in assessor.compared.items()}
    logged = dict(Operation.objects.values_list("task").annotate(Count("pk")).order_by())
    for task in compared.keys() | logged.keys():
        if logged.get(task, 0) != compared.get(task):
            violations.add(f"task {task} has {logged.get(task, 0)} operations, compared: {compared.get(task)}")


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
