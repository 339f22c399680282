"""The report pages: tables with their files and pictures, everything chosen in the address."""

import csv
import io
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from django.http import QueryDict
from django.urls import reverse

from evaluation.imports.assignments import import_assignments
from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.runs import import_runs
from evaluation.models import Topic, TopicTag
from evaluation.terms import JudgeKind, Origin
from reports.charts import PAPER
from reports.nuggets.descriptives import descriptives_page
from tests.reports.test_leaderboard_page import LABELS
from tests.worlds.campaign import NUGGETS, World, make_world, queries_of
from tests.worlds.cast import write_source


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    """The small campaign with its cast, a second judge whose labels are all there, and a tag on one topic."""
    world = make_world(tmp_path)
    import_assignments(
        campaign=world.campaign,
        sources=[write_source(tmp_path, "full.jsonl", LABELS)],
        origin=Origin.AUTO,
        judge="whole",
        kind=JudgeKind.LLM,
    )
    TopicTag.objects.create(topic=Topic.objects.get(topic_id="t1"), name="simple")
    TopicTag.objects.create(topic=Topic.objects.get(topic_id="t2"), name="composition")
    return world


QUERIES = {
    "descriptives": "",
    "nuggets": "?condition=A/A&judge=whole",
    "support": "?condition=scratch",
    "length": "?condition=A/A&judge=whole",
    "time": "",
    "group-report": "?condition=A/A&judge=whole&group=team%20a",
}


def page_of(world: World, name: str, query: str | None = None) -> str:
    address = reverse(f"reports:{name}", args=[world.campaign.slug])
    response = world.client("olga").get(address + (QUERIES[name] if query is None else query))
    assert response.status_code == 200
    return response.content.decode()


def rows_of(world: World, name: str, part: str = "overview", query: str | None = None) -> list[dict[str, Any]]:
    address = reverse(f"reports:{name}_table", args=[world.campaign.slug, part, "json"])
    response = world.client("olga").get(address + (QUERIES[name] if query is None else query))
    assert response.status_code == 200, response.content
    found: list[dict[str, Any]] = json.loads(response.content)["rows"]
    return found


@pytest.mark.parametrize("name", list(QUERIES))
def test_each_page_says_its_figures_and_links_to_every_file(world: World, name: str) -> None:
    page = page_of(world, name)
    assert "note-warn" not in page
    if name == "time":
        assert "Nobody has worked on a task yet." in page
        return
    assert "Link with every choice" in page
    files = [reverse(f"reports:{name}_table", args=["river", "overview", form]) for form in ("csv", "json", "tex")]
    assert all(file in page for file in files)
    assert all(world.client("olga").get(file + QUERIES[name]).status_code == 200 for file in files)


def test_labels_of_two_lists_by_one_judge_are_two_bars(world: World, tmp_path: Path) -> None:
    """Bars of one name lay on each other, up to 200 %, in the picture as a file."""
    listed = write_source(tmp_path, "second.jsonl", NUGGETS)
    import_nuggets(campaign=world.campaign, source=listed, origin=Origin.AUTO, judge="other", name="second")
    import_assignments(
        campaign=world.campaign,
        sources=[write_source(tmp_path, "again.jsonl", LABELS)],
        origin=Origin.AUTO,
        judge="whole",
        kind=JudgeKind.LLM,
        nuggets="second",
    )
    chart = descriptives_page(world.campaign, QueryDict()).section("overview").chart
    assert chart
    shares: dict[str, float] = defaultdict(float)
    for row in json.loads(chart.draw(PAPER))["data"]["values"]:
        shares[row["name"]] += row["share"]
    assert {"A/A by whole of auto-robot", "A/A by whole of second", "A/A by robot"} <= set(shares)
    assert all(share == pytest.approx(1) for share in shares.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "length",
        *(pytest.param(name, marks=pytest.mark.slow) for name in QUERIES if name not in ("length", "time")),
    ],
)
def test_the_picture_of_each_page_is_drawn_in_both_themes(world: World, name: str) -> None:
    part = "topics" if name == "group-report" else "overview"
    address = reverse(f"reports:{name}_picture", args=["river", part, "svg"]) + QUERIES[name]
    sign = "&" if "?" in address else "?"
    light, dark = (
        world.client("olga").get(f"{address}{sign}theme={theme}").content.decode() for theme in ("light", "dark")
    )
    assert light.startswith("<svg")
    assert light != dark


