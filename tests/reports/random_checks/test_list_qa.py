"""The list-QA study's LLM labels checked by its authors' labels, through the commands."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from pytest_django.plugin import DjangoDbBlocker

from evaluation.models import AnswerProvenance, Assignment, Campaign, RandomCheckPair, Study, StudyPair
from evaluation.terms import StudyKind
from reports.metrics.policies import Policies
from reports.metrics.scores import SCORE_NAMES
from reports.random_checks.corrected import corrected_report
from reports.random_checks.frame import drawn_rows, random_check_named, stored_frame
from reports.random_checks.population import pair_names
from reports.random_checks.state import random_check_state
from tests.reports.test_published_list_qa import load_study
from tests.worlds.imported import load, refuse, report, run, write

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("list_qa")]
DRAW = ("check", "--kind", "assignment", "--draw", "random", "--nuggets", "edited-authors")
NAMES = ("run_id", "topic_id", "nugget", "occurrence")
DRAWN = "df1ef31f42f6738fd001df10d2fb3bd5fc947c1184aef6a23e88d179e26ad204"
"""SHA-256 of the pairs that seed `river` draws, with their u, x and pi."""
WORDS = ("not_support", "partial_support", "support")


@pytest.fixture(scope="module")
def list_qa(django_db_setup: None, django_db_blocker: DjangoDbBlocker, shared_data: Path) -> Iterator[None]:
    """The study's campaign, loaded once for this module and rolled back."""
    with django_db_blocker.unblock(), transaction.atomic():
        load_study(shared_data / "qampari-list-qa")
        yield
        transaction.set_rollback(True)


def of_people(study: str = "check") -> list[dict[str, Any]]:
    """What the authors say of the pairs that were drawn, as `import_random_check` reads it."""
    check = random_check_named(Campaign.objects.get(), study)
    frame = stored_frame(check)
    items = frame.items[frame.drawn]
    given = Assignment.objects.filter(judge__name="authors", answer__in={int(answer) for answer, _ in items})
    labels = {
        (answer, wording): label
        for answer, wording, label in given.values_list("answer", "nugget_version", "label")
    }
    names = pair_names(check.campaign, StudyKind.ASSIGNMENT, items)
    return [
        name | {"label": WORDS[labels[answer, wording]]}
        for name, (answer, wording) in zip(names, items.tolist(), strict=True)
    ]


def judge(folder: Path, rows: list[dict[str, Any]], study: str = "check") -> None:
    load("import_random_check", "--study", study, "--judge", "people", write(folder, "people.jsonl", rows))


def corrected(score: str = "vital_strict", *words: str) -> Any:
    return report("corrected", "--study", "check", "--score", score, *words)


def people_scores(score: str) -> dict[str, float]:
    return {row["run_id"]: row[score] for row in report("scores", "--condition", "E/M")["runs"]}


def test_every_pair_judged_is_the_score_of_people(tmp_path: Path) -> None:
    shown = load("create_study", *DRAW, "--per-run", "360")
    assert "7 runs x 360 = 2,520 of 2,520 pairs, labelled by llm." in shown.err
    judge(tmp_path, of_people())
    state = random_check_state(random_check_named(Campaign.objects.get(), "check"), Policies())
    for score in SCORE_NAMES:
        expected = people_scores(score)
        for row in corrected_report(state, score).runs:
            value, low, high = row.corrected
            assert value == pytest.approx(expected[row.run_id], abs=1e-12)
            assert low is not None
            assert high is not None
            assert high - low < 1e-12
    document = corrected("all_strict")
    machine = [0.3366, 0.2727, 0.1496, 0.2602, 0.3606, 0.3600, 0.4368]
    assert [row["llm"] for row in document["runs"]] == pytest.approx(machine, abs=5e-5)
    people = [0.4326, 0.2906, 0.1524, 0.2955, 0.3900, 0.4387, 0.4881]
    assert [row["corrected"]["value"] for row in document["runs"]] == pytest.approx(people, abs=5e-5)
    assert corrected("vital_strict")["tau"]["value"] == pytest.approx(0.714286, abs=1e-6)


def test_fifty_a_run_hold_the_score_of_people(tmp_path: Path) -> None:
    load("create_study", *DRAW)
    judge(tmp_path, of_people())
    document, truth = corrected(), people_scores("vital_strict")
    inside = [
        row["corrected"]["low"] <= truth[row["run_id"]] <= row["corrected"]["high"] for row in document["runs"]
    ]
    assert sum(inside) >= 6
    assert {(row["drawn"], row["judged"], row["few"]) for row in document["runs"]} == {(50, 50, False)}
    assert len(document["differences"]) == 21
    assert all(row["rank"][0] <= row["rank"][1] for row in document["runs"])
    new = corrected("vital_strict", "--target", "new")
    for row, wider in zip(document["runs"], new["runs"], strict=True):
        assert wider["corrected"]["value"] == row["corrected"]["value"]
        assert wider["corrected"]["sd"] > row["corrected"]["sd"]


