"""Nuggets that an answer must not contain are in none of the scores of nuggets to be said, and counted as such."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from evaluation.models import Campaign, ListedNugget
from reports.frames import forget_sheets
from reports.methods.report import exclusion_rows
from tests.worlds.cast import make_cast
from tests.worlds.imported import BY_LLM, labels, load, report, run, write

SCORES = ("vital_strict", "vital", "weighted_strict", "weighted", "all_strict", "all")


@pytest.fixture
def avoided(labelled: Path) -> ListedNugget:
    nugget = ListedNugget.objects.filter(nugget_version__text="sand").get()
    ListedNugget.objects.filter(pk=nugget.pk).update(raw_importance="must_avoid", importance=0, weight=-1)
    Campaign.objects.update(revision=99)
    forget_sheets()
    return nugget


def scores() -> dict[str, dict[str, Any]]:
    runs = report("scores", "--condition", "A/A")["runs"]
    return {row["run_id"]: {name: row[name] for name in SCORES} for row in runs}


def test_saying_what_must_not_be_said_moves_no_score(labelled: Path, avoided: ListedNugget) -> None:
    before = scores()
    assert before["alpha"]["all_strict"] == 0.5
    row = labels("alpha", "t1", ("bends", "support"), ("sand", "support"))
    load("import_assignments", *BY_LLM, "--replace", write(labelled, "more", [row]))
    assert scores() == before


def test_the_leaderboard_and_the_methods_name_what_is_held_out(
    avoided: ListedNugget, client: Client, labelled: Path
) -> None:
    campaign = Campaign.objects.get()
    people = make_cast(campaign)
    client.force_login(people["rita"])
    page = client.get(f"/campaigns/{campaign.slug}/leaderboard/", {"condition": "A/A"}).content.decode()
    assert "1 nugget that an answer must not contain is in no score" in page
    assert report("scores", "--condition", "A/A")["avoid_nuggets"] == 1
    table = run("report", "scores", "--campaign", "river", "--condition", "A/A").out
    assert "Nuggets that an answer must not contain, in no score: 1." in table
    assert {"what": "nuggets that an answer must not contain", "count": 1} in exclusion_rows(campaign)


def test_a_list_without_such_nuggets_says_nothing_of_them(labelled: Path, client: Client) -> None:
    campaign = Campaign.objects.get()
    client.force_login(make_cast(campaign)["rita"])
    page = client.get(f"/campaigns/{campaign.slug}/leaderboard/", {"condition": "A/A"}).content.decode()
    assert "must not contain" not in page
    assert report("scores", "--condition", "A/A")["avoid_nuggets"] == 0