def test_descriptives_are_the_report_s_and_a_tag_s_only_its_topics(world: World) -> None:
    row = rows_of(world, "descriptives")[0]
    assert (row["name"], row["topics"], row["nuggets_per_topic"], row["vital"]) == ("auto-robot", 1, 2.0, 0.5)
    whole = next(judged for judged in rows_of(world, "descriptives") if judged["judge"] == "whole")
    assert (whole["labels"], whole["support"], whole["partial_support"], whole["not_support"]) == (
        4,
        0.5,
        0.25,
        0.25,
    )
    assert rows_of(world, "descriptives", query="?tag=composition")[0]["topics"] == 0
    spread = rows_of(world, "descriptives", "words")[0]
    assert (spread["n"], spread["min"], spread["max"]) == (2, 2.0, 2.0)


def test_each_nugget_says_who_found_it(world: World) -> None:
    query = QUERIES["nuggets"]
    found = {row["nugget"]: row for row in rows_of(world, "nuggets", "nuggets")}
    assert (found["sand moves"]["share"], found["sand moves"]["runs"]) == (0.5, "alpha")
    assert (found["banks erode"]["partial_support"], found["banks erode"]["runs"]) == (1, "beta")
    assert [row["nugget"] for row in rows_of(world, "nuggets", "nuggets", f"{query}&importance=okay")] == [
        "banks erode"
    ]
    assert rows_of(world, "nuggets", "nuggets", f"{query}&found=everybody") == []
    assert rows_of(world, "nuggets", "nuggets", f"{query}&tag=composition") == []
    assert {row["importance"]: row["nuggets"] for row in rows_of(world, "nuggets")} == {"vital": 1, "okay": 1}


def test_a_campaign_without_edited_lists_says_so_beside_its_nuggets(world: World) -> None:
    assert "There is no edited nugget set." in page_of(world, "nuggets")


def test_support_is_said_by_run_topic_answer_and_condition(world: World) -> None:
    alpha = next(row for row in rows_of(world, "support") if row["run_id"] == "alpha")
    assert (alpha["weighted_precision"], alpha["weighted_recall"]) == (1.0, 0.5)
    assert (alpha["full_support"], alpha["over"], alpha["under"]) == (1, 0.0, 0.5)
    (topic,) = rows_of(world, "support", "topics")
    assert (topic["topic_id"], topic["weighted_precision"], topic["full_support"]) == ("t1", 1.0, 1)
    answers = {row["run_id"]: row for row in rows_of(world, "support", "answers")}
    assert (answers["alpha"]["uncited"], answers["beta"]["sentences"]) == (1, 1)
    conditions = {row["condition"]: row["pairs"] for row in rows_of(world, "support", "conditions")}
    assert conditions == {"scratch": 1, "post-edit": 0, "llm": 0}
    tags = {(row["tag"], row["run_id"]): row["weighted_precision"] for row in rows_of(world, "support", "tags")}
    assert (tags["simple", "alpha"], tags["composition", "alpha"]) == (1.0, None)


def test_length_names_the_runs_that_no_shorter_one_beats(world: World) -> None:
    rows = {row["run_id"]: row for row in rows_of(world, "length")}
    assert (rows["alpha"]["length"], rows["beta"]["length"]) == (3.0, 3.0)
    assert (rows["alpha"]["vital_strict"], rows["beta"]["vital_strict"]) == (1.0, 0.0)
    assert (rows["alpha"]["front"], rows["beta"]["front"]) == ("yes", "")