def test_disagreements_can_be_known_pairs_and_no_sample(tmp_path: Path) -> None:
    load("create_study", "who-is-right", "--kind", "assignment", "--per-topic", "100")
    pairs = StudyPair.objects.count()
    assert StudyPair.objects.counted().count() == 161 < pairs
    text = refuse("create_study", *DRAW, "--sample", "who-is-right")
    assert f"who-is-right chose its {pairs} pairs by their labels: they can be known pairs, not a sample." in text
    load("create_study", *DRAW, "--known", "who-is-right")
    assert RandomCheckPair.objects.filter(known=True, chance=1).count() == pairs
    judge(tmp_path, of_people())
    document, truth = corrected(), people_scores("vital_strict")
    inside = [
        row["corrected"]["low"] <= truth[row["run_id"]] <= row["corrected"]["high"] for row in document["runs"]
    ]
    assert all(inside)
    assert {row["drawn"] for row in document["runs"]} == {50}
    errors = [abs(row["corrected"]["value"] - truth[row["run_id"]]) for row in document["runs"]]
    assert max(errors) < 0.04


def test_labels_of_a_judge_can_be_known_and_no_sample() -> None:
    text = refuse("create_study", *DRAW, "--sample", "authors")
    assert "authors chose what to label: its pairs can be known pairs, not a sample." in text
    load("create_study", *DRAW, "--known", "authors")
    truth = people_scores("all")
    for row in corrected("all")["runs"]:
        assert row["corrected"]["value"] == pytest.approx(truth[row["run_id"]], abs=1e-12)


def test_another_audit_s_draw_is_a_sample_with_its_chances(tmp_path: Path) -> None:
    load("create_study", *DRAW)
    judge(tmp_path, of_people())
    load("create_study", "again", *DRAW[1:], "--sample", "check")
    document = report("corrected", "--study", "again")
    assert document["runs"] == corrected()["runs"]
    assert not StudyPair.objects.filter(study__name="again").exists()
    assert "has the draw of check: that one can grow" in refuse(
        "grow_study", "--study", "again", "--per-run", "60", code=2
    )


def test_two_refused_of_fifty_warn_nobody_and_three_do(tmp_path: Path) -> None:
    load("create_study", *DRAW)
    rows = of_people()
    mine = [place for place, row in enumerate(rows) if row["run_id"] == "RAGW4C"]
    supported = [place for place in mine if rows[place]["label"] == "support"]
    with transaction.atomic():
        for place in supported[:2]:
            rows[place]["label"] = "cant_judge"
        judge(tmp_path, rows)
        row = corrected()["runs"][1]
        assert (row["refused"], row["judged"], row["warning"]) == (2, 48, None)
        transaction.set_rollback(True)
    rows[supported[2]]["label"] = "cant_judge"
    judge(tmp_path, rows)
    document = corrected()
    row = document["runs"][1]
    assert (row["refused"], row["warning"]["reason"]) == (3, "refused")
    assert row["warning"]["low"] < row["corrected"]["value"] < row["warning"]["high"]
    assert (
        "Warning: 3 of 50 pairs of RAGW4C refused"
        in run("report", "corrected", "--campaign", "river", "--study", "check").out
    )


def test_a_drawn_pair_that_nobody_judged_leaves_no_figure(tmp_path: Path) -> None:
    load("create_study", *DRAW)
    rows = of_people()
    judge(tmp_path, rows[1:])
    first, *others = corrected()["runs"]
    assert (first["run_id"], first["reason"]) == (rows[0]["run_id"], "49 of 50 judged")
    assert (first["corrected"]["value"], first["people"]["value"], first["rank"]) == (None, None, None)
    assert all(row["corrected"]["value"] is not None for row in others)


def test_twenty_five_a_run_are_marked_few(tmp_path: Path) -> None:
    load("create_study", *DRAW, "--per-run", "25")
    judge(tmp_path, of_people())
    assert {row["few"] for row in corrected()["runs"]} == {True}


def test_grown_to_a_hundred_is_a_hundred_at_once(tmp_path: Path) -> None:
    load("create_study", *DRAW, "--seed", "river")
    fifty = set(StudyPair.objects.values_list("answer", "nugget_version"))
    load("grow_study", "--study", "check", "--per-run", "100")
    load("create_study", "once", *DRAW[1:], "--seed", "river", "--per-run", "100")
    chances = {
        name: list(
            RandomCheckPair.objects.filter(study__name=name).order_by("pk").values_list("chance", flat=True)
        )
        for name in ("check", "once")
    }
    assert chances["check"] == chances["once"]
    assert fifty <= set(StudyPair.objects.filter(study__name="once").values_list("answer", "nugget_version"))
    judge(tmp_path, of_people())
    judge(tmp_path, of_people("once"), "once")
    assert corrected()["runs"] == report("corrected", "--study", "once")["runs"]


@pytest.mark.postgresql
def test_both_engines_draw_the_same_pairs() -> None:
    load("create_study", *DRAW, "--seed", "river")
    rows = sorted(drawn_rows(Study.objects.get()), key=lambda row: [row[name] for name in NAMES])
    drawn = [[row[name] for name in NAMES] + [f"{row[name]:.9f}" for name in ("u", "x", "pi")] for row in rows]
    assert len(drawn) == 350
    assert sha256(json.dumps(drawn).encode()).hexdigest() == DRAWN


def test_page_and_files_hold_the_study_s_own_pairs_only() -> None:
    load("create_study", *DRAW)
    study = Study.objects.get()
    answers = set(StudyPair.objects.filter(study=study).values_list("answer", flat=True))
    assert AnswerProvenance.objects.filter(answer__in=answers).values("run").distinct().count() == 7
    lines = [json.loads(json.dumps(row)) for row in of_people()]
    assert len(lines) == 350
    assert run("report", "study", "--campaign", "river", "--study", "check").code == 2
