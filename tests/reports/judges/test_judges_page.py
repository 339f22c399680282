"""Judges compared as a page: for organizers and researchers, in every file form, and never for assessors."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from django.db.models import F

from evaluation.models import Campaign
from reports.models import ExternalCondition
from tests.worlds.campaign import World
from tests.worlds.cast import make_cast
from tests.worlds.imported import load, write


@pytest.fixture
def world(autojudge: Path) -> World:
    campaign = Campaign.objects.get()
    return World(campaign, make_cast(campaign))


PAGE = "/campaigns/river/reports/judges/"


@pytest.mark.parametrize("name", ["olga", "rita"])
def test_the_page_has_each_judge_with_its_figure_and_every_two(world: World, name: str) -> None:
    page = world.client(name).get(f"{PAGE}?truth=truth&correlation=tauap_b").content.decode()
    assert "0.583" in page
    for words in ("pointwise", "gpt-4o", "GRADE", "Truth: truth, by nugget_coverage."):
        assert words in page
    assert "tau-AP, ties of both" in page


def test_the_best_runs_alone_may_be_compared(world: World) -> None:
    page = world.client("olga").get(f"{PAGE}?truth=truth&correlation=kendall&top=4").content.decode()
    assert "0.33" in page


def test_a_score_of_ours_is_called_as_on_other_pages_and_in_files_by_its_code(
    world: World, autojudge: Path
) -> None:
    rows = (autojudge / "b.txt").read_text("utf-8").replace("GRADE", "vital_strict")
    load("import_scores", "--judge", "C", write(autojudge, "c.txt", rows), "--form", "tot")
    ask = world.client("olga").get
    page = ask(f"{PAGE}?truth=truth").content.decode()
    assert "<bdi>Vital, strict</bdi>" in page
    assert "<bdi>vital_strict</bdi>" not in page
    assert "C, Vital, strict: " in ask(f"{PAGE}overview.svg?truth=truth").content.decode()
    assert ",vital_strict," in ask(f"{PAGE}overview.csv?truth=truth").content.decode()
    assert "Truth: C, by vital, strict." in ask(f"{PAGE}?truth=C").content.decode()


def test_a_truth_that_is_none_is_no_choice(world: World) -> None:
    page = world.client("olga").get(f"{PAGE}?truth=nobody").content.decode()
    assert "This is not a choice of this campaign" in page


def test_an_assessor_does_not_find_it(world: World) -> None:
    assert world.client("ann").get(PAGE).status_code in (403, 404)


@pytest.mark.parametrize("name", ["overview", "differences"])
@pytest.mark.parametrize("form", ["csv", "json", "tex"])
def test_each_table_is_a_file(world: World, name: str, form: str) -> None:
    response = world.client("olga").get(f"{PAGE}{name}.{form}?truth=truth")
    assert response.status_code == 200, response


def test_the_judges_are_drawn_with_their_intervals(world: World) -> None:
    picture = world.client("olga").get(f"{PAGE}overview.svg?truth=truth").content.decode()
    assert "A, GRADE: 0.810" in picture
    words = {element.text for element in ElementTree.fromstring(picture).iter() if element.text}  # noqa: S314
    assert {"A, GRADE", "B, GRADE", "Kendall's tau-b"} <= words
    # Tasks are those of runs, and judges have none.
    assert "no task" not in picture


def test_what_no_judge_has_is_no_column(world: World, autojudge: Path) -> None:
    ask = world.client("olga").get
    assert "Model" in headings(ask(f"{PAGE}?truth=truth").content.decode())
    ExternalCondition.objects.update(method="", model="")
    Campaign.objects.update(revision=F("revision") + 1)
    page = ask(f"{PAGE}?truth=truth").content.decode()
    assert headings(page) >= {"Judge", "Measure"}
    assert headings(page).isdisjoint({"Method", "Model", "Why none"})
    assert ",method,model," in ask(f"{PAGE}overview.csv?truth=truth").content.decode()


def headings(page: str) -> set[str]:
    return {" ".join(re.sub("<[^>]+>", " ", head).split()) for head in re.findall("(?s)<th.*?</th>", page)}
