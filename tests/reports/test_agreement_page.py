"""The agreement of two conditions, everything chosen in the address, and its picture."""

from pathlib import Path

import pytest

from evaluation.services import importing
from evaluation.terms import JudgeKind, Origin
from tests.factories import write_source
from tests.organizer.world import LABELS, World, make_world


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    """The small campaign with its cast."""
    return make_world(tmp_path)


def page_of(world: World, query: str = "", page: str = "agreement") -> str:
    return world.client("olga").get(world.pages()[page] + query).content.decode()


def test_it_starts_with_two_conditions_that_have_labels(world: World) -> None:
    assert "<bdi>A/A</bdi> against <bdi>A/M</bdi>" in page_of(world)


def test_it_says_tau_what_it_rests_on_and_the_policies(world: World) -> None:
    page = page_of(world, "?x=A/A&y=A/M&unjudged=zero")
    for said in (
        "Run level",
        "Topic average",
        "All topic/run pairs",
        "2 runs",
        "unjudged zero",
        "labels by robot",
    ):
        assert said in page


def test_it_compares_labels_where_both_share_the_nuggets(world: World) -> None:
    page = page_of(world, "?x=A/A&y=A/M")
    assert "3 pairs" in page
    assert "100.0" in page
    assert "use different nuggets" in page_of(world, "?x=A/A&y=M/M")


def test_several_judges_are_said_and_one_can_be_chosen(world: World, tmp_path: Path) -> None:
    importing.import_assignments(
        campaign=world.campaign,
        sources=[write_source(tmp_path, "other.jsonl", LABELS)],
        origin=Origin.AUTO,
        judge="other",
        kind=JudgeKind.HUMAN,
    )
    assert "Several judges fit A/M" in page_of(world, "?x=A/A&y=A/M")
    assert "labels by other" in page_of(world, "?x=A/A&y=A/M&y_judge=other")


def test_a_choice_that_does_not_exist_is_said(world: World) -> None:
    assert "This is not a choice of this campaign." in page_of(world, "?x=nothing")


def test_the_picture_is_svg_in_both_themes_and_drawn_once(world: World) -> None:
    client, address = world.client("olga"), world.pages()["scatter"] + "?x=A/A&y=A/M&unjudged=zero"
    light, dark = client.get(address), client.get(address + "&theme=dark")
    assert light["Content-Type"] == "image/svg+xml"
    assert light.content.startswith(b"<svg")
    assert light.content != dark.content
    assert client.get(address).content == light.content


def test_there_is_no_picture_of_a_choice_that_does_not_exist(world: World) -> None:
    assert world.client("olga").get(world.pages()["scatter"] + "?x=nothing").status_code == 404