def test_a_table_is_ordered_by_any_column_with_undefined_last(world: World) -> None:
    page = page_of(world, "support", "?condition=scratch&sort_overview=weighted_precision")
    assert page.index("<bdi>alpha</bdi>") < page.index("<bdi>beta</bdi>")
    assert 'aria-sort="ascending"' in page
    assert "sort_overview=weighted_precision" in page.split(">Link with every choice")[0].rsplit("href=", 1)[1]


def test_a_group_report_holds_its_group_s_runs_and_nothing_of_others(world: World) -> None:
    page = page_of(world, "group-report")
    assert "alpha" in page
    assert "beta" not in page
    address = reverse("reports:group-report_table", args=["river", "topics", "csv"]) + QUERIES["group-report"]
    table = world.client("olga").get(address).content.decode()
    assert not [name for name in ("beta", "team b", "whole") if name in table]
    (row,) = csv.DictReader(io.StringIO(table))
    assert (row["run_id"], row["vital_strict"]) == ("alpha", "1.0")
    assert [row[f"vital_strict_{end}"] for end in ("min", "median", "max")] == ["0.0", "0.5", "1.0"]


@pytest.mark.parametrize("report", ["support", "length"])
def test_check_80_tags_of_few_topics_fold(world: World, report: str) -> None:
    address = reverse(f"reports:{report}", args=["river"])
    page = world.client("olga").get(address, {"condition": "A/A", "judge": "whole"} if report == "length" else {})
    assert "Small tags (2)" in (text := page.content.decode())
    assert ">simple</bdi></a> n = 1" in text
    assert not re.search(r"<th[^>]*>\s*simple", text)


def test_the_leaderboard_is_of_the_topics_of_a_tag_and_shows_each_tag(world: World) -> None:
    address = reverse("reports:scores_table", args=["river", "runs", "json"]) + "?condition=A/A&judge=whole"
    whole = json.loads(world.client("olga").get(address).content)
    few = {"low": None, "high": None, "reason": "too few topics"}
    assert whole["by_tag"]["simple"] == {
        "topics": 1,
        "runs": {"alpha": 1.0, "beta": 0.0},
        "intervals": {"alpha": few, "beta": few},
    }
    none = {"alpha": None, "beta": None}
    assert whole["by_tag"]["composition"] == {
        "topics": 0,
        "runs": none,
        "intervals": dict.fromkeys(none, few),
    }
    tagged = json.loads(world.client("olga").get(f"{address}&tag=composition").content)
    assert (tagged["tag"], tagged["topics"]) == ("composition", 1)
    assert tagged["runs"][0]["vital_strict"] is None
    assert (
        "Only topics tagged"
        in world.client("olga")
        .get(reverse("reports:scores", args=["river"]) + "?condition=A/A&judge=whole&tag=simple")
        .content.decode()
    )


@pytest.mark.parametrize("name", ["descriptives", "nuggets", "support", "length", "group-report"])
def test_the_queries_of_a_page_do_not_grow_with_its_runs(world: World, tmp_path: Path, name: str) -> None:
    address = reverse(f"reports:{name}", args=["river"]) + QUERIES[name]
    client = world.client("olga")
    before = queries_of(client, address)
    more = (
        '{"run_id": "more", "topic_id": "t1", "topic": "why rivers bend", "references": [], "response_length": 1, '
        '"answer": [{"text": "Yes.", "citations": []}]}\n'
    )
    import_runs(campaign=world.campaign, sources=[write_source(tmp_path, "more.jsonl", more)])
    assert queries_of(client, address) <= before


def test_what_is_not_there_is_not_found(world: World) -> None:
    client = world.client("olga")
    nothing = reverse("reports:length_table", args=["river", "nothing", "csv"])
    assert client.get(nothing + QUERIES["length"]).status_code == 404
    several = reverse("reports:length_table", args=["river", "overview", "csv"])
    refused = client.get(several + "?condition=A/A")
    assert refused.status_code == 422
    assert "Several judges fit A/A; choose one: " in refused.content.decode()
    assert client.get(several + "?condition=nothing").status_code == 404
    assert "Several judges fit A/A" in page_of(world, "length", "?condition=A/A")
    assert "This is not a choice of this campaign." in page_of(world, "support", "?condition=nothing")
