"""Correlations of judges with the truth, against the reference vectors of pyircor and of AutoJudge's own tool."""

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from reports.metrics.arrays import Floats
from reports.metrics.rank_correlations import (
    ALL_TIED,
    NO_GAP,
    TIED_JUDGE,
    TIED_TRUTH,
    Coefficient,
    CorrelationMethod,
    method_named,
)


def vector(text: str) -> Floats:
    return np.array([float(word) for word in text.split()])


X = vector(".897 .372 .908 .898 .661 .062 .177 .384 .498 .992")
Y = vector(".82 .406 .817 .953 .673 .073 .364 .547 .589 .988")
X_TIED = vector(".9 .4 .9 .9 .7 .1 .2 .4 .5 1")
Y_TIED = vector(".8 .4 .8 1 .7 .1 .4 .5 .6 1")
P_X, P_Y = vector(".61 .55 .55 .48 .40 .31 .22"), vector(".70 .72 .60 .60 .35 .41 .20")
METHODS = ("kendall", "spearman", "pearson", "tauap", "tauap_a", "tauap_b", "tau_gap")
REFERENCE: dict[str, tuple[Floats, Floats, tuple[float | str, ...]]] = {
    "S1": (X, Y, (0.911111, 0.963636, 0.968443, 0.851852, 0.851852, 0.833333, 0.955556)),
    "S1t": (X_TIED, Y_TIED, (0.939827, 0.972068, 0.958555, TIED_JUDGE, TIED_TRUTH, 0.732143, 0.777778)),
    "P": (P_X, P_Y, (0.75, 0.881818, 0.940261, TIED_JUDGE, TIED_TRUTH, 0.461111, 0.622549)),
}


def of(method: str, x: Floats, y: Floats, rbo_p: float = 0.9) -> Coefficient:
    named = method_named(method, rbo_p)
    assert named
    return named.of(x, y)


@pytest.mark.parametrize(
    ("vectors", "method", "expected"),
    [
        (name, method, figure)
        for name, (_, _, figures) in REFERENCE.items()
        for method, figure in zip(METHODS, figures, strict=True)
    ],
)
def test_each_method_gives_the_reference_figure_or_says_why_it_has_none(
    vectors: str, method: str, expected: float | str
) -> None:
    x, y, _ = REFERENCE[vectors]
    if isinstance(expected, str):
        assert of(method, x, y) == Coefficient(None, len(x), expected)
    else:
        assert of(method, x, y).value == pytest.approx(expected, abs=5e-7)


def test_tau_ap_a_is_the_mean_over_the_orders_of_tied_runs() -> None:
    assert of("tauap_a", X, Y_TIED).value == pytest.approx(0.745370, abs=5e-7)


@pytest.mark.parametrize("seed", range(4))
def test_tau_ap_a_is_what_all_orders_give_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.permutation(6).astype(np.float64), rng.integers(0, 3, 6).astype(np.float64)
    orders = [y + np.array(order) / 100 for order in permutations(range(6))]
    expected = np.mean([of("tauap", x, order).value for order in orders])
    assert of("tauap_a", x, y).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("method", "expected"), [("kendall@3", 0.0), ("kendall@5", 0.666667)])
def test_the_best_by_truth_alone_are_compared(method: str, expected: float) -> None:
    assert of(method, P_X, P_Y).value == pytest.approx(expected, abs=5e-7)


def test_of_runs_that_tie_at_the_last_place_the_first_by_id_is_among_the_best() -> None:
    x = vector("3 1 1 2")
    assert of("kendall@3", x, vector("3 1 9 2")).value == 1.0
    assert of("kendall@3", x, vector("3 9 1 2")).value != 1.0


@pytest.mark.parametrize(("p", "expected"), [(0.9, 0.928), (0.8, 0.877333)])
def test_rank_biased_overlap_of_the_reference_vectors(p: float, expected: float) -> None:
    assert of("rbo", X, Y, p).value == pytest.approx(expected, abs=5e-7)


def test_tied_runs_enter_an_overlap_together() -> None:
    assert of("rbo", vector("4 3 3 1"), vector("4 3 2 1")).value == pytest.approx(0.982, abs=5e-7)


@pytest.mark.parametrize("method", [*METHODS, "rbo"])
def test_equal_orders_agree_in_full(method: str) -> None:
    assert of(method, X, X).value == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("method", "reason"),
    [
        ("kendall", ALL_TIED),
        ("spearman", ALL_TIED),
        ("pearson", ALL_TIED),
        ("tauap", TIED_JUDGE),
        ("tauap_b", ALL_TIED),
    ],
)
def test_a_judge_that_scores_all_runs_alike_has_no_figure_and_not_zero(method: str, reason: str) -> None:
    assert of(method, X, np.full(len(X), 0.5)) == Coefficient(None, len(X), reason)


def test_a_truth_without_a_gap_has_no_tau_gap() -> None:
    assert of("tau_gap", np.ones(4), vector("1 2 3 4")) == Coefficient(None, 4, NO_GAP)


def test_two_runs_are_no_order() -> None:
    assert of("kendall", vector("1 2"), vector("1 2")) == Coefficient(
        None, 2, "at least 3 runs that both have, found 2"
    )


def test_a_run_without_a_score_on_one_side_is_left_out() -> None:
    x, y = np.append(X, np.nan), np.append(Y, 0.1)
    assert of("tauap_b", x, y) == of("tauap_b", X, Y)


@pytest.mark.parametrize("name", ["kendal", "kendall@0", "kendall@", "kendall@x", ""])
def test_a_name_of_no_method_is_none(name: str) -> None:
    assert method_named(name) is None


def test_figures_are_those_of_the_field_s_own_tool_to_ten_digits(shared_data: Path) -> None:
    folder = shared_data / "autojudge-scores"
    rows = [json.loads(line) for line in (folder / "truth.eval.jsonl").read_text().splitlines()]
    x = np.array([row["value"] for row in rows if row["topic_id"] == "all"])
    lines = [line.split() for line in (folder / "judgeA.eval.txt").read_text().splitlines()]
    y = np.array([float(value) for _, _, topic, value in lines if topic == "all"])
    expected = json.loads((folder / "expected.jsonl").read_text())
    names = [name for name in expected if method_named(name)]
    assert names == ["kendall", "spearman", "pearson", "tauap_b", "kendall@4", "tau_gap"]
    for name in names:
        assert of(name, x, y).value == pytest.approx(expected[name], abs=1e-10), name


@pytest.mark.parametrize("seed", range(5))
def test_spearman_and_pearson_are_scipys(seed: int) -> None:
    x, y = np.random.default_rng(seed).integers(0, 6, size=(2, 30)).astype(np.float64)
    assert of("spearman", x, y).value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert of("pearson", x, y).value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)


def test_a_method_is_written_as_it_is_read() -> None:
    assert str(method_named("tau_gap@12")) == "tau_gap@12"
    assert CorrelationMethod("kendall").top is None
