"""Times leave the campaign: a report by stage, a line per submission, and the stretches they follow from."""

import csv
import io
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

import pytest
import time_machine

from api.rows.reports import StageTimeRow, SubmissionTimeRow
from assessor.desk.context import open_desk
from assessor.rules.clock import SECOND, Stretch, fixed_limit, limit_of, measure, milliseconds
from assessor.timing.times import times_in
from evaluation.campaigns.access import within
from evaluation.judges import add_judge
from evaluation.models import Campaign, Event, Membership, NuggetList, Submission, Task
from evaluation.stages import MANUAL, stage_of
from evaluation.terms import JudgeKind, Role, SegmentKind, TaskState
from tests.assessor.timing.clock_tabs import MORNING, Tab, store
from tests.worlds.desk import DeskWorld, make_desk_world, make_task
from tests.worlds.imported import run

pytestmark = pytest.mark.django_db

READ, EDIT, GAP = SegmentKind.READING, SegmentKind.EDITING, SegmentKind.GAP
COLUMNS = (
    "campaign,topic_id,stage,assessor,version,wall_s,presence_s,active_low_s,active_point_s,active_high_s,"
    "active_60_s,active_120_s,active_180_s,active_300_s,hidden_s,paused_s,offline_s,blur_s,sessions,rework_s,"
    "rule_version"
)


@pytest.fixture
def world(tmp_path: Path) -> DeskWorld:
    """Ann post-edited t1 in two sittings with a long gap, submitted, was asked again; t2 is not finished."""
    with time_machine.travel(MORNING - timedelta(hours=1), tick=False):
        made = make_desk_world(tmp_path)
        client = made.client("ann")
        for task in (made.post_edit, made.manual):
            open_desk(task=task.public_id, user=made.people["ann"])
    ann = Tab(client, made.post_edit, words=450)
    for _ in range(3):
        ann.then(READ, 200, blurred=True).then(GAP, 400).then(EDIT, 100).then(GAP, 90)
    ann.then(SegmentKind.HIDDEN, 2400).lose_connection(300).then(EDIT, 300).then(SegmentKind.PAUSED, 60)
    store(ann, Tab(client, made.post_edit, "telephone", start=500).then(READ, 35).then(GAP, 3000))
    submit(made.post_edit)
    Task.objects.filter(pk=made.post_edit.pk).update(state=TaskState.REOPENED, version=2)
    store(Tab(client, made.post_edit, "window-2", start=20_000).then(EDIT, 120))
    store(Tab(client, made.manual, "window-3", start=30_000).then(READ, 45))
    return made


def submit(task: Task) -> None:
    """Freeze a version without a word about its list: only its time matters here."""
    made = NuggetList.objects.create(nugget_set=task.nuggets, topic=task.topic)
    event = Event.objects.create(campaign=task.campaign, kind="task.submitted")
    Submission.objects.create(task=task, version=task.version, nugget_list=made, at=MORNING, event=event)


def exported(folder: Path, *options: str) -> list[dict[str, Any]]:
    out = folder / "out.csv"
    outcome = run("export", "time", "--campaign", "river", "--output", str(out), *options)
    assert outcome.code == 0, outcome.err
    return list(csv.DictReader(io.StringIO(out.read_text("utf-8"))))


def test_a_line_per_submission(world: DeskWorld, tmp_path: Path) -> None:
    first, second, other = exported(tmp_path)
    assert ",".join(first).startswith(COLUMNS)
    assert [(row["topic_id"], row["stage"], row["version"]) for row in (first, second, other)] == [
        ("t1", "post-edit", "1"),
        ("t1", "post-edit", "2"),
        ("t2", "manual", "1"),
    ]
    assert (first["campaign"], first["assessor"]) == ("river", "ann")
    assert (first["rework_s"], second["rework_s"]) == ("0.0", second["active_point_s"])
    assert float(second["active_point_s"]) == pytest.approx(120, abs=2)
    assert (first["submitted"], second["submitted"], other["submitted"]) == ("1", "0", "0")
    assert float(first["offline_s"]) == pytest.approx(300, abs=2)
    assert float(first["paused_s"]) == pytest.approx(60, abs=2)
    assert float(first["blur_s"]) > 0


def read_back(rows: list[dict[str, Any]]) -> list[Stretch]:
    """Stretches as a researcher reads them from the file, without a database."""
    return [
        Stretch(
            window=row["window"],
            number=int(row["number"]),
            kind=SegmentKind(row["kind"]),
            start=milliseconds(datetime.fromisoformat(row["started_at"])),
            end=milliseconds(datetime.fromisoformat(row["ended_at"])),
            words=int(row["words"]),
            blurred=row["blurred"] == "1",
            offline=row["offline"] == "1",
            gap_answer=row["gap_answer"],
        )
        for row in rows
    ]


