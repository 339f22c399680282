"""The desk soak in its short form, and that it finds what it is there to find.

The short form is the long one, only shorter: a real web process that is killed, twelve assessors, real HTTP.
"""

import random
import re
import subprocess
import sys

import pytest
from django.conf import settings
from django.db import connection

from accounts.models import User
from assessor.desk.apply_op import apply_op
from assessor.desk.context import open_desk
from assessor.desk.submit import submit
from assessor.rules.op_schemas import Op
from loadtest.desk.checks import Record, check_task, read_record
from loadtest.desk.model import NuggetModel
from loadtest.desk.nugget_acts import NuggetActs
from loadtest.desk.nugget_campaign import make_nugget_campaign
from loadtest.desk.seats import Card
from loadtest.desk.window import Ledger, Window
from tests.loadtest.plants import PLANTS, overlooked

FIGURES = re.compile(r"([\d,]+) operations, ([\d,]+) resends, (\d+) kills, ([\d,]+) takeovers, (\d+) violations")


def soaked(*options: str) -> tuple[int, str, list[int]]:
    """Run the soak on a database like these tests' own: its exit code, what it said, and its figures.

    A database that the soak does not find is a failure: this process has just reached it.
    """
    command = [sys.executable, "-m", "loadtest.soak", connection.vendor, "--only", "desk_chaos", *options]
    done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=False)
    output = done.stdout + done.stderr
    found = FIGURES.search(output)
    assert found, output
    return done.returncode, output, [int(figure.replace(",", "")) for figure in found.groups()]


@pytest.mark.slow
def test_nothing_is_lost_while_everything_breaks() -> None:
    """Some seconds of kills, cut requests and second windows; then every task is compared."""
    for seconds in ("8", "30", "90"):  # on a busy machine not every fault happens in the first seconds
        code, output, (operations, resends, kills, takeovers, violations) = soaked("--seconds", seconds)
        assert (code, violations) == (0, 0), output
        if min(operations, resends, kills, takeovers) > 0:
            return
    pytest.fail(output)


@pytest.mark.slow
def test_an_operation_lost_by_the_server_fails_the_run() -> None:
    """A shorter run, in which an acknowledged row of the log is taken away behind the application's back."""
    code, output, (*_, violations) = soaked("--seconds", "3", "--spoil")
    assert (code, violations > 0) == (1, True), output
    assert "was acknowledged and is not in the log" in output


@pytest.fixture
def done(db: None) -> tuple[Record, Ledger]:
    draw = random.Random(3)  # noqa: S311
    card = make_nugget_campaign(1, 1)[0].cards[0]
    user = User.objects.get(username="soak0")
    open_desk(task=card.task, user=user)
    ledger, complaints = Ledger(), list[str]()
    window = Window(ledger, complaints.append, draw, NuggetModel)
    window.model, window.stale = NuggetModel.of_state(read_record(card.pk).state), False
    ledger.first = dict(window.model.rows)
    acts = NuggetActs(draw, card.sentences)
    for _ in range(80):
        acts.act(window)
    acts.finish(window, card.limit)
    while window.queue:
        send(window, card, user)
    submit(task=card.task, user=user, window=window.id, seq=window.seq)
    assert not complaints
    return read_record(card.pk), ledger


def send(window: Window[NuggetModel], card: Card, user: User) -> None:
    for op in window.request(20)["ops"]:
        receipt = apply_op(task=card.task, user=user, window=window.id, op=Op.model_validate(op))
        window.take([receipt.as_json()])


def change_a_row(record: Record, ledger: Ledger) -> None:
    record.state["rows"][0]["text"] += "!"


def test_what_was_done_is_what_is_stored_and_anything_else_is_found(done: tuple[Record, Ledger]) -> None:
    """Without trouble nothing is told; whatever is planted in what is stored, or in what was acknowledged, is."""
    assert check_task(*done).violations == []
    assert len(done[0].log) > 80
    assert overlooked([*PLANTS, change_a_row], done) == []
