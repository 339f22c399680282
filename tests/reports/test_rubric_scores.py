"""Scores of a rubric: the organizers' own figures of four runs, on every surface, and what a fault does to them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.urls import reverse
from pytest_django.plugin import DjangoDbBlocker

from evaluation.models import Campaign
from tests.reports.rubric_world import DATA, load_graded, needs_data
from tests.reports.surfaces import admin, report, text_of
from tests.worlds.imported import run

pytestmark = [pytest.mark.django_db, needs_data]
MEANS = {
    "rubric": {"alpha": 0.723940, "beta": 0.456791, "gamma": 0.329511, "delta": 0.120317},
    "rubric_strict": {"alpha": 0.648913, "beta": 0.411510, "gamma": 0.278419, "delta": 0.078789},
}
GRADED_ONLY = ("--missing", "skip")
"""Twenty of the thirty topics have a rubric and no answer, which would count 0."""
ORGANIZERS = {"rubric": "ternary", "rubric_strict": "binary"}


@pytest.fixture(scope="module")
def graded(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Campaign]:
    with django_db_blocker.unblock(), transaction.atomic():
        load_graded()
        yield Campaign.objects.get()
        transaction.set_rollback(True)


def means_of(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    return {score: {row["run_id"]: row[score] for row in rows} for score in MEANS}


def close(score: str) -> Any:
    return pytest.approx(MEANS[score], abs=5e-7)


def test_answers_have_the_figures_of_the_organizers_scorer(graded: Campaign) -> None:
    expected = {
        (row["qid"], row["run_id"], score): row[field]
        for row in map(json.loads, (DATA / "graded.expected.jsonl").read_text().splitlines())
        for score, field in ORGANIZERS.items()
    }
    assert len(expected) == 80
    outcome = run(
        "export", "scores", "--campaign", "river", "--condition", "M/A", "--profile", "rubric", *GRADED_ONLY
    )
    assert outcome.code == 0, outcome.err
    lines = [json.loads(line) for line in outcome.out.splitlines()]
    by_answer = {
        (row["qid"], row["run_id"], score): row[score] for row in lines if row["qid"] != "all" for score in MEANS
    }
    assert by_answer == pytest.approx(expected, abs=1e-12)
    means = means_of([row for row in lines if row["qid"] == "all"])
    assert all(means[score] == close(score) for score in MEANS)


def test_a_mean_has_one_value_by_command_page_and_api(graded: Campaign) -> None:
    client = admin()
    document = report("scores", "--condition", "M/A", "--profile", "rubric", *GRADED_ONLY)
    means = means_of(document["runs"])
    assert all(means[score] == close(score) for score in MEANS)
    assert document["policies"] == {"missing": "skip", "unjudged": "exclude", "topics": "all", "profile": "rubric"}
    query = "campaign=river&condition=M/A&profile=rubric&missing=skip"
    assert client.get(f"/api/v1/reports/scores/?{query}").json() == document
    assert means_of(client.get(f"/api/v1/scores/?{query}").json()["results"]) == means
    board = reverse(
        "reports:scores_table", args=["river", "runs", "json"], query={"score": "rubric", "missing": "skip"}
    )
    assert means_of(client.get(board).json()["runs"]) == means
    page = text_of(client, reverse("reports:scores", args=["river"], query={"score": "rubric", "missing": "skip"}))
    assert all(f"{mean:.3f}" in page for mean in means["rubric"].values())


def test_without_a_choice_a_campaign_has_the_scores_of_its_protocol(graded: Campaign) -> None:
    assert "rubric" not in report("scores", "--condition", "M/A")["runs"][0]
    graded.protocol.__class__.objects.filter(campaign=graded).update(scoring="rubric")
    client = admin()
    try:
        assert all(
            means_of(report("scores", "--condition", "M/A", *GRADED_ONLY)["runs"])[score] == close(score)
            for score in MEANS
        )
        assert "0.724" in text_of(client, reverse("reports:scores", args=["river"], query={"missing": "skip"}))
        assert "Rubric;" in text_of(client, reverse("organizer:today", args=["river"]))
    finally:
        graded.protocol.__class__.objects.filter(campaign=graded).update(scoring="trec-rag")
