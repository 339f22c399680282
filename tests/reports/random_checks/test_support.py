"""Random checks of citation labels: judged at a desk or loaded, and never by labels given in sight of the LLM's."""

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from django.db.models import F
from django.test import Client
from django.urls import reverse

from evaluation.errors import Refused
from evaluation.imports.support import import_support
from evaluation.labels import SupportLabel
from evaluation.models import Campaign, Judge, RandomCheckPair, StudyPair, SupportJudgment
from evaluation.terms import JudgeKind, StudyKind, SupportCondition
from reports.random_checks import drawing
from reports.random_checks.corrected import corrected_report
from reports.random_checks.drawing import RandomCheckOrder, create_random_check, size_of_order
from reports.random_checks.frame import drawn_rows
from reports.random_checks.population import default_policies
from reports.random_checks.state import random_check_state
from tests.worlds.imported import report, run, write
from tests.worlds.judging import JudgingWorld
from tests.worlds.study import EXPERT, hand_study, judge_drawn, make_study, make_study_world, window_of

PEEKER = "peeker"
SEEN = "gave labels in sight of the LLM's"


@pytest.fixture
def world(db: None, tmp_path: Path) -> JudgingWorld:
    """Three citations that a machine and an expert labelled."""
    return make_study_world(tmp_path)


def order(name: str = "check", **more: object) -> RandomCheckOrder:
    return RandomCheckOrder(name, StudyKind.SUPPORT, per_run=10, least=1, seed="s", **more)  # type: ignore[arg-type]


def peek(world: JudgingWorld) -> None:
    """Load labels of somebody who saw the machine's."""
    rows = [{"run_id": "alpha", "topic_id": "t1", "sentence": 0, "docid": "d1", "label": "full_support"}]
    import_support(
        campaign=world.campaign,
        sources=[world.source("peeker.jsonl", *rows)],
        judge=PEEKER,
        kind=JudgeKind.HUMAN,
        condition=SupportCondition.POST_EDIT,
    )


@pytest.mark.parametrize("score", ["weighted_precision", "weighted_recall"])
def test_all_judged_at_a_desk_is_the_score_of_people(world: JudgingWorld, score: str) -> None:
    study = create_random_check(campaign=world.campaign, order=order())
    judge_drawn(window_of(world, hand_study(world, study)), "partial_support")
    judge = Judge.objects.get(study=study)
    people = report("support", "--condition", "scratch", "--judge", judge.name)["runs"]
    expected = {row["run_id"]: row[score] for row in people}
    found = {row["run_id"]: row for row in report("corrected", "--study", "check", "--score", score)["runs"]}
    drawn = {run_id: row for run_id, row in found.items() if row["drawn"]}
    assert len(drawn) == 2
    for run_id, row in drawn.items():
        assert row["corrected"]["value"] == pytest.approx(expected[run_id], abs=1e-12)
        assert row["corrected"]["high"] - row["corrected"]["low"] < 1e-12


def client_of(world: JudgingWorld, who: str) -> Client:
    client = Client()
    client.force_login(world.people[who])
    return client


def page_of(world: JudgingWorld, query: str = "?condition=llm", who: str = "olga") -> str:
    page = client_of(world, who).get(reverse("reports:support", args=["river"]) + query).content.decode()
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", unescape(page[page.index("<main") :])))


def test_the_citation_page_has_the_switch(world: JudgingWorld) -> None:
    study = create_random_check(campaign=world.campaign, order=order())
    assert "0 of 2 pairs judged of alpha, 0 of 1 pairs judged of gamma; scores are corrected when" in page_of(
        world
    )
    assert "Random check" not in page_of(world, who="rita")
    judge_drawn(window_of(world, hand_study(world, study)), "partial_support")
    assert "LLM Corrected" in page_of(world)
    assert "People only" not in page_of(world)
    query = "?condition=llm&view=corrected"
    page = page_of(world, query, "rita")
    assert "Corrected by 3 human judgments of 3." in page
    assert "LLM Corrected Precision Recall Precision, strict Recall, strict These topics Topics like these" in page
    assert "Weighted precision" not in page
    for score in ("weighted_precision", "weighted_recall"):
        address = reverse("reports:support_table", args=["river", "corrected", "csv"])
        file = client_of(world, "rita").get(f"{address}{query}&score={score}").content.decode()
        printed = run(
            "report", "corrected", "--campaign", "river", "--study", "check", "--score", score, "--format", "csv"
        )
        assert file == printed.out
    assert "People only" not in page_of(world, "?condition=scratch&view=corrected")
    assert client_of(world, "ann").get(address + query).status_code == 404