def test_21_every_column_follows_from_the_exported_stretches_alone(world: DeskWorld, tmp_path: Path) -> None:
    published = exported(tmp_path)
    segments = exported(tmp_path, "--segments")
    by_submission = groupby(segments, key=lambda row: (row["topic_id"], row["stage"], row["version"]))
    found = {key: read_back(list(rows)) for key, rows in by_submission}
    assert len(found) == len(published) == 3
    for line in published:
        stretches = found[line["topic_id"], line["stage"], line["version"]]
        times = measure(stretches, limit_of(stage_of(line["stage"])))
        recomputed = {
            "wall_s": times.wall,
            "presence_s": times.presence,
            "active_low_s": times.active.low,
            "active_point_s": times.active.point,
            "active_high_s": times.active.high,
            "hidden_s": times.hidden,
            "paused_s": times.paused,
            "offline_s": times.offline,
            "blur_s": times.blurred,
            "reading_s": times.reading,
            "editing_s": times.editing,
            **{f"active_{s}_s": measure(stretches, fixed_limit(s)).active.point for s in (60, 120, 180, 300)},
        }
        assert {name: float(line[name]) for name in recomputed} == {
            name: value / SECOND for name, value in recomputed.items()
        }
        assert int(line["sessions"]) == times.sessions


@pytest.mark.parametrize("idle", [60, 120, 180, 300])
def test_21_the_report_at_another_limit_gives_the_published_column(
    world: DeskWorld, tmp_path: Path, idle: int
) -> None:
    published = [float(row[f"active_{idle}_s"]) for row in exported(tmp_path)]
    document = run("report", "time", "--campaign", "river", "--idle", idle, "--format", "json").json()
    assert [submission["active_point_s"] for submission in document["submissions"]] == published
    assert document["idle"] == idle


def test_the_report_leads_with_quartiles_of_submitted_times(world: DeskWorld) -> None:
    manual = Task.objects.get(stage=MANUAL)
    tasks = [manual, make_task(world.campaign, ben(world), "t1", MANUAL)]
    with time_machine.travel(MORNING - timedelta(minutes=1), tick=False):
        open_desk(task=tasks[1].public_id, user=tasks[1].assessor)
        client = world.client("ben")
    store(Tab(client, tasks[1], "window-4", start=40_000).then(READ, 225))
    for task in tasks:
        submit(task)
    document = run("report", "time", "--campaign", "river", "--format", "json").json()
    [post_edit, by_hand] = document["stages"]
    assert list(by_hand)[:5] == ["stage", "topics", "median_s", "q1_s", "q3_s"]
    assert by_hand.keys() == StageTimeRow.model_fields.keys()
    assert document["submissions"][0].keys() == SubmissionTimeRow.model_fields.keys()
    assert (by_hand["topics"], by_hand["median_s"], by_hand["q1_s"]) == (2, median([45.0, 225.0]), 90.0)
    assert (post_edit["topics"], post_edit["reworked"], post_edit["unfinished"]) == (1, 1, 1)
    assert post_edit["rework_total_s"] == pytest.approx(120, abs=2)


def ben(world: DeskWorld) -> Any:
    add_judge(name="ben", kind=JudgeKind.HUMAN, user=world.people["ben"])
    return world.people["ben"]


def test_tables_are_for_people_and_csv_for_programs(world: DeskWorld) -> None:
    table = run("report", "time", "--campaign", "river").out
    assert "0:0" in table
    assert "Idle limit from the words on screen, rule 1." in table
    rows = list(csv.DictReader(io.StringIO(run("report", "time", "--campaign", "river", "--format", "csv").out)))
    assert [row["stage"] for row in rows] == ["post-edit", "manual"]
    assert rows[1]["median_s"] == ""


@pytest.mark.parametrize("idle", ["29", "0", "-5", "soon"])
def test_an_idle_limit_that_the_stretches_cannot_tell_is_wrong_usage(world: DeskWorld, idle: str) -> None:
    assert run("report", "time", "--campaign", "river", f"--idle={idle}").code == 2


def test_a_campaign_without_work_has_a_header_and_no_rows(db: None, tmp_path: Path) -> None:
    run("create_campaign", "river", "--name", "River")
    assert exported(tmp_path) == []
    assert exported(tmp_path, "--segments") == []
    assert run("report", "time", "--campaign", "river", "--format", "json").json()["stages"] == []
    assert "(nothing)" in run("report", "time", "--campaign", "river").out


def test_withdrawn_work_is_kept_and_not_counted(world: DeskWorld, tmp_path: Path) -> None:
    Task.objects.filter(pk=world.manual.pk).update(state=TaskState.WITHDRAWN)
    assert {row["topic_id"] for row in exported(tmp_path)} == {"t1"}
    assert {row["topic_id"] for row in exported(tmp_path, "--segments")} == {"t1"}


@pytest.mark.parametrize(("name", "rows"), [("olga", 3), ("rita", 3), ("audrey", 3), ("ann", 0), ("sam", 0)])
def test_only_those_who_see_everything_see_times(world: DeskWorld, name: str, rows: int) -> None:
    assert len(times_in(within(world.people[name], world.campaign))) == rows


def test_an_organizer_who_judges_sees_no_times(world: DeskWorld) -> None:
    campaign = Campaign.objects.get()
    Membership.objects.create(campaign=campaign, user=world.people["olga"], role=Role.ASSESSOR)
    assert times_in(within(world.people["olga"], campaign)) == []
