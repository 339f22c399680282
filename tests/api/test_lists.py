"""Pages, filters and streams of a list."""

import json
from datetime import timedelta
from urllib.parse import quote

import pytest
from django.utils import timezone

from api.collections import COLLECTIONS
from assessor.models import TimeSegment
from evaluation.judges import add_judge
from evaluation.models import Assignment, Run, Topic, TopicTag
from evaluation.terms import JudgeKind, SegmentKind
from tests.api.conftest import hand_out_to, program_of
from tests.api.reading import Program
from tests.crawl.canaries import body_of
from tests.worlds.battles import judge_battles
from tests.worlds.campaign import World
from tests.worlds.jobs import make_call, make_item, make_job

pytestmark = pytest.mark.postgresql

SCORES = "scores?campaign=river&condition=A/A"
ALL = [SCORES if collection.name == "scores" else collection.name for collection in COLLECTIONS]


def with_page_size(path: str, size: int) -> str:
    return f"{path}{'&' if '?' in path else '?'}page_size={size}"


def fill(world: World) -> None:
    """Give every collection rows: a task with measured time, a job with an answered call, and battles."""
    judge_battles(world.campaign, "person", "another", "robot")
    task, now = hand_out_to(world, "ann"), timezone.now()
    make_call(make_item(make_job(world, priority=7), "1"))
    TimeSegment.objects.create(
        task=task,
        submission=1,
        window="w",
        number=1,
        kind=SegmentKind.READING,
        started_at=now - timedelta(seconds=50),
        ended_at=now,
    )


def test_small_pages_a_large_one_and_both_streams_tell_the_same_rows(olga: Program, world: World) -> None:
    fill(world)
    for path in ALL:
        rows = olga.json(path)["results"]
        assert olga.rows(with_page_size(path, 1)) == rows, path
        assert olga.lines(path) == rows, path
        assert [{name: cell_of(value) for name, value in row.items()} for row in rows] == olga.table(path), path


