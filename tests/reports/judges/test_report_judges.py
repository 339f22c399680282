"""Judges compared with the truth: the figures of AutoJudge's own tool, intervals, differences and missing runs."""

import json
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from evaluation.models import Campaign
from reports.models import ExternalCondition
from tests.api.conftest import program_of
from tests.worlds.campaign import World
from tests.worlds.cast import make_cast
from tests.worlds.imported import labels, load, report, run, write

METHODS = ("kendall", "spearman", "pearson", "tauap_b", "kendall@4", "tau_gap")
ASKED = tuple(word for method in METHODS for word in ("--method", method))


def judges(*options: object) -> dict[str, Any]:
    document: dict[str, Any] = report("judges", "--truth", "truth", *options)
    return document


def row_of(document: dict[str, Any], judge: str) -> dict[str, Any]:
    return next(row for row in document["judges"] if row["judge"] == judge)


def difference_of(document: dict[str, Any], judge: str, other: str) -> dict[str, Any]:
    return next(row for row in document["differences"] if (row["judge"], row["other"]) == (judge, other))


@pytest.mark.usefixtures("autojudge")
def test_figures_are_the_tool_s_to_ten_digits(score_files: Path) -> None:
    expected = json.loads((score_files / "expected.jsonl").read_text("utf-8"))
    row = row_of(judges(*ASKED), "A")
    for method in METHODS:
        assert row[method] == pytest.approx(expected[method], abs=1e-10), method
    assert (row["method"], row["model"], row["measure"]) == ("pointwise", "gpt-4o", "GRADE")
    assert (row["runs"], row["topics"], row["truth_measure"]) == (7, 6, "nugget_coverage")


@pytest.mark.usefixtures("autojudge")
def test_an_interval_holds_its_figure_and_says_that_topics_are_few() -> None:
    row = row_of(judges(), "A")
    ends = row["intervals"]["kendall"]
    assert ends["low"] < row["kendall"] < ends["high"] <= 1
    assert ends["note"] == "few topics: too short to trust"
    assert judges() == judges()


def test_a_judge_does_not_differ_from_itself_and_swapping_two_swaps_the_sign(
    autojudge: Path, score_files: Path
) -> None:
    load("import_scores", "--judge", "A again", score_files / "judgeA.ir_measures.txt")
    document = judges("--method", "tauap_b")
    same = difference_of(document, "A", "A again")
    assert (same["difference"], same["p"], same["verdict"]) == (0.0, 1.0, "not told apart")
    assert (same["intervals"]["difference"]["low"], same["intervals"]["difference"]["high"]) == (0.0, 0.0)
    one = difference_of(document, "A again", "B")
    text = "".join(sorted((autojudge / "b.txt").read_text("utf-8").splitlines(keepends=True)))
    load("import_scores", "--judge", "0", write(autojudge, "0.txt", text))
    other = difference_of(judges("--method", "tauap_b"), "0", "A again")
    assert other["difference"] == pytest.approx(-one["difference"], abs=1e-12)
    for end, opposite in (("low", "high"), ("high", "low")):
        ends = other["intervals"]["difference"][end], one["intervals"]["difference"][opposite]
        assert ends[0] == pytest.approx(-ends[1], abs=1e-9)
    assert other["p"] == one["p"]


def test_a_table_of_runs_has_figures_and_no_interval(autojudge: Path, score_files: Path) -> None:
    aggregates = [
        line for line in (score_files / "judgeA.eval.txt").read_text("utf-8").splitlines() if "\tall\t" in line
    ]
    load("import_scores", "--judge", "C", write(autojudge, "c.txt", "\n".join(aggregates)))
    document = judges()
    row = row_of(document, "C")
    assert row["kendall"] == row_of(document, "A")["kendall"]
    assert row["topics"] is None
    reason = "a table of runs alone has no topics"
    assert row["intervals"]["kendall"] == {"low": None, "high": None, "reason": reason}
    difference = difference_of(document, "A", "C")
    assert (difference["difference"], difference["p"], difference["verdict"]) == (0.0, None, "")
    assert difference["intervals"]["difference"]["reason"] == reason


@pytest.fixture
def one_less(judged: Path, score_files: Path) -> Path:
    """Judge D lacks run r7 of the truth and has r8, which the truth lacks."""
    load("import_scores", "--condition", "truth", score_files / "truth.eval.jsonl")
    text = (score_files / "judgeA.eval.txt").read_text("utf-8").replace("r7\t", "r8\t")
    load("import_scores", "--judge", "D", write(judged, "d.txt", text))
    return judged


