"""The page of battles: win rates for who may see scores, nothing for assessors, and words where nothing was judged."""

from itertools import combinations, cycle, product
from pathlib import Path

import pytest

from evaluation.models import Campaign
from tests.reports.battles.test_battles_report import verdicts
from tests.reports.battles.worlds import load_runs
from tests.worlds.campaign import World
from tests.worlds.cast import make_cast
from tests.worlds.imported import load, write

pytestmark = pytest.mark.django_db
PAGE = "/campaigns/river/reports/battles/"
TOPICS = ("t1", "t2", "t3", "t4", "t5")


@pytest.fixture
def world(tmp_path: Path) -> World:
    load_runs(tmp_path, "abcd", TOPICS)
    campaign = Campaign.objects.get()
    return World(campaign, make_cast(campaign))


def judge(folder: Path) -> None:
    rows = [row | {"topic_id": topic, "round": 1} for topic in TOPICS for row in verdicts()[::2]]
    first = {(row["topic_id"], *sorted((row["left"], row["right"]))): row for row in rows}
    load("import_battles", "--by", "human", write(folder, "verdicts.jsonl", list(first.values())))


def test_a_campaign_without_battles_says_so(world: World) -> None:
    assert "No battles are drawn yet." in world.client("olga").get(PAGE).content.decode()


def test_the_page_has_the_figures_of_the_command(world: World, tmp_path: Path) -> None:
    judge(tmp_path)
    page = world.client("rita").get(PAGE).content.decode()
    assert "Win rate" in page
    assert "too few battles" in page
    assert "No battle was judged twice." in page
    file = world.client("rita").get(f"{PAGE}overview.csv").content.decode()
    assert file.startswith("run_id,win_rate,low,high,rating")
    document = world.client("rita").get(f"{PAGE}overview.json").json()
    assert {row["run_id"] for row in document["runs"]} == set("abcd")


def test_no_assessor_sees_it(world: World, tmp_path: Path) -> None:
    judge(tmp_path)
    assert world.client("ann").get(PAGE).status_code == 404


@pytest.mark.parametrize(("runs", "tables"), [("abcd", 2), ("abcde", 1)])
def test_why_a_figure_lacks_is_a_column_only_where_one_does(tmp_path: Path, runs: str, tables: int) -> None:
    """Runs lack figures below 20 battles; of no verdict of a file is it known which answer had stayed on screen."""
    load_runs(tmp_path, runs, TOPICS)
    campaign = Campaign.objects.get()
    rows = [
        {"topic_id": topic, "left": left, "right": right, "verdict": verdict, "judge": "ann", "round": 1}
        for (topic, (left, right)), verdict in zip(
            product(TOPICS, combinations(runs, 2)), cycle(["left", "right", "tie"]), strict=False
        )
    ]
    load("import_battles", "--by", "human", write(tmp_path, "verdicts.jsonl", rows))
    page = World(campaign, make_cast(campaign)).client("rita").get(PAGE).content.decode()
    assert page.count("Why not") == tables


def test_a_rating_without_an_interval_says_why(tmp_path: Path) -> None:
    load_runs(tmp_path, "abcde", TOPICS)
    campaign = Campaign.objects.get()
    rows = [
        {"topic_id": topic, "left": left, "right": right, "verdict": "tie", "judge": "ann", "round": 1}
        for topic in TOPICS
        for left, right in combinations("abcde", 2)
    ]
    load("import_battles", "--by", "human", write(tmp_path, "verdicts.jsonl", rows))
    page = World(campaign, make_cast(campaign)).client("rita").get(PAGE).content.decode()
    assert 'title="no topic differs from another"' in page
    assert "label pairs are too few" not in page
