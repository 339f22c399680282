"""The report pages: tables with their files and pictures, everything chosen in the address."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from evaluation.models import Topic, TopicTag
from evaluation.services import importing
from evaluation.terms import JudgeKind, Origin
from reports.report_pages import ReportName
from tests.factories import write_source
from tests.organizer.world import World, make_world
from tests.reports.test_leaderboard_page import LABELS


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    """The small campaign with its cast, a second judge whose labels are all there, and a tag on one topic."""
    world = make_world(tmp_path)
    importing.import_assignments(
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
    "packet": "?condition=A/A&judge=whole&group=team%20a",
}


def page_of(world: World, name: str, query: str | None = None) -> str:
    address = reverse("reports:report", args=[world.campaign.slug, name])
    response = world.client("olga").get(address + (QUERIES[name] if query is None else query))
    assert response.status_code == 200
    return response.content.decode()


def rows_of(world: World, name: str, part: str = "overview", query: str | None = None) -> list[dict[str, Any]]:
    address = reverse("reports:report_table", args=[world.campaign.slug, name, part, "json"])
    response = world.client("olga").get(address + (QUERIES[name] if query is None else query))
    assert response.status_code == 200, response.content
    found: list[dict[str, Any]] = json.loads(response.content)["rows"]
    return found


@pytest.mark.parametrize("name", list(ReportName))
def test_each_page_says_its_figures_and_links_to_every_file(world: World, name: ReportName) -> None:
    page = page_of(world, name)
    assert "note-warn" not in page
    assert "Link with every choice" in page
    files = [
        reverse("reports:report_table", args=["river", name, "overview", form]) for form in ("csv", "json", "tex")
    ]
    if name != "time":  # nobody has worked here
        assert all(file in page for file in files)
        assert all(world.client("olga").get(file + QUERIES[name]).status_code == 200 for file in files)


@pytest.mark.parametrize("name", [one for one in ReportName if one != "time"])
def test_the_picture_of_each_page_is_drawn_in_both_themes(world: World, name: ReportName) -> None:
    address = reverse("reports:report_picture", args=["river", name, "overview", "svg"]) + QUERIES[name]
    sign = "&" if "?" in address else "?"
    light, dark = (
        world.client("olga").get(f"{address}{sign}theme={theme}").content.decode() for theme in ("light", "dark")
    )
    assert light.startswith("<svg")
    assert light != dark
