"""Scripted days, played by simulated windows against the server: what is credited is what happened, within 2 s.

The acceptance checks 17 to 21 of the design, and what a connection, a clock or a script can do wrong.
"""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.test import Client

from assessor.models import Desk, TimeSegment
from assessor.rules.clock import SECOND, Times, fixed_limit, limit_of, measure
from assessor.timing.times import SEGMENT_FIELDS, stretch_of
from evaluation.models import Task
from evaluation.terms import SegmentKind
from tests.assessor.desk_client import Window
from tests.assessor.timing.clock_tabs import MORNING, Tab, credited, play
from tests.worlds.desk import DeskWorld, make_desk_world

pytestmark = pytest.mark.django_db

READ, EDIT, GAP = SegmentKind.READING, SegmentKind.EDITING, SegmentKind.GAP
HIDDEN, PAUSED, ASLEEP = SegmentKind.HIDDEN, SegmentKind.PAUSED, SegmentKind.SUSPENDED
MINUTE, HOUR = 60, 3600
WITHIN = 2  # seconds

Open = Callable[..., Tab]


@pytest.fixture
def world(tmp_path: Path) -> DeskWorld:
    with time_machine.travel(MORNING - timedelta(hours=1), tick=False):
        return make_desk_world(tmp_path)


@pytest.fixture
def ann(world: DeskWorld) -> Client:
    """Ann's browser; she opened her topic at eight."""
    with time_machine.travel(MORNING, tick=False):
        client = world.client("ann")
        client.post(f"/desk/{world.post_edit.public_id}/start/")
    return client


@pytest.fixture
def tab(ann: Client, world: DeskWorld) -> Open:
    """Open a window at some second of the day."""

    def opened(name: str = "window-1", start: float = 0, words: int = 0) -> Tab:
        return Tab(ann, world.post_edit, name, start, words)

    return opened


def measured(task: Task, limit: int | None = None) -> Times:
    """The figures from the stored stretches alone."""
    rows = TimeSegment.objects.filter(task=task).values_list(*SEGMENT_FIELDS)
    return measure((stretch_of(*row) for row in rows), fixed_limit(limit) if limit else limit_of(task.stage))


def near(milliseconds: int, seconds: float) -> bool:
    return abs(milliseconds / SECOND - seconds) <= WITHIN


def test_17_reading_500_words_for_5_minutes_counts_5_minutes(tab: Open) -> None:
    ann = tab(words=500).then(READ, 10).then(GAP, 5 * MINUTE).then(READ, 10)
    play(ann)
    assert abs(credited([ann]) - 320) <= WITHIN
    assert ann.answers[-1]["gap"] is None


def answer(ann: Tab, gap_answer: str) -> int:
    with time_machine.travel(MORNING + timedelta(seconds=ann.at), tick=False):
        response = ann.client.post(
            f"/desk/{ann.task.public_id}/gap/",
            {"window": ann.name, "number": gap_of(ann), "gap_answer": gap_answer},
            content_type="application/json",
        )
    return response.status_code


def gap_of(ann: Tab) -> int:
    [(number, seconds)] = {
        (reply["gap"]["number"], reply["gap"]["seconds"]) for reply in ann.answers if reply["gap"]
    }
    assert abs(seconds - 30 * MINUTE) <= WITHIN
    return int(number)


@pytest.mark.parametrize(("gap_answer", "point"), [("", 120 + 180), ("away", 120), ("reading", 120 + 1800)])
def test_18_thirty_minutes_away(tab: Open, gap_answer: str, point: int) -> None:
    ann = tab().then(READ, MINUTE).then(GAP, 30 * MINUTE).then(EDIT, MINUTE)
    play(ann)
    assert gap_of(ann)
    if gap_answer:
        assert answer(ann, gap_answer) == 200
    found = measured(ann.task).active
    assert near(found.low, 120)
    assert near(found.point, point)
    assert near(found.high, 1920)


def test_19_two_tabs_and_a_phone_for_ten_minutes_are_at_most_ten(tab: Open, world: DeskWorld) -> None:
    """Nobody holds the desk, so that all three may count; where one holds it, the others count nothing."""
    tabs = [tab(name, start=shift).then(READ, 10 * MINUTE - shift) for name, shift in WINDOWS.items()]
    play(*tabs)
    assert TimeSegment.objects.values("window").distinct().count() == 3
    assert near(measured(world.post_edit).active.high, 600)
    assert abs(credited(tabs) - 600) <= WITHIN


WINDOWS = {"left-tab": 0.0, "right-tab": 4.0, "telephone": 8.0}


