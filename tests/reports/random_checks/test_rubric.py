"""A random check of a rubric's scores, from the draw to the leaderboard, on the organizers' graded runs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db import transaction
from django.urls import reverse
from pytest_django.plugin import DjangoDbBlocker

from evaluation.models import Assignment, Campaign, ListedNugget, Protocol, RandomCheckPair
from evaluation.terms import StudyKind
from reports.random_checks.frame import random_check_named, stored_frame
from reports.random_checks.population import pair_names
from tests.reports.rubric_world import GRADED, load_graded, needs_data
from tests.reports.surfaces import admin, report, text_of
from tests.worlds.imported import load, run, write

pytestmark = [pytest.mark.django_db, needs_data, pytest.mark.usefixtures("graded")]
DRAW = ("check", "--kind", "assignment", "--draw", "random", "--judge", "grader")
SKIP = ("--missing", "skip")
SCORES = ("rubric", "rubric_strict")
LABELS = ("not_support", "partial_support", "support")
VERDICTS = ("not_satisfied", "partially_satisfied", "satisfied")


@pytest.fixture(scope="module")
def graded(django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: Any) -> Iterator[None]:
    """The graded runs in a campaign that is scored by weights, and people's labels of all pairs."""
    with django_db_blocker.unblock(), transaction.atomic():
        load_graded()
        Protocol.objects.update(scoring="rubric")
        load(
            *("import_assignments", "--origin", "manual", "--judge", "people", "--by", "human"),
            write(tmp_path_factory.mktemp("people"), "people.jsonl", people_lines()),
        )
        yield
        transaction.set_rollback(True)


def people_lines() -> list[dict[str, Any]]:
    """The verdicts of the file, every sixth another."""
    random = np.random.default_rng(11)
    lines = [json.loads(line) for line in GRADED.read_text().splitlines()]
    for line in lines:
        for criterion in line["criteria"]:
            if random.random() < 1 / 6:
                criterion["verdict"] = VERDICTS[random.integers(3)]
    return lines


def negative() -> set[int]:
    return set(ListedNugget.objects.filter(weight__lt=0).values_list("nugget_version", flat=True))


def judge_every_pair(folder: Path) -> None:
    """Load what people say of the drawn pairs."""
    check = random_check_named(Campaign.objects.get(), "check")
    frame = stored_frame(check)
    items = frame.items[frame.drawn]
    given = Assignment.objects.filter(judge__name="people").values_list("answer", "nugget_version", "label")
    labels = {(answer, wording): LABELS[label] for answer, wording, label in given}
    names = pair_names(check.campaign, StudyKind.ASSIGNMENT, items)
    lines = [name | {"label": labels[pair]} for name, pair in zip(names, map(tuple, items.tolist()), strict=True)]
    load("import_random_check", "--study", "check", "--judge", "somebody", write(folder, "judged.jsonl", lines))


def corrected(score: str, *words: str) -> Any:
    return report("corrected", "--study", "check", "--score", score, *SKIP, *words)


def people_scores(score: str) -> dict[str, float]:
    rows = report("scores", "--condition", "M/M", "--judge", "people", "--profile", "rubric", *SKIP)["runs"]
    return {row["run_id"]: row[score] for row in rows}


@pytest.mark.parametrize("score", SCORES)
def test_every_pair_judged_is_the_score_of_people(tmp_path: Path, score: str) -> None:
    load("create_study", *DRAW, "--per-run", "1000")
    judge_every_pair(tmp_path)
    rows = corrected(score)["runs"]
    truth = people_scores(score)
    assert {row["run_id"]: row["corrected"]["value"] for row in rows} == pytest.approx(truth, abs=1e-12)
    llm = {row["run_id"]: row["llm"] for row in rows}
    boards = report("scores", "--condition", "M/A", "--profile", "rubric", *SKIP)["runs"]
    assert llm == {row["run_id"]: row[score] for row in boards}


def test_criteria_below_zero_are_drawn_with_their_weight(tmp_path: Path) -> None:
    load("create_study", *DRAW, "--per-run", "60")
    below = RandomCheckPair.objects.filter(nugget_version__in=negative())
    assert below.count() == RandomCheckPair.objects.filter(size__lt=0).count() > 0
    assert below.filter(chance__gt=0).exists()
    judge_every_pair(tmp_path)
    truth = people_scores("rubric")
    rows = corrected("rubric")["runs"]
    ends = {row["run_id"]: row["corrected"] for row in rows}
    assert all(ends[name]["low"] <= value <= ends[name]["high"] for name, value in truth.items())
    lines = report("corrected", "--study", "check", *SKIP, "--pairs")["pairs"]
    assert all(line["x"] > 0 for line in lines)


def test_the_board_of_a_rubric_shows_corrected_scores(tmp_path: Path) -> None:
    load("create_study", *DRAW, "--per-run", "60")
    judge_every_pair(tmp_path)
    query = {"score": "rubric", "view": "corrected", "check": "check", "condition": "M/A", "judge": "grader"}
    client = admin()
    page = text_of(client, reverse("reports:scores", args=["river"], query=query))
    assert all(
        f"{row['corrected']['value']:.3f}" in page for row in report("corrected", "--study", "check")["runs"]
    )
    other = text_of(client, reverse("reports:scores", args=["river"], query=query | {"score": "vital_strict"}))
    assert "Corrected" not in other


def test_a_check_corrects_the_scores_that_it_was_drawn_for() -> None:
    Protocol.objects.update(scoring="trec-rag")
    load("create_study", *DRAW)
    Protocol.objects.update(scoring="rubric")
    outcome = run("report", "corrected", "--campaign", "river", "--study", "check", "--score", "rubric")
    assert (outcome.code, "corrects vital_strict, vital, " in outcome.err) == (2, True), outcome
    query = "campaign=river&study=check&score=rubric"
    answer = admin().get(f"/api/v1/reports/corrected/?{query}")
    assert answer.status_code == 400
    assert "score" in answer.json()["errors"]
