"""Random checks where two citations a sentence count: a sentence is drawn with both, and recall takes the better."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.errors import Refused
from evaluation.models import RandomCheckPair, Segment, Study, StudyPair
from evaluation.terms import StudyKind
from reports.random_checks.drawing import (
    RandomCheckOrder,
    create_random_check,
    extend_random_check,
    grow_random_check,
    size_of,
    size_of_order,
)
from reports.random_checks.frame import drawn_rows
from tests.worlds.imported import report, run, write
from tests.worlds.judging import JudgingWorld, load_machine
from tests.worlds.study import EXPERT, hand_study, make_study_world, window_of

SCORES = ("weighted_precision", "weighted_recall")
GIVEN = {
    ("alpha", 1, "d2"): "no_support",
    ("alpha", 1, "d1"): "full_support",
    ("alpha", 0, "d1"): "partial_support",
}
"""Labels by people; all other citations have partial support."""


@pytest.fixture
def world(db: None, tmp_path: Path) -> JudgingWorld:
    """Two citations count. Alpha's second sentence has two, and the machine finds the second one better."""
    world = make_study_world(tmp_path)
    protocol = world.campaign.protocol
    protocol.first_citations = 2
    protocol.save()
    load_machine(
        world, ("alpha", 1, "d1", "partial_support"), ("gamma", 0, "d2", "no_support"), name="canary-robot"
    )
    return world


def order(**more: object) -> RandomCheckOrder:
    return RandomCheckOrder("check", StudyKind.SUPPORT, **{"per_run": 10, "least": 1, "seed": "s", **more})  # type: ignore[arg-type]


def label_all(world: JudgingWorld, tmp_path: Path, *, leave: tuple[str, int, str] | None = None) -> None:
    study = Study.objects.get(name="check")
    rows = []
    for row in drawn_rows(study):
        pair = (row["run_id"], row["sentence"], row["docid"])
        if pair != leave:
            names = {name: row[name] for name in ("run_id", "topic_id", "sentence", "docid")}
            rows.append(names | {"label": GIVEN.get(pair, "partial_support")})
    words = ("import_random_check", "--campaign", "river", "--study", "check", "--judge", "eve")
    assert run(*words, write(tmp_path, "labels.jsonl", rows)).code == 0


def corrected(score: str) -> dict[str, dict[str, object]]:
    return {row["run_id"]: row for row in report("corrected", "--study", "check", "--score", score)["runs"]}


@pytest.mark.parametrize("score", SCORES)
def test_all_judged_is_the_score_of_people(world: JudgingWorld, tmp_path: Path, score: str) -> None:
    create_random_check(campaign=world.campaign, order=order())
    label_all(world, tmp_path)
    people = report("support", "--condition", "scratch", "--judge", "eve, study check")["runs"]
    expected = {row["run_id"]: row[score] for row in people}
    found = {run_id: row for run_id, row in corrected(score).items() if row["drawn"]}
    values = {run_id: row["corrected"]["value"] for run_id, row in found.items()}  # type: ignore[index]
    assert values == pytest.approx({run_id: expected[run_id] for run_id in found}, abs=1e-12)
    assert {run_id: row["pairs"] for run_id, row in found.items()} == {"alpha": 2, "gamma": 2}


def test_a_sentence_is_drawn_with_both(world: JudgingWorld) -> None:
    study = create_random_check(campaign=world.campaign, order=order(per_run=1))
    drawn = drawn_rows(study)
    of_alpha = [row for row in drawn if row["run_id"] == "alpha"]
    assert len({row["sentence"] for row in of_alpha}) == 2 or len(of_alpha) == 1 + of_alpha[0]["sentence"]
    grow_random_check(study=study, per_run=5)
    rows = [row for row in drawn_rows(study) if (row["run_id"], row["sentence"]) == ("alpha", 1)]
    assert {row["docid"] for row in rows} == {"d1", "d2"}
    assert len({(row["u"], row["x"], row["pi"], row["stratum"]) for row in rows}) == 1
    # The best of the machine's two labels is full support.
    assert {(row["machine"], row["stratum"]) for row in rows} == {("full_support", "full")}


def test_the_form_counts_sentences_and_hours_of_pairs(world: JudgingWorld) -> None:
    size = size_of_order(world.campaign, order())
    assert str(size) == "2 runs, about 10 each: 4 of 4 sentences"
    assert size.judgments == StudyPair.objects.count() + 5
    study = create_random_check(campaign=world.campaign, order=order())
    assert size_of(study) == size
    assert StudyPair.objects.count() == size.judgments == 5