def test_19_a_window_that_does_not_hold_the_desk_makes_no_time(tab: Open) -> None:
    holder, reader = tab("holder-1").then(READ, 300), tab("reader-1").then(READ, 600)
    Desk.objects.update(holder="holder-1", held_at=MORNING)
    play(holder, reader)
    assert set(TimeSegment.objects.values_list("window", flat=True)) == {"holder-1"}
    assert {reply["holder"] for reply in reader.answers} == {"other"}
    assert {reply["holder"] for reply in holder.answers} == {"mine"}
    assert reader.answers[-1]["holder_age_s"] == 300
    assert credited([holder, reader]) == 300


def test_20_a_hidden_tab_earns_nothing(tab: Open) -> None:
    ann = tab().then(READ, 100).then(HIDDEN, HOUR).then(READ, 50)
    play(ann)
    found = measured(ann.task)
    assert near(found.active.high, 150)
    assert near(found.hidden, HOUR)


def test_20_a_sleeping_laptop_earns_nothing(tab: Open) -> None:
    """The window's clock went on, so that it saw itself sleep."""
    ann = tab().then(READ, 100).then(ASLEEP, 8 * HOUR).then(READ, 50)
    play(ann)
    found = measured(ann.task)
    assert near(found.active.high, 150)
    assert near(found.suspended, 8 * HOUR)
    assert found.sessions == 2


def test_20_a_sleeping_laptop_with_a_stopped_clock_earns_nothing(tab: Open) -> None:
    ann = tab().then(READ, 100).sleep(HOUR).then(READ, 50).then(EDIT, 100)
    play(ann)
    assert near(measured(ann.task).active.high, 250)


@pytest.mark.parametrize("change", [-HOUR, HOUR])
def test_20_moving_the_server_clock_makes_no_negative_stretch(tab: Open, change: int) -> None:
    """The machine's own time of day is never sent. If the server's is changed, nothing turns negative."""
    ann = tab().then(READ, 300)
    for at in ann.beats():
        ann.send(at, late=change if at > 150 else 0)
    assert all(start <= end for start, end in TimeSegment.objects.values_list("started_at", "ended_at"))
    assert measured(ann.task).active.high <= 300 * SECOND


def test_slow_and_uneven_connections_lose_nothing(tab: Open) -> None:
    ann = tab(words=400)
    for _ in range(20):
        ann.then(READ, 47).then(EDIT, 31).then(GAP, 70)
    play(ann, latencies=(0.05, 2.5, 0.4, 1.7, 0.1))
    assert near(measured(ann.task).active.point, 20 * 148)


def test_a_lost_connection_is_caught_up_and_tagged(tab: Open) -> None:
    ann = tab().then(READ, 60).lose_connection(20 * MINUTE)
    for _ in range(10):
        ann.then(EDIT, 60).then(READ, 60)
    ann.then(READ, 60)
    play(ann)
    found = measured(ann.task)
    assert near(found.active.point, 22 * MINUTE)
    assert near(found.offline, 20 * MINUTE)


def test_a_page_started_offline_is_bounded_by_the_server(tab: Open) -> None:
    ann = tab().lose_connection(10 * MINUTE).then(READ, 601).then(READ, 30)
    play(ann)
    assert near(measured(ann.task).active.high, 631)


def test_a_beat_sent_twice_changes_nothing(tab: Open) -> None:
    ann = tab().then(READ, 40).then(EDIT, 40)
    play(ann)
    before = list(TimeSegment.objects.values())
    ann.send(80, late=0)
    ann.send(80, late=3)
    assert list(TimeSegment.objects.values()) == before


def beat(ann: Tab, at: float, *segments: dict[str, Any], **fields: Any) -> Any:
    body = {"window": ann.name, "segments": list(segments), "place": None, "elapsed_ms": 10**9}
    with time_machine.travel(MORNING + timedelta(seconds=at), tick=False):
        address = f"/desk/{ann.task.public_id}/beat/"
        return ann.client.post(address, body | fields, content_type="application/json")


def segment(number: int, start: int, end: int = 0, kind: str = "reading") -> dict[str, Any]:
    return {"number": number, "kind": kind, "ms_before_now_start": start * 1000, "ms_before_now_end": end * 1000}


def test_the_server_credits_no_more_than_it_saw_pass_and_five_seconds(tab: Open) -> None:
    ann = tab()
    beat(ann, 10, segment(1, 3 * HOUR))
    assert near(measured(ann.task).active.high, 5)
    beat(ann, 25, segment(1, 4 * HOUR), segment(2, 2 * HOUR), segment(3, HOUR, 1, "editing"))
    assert near(measured(ann.task).active.high, 20)


def test_a_hidden_hour_cannot_be_called_reading_afterwards(tab: Open) -> None:
    ann = tab()
    beat(ann, 0, segment(1, 0))
    beat(ann, HOUR, segment(1, HOUR, HOUR), segment(2, HOUR, kind="hidden"))
    beat(ann, HOUR + 15, segment(1, HOUR + 15), segment(2, HOUR + 15), segment(3, HOUR + 15))
    assert near(measured(ann.task).active.high, 20)


