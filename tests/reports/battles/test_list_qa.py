"""The made battles of list-QA, which have the figures of an independent implementation."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from pytest_django.plugin import DjangoDbBlocker

from evaluation.models import Campaign
from tests.metrics.test_battles import fitted, sheet
from tests.reports.test_published_list_qa import load_study
from tests.worlds.campaign import World
from tests.worlds.cast import make_cast
from tests.worlds.imported import load, report, run

pytestmark = pytest.mark.django_db
BY_PEOPLE = ("--condition", "B/M")


@pytest.fixture(scope="module")
def list_qa(django_db_setup: None, django_db_blocker: DjangoDbBlocker, shared_data: Path) -> Iterator[Path]:
    with django_db_blocker.unblock(), transaction.atomic():
        load_study(shared_data / "qampari-list-qa")
        battles = shared_data / "battles"
        lines = (battles / "people.jsonl").read_text("utf-8").splitlines()
        topics = sorted({json.loads(line)["topic_id"] for line in lines})
        load("draw_battles", "--seed", "listqa", "--rounds", 2, "--topics", *topics)
        load("import_battles", "--by", "human", battles / "people.jsonl")
        load("import_battles", "--by", "llm", "--form", "ragdoll", battles / "llm.judgments.jsonl")
        yield battles
        transaction.set_rollback(True)


def expected_of(battles: Path) -> Any:
    return json.loads((battles / "expected.json").read_text("utf-8"))


def ends(figure: dict[str, Any]) -> tuple[float, float, float]:
    return figure["value"], figure["low"], figure["high"]


def test_made_battles_have_the_figures_that_must_come_out(list_qa: Path) -> None:
    expected = expected_of(list_qa)["people"]
    document = report("battles", *BY_PEOPLE)
    for row in document["runs"]:
        rate = row["win_rate"], row["low"], row["high"]
        assert rate == pytest.approx(expected["win_rate"][row["run_id"]], abs=1e-8)
        rating = row["rating"], row["rating_low"], row["rating_high"]
        assert rating == pytest.approx(expected["rating"][row["run_id"]], abs=1e-6)
    gaps = [list(gap.values()) for gap in document["differences"]]
    assert [gap[:2] for gap in gaps] == [gap[:2] for gap in expected["differences"]]
    for gap, wanted in zip(gaps, expected["differences"], strict=True):
        assert gap[2:] == pytest.approx(wanted[2:], abs=1e-8)
    assert sum(gap[-2] < 0.05 for gap in gaps) == 6
    assert sum(gap[-1] < 0.05 for gap in gaps) == 2
    assert document["reliability"] == pytest.approx(0.759758, abs=1e-6)
    assert ends(document["side"]) == pytest.approx(expected["left_share"], abs=1e-8)
    assert ends(document["side_term"]) == pytest.approx(expected["left_term"], abs=1e-8)
    assert ends(document["length"]) == pytest.approx(expected["length_slope"], abs=1e-8)
    assert (document["cycles"]["triads"], document["cycles"]["share"]) == (0, None)


def test_the_side_as_a_term_of_ratings_is_in_every_form(list_qa: Path) -> None:
    table = run("report", "battles", "--campaign", "river", *BY_PEOPLE).out
    assert "An answer on the left has 1.25 times the odds to win." in table
    campaign = Campaign.objects.get()
    client = World(campaign, make_cast(campaign)).client("rita")
    for form, value in (("csv", "0.2255101"), ("json", "0.2255101"), ("tex", "0.226")):
        response = client.get(f"/campaigns/river/reports/battles/leanings.{form}", {"condition": "B/M"})
        [line] = [line for line in response.content.decode().splitlines() if "standing on the left" in line]
        assert form == "json" or value in line
        assert value in response.content.decode()


def test_ratings_are_those_of_another_fit_of_the_file(list_qa: Path) -> None:
    lines = map(json.loads, (list_qa / "people.jsonl").read_text("utf-8").splitlines())
    points = {"left": 1.0, "right": 0.0, "tie": 0.5, "bad": 0.5}
    verdicts = [line for line in lines if line["verdict"] in points and not line["second"]]
    runs = sorted({line["left"] for line in verdicts} | {line["right"] for line in verdicts})
    rows = [
        (0, runs.index(line["left"]), runs.index(line["right"]), points[line["verdict"]], 0.0) for line in verdicts
    ]
    ratings = {row["run_id"]: row["rating"] for row in report("battles", *BY_PEOPLE)["runs"]}
    assert [ratings[run_id] for run_id in runs] == pytest.approx(fitted(sheet(rows)), abs=1e-6)


def test_verdicts_of_an_llm_in_both_orders_have_the_figures_that_must_come_out(list_qa: Path) -> None:
    expected = expected_of(list_qa)["llm"]
    document = report("battles", "--condition", "B/A")
    assert ends(document["side"]) == pytest.approx(expected["left_share"], abs=1e-8)
    for row in document["runs"]:
        rate = row["win_rate"], row["low"], row["high"]
        assert rate == pytest.approx(expected["win_rate"][row["run_id"]], abs=1e-8)
        rating = row["rating"], row["rating_low"], row["rating_high"]
        assert rating == pytest.approx(expected["rating"][row["run_id"]], abs=1e-6)
    assert document["reliability"] == pytest.approx(expected_of(list_qa)["reliability"]["llm"], abs=1e-8)
    assert (
        "The side decided 21 battles" in run("report", "battles", "--campaign", "river", "--condition", "B/A").out
    )


@pytest.mark.parametrize(
    ("condition", "of", "name"),
    [
        ("B/M", "people", "overlap"),
        ("B/M", "people and LLM", "person_llm"),
        ("B/A", "people and LLM", "person_llm"),
        ("B/A", "orders", "llm_orders"),
    ],
)
def test_agreement_counts_each_battle_from_both_sides(list_qa: Path, condition: str, of: str, name: str) -> None:
    expected = expected_of(list_qa)[name]
    document = report("battles", "--condition", condition)
    [row] = [row for row in document["agreement"] if row["of"] == of]
    assert (row["pairs"], row["opposite"]) == (expected["battles"], expected["opposite"])
    for figure in ("agreement", "kappa", "kappa_linear", "alpha"):
        assert ends(row[figure]) == pytest.approx(expected[figure], abs=1e-8), figure
    assert Counter(conflict["of"] for conflict in document["conflicts"])[of] == expected["opposite"]


@pytest.mark.parametrize(("against", "tau"), [("E/M", 0.714286), ("E/A", 1.0)])
def test_scores_of_nuggets_explain_battles(list_qa: Path, against: str, tau: float) -> None:
    expected = expected_of(list_qa)["people"][f"explained_by_all_strict_{against.replace('/', '_')}"]
    document = report("battles", *BY_PEOPLE, "--against", against, "--score", "all_strict")
    figures = document["explained"]
    assert figures["decided"] == expected["decided_with_difference"]
    assert ends(figures["agree"]) == pytest.approx(expected["agree"], abs=1e-8)
    for name in ("no_difference", "slope", "half_band", "loss", "loss_without"):
        assert figures[name] == pytest.approx(expected[name], abs=1e-6), name
    assert ends(figures["gain"]) == pytest.approx(expected["gain"], abs=1e-6)
    assert {abs(battle["gap"]) >= 0.2 for battle in figures["inversions"]} == {True}
    [board] = document["boards"]
    assert board["tau"] == pytest.approx(tau, abs=1e-6)
    assert not {"low", "high", "interval"} & board.keys()
    if against == "E/M":
        assert (board["runs"], board["same"], board["opposite"]) == (7, 5, 0)


def test_a_sample_has_the_corrected_win_rates_that_must_come_out(list_qa: Path) -> None:
    expected = expected_of(list_qa)["corrected_100"]
    by_sample = (*BY_PEOPLE, "--by", "corrected")
    with transaction.atomic():
        load("sample_battles", "--judge", "made", "--n", 40)
        grown = load("sample_battles", "--n", 100).err
        document = report("battles", *by_sample)
        new = report("battles", *by_sample, "--target", "new")
        llm = report("battles", "--condition", "B/A")
        transaction.set_rollback(True)
    assert "people judge 100 of the 294 battles that made judged. 60 more in" in grown
    assert document["sample"] == {
        "judge": "made", "target": "these", "battles": 294, "drawn": 100, "judged": 100, "refused": 0, "outside": 0,
        "stale": 0,
    }  # fmt: skip
    for row in document["runs"]:
        figures = expected["runs"][row["run_id"]]
        assert (row["llm"]["value"], row["people"]["value"]) == pytest.approx(
            (figures["llm"], figures["people_only"]), abs=1e-12
        )
        assert row["corrected"]["value"] == pytest.approx(figures["corrected"], abs=1e-12)
        # Student's t is known to 1e-9.
        assert ends(row["corrected"])[1:] == pytest.approx((figures["low"], figures["high"]), abs=1e-10)
        assert row["judged"] == figures["judged"]
    values = [row["corrected"]["value"] for row in document["runs"]]
    assert values == sorted(values, reverse=True)
    one, other, *figures = expected["difference"]
    gaps = {(gap["a"], gap["b"]): (gap["value"], gap["low"], gap["high"]) for gap in document["differences"]}
    low, high = -figures[2], -figures[1]
    assert gaps[other, one] == pytest.approx((-figures[0], low, high), abs=1e-10)
    # One figure has one value.
    win_rates = {row["run_id"]: (row["win_rate"], row["low"], row["high"]) for row in llm["runs"]}
    assert {row["run_id"]: ends(row["llm"]) for row in document["runs"]} == win_rates
    assert {row["run_id"]: row["corrected"] for row in llm["runs"]} == {
        row["run_id"]: row["corrected"] for row in document["runs"]
    }
    widths = [[row["corrected"]["high"] - row["corrected"]["low"] for row in of["runs"]] for of in (document, new)]
    assert all(narrow < wide for narrow, wide in zip(*widths, strict=True))
    assert new["target"] == "new"


def test_people_and_an_llm_order_the_runs_alike(list_qa: Path) -> None:
    [board] = report("battles", *BY_PEOPLE, "--against", "B/A")["boards"]
    assert (board["score"], board["tau"]) == ("win_rate", expected_of(list_qa)["tau"]["people_llm"])


def test_a_score_of_another_kind_is_refused(list_qa: Path) -> None:
    words = ("--against", "E/M", "--score", "weighted_precision")
    outcome = run("report", "battles", "--campaign", "river", *BY_PEOPLE, *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert "E/M has no score weighted_precision" in outcome.err


@pytest.mark.parametrize("form", ["assay", "ragdoll", "arena"])
def test_a_file_that_comes_back_has_the_same_figures(list_qa: Path, form: str, tmp_path: Path) -> None:
    document = report("battles", *BY_PEOPLE)
    path = tmp_path / "verdicts"
    outcome = run("export", "battles", "--campaign", "river", *BY_PEOPLE, "--form", form, "--output", path)
    assert outcome.code == 0, outcome.err
    with transaction.atomic():
        judge = () if form == "assay" else ("--judge", "all")
        load("import_battles", "--by", "human", "--form", form, "--set", "imported", *judge, path)
        again = report("battles", *BY_PEOPLE, "--set", "imported")
        transaction.set_rollback(True)
    assert [row | {"reason": None} for row in again["runs"]] == document["runs"]
    assert again["differences"] == document["differences"]