def cell_of(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else str(value)


def test_the_rows_have_the_declared_fields_in_their_order(olga: Program, world: World) -> None:
    fill(world)
    for collection, path in zip(COLLECTIONS, ALL, strict=True):
        assert {tuple(row) for row in olga.json(path)["results"]} == {tuple(collection.row.model_fields)}, path


def test_pages_lead_forth_and_back(olga: Program) -> None:
    first = olga.json("assignments?page_size=3")
    second = olga.json(first["next"])
    assert first["previous"] is None
    assert [row["id"] for row in first["results"]] < [row["id"] for row in second["results"]]
    assert olga.json(second["previous"]) == first
    last = olga.rows("assignments?page_size=3")[-1]
    assert olga.json("assignments?page_size=1000")["results"][-1] == last


def test_rows_that_come_meanwhile_shift_no_page(olga: Program) -> None:
    page = olga.json("assignments?page_size=4")
    Assignment.objects.filter(pk=page["results"][0]["id"]).update(stands=False)
    rest = olga.json(page["next"])["results"]
    assert rest[0]["id"] > page["results"][-1]["id"]
    assert len(rest) == 4


@pytest.mark.parametrize("wrong", ["7", "after-", "behind-7", "after--7", "after-\u0667", "after-" + "9" * 19])
def test_a_cursor_that_no_page_led_to_is_refused(olga: Program, wrong: str) -> None:
    assert list(olga.problem(f"assignments?cursor={quote(wrong)}", 400)["errors"]) == ["cursor"]


def test_a_cursor_beyond_the_last_row_leads_to_an_empty_page(olga: Program) -> None:
    for cursor in (f"after-{'9' * 18}", "before-0"):
        page = olga.json(f"assignments?cursor={cursor}")
        assert page == {"next": None, "previous": None, "results": []}


NONSENSE = [
    ("topics?topic__extra=1", "topic__extra"),
    ("answers?answerprovenance__run=1", "answerprovenance__run"),
    ("topics?format=xml", "format"),
    ("topics?page_size=0", "page_size"),
    ("topics?page_size=1001", "page_size"),
    ("topics?page_size=1&format=csv", "page_size"),
    ("topics?campaign=", "campaign"),
    ("topics?campaign=river&campaign=river", "campaign"),
    ("topics?topic=nothing", "topic"),
    ("topics?topic=%00", "topic"),
    ("assignments?run=nothing", "run"),
    ("assignments?judge=robot", "campaign"),
    ("assignments?campaign=river&judge=nobody", "judge"),
    ("assignments?campaign=river&nugget_set=nothing", "nugget_set"),
    ("assignments?condition=A/A", "campaign"),
    ("assignments?campaign=river&condition=B/B", "condition"),
    ("assignments?updated_since=yesterday", "updated_since"),
    ("assignments?updated_since=0001-01-01T00:00:00%2B14:00", "updated_since"),
    ("scores?campaign=river", "condition"),
    ("scores?campaign=river&condition=A/A&missing=never", "missing"),
    ("scores?campaign=river&condition=A/A&run=nothing", "run"),
    ("tasks?stage=lunch", "stage"),
    ("tasks?campaign=river&assessor=person-0", "assessor"),
]
"""A path, and the parameter that is wrong in it."""

KEPT = [
    ("campaigns?campaign=river", 1),
    ("topics?campaign=river&topic=t1", 1),
    ("topics?tag=bends", 1),
    ("segments?topic=t2", 1),
    ("runs?run=alpha", 1),
    ("answers?run=alpha", 2),
    ("answers?topic=t1", 2),
    ("answers?topic=t2&run=beta", 0),
    ("nuggets?topic=t1&newest=true", 2),
    ("nuggets?campaign=river&condition=A/A", 2),
    ("nuggets?campaign=river&judge=robot&nugget_set=auto-robot", 2),
    ("nugget-sets?campaign=river&judge=robot", 1),
    ("assignments?run=beta", 4),
    ("assignments?topic=t1&campaign=river", 8),
    ("assignments?campaign=river&judge=robot", 4),
    ("assignments?campaign=river&nugget_set=auto-robot&judge=person", 4),
    ("assignments?campaign=river&condition=A/A", 4),
    ("assignments?campaign=river&condition=A/M", 4),
    ("assignments?campaign=river&condition=E/M", 0),
    ("support-judgments?campaign=river&condition=scratch", 1),
    ("support-judgments?run=alpha&topic=t1", 1),
    ("support-judgments?campaign=river&condition=llm", 0),
    ("judges?campaign=river", 2),
    ("events?campaign=river&kind=import.run", 2),
    ("findings?run=alpha", 4),
    ("findings?code=docid_form", 0),
    ("scores?campaign=river&condition=A/A&run=beta", 1),
]
"""A path, and how many rows it leaves."""


def test_what_makes_no_sense_is_a_problem_and_not_ignored(olga: Program) -> None:
    for path, name in NONSENSE:
        problem = olga.problem(path, 400)
        assert (list(problem["errors"]), problem["code"]) == ([name], "bad_query"), path


def test_a_filter_keeps_what_it_names(olga: Program) -> None:
    TopicTag.objects.create(topic=Topic.objects.get(topic_id="t1"), name="bends")
    assert [(path, len(olga.rows(path))) for path, _ in KEPT] == KEPT


def test_updated_since_keeps_what_changed_from_then_on(olga: Program, world: World) -> None:
    hand_out_to(world, "ann")
    soon = quote((timezone.now() + timedelta(minutes=1)).isoformat())
    for name in ("assignments", "support-judgments", "events", "findings", "tasks"):
        rows = olga.rows(name)
        moment = max(row.get("given_at") or row.get("at") or row["created_at"] for row in rows)
        newest = olga.rows(f"{name}?updated_since={quote(moment)}")
        assert newest, name
        assert {row["id"] for row in newest} <= {row["id"] for row in rows}
        assert olga.rows(f"{name}?updated_since={soon}") == []


def test_labels_of_a_study_are_told_where_their_judge_is_named(olga: Program, world: World) -> None:
    judge, _ = add_judge(name="second look", kind=JudgeKind.LLM, model="m")
    judge.aside = True
    judge.save()
    Assignment.objects.filter(judge__name="robot").update(judge=judge)
    assert {row["judge"] for row in olga.rows("assignments")} == {"person"}
    assert len(olga.rows("assignments?campaign=river&judge=second%20look")) == 4


def test_labels_that_do_not_stand_are_not_told(olga: Program) -> None:
    Assignment.objects.filter(judge__name="robot").update(stands=False)
    assert len(olga.rows("assignments")) == 4


def test_a_condition_that_does_not_say_whose_labels_is_refused(olga: Program, world: World) -> None:
    other, _ = add_judge(name="robot 2", kind=JudgeKind.LLM, model="m")
    Assignment.objects.filter(pk=Assignment.objects.filter(judge__name="robot")[0].pk).update(judge=other)
    problem = olga.problem("assignments?campaign=river&condition=A/A", 422)
    assert problem["code"] == "ambiguous"
    assert len(olga.rows("assignments?campaign=river&condition=A/A&judge=robot%202")) == 1


def test_scores_have_the_digits_of_the_report(olga: Program, world: World) -> None:
    from tests.worlds.imported import report  # noqa: PLC0415

    for policies in ({}, {"missing": "skip", "unjudged": "zero", "no_vital": "skip"}):
        named = [word for name, value in policies.items() for word in (f"--{name.replace('_', '-')}", value)]
        runs = {row["run_id"]: row for row in report("scores", "--condition", "A/A", *named)["runs"]}
        query = "".join(f"&{name}={value}" for name, value in policies.items())
        rows = olga.rows(SCORES + query)
        for row in rows:
            shared = {name: value for name, value in row.items() if name in runs[row["run_id"]]}
            assert shared == {name: runs[row["run_id"]][name] for name in shared}
        assert len(rows) == len(runs)


def test_the_number_of_queries_does_not_grow_with_the_rows(world: World) -> None:
    olga = program_of(world, "olga")
    olga.get("runs")  # the token's first use is noted
    olga.get(SCORES)  # what reports read is kept
    few = {path: olga.queries(with_page_size(path, 1)) for path in ALL}
    assert {path: olga.queries(with_page_size(path, 1000)) for path in ALL} == few
    assert max(few.values()) <= 24, few  # limits are counted in the database where there is no Redis
    assert Run.objects.count() > 1


def test_csv_holds_no_formulas(olga: Program) -> None:
    Topic.objects.filter(topic_id="t1").update(text="=HYPERLINK(1)")
    Topic.objects.filter(topic_id="t2").update(text='a "quoted", text\nin two lines')
    assert [row["text"] for row in olga.table("topics")] == ["'=HYPERLINK(1)", 'a "quoted", text\nin two lines']
    assert olga.lines("topics")[0]["text"] == "=HYPERLINK(1)"


def test_a_stream_says_what_it_is(olga: Program) -> None:
    for form, kind in (("jsonl", "application/x-ndjson"), ("csv", "text/csv; charset=utf-8")):
        response = olga.get(f"topics?format={form}")
        assert response["Content-Type"] == kind
        assert response["Content-Disposition"] == f'attachment; filename="topics.{form}"'
        assert response.streaming
    head = olga.client.head("/api/v1/topics?format=csv", headers=olga.own)
    assert (head.status_code, body_of(head)) == (200, b"")