def test_a_submitted_or_blocked_task_makes_no_time(tab: Open) -> None:
    ann = tab().then(READ, 60)
    for state in ("submitted", "blocked"):
        Task.objects.filter(pk=ann.task.pk).update(state=state)
        play(ann)
    assert not TimeSegment.objects.exists()
    assert {reply["seconds"] for reply in ann.answers} == {0}


def test_time_after_a_reopening_stands_apart(tab: Open) -> None:
    ann = tab().then(READ, 60)
    play(ann)
    Task.objects.filter(pk=ann.task.pk).update(state="reopened", version=2)
    second = tab(start=HOUR).then(READ, 30).then(EDIT, 30)
    second.spans = [type(span)(span.kind, span.start, span.end, 0, span.number + 10) for span in second.spans]
    play(second)
    assert second.answers[-1]["seconds"] == 60
    by_version = {
        version: measure(
            (
                stretch_of(*row)
                for row in TimeSegment.objects.filter(submission=version).values_list(*SEGMENT_FIELDS)
            ),
            fixed_limit(60),
        ).active.point
        for version in (1, 2)
    }
    assert by_version == {1: 60 * SECOND, 2: 60 * SECOND}


def test_submitted_times_stay_though_a_window_reuses_numbers(tab: Open) -> None:
    ann = tab().then(READ, 60)
    play(ann)
    before = list(TimeSegment.objects.values())
    Task.objects.filter(pk=ann.task.pk).update(state="reopened", version=2)
    play(tab(start=HOUR).then(READ, 60))
    assert list(TimeSegment.objects.values()) == before


def test_a_pause_is_no_work_and_is_never_asked_about(tab: Open) -> None:
    ann = tab().then(READ, 60).then(PAUSED, 40 * MINUTE).then(READ, 60)
    play(ann)
    assert not any(reply["gap"] for reply in ann.answers)
    assert near(measured(ann.task).active.high, 120)
    assert near(measured(ann.task).paused, 40 * MINUTE)


@pytest.mark.parametrize("heard_first", [True, False])
def test_what_was_done_before_a_take_over_counts(tab: Open, world: DeskWorld, *, heard_first: bool) -> None:
    """The window that is left says its last seconds late, before or after the one that holds the desk beats."""
    first, second = tab("window-1").then(READ, 40), tab("window-2", start=34).then(EDIT, 20)
    Desk.objects.update(holder="window-1", held_at=MORNING)
    for at in (0, 15, 30):
        first.send(at)
    Desk.objects.update(holder="window-2", held_at=MORNING + timedelta(seconds=34))
    for window in (second, first) if heard_first else (first, second):
        window.send(36)
    first.send(40)
    assert measured(world.post_edit).active.point == 36 * SECOND
    for at in (49, 54):
        second.send(at)
        first.send(at)
    times = measured(world.post_edit)
    assert (times.active.point, times.reading, times.editing) == (54 * SECOND, 34 * SECOND, 20 * SECOND)


@pytest.mark.parametrize(
    ("made", "source", "paused", "active"),
    [
        (100, "key", 90, 150),
        (100, "mouse", 90, 150),
        (100, "text", 180, 60),
        (12, "key", 180, 60),
        (5, "key", 180, 60),
    ],
)
def test_a_decision_within_a_pause_is_work_from_there_on(
    tab: Open, world: DeskWorld, ann: Client, made: int, source: str, paused: int, active: int
) -> None:
    """A window may report a pause in which its person decides; what was decided just before arrives late."""
    first = tab().then(READ, 10).then(PAUSED, 180).then(READ, 50)
    window = Window(ann, world.post_edit, first.name)
    with time_machine.travel(MORNING + timedelta(seconds=made), tick=False):
        made_op = window.op("decide", {"d1": 1}, key="d1", decision="kept") | {"source": source}
        assert window.send(made_op)[0]["status"] == "applied"
    play(first)
    times = measured(world.post_edit)
    assert near(times.paused, paused)
    assert near(times.active.low, active)
    assert near(times.active.point, active)


def test_a_forgotten_pause_counts_the_idle_limit(tab: Open, world: DeskWorld, ann: Client) -> None:
    first = tab().then(READ, 10).then(PAUSED, 2 * HOUR)
    with time_machine.travel(MORNING + timedelta(seconds=70), tick=False):
        Window(ann, world.post_edit, first.name).do("decide", {"d1": 1}, key="d1", decision="kept")
    play(first)
    times = measured(world.post_edit)
    assert near(times.paused, 60)
    assert near(times.active.low, 11)
    assert near(times.active.point, 11 + 180)