def test_pages_and_files_say_what_a_pair_is(world: JudgingWorld, tmp_path: Path) -> None:
    study = create_random_check(campaign=world.campaign, order=order())
    label_all(world, tmp_path)
    text = "A pair here is a sentence with all citations that count: precision takes their mean, recall the best."
    client = Client()
    client.force_login(world.people["olga"])
    board = reverse("reports:support", args=["river"]) + "?condition=llm&view=corrected"
    for address in (board, reverse("organizer:random_check", args=["river", study.pk])):
        assert text in client.get(address).content.decode()
    assert text in run("report", "corrected", "--campaign", "river", "--study", "check").out
    assert text in client.get(reverse("reports:methods", args=["river"])).content.decode()


def test_half_a_sentence_is_no_judged_sentence(world: JudgingWorld, tmp_path: Path) -> None:
    create_random_check(campaign=world.campaign, order=order())
    label_all(world, tmp_path, leave=("alpha", 1, "d1"))
    row = corrected(SCORES[0])["alpha"]
    assert (row["judged"], row["drawn"], row["reason"]) == (1, 2, "1 of 2 judged")


def test_a_refused_citation_leaves_its_sentence_unknown(world: JudgingWorld, tmp_path: Path) -> None:
    study = create_random_check(campaign=world.campaign, order=order())
    window = window_of(world, hand_study(world, study))
    for pair in window.state()["pairs"]:
        if pair["judgeable"]:
            given: dict[str, Any] = {"label": "full_support"}
            if pair["citation"] == 1:
                given = {"label": "cant_judge", "reason": "a table"}
            assert window.do("label", key=pair["key"], **given)["status"] == "applied"
    assert window.submit().status_code == 200
    rows = corrected(SCORES[1])
    assert {run_id: (row["judged"], row["refused"]) for run_id, row in rows.items() if row["drawn"]} == {
        "alpha": (0, 2),
        "gamma": (2, 0),
    }


def test_known_are_sentences_that_are_known_whole(world: JudgingWorld) -> None:
    # The expert has judged one of the two citations of alpha's second sentence, and none of gamma's first.
    study = create_random_check(campaign=world.campaign, order=order(known=(EXPERT,)))
    known = RandomCheckPair.objects.filter(study=study, known=True).values_list(
        "sentence__index", "segment__docid", "given"
    )
    assert sorted(known) == [(0, "d1", "2"), (1, "d2", "2")]
    assert not RandomCheckPair.objects.filter(study=study, known=False).exclude(given="").exists()


def test_a_sentence_with_a_new_citation_needs_a_new_check(world: JudgingWorld) -> None:
    study = create_random_check(campaign=world.campaign, order=order())
    Segment.objects.filter(docid="d3").update(has_text=True)
    world.campaign.revision += 1
    world.campaign.save(update_fields=["revision"])
    assert corrected(SCORES[0])["gamma"]["reason"] == "2 pairs of gamma are outside the random check: extend it"
    with pytest.raises(Refused, match="has other citations than at the draw: draw a new random check"):
        extend_random_check(study=study)


def settle_measure(world: JudgingWorld, measure: str) -> None:
    protocol = world.campaign.protocol
    protocol.support_measure = measure
    protocol.save()


ALL_SCORES = (*SCORES, "precision_strict", "recall_strict")


@pytest.mark.parametrize(("measure", "pairs"), [("first", 2), ("sentence", 3), ("pooled", 2)])
def test_under_each_measure_all_judged_is_the_score_of_people(
    world: JudgingWorld, tmp_path: Path, measure: str, pairs: int
) -> None:
    settle_measure(world, measure)
    create_random_check(campaign=world.campaign, order=order())
    label_all(world, tmp_path)
    people = report("support", "--condition", "scratch", "--judge", "eve, study check")["runs"]
    for score in ALL_SCORES:
        found = {run_id: row for run_id, row in corrected(score).items() if row["drawn"]}
        assert found["alpha"]["pairs"] == pairs
        values = {run_id: row["corrected"]["value"] for run_id, row in found.items()}  # type: ignore[index]
        expected = {row["run_id"]: row[score] for row in people if row["run_id"] in found}
        assert values == pytest.approx(expected, abs=1e-12)


def test_a_check_keeps_the_measure_of_its_draw(world: JudgingWorld, tmp_path: Path) -> None:
    settle_measure(world, "sentence")
    create_random_check(campaign=world.campaign, order=order())
    label_all(world, tmp_path)
    before = corrected(SCORES[1])
    settle_measure(world, "first")
    assert corrected(SCORES[1]) == before
    words = ("report", "corrected", "--campaign", "river", "--study", "check", "--measure")
    refused = run(*words, "first")
    assert (refused.code, refused.err.strip()) == (1, "check was drawn for sentence. Option: --measure.")
    client = Client()
    client.force_login(world.people["olga"])
    board = reverse("reports:support", args=["river"])
    assert "People only" in client.get(f"{board}?condition=llm&view=corrected&measure=sentence").content.decode()
    elsewhere = client.get(f"{board}?condition=llm&view=corrected&measure=first").content.decode()
    assert "check, drawn for sentence" in elsewhere
    assert "People only" not in elsewhere