@pytest.mark.usefixtures("one_less")
def test_runs_of_one_side_alone_are_refused_left_out_or_zero() -> None:
    refused = run("report", "judges", "--campaign", "river", "--truth", "truth")
    assert (refused.code, refused.out) == (1, "")
    told = refused.err
    assert "D (GRADE) lacks r7. truth lacks r8 of D (GRADE)." in told
    warned, skipped, filled = (judges("--on-missing", word) for word in ("warn", "skip", "default"))
    assert [row_of(document, "D")["runs"] for document in (warned, skipped, filled)] == [6, 6, 7]
    assert row_of(warned, "D")["kendall"] == row_of(skipped, "D")["kendall"]
    assert row_of(filled, "D")["filled"] == 1
    assert row_of(filled, "D")["kendall"] != row_of(warned, "D")["kendall"]
    assert judges("--only-shared-runs")["judges"] == warned["judges"]
    lines = [
        run("report", "judges", "--campaign", "river", "--truth", "truth", "--on-missing", word).out
        for word in ("warn", "skip", "default")
    ]
    left_out = "Left out, because one side lacks them: r7, r8."
    assert [left_out in text for text in lines] == [True, False, False]
    assert "1 scores of runs that a judge lacks are 0." in lines[2]


def test_two_shared_runs_are_no_order_and_said_so(judged: Path) -> None:
    load("import_scores", "--condition", "truth", write(judged, "t.txt", "r1 m t01 1\nr2 m t01 0\n"))
    load("import_scores", "--judge", "A", write(judged, "a.txt", "r1 m t01 1\nr2 m t01 0\n"))
    row = row_of(judges("--method", "kendall"), "A")
    assert (row["kendall"], row["reason"]) == (None, "kendall: at least 3 runs that both have, found 2")
    assert row["intervals"] == {}


def test_shared_topics_alone_may_count(judged: Path) -> None:
    truth = "".join(f"r{n} m t01 {n}\nr{n} m t02 {-3 * n}\n" for n in range(1, 5))
    load("import_scores", "--condition", "truth", write(judged, "t.txt", truth))
    load(
        "import_scores", "--judge", "A", write(judged, "a.txt", "".join(f"r{n} m t01 {n}\n" for n in range(1, 5)))
    )
    assert row_of(judges("--method", "kendall"), "A")["kendall"] == -1.0
    shared = judges("--method", "kendall", "--only-shared-topics")
    assert row_of(shared, "A")["kendall"] == 1.0
    program = program_of(World(Campaign.objects.get(), make_cast(Campaign.objects.get())), "rita")
    asked = "reports/judges/?campaign=river&truth=truth&method=kendall&only_shared_topics"
    assert program.json(f"{asked}=true") == shared
    assert set(program.problem(f"{asked}=perhaps", 400)["errors"]) == {"only_shared_topics"}


@pytest.mark.usefixtures("autojudge")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--truth", "nobody"), "No condition or table of scores nobody"),
        (("--truth", "truth", "--method", "kendal"), "kendal is no method"),
        (("--truth", "truth", "--measure", "MAP"), "No judge has such scores; there are: GRADE."),
        (("--truth", "truth", "--truth-measure", "x"), "Say which measure of truth: nugget_coverage."),
        (("--truth", "truth", "--rbo-p", "1"), "A number between 0 and 1, found 1."),
    ],
)
def test_a_choice_that_is_none_is_refused_with_those_there_are(options: tuple[str, ...], words: str) -> None:
    outcome = run("report", "judges", "--campaign", "river", *options)
    assert outcome.code in (1, 2)
    assert words in outcome.err


def test_a_condition_of_several_llms_is_left_out_and_said_so(labelled: Path) -> None:
    text = "".join(f"{name} f1 t1 {value}\n" for name, value in (("alpha", 1), ("beta", 0.5)))
    for name in ("A", "B"):
        load("import_scores", "--judge", name, "--form", "tot", write(labelled, "a.txt", text))
    rows = [labels("alpha", "t1", ("bends", "support"), ("sand", "support"))]
    load("import_assignments", "--origin", "auto", "--judge", "other", "--by", "llm", write(labelled, "o", rows))
    document = report("judges", "--truth", "A", "--on-missing", "skip")
    assert ([row["judge"] for row in document["judges"]], document["conditions_left_out"]) == (["B"], ["A/A"])
    words = "1 condition left out, by several LLMs or lists of nuggets without a default, or the truth's own: A/A."
    campaign = Campaign.objects.get()
    olga = World(campaign, make_cast(campaign)).client("olga")
    page = olga.get(f"/campaigns/{campaign.slug}/reports/judges/?truth=A").content.decode()
    assert words in unescape(page)
    ExternalCondition.objects.get(name="B").delete()
    alone = run("report", "judges", "--campaign", "river", "--truth", "A", "--on-missing", "skip")
    assert words in alone.err


def test_labels_of_people_are_a_truth_and_an_llm_s_a_judge(labelled: Path) -> None:
    text = "".join(f"{name} f1 t1 {value}\n" for name, value in (("alpha", 1), ("beta", 0.5)))
    load("import_scores", "--judge", "A", "--form", "tot", write(labelled, "a.txt", text))
    document = report("judges", "--truth", "A", "--on-missing", "skip")
    assert {row["judge"] for row in document["judges"]} == {"A/A"}
    campaign = Campaign.objects.get()
    olga = World(campaign, make_cast(campaign)).client("olga")
    page = olga.get(f"/campaigns/{campaign.slug}/reports/judges/?truth=A").content.decode()
    assert '<bdi>Automatic nuggets, automatic labels</bdi> <span class="code-word">A/A</span>' in page
    assert "Automatic nuggets, automatic labels (A/A), " in page
