"""Sets that are out of the ordinary: each figure is right, or it lacks and says why."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from evaluation.models import AnswerProvenance, Battle, Event
from tests.reports.battles.worlds import load_runs
from tests.worlds.imported import load, report, run, write

pytestmark = pytest.mark.django_db
TOPICS = tuple(f"t{number}" for number in range(1, 7))
BY_PEOPLE = ("--condition", "B/M", "--least-battles", "1")
POINTS = {"left": 1.0, "right": 0.0, "tie": 0.5, "bad": 0.5}


def judged(folder: Path, strength: Mapping[str, int]) -> list[dict[str, Any]]:
    """Judge all that was drawn: the stronger run wins, equal ones tie."""
    runs = dict(AnswerProvenance.objects.values_list("answer", "run__run_id"))
    rows = []
    for battle in Battle.objects.select_related("topic").order_by("pk"):
        left, right = runs[battle.left_id], runs[battle.right_id]
        gap = strength[left] - strength[right]
        verdict = "left" if gap > 0 else "right" if gap else "tie"
        row = {"topic_id": battle.topic.topic_id, "left": left, "right": right, "round": battle.round}
        rows.append(row | {"verdict": verdict, "judge": "ann"})
    load("import_battles", "--by", "human", write(folder, "verdicts.jsonl", rows))
    return rows


def means(rows: list[dict[str, Any]], *by_rule: tuple[str, float]) -> dict[str, float]:
    points = defaultdict(list)
    for row in rows:
        of_left = POINTS[row["verdict"]]
        points[row["left"]].append(of_left)
        points[row["right"]].append(1 - of_left)
    for name, of_run in by_rule:
        points[name].append(of_run)
    return {name: fmean(of_run) for name, of_run in points.items()}


def runs_of(*more: object) -> dict[str, dict[str, Any]]:
    return {row["run_id"]: row for row in report("battles", *BY_PEOPLE, *more)["runs"]}


def test_two_runs_of_which_each_won_some(tmp_path: Path) -> None:
    load_runs(tmp_path, "ab", TOPICS)
    load("draw_battles", "--seed", "demo")
    rows = judged(tmp_path, {"a": 1, "b": 0})
    document = report("battles", *BY_PEOPLE)
    runs = {row["run_id"]: row for row in document["runs"]}
    assert {(row["win_rate"], row["rating"], row["reason"]) for row in runs.values()} == {
        (1.0, None, "won every battle"),
        (0.0, None, "lost every battle"),
    }
    assert [gap["value"] for gap in document["differences"]] == [1.0]
    assert (runs["a"]["low"] < 1, runs["b"]["high"] > 0) == (True, True)
    rows[0]["verdict"] = {"left": "right", "right": "left"}[rows[0]["verdict"]]
    load("import_battles", "--by", "human", "--replace", write(tmp_path, "more.jsonl", rows))
    runs = runs_of()
    assert {run: row["win_rate"] for run, row in runs.items()} == pytest.approx(means(rows))
    # Odds of 5 to 1.
    assert runs["a"]["rating"] - runs["b"]["rating"] == pytest.approx(279.588001, abs=1e-6)


def test_one_topic_has_no_spread_whatever_is_asked_for(tmp_path: Path) -> None:
    load_runs(tmp_path, "abc", TOPICS[:1])
    load("draw_battles", "--seed", "demo")
    judged(tmp_path, {"a": 1, "b": 0, "c": 0})
    document = report("battles", *BY_PEOPLE, "--least-topics", "1")
    assert {(row["win_rate"], row["rating"], row["reason"]) for row in document["runs"]} == {
        (None, None, "too few topics")
    }
    assert (document["differences"], document["bands"], document["reliability"]) == ([], [], None)


def test_where_all_battles_are_ties_all_runs_are_level(tmp_path: Path) -> None:
    load_runs(tmp_path, "abcde", TOPICS)
    load("draw_battles", "--seed", "demo")
    judged(tmp_path, dict.fromkeys("abcde", 0))
    document = report("battles", *BY_PEOPLE)
    reason = "no topic differs from another"
    assert {(row["win_rate"], row["tied"], row["reason"]) for row in document["runs"]} == {(0.5, 24, reason)}
    assert [row["rating"] for row in document["runs"]] == pytest.approx([1000.0] * 5)
    assert {(gap["value"], gap["p"]) for gap in document["differences"]} == {(0.0, 1.0)}
    assert document["bands"] == [["a", "b", "c", "d", "e"]]
    assert document["reliability"] is None


def test_a_run_of_which_no_battle_was_judged_is_there_and_says_so(tmp_path: Path) -> None:
    load_runs(tmp_path, "abc", TOPICS)
    load("draw_battles", "--seed", "demo", "--runs", "a", "b")
    judged(tmp_path, {"a": 0, "b": 0})
    load("draw_battles", "--runs", "c")
    runs = runs_of()
    assert (runs["c"]["win_rate"], runs["c"]["rating"], runs["c"]["battles"]) == (None, None, 0)
    assert (runs["c"]["reason"], runs["c"]["rank"]) == ("no battle judged", None)
    assert (runs["a"]["win_rate"], runs["a"]["rank"]) == (0.5, [1, 2])


def test_runs_that_never_met_have_no_common_rating(tmp_path: Path) -> None:
    load_runs(tmp_path, "abcde", TOPICS)
    rows = [
        {"topic_id": topic, "left": pair[0], "right": pair[1], "verdict": "tie", "judge": "ann"}
        for topic in TOPICS
        for pair in ("ab", "bc", "ca", "de")
    ]
    load("import_battles", "--by", "human", write(tmp_path, "verdicts.jsonl", rows))
    runs = runs_of()
    assert [runs[run]["rating"] for run in "abc"] == pytest.approx([1000.0] * 3)
    assert {(runs[run]["win_rate"], runs[run]["rating"], runs[run]["reason"]) for run in "de"} == {
        (0.5, None, "took points from too few")
    }


@pytest.mark.parametrize(
    ("people", "outcome"),
    [(("left", "right"), "tied"), (("left", "right", "left"), "won"), (("left", "right", "right"), "lost")],
)
def test_of_several_first_verdicts_the_mean_says_the_outcome(
    tmp_path: Path, people: tuple[str, ...], outcome: str
) -> None:
    load_runs(tmp_path, "ab", TOPICS)
    rows = [
        {"topic_id": topic, "left": "a", "right": "b", "verdict": verdict, "judge": judge}
        for topic in TOPICS
        for judge, verdict in zip(("ann", "ben", "cem"), people, strict=False)
    ]
    load("import_battles", "--by", "human", write(tmp_path, "verdicts.jsonl", rows))
    counts = dict.fromkeys(("won", "lost", "tied", "both_bad"), 0) | {outcome: len(TOPICS)}
    row = runs_of()["a"]
    assert {name: row[name] for name in counts} == counts
    assert "The side decided" not in run("report", "battles", "--campaign", "river", *BY_PEOPLE).out


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_missing_answers_lose_by_rule_or_meet_nobody(tmp_path: Path, missing: str) -> None:
    load_runs(tmp_path, "abcde", TOPICS, lacking=[("t1", "a"), ("t2", "a"), ("t2", "b")])
    load("draw_battles", "--seed", "demo", "--missing", missing)
    rows = judged(tmp_path, {"a": 3, "b": 2, "c": 1, "d": 1, "e": 0})
    assert not any(row["topic_id"] == "t1" and "a" in (row["left"], row["right"]) for row in rows)
    lost = [("a", 0.0)] * 4 + [(run, 1.0) for run in "bcde"]
    lost += [("a", 0.0), ("b", 0.0)] * 3 + [(run, 1.0) for run in "cde"] * 2 + [("a", 0.5), ("b", 0.5)]
    document = report("battles", *BY_PEOPLE, "--least-topics", "4")
    found = {row["run_id"]: row["win_rate"] for row in document["runs"]}
    assert found == pytest.approx(means(rows, *(lost if missing == "zero" else ())))
    assert document["policies"] == {"missing": missing}


def test_a_set_that_grew_after_judging_says_how_much_is_judged(tmp_path: Path) -> None:
    load_runs(tmp_path, "abcde", (*TOPICS, "t7"))
    load("draw_battles", "--seed", "demo", "--rounds", "2", "--topics", *TOPICS)
    strength = dict(zip("abcde", (2, 1, 1, 0, 0), strict=True))
    rows = judged(tmp_path, strength)
    before = report("battles", *BY_PEOPLE)
    for more in (("--rounds", "4"), ("--topics", "t7")):
        load("draw_battles", *more)
    assert report("battles", *BY_PEOPLE) == before
    said = f"{len(rows)} of {Battle.objects.count()} battles judged."
    assert said in run("report", "battles", "--campaign", "river", *BY_PEOPLE).out
    rows = judged(tmp_path, strength)
    assert {name: row["win_rate"] for name, row in runs_of().items()} == pytest.approx(means(rows))


def test_figures_do_not_depend_on_how_runs_are_called(tmp_path: Path) -> None:
    load_runs(tmp_path, "abcdwxyz", TOPICS)
    pairs, words = ("ab", "cd", "ac", "bd", "ad"), ("left", "tie", "right", "bad", "left", "left", "right")
    found = []
    for names in ("abcd", "wzxy"):
        called = dict(zip("abcd", names, strict=True))
        rows = [
            {"topic_id": topic, "left": called[pair[0]], "right": called[pair[1]], "judge": "ann"}
            | {"verdict": words[(7 * place + number) % 5 + place % 3]}
            for place, topic in enumerate(TOPICS)
            for number, pair in enumerate(pairs)
        ]
        load("import_battles", "--by", "human", write(tmp_path, f"{names}.jsonl", rows))
        runs = runs_of()
        figures = ("win_rate", "low", "high", "rating_low", "rating_high", "won", "lost", "tied", "both_bad")
        found.append([runs[called[name]][figure] for name in "abcd" for figure in figures])
        load("undo_import", Event.objects.filter(kind="import.battles").latest("pk").pk)
    assert found[0] == pytest.approx(found[1], abs=1e-9)
    assert None not in found[0]