def test_judging_more_leads_back_to_the_citations(world: JudgingWorld) -> None:
    study = create_random_check(
        campaign=world.campaign, order=RandomCheckOrder("check", StudyKind.SUPPORT, per_run=1, least=1)
    )
    address = reverse("reports:judge_more", args=["river", study.pk]) + "?condition=llm&view=corrected"
    answer = client_of(world, "olga").post(address, {"run": ["alpha"], "number": ["2"]})
    board = reverse("reports:support", args=["river"])
    assert (answer.status_code, answer["Location"]) == (302, f"{board}?condition=llm&view=corrected")


def test_labels_of_a_file_are_by_sentence_and_passage(world: JudgingWorld, tmp_path: Path) -> None:
    study = create_random_check(campaign=world.campaign, order=order())
    rows = [
        {name: row[name] for name in ("run_id", "topic_id", "sentence", "docid")} | {"label": "no_support"}
        for row in drawn_rows(study)
    ]
    words = ("import_random_check", "--campaign", "river", "--study", "check", "--judge", "eve")
    wrong = run(*words, write(tmp_path, "wrong.jsonl", [rows[0] | {"docid": "d9"}]))
    assert wrong.code == 1
    assert (
        "wrong.jsonl:1: docid: a pair that was drawn for check, not run alpha, topic t1, sentence 0, d9"
        in wrong.err
    )
    assert run(*words, write(tmp_path, "labels.jsonl", rows)).code == 0
    assert {json.dumps(row["labels"]) for row in drawn_rows(study)} == {'{"eve, study check": "no_support"}'}


def test_blind_labels_can_be_known_pairs(world: JudgingWorld) -> None:
    create_random_check(campaign=world.campaign, order=order(known=(EXPERT,)))
    assert RandomCheckPair.objects.filter(known=True, given="2").count() == 3
    assert not StudyPair.objects.exists()


def test_labels_in_sight_of_the_llm_s_are_never_taken(world: JudgingWorld) -> None:
    peek(world)
    for words in ({"known": (PEEKER,)}, {"sample": PEEKER}):
        with pytest.raises(Refused, match=SEEN):
            create_random_check(campaign=world.campaign, order=order(**words))
    rows = [{"run_id": "gamma", "topic_id": "t1", "sentence": 1, "docid": "d2", "label": "full_support"}]
    import_support(
        campaign=world.campaign,
        sources=[world.source("more.jsonl", *rows)],
        judge=PEEKER,
        kind=JudgeKind.HUMAN,
        condition=SupportCondition.POST_EDIT,
    )
    make_study(world, StudyKind.SUPPORT, name="seen", condition=SupportCondition.POST_EDIT, person=PEEKER)
    for words in ({"known": ("seen",)}, {"sample": "seen"}):
        with pytest.raises(Refused, match=SEEN):
            create_random_check(campaign=world.campaign, order=order(**words))


def test_known_labels_are_counted_as_what_the_scores_rest_on(world: JudgingWorld) -> None:
    study = create_random_check(campaign=world.campaign, order=order(known=(EXPERT,)))
    page = page_of(world, "?condition=llm&view=corrected")
    assert "Corrected by 3 known labels of 3." in page
    assert "human judgments" not in page
    assert corrected_report(random_check_state(study, default_policies(study)), "weighted_precision").known == 3


def test_the_forecast_is_of_the_llm_s_own_labels(world: JudgingWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "FEWEST_LABELS", 3)
    monkeypatch.setattr(drawing, "FORECAST", (1,))
    monkeypatch.setattr(np, "median", lambda _counts: 4)
    assert size_of_order(world.campaign, order()).forecast is None
    found = size_of_order(world.campaign, order(), [EXPERT]).forecast
    assert found is not None
    assert (found.labels, found.of) == (3, 4)
    assert f"{found}".startswith("By 3 labels that people gave beside this LLM: about ± ")
    [(_, width)] = found.widths
    assert width > 0
    SupportJudgment.objects.update(label=SupportLabel.FULL_SUPPORT)
    Campaign.objects.update(revision=F("revision") + 1)
    agreeing = size_of_order(Campaign.objects.get(pk=world.campaign.pk), order(), [EXPERT]).forecast
    assert agreeing is not None
    assert agreeing.widths == ((1, 0.0),)
