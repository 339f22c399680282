"""Scores by topic, comparisons, and reports in other forms: what a program needs for more than a table of means."""

import csv
import gzip
import io
import json
from statistics import fmean

import pytest

from tests.api.reading import Program
from tests.crawl.canaries import body_of
from tests.worlds.campaign import World
from tests.worlds.imported import run

pytestmark = pytest.mark.django_db
NUGGETS, CITATIONS = "scores?campaign=river&condition=A/A", "scores?campaign=river&condition=llm"
COMPARISONS = "reports/comparisons/?campaign=river&condition=A/A&score=length"


@pytest.mark.parametrize("path", [NUGGETS, f"{NUGGETS}&missing=skip", CITATIONS])
def test_a_score_is_the_mean_of_its_topics(olga: Program, path: str) -> None:
    runs, topics = olga.rows(path), olga.rows(f"{path}&per_topic=true")
    assert {row["run_id"] for row in topics} == {row["run_id"] for row in runs}
    for name in ("vital_strict", "all", "weighted_precision", "recall_strict"):
        for row in runs:
            values = [topic[name] for topic in topics if topic["run_id"] == row["run_id"]]
            defined = [value for value in values if value is not None]
            assert row[name] == (pytest.approx(fmean(defined)) if defined else None), (name, row["run_id"])


def test_scores_by_topic_come_in_pages_and_in_every_form(olga: Program) -> None:
    path = f"{NUGGETS}&per_topic=true"
    rows = olga.rows(path)
    assert olga.rows(f"{path}&page_size=1") == olga.lines(path) == rows
    assert [row["topic_id"] for row in olga.table(path)] == [row["topic_id"] for row in rows]
    [run_id] = {row["run_id"] for row in rows[:1]}
    assert olga.rows(f"{path}&run={run_id}") == [row for row in rows if row["run_id"] == run_id]


def test_every_two_runs_are_compared_as_the_command_does(olga: Program) -> None:
    document = olga.json(COMPARISONS)
    command = ("comparisons", "--campaign", "river", "--condition", "A/A", "--score", "length", "--format")
    assert document == json.loads(run("report", *command, "json").out)
    [pair] = document["comparisons"]
    assert {pair["run_id"], pair["other"]} == set(document["runs"])
    as_csv = body_of(olga.get(COMPARISONS, accept="text/csv")).decode()
    assert as_csv == run("report", *command, "csv").out == body_of(olga.get(f"{COMPARISONS}&format=csv")).decode()
    assert next(csv.DictReader(io.StringIO(as_csv)))["other"] == pair["other"]


def test_a_form_can_be_asked_for_by_a_header(olga: Program) -> None:
    for accept, form in (("text/csv", "csv"), ("application/x-ndjson", "jsonl")):
        asked, named = olga.get("topics", accept=accept), olga.get(f"topics?format={form}")
        assert (body_of(asked), asked["Content-Type"]) == (body_of(named), named["Content-Type"])
        assert "Accept" in asked["Vary"].split(", ")
    tags = {olga.get("topics", accept=accept)["ETag"] for accept in ("text/csv", "application/x-ndjson", "*/*")}
    assert len(tags) == 3
    assert olga.get("topics", accept="text/html,*/*;q=0.8")["Content-Type"] == "application/json"
    assert olga.get("topics?format=jsonl", accept="text/csv")["Content-Type"] == "application/x-ndjson"


@pytest.mark.parametrize("path", ["topics", "topics?format=jsonl", COMPARISONS])
def test_a_program_gets_lists_and_reports_packed(olga: Program, world: World, path: str) -> None:
    plain, packed = olga.get(path), olga.get(path, **{"accept-encoding": "gzip"})
    assert packed["Content-Encoding"] == "gzip"
    assert gzip.decompress(body_of(packed)) == body_of(plain)
    assert olga.get(path, **{"accept-encoding": "gzip", "if-none-match": packed["ETag"]}).status_code == 304
    browser = Program()
    browser.client.force_login(world.people["olga"])
    assert "Content-Encoding" not in browser.get(path, **{"accept-encoding": "gzip"}).headers


def test_a_row_that_can_be_changed_keeps_its_strong_tag(olga: Program) -> None:
    address = f"topics/{olga.rows('topics')[0]['id']}/"
    assert not olga.get(address, **{"accept-encoding": "gzip"})["ETag"].startswith("W/")
