"""The judging desks over real HTTP: saves of labels beside those of nuggets and a bare view, the page, the next answer.

A topic has 45 answers and 16 nuggets, or 270 pairs of sentence and citation.
"""

from collections.abc import Sequence

import numpy as np

from accounts.models import NOTICE_VERSION, User
from assessor.blind.desk import desk_state
from assessor.desk.context import open_desk
from assessor.rules.op_schemas import Op
from evaluation.models import Task
from evaluation.stages import ASSIGN, SUPPORT_POST_EDIT, SUPPORT_SCRATCH, Stage
from loadtest.bench import desk
from loadtest.bench.desk import (
    CLIENTS,
    WINDOW,
    Client,
    Side,
    browser_of,
    measured_of,
    op_of,
    page_times,
    statements,
)
from loadtest.bench.measuring import Measured
from loadtest.bench.sizes import SMALL, Size
from loadtest.desk.judging_campaign import BRIEF, TRACK, hand_all, make_judging_campaign
from loadtest.servers.web import served

SLUG = "judging"
STAGES = {"assign ": ASSIGN, "scratch ": SUPPORT_SCRATCH, "shown ": SUPPORT_POST_EDIT}
"""What is labelled: whether answers hold nuggets, and citations, in either condition."""

LABELS_OF_KEYS = {"assign ": ("support", "partial_support", "not_support")}
SUPPORT_LABELS = ("full_support", "partial_support", "no_support")


def prepare(size: Size, turn: int) -> Measured:
    """Make the campaign of the nugget desks, and one with as many assessors at each kind of judging desk."""
    desk.prepare(size, turn)
    campaign = make_judging_campaign(SLUG, [BRIEF if size is SMALL else TRACK])
    for name, stage in STAGES.items():
        for number in range(max(CLIENTS)):
            user = User.objects.create(username=f"{name.strip()}-{number}", notice_version=NOTICE_VERSION)
            for task in hand_all(campaign, user, stage):
                open_desk(task=task, user=user)
    return Measured(rows=max(CLIENTS))


def saves(size: Size, _turn: int) -> Measured:
    """Save labels of each kind, nuggets' importance, and a bare view's mark, by turns."""
    with served() as address, served("loadtest.bench.floor") as floor:
        clients = {name: _clients(address, stage) for name, stage in STAGES.items()}
        sides = desk.nugget_sides(address, floor)
        sides |= {name: _side(name, assessors) for name, assessors in clients.items()}
        measured = measured_of(size, sides)
    for name, assessors in clients.items():
        task = Task.objects.get(pk=assessors[0].pk)
        for what in ("first", "again"):
            measured.seconds[f"{name}{what}"] = statements(task, Op.model_validate(_op(name, assessors[0], -1)))
    return measured


def _clients(address: str, stage: Stage) -> list[Client]:
    tasks = Task.objects.filter(campaign__slug=SLUG, stage=stage).select_related("assessor").order_by("pk")
    return [Client(browser_of(task, address), task.public_id, task.pk, keys=_keys(task)) for task in tasks]


def _keys(task: Task) -> tuple[str, ...]:
    state = desk_state(task.public_id, task.assessor)
    if task.stage != ASSIGN:
        return tuple(pair["key"] for pair in state["pairs"] if pair["judgeable"])
    return tuple(f"{answer['id']}/{nugget['key']}" for answer in state["answers"] for nugget in state["nuggets"])


def _side(name: str, clients: list[Client]) -> Side:
    def body(client: Client, number: int) -> tuple[str, object]:
        return f"/desk/{client.task}/ops/", {"window": WINDOW, "ops": [_op(name, client, number)]}

    return Side(clients, body)


def _op(name: str, client: Client, number: int) -> dict[str, object]:
    """Return the label of one key after the other; only the first time that a key comes its row is made."""
    label = LABELS_OF_KEYS.get(name, SUPPORT_LABELS)[number % 3]
    return op_of("label", {"key": client.keys[number % len(client.keys)], "label": label})


def pages(size: Size, _turn: int) -> Measured:
    """Open the page of each kind of desk, and fetch one answer after the other."""
    each = 3 if size is SMALL else 40
    measured = Measured(rows=each)
    with served() as address:
        for name, stage in STAGES.items():
            task = Task.objects.filter(campaign__slug=SLUG, stage=stage).select_related("assessor")[0]
            page = f"/desk/{task.public_id}/"
            answers = [answer["id"] for answer in desk_state(task.public_id, task.assessor)["answers"]][:each]
            _take(measured, f"{name}page", *page_times(address, task, [page] * each))
            _take(
                measured,
                f"{name}answer",
                *page_times(address, task, [f"{page}answers/{answer_id}/" for answer_id in answers]),
            )
    return measured


def _take(measured: Measured, what: str, times: Sequence[float], length: int) -> None:
    measured.seconds[f"{what} p50"] = float(np.percentile(times, 50))
    measured.seconds[f"{what} p95"] = float(np.percentile(times, 95))
    measured.seconds[f"{what} size"] = length / 1024
