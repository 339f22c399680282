"""The soaks of the judging desks in their short forms, and that they find what they are there to find."""

import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable

import pytest
from django.conf import settings
from django.db import connection

from loadtest.desk.checks import Record, check_task, read_record
from loadtest.desk.judging_campaign import Extent, seat_judges
from loadtest.desk.judging_load import JudgingAssessor
from loadtest.desk.plan import Plan
from loadtest.desk.window import Ledger
from tests.loadtest.in_process import InProcess
from tests.loadtest.plants import PLANTS, overlooked

FIGURES = re.compile(r"([\d,]+) submitted, ([\d,]+) labels, .* ([\d,]+) resends, .* (\d+) violations")


def soaked(test: str, *options: str) -> tuple[int, str, list[int]]:
    """Run a soak on an engine like these tests' own: its exit code, what it said, and its figures."""
    command = [
        sys.executable,
        "-m",
        "loadtest.soak",
        connection.vendor,
        "--only",
        test,
        "--assessors",
        "6",
        *options,
    ]
    done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=False)
    output = done.stdout + done.stderr
    found = FIGURES.search(output)
    assert found, output
    return done.returncode, output, [int(figure.replace(",", "")) for figure in found.groups()]


@pytest.mark.slow  # what it checks, the faults check as well
def test_every_label_is_stored_as_it_was_acknowledged() -> None:
    code, output, (submitted, labels, _, violations) = soaked("judging_load", "--seconds", "8", "--every", "0.4")
    assert (code, violations) == (0, 0), output
    assert min(submitted, labels) > 0, output


@pytest.mark.slow
def test_no_label_is_lost_while_what_the_desk_stands_on_fails() -> None:
    """Every fault that can be made here, one after the other; what was not acknowledged waited and arrived once."""
    for seconds in ("8", "30", "90"):  # on a busy machine not every fault meets a label in the first seconds
        code, output, (_, labels, resends, violations) = soaked(
            "judging_faults", "--seconds", seconds, "--every", "0.4"
        )
        assert (code, violations) == (0, 0), output
        if min(labels, resends) > 0:
            return
    pytest.fail(output)


@pytest.mark.slow
def test_a_label_lost_by_the_server_fails_the_run() -> None:
    code, output, (*_, violations) = soaked("judging_load", "--seconds", "4", "--every", "0.4", "--spoil")
    assert (code, violations > 0) == (1, True), output
    assert "was acknowledged and is not in the log" in output


@pytest.fixture
def judged(db: None) -> list[tuple[Record, Ledger]]:
    """Tasks of each stage, judged and submitted, and what their assessors know of them."""
    complaints, now = list[str](), time.monotonic()
    plan = Plan("", now + 60, complaints.append, complaints.append, now, every=0.001)
    seats = seat_judges(4, [Extent(answers=4, sentences=3, nuggets=4)])
    judges = [JudgingAssessor(seat, plan, number, InProcess) for number, seat in enumerate(seats[1:])]
    for judge in judges:
        judge.run()
    counts: Counter[str] = sum((judge.counts for judge in judges), start=Counter())
    assert (complaints, counts["submitted"], counts["unanswered"]) == ([], 3, 0)
    return [(read_record(card.pk), ledger) for judge in judges for card, ledger in judge.done]


def change_a_label(record: Record, ledger: Ledger) -> None:
    record.state["rows"][0]["label"] = "cant_judge"


def lower_a_version(record: Record, ledger: Ledger) -> None:
    record.state["rows"][0]["version"] -= 1


def forget_what_was_seen(record: Record, ledger: Ledger) -> None:
    record.state["answers"][0]["seen"] = False


def freeze_another(record: Record, ledger: Ledger) -> None:
    place, _, *more = record.frozen[0][0]
    record.frozen[0][0] = (place, "another", *more)


OF_LABELS: list[Callable[[Record, Ledger], None]] = [
    change_a_label,
    lower_a_version,
    forget_what_was_seen,
    freeze_another,
]


def test_what_was_judged_is_what_is_stored_and_anything_else_is_found(judged: list[tuple[Record, Ledger]]) -> None:
    """Of every stage: without trouble nothing is told, and whatever is planted is."""
    assert sorted(record.stage for record, _ in judged) == ["assign", "support-post-edit", "support-scratch"]
    for done in judged:
        assert check_task(*done).violations == []
        assert overlooked([*PLANTS, *OF_LABELS], done) == []
