"""Battles on the leaderboard: its scores offer them, and they have the figures of the battles report."""

from pathlib import Path
from typing import Any

import pytest

from evaluation.models import BattleSet, Campaign, Run
from tests.reports.battles.test_sampled_battles import drawn, folder, judged
from tests.worlds.campaign import World
from tests.worlds.cast import make_cast
from tests.worlds.imported import load, report, run

pytestmark = pytest.mark.django_db
PAGE, REPORT = "/campaigns/river/leaderboard/", "/campaigns/river/reports/battles/"
API = "/api/v1/reports/battles/"
__all__ = ["folder"]


@pytest.fixture
def rita(folder: Path) -> Any:
    campaign = Campaign.objects.get()
    load("sample_battles", "--n", 36)
    judged(folder, "ann", drawn(), ("left", "tie"), "human")
    return World(campaign, make_cast(campaign)).client("rita")


def test_the_scores_offer_battles_only_where_there_are_some(folder: Path) -> None:
    campaign = Campaign.objects.get()
    page = World(campaign, make_cast(campaign)).client("rita").get(PAGE).content.decode()
    assert "Win rate" in page
    assert "Corrected win rate" not in page


@pytest.mark.parametrize("score", ["win", "rating", "corrected"])
@pytest.mark.parametrize(("by", "condition"), [("E/A", "B/A"), ("E/M", "B/M")])
def test_one_figure_has_one_value(rita: Any, score: str, by: str, condition: str) -> None:
    words = ("battles", "--condition", condition, "--by", score)
    expected, lines = report(*words), run("report", *words, "--campaign", "river", "--format", "csv").out
    board, battles = f"score={score}&condition={by}", f"by={score}&condition={condition}"
    for address in (
        f"{PAGE}runs.{{}}?{board}",
        f"{REPORT}overview.{{}}?{battles}",
        f"{API}?campaign=river&{battles}&format={{}}",
    ):
        assert rita.get(address.format("json")).json() == expected, address
        table = rita.get(address.format("csv")).content.decode()
        assert table == lines, address
    of_set = rita.get(f"/api/v1/battle-sets/{BattleSet.objects.get().pk}/leaderboard/?{battles}").json()
    assert of_set == {name: expected[name] for name in of_set}
    page = rita.get(f"{PAGE}?score={score}&condition={by}").content.decode()
    for row in expected["runs"]:
        value = row["corrected"]["value"] if score == "corrected" else row["win_rate"]
        if value is not None:
            assert f"{value:.4f}" in page or f"{value:.3f}" in page


def test_battles_name_no_rules_of_labels(rita: Any) -> None:
    assert "Scored as" not in rita.get(f"{PAGE}?score=win&condition=E/M").content.decode()
    assert "Scored as TREC 2024." in rita.get(f"{PAGE}?score=vital_strict").content.decode()


def test_groups_of_runs_are_chosen_as_of_other_scores(rita: Any) -> None:
    Run.objects.filter(run_id="a").update(group="team")
    document = rita.get(f"{PAGE}runs.json?score=win&condition=E/A&group=team").json()
    assert [row["run_id"] for row in document["runs"]] == ["a"]


def test_what_has_no_figures_says_why(folder: Path) -> None:
    campaign = Campaign.objects.get()
    rita = World(campaign, make_cast(campaign)).client("rita")
    page = rita.get(f"{PAGE}?score=win&condition=E/M").content.decode()
    assert "No battle of battles was judged under B/M." in page
    assert rita.get(f"{PAGE}doubts/?score=win&run=a&doubt=failed").status_code == 200
    load("sample_battles", "--n", 12)
    page = rita.get(f"{PAGE}?score=corrected&condition=E/A").content.decode()
    assert "of 12 judged" not in page
    assert "judged" in page
