"""The three levels of agreement, worked out by hand on small tables."""

import numpy as np
import pytest

from reports.metrics.agreement import LEVELS, agreement, run_level_agreement, score_table
from reports.metrics.kendall import Ties
from reports.metrics.label_matrix import FAILED, UNJUDGED
from reports.metrics.policies import Policies

from .sheet_makers import assignment_sheet, table

NAN = float("nan")


def test_the_three_taus_of_a_small_table() -> None:
    x = table([[0.0, 0.5, 1.0], [0.0, 1.0, 0.5]])
    y = table([[0.0, 0.5, 1.0], [0.0, 0.5, 1.0]])
    found = agreement(x, y)
    assert (found.runs, found.topics, found.pairs) == (3, 2, 6)
    assert found.run_level == pytest.approx(2 / (2 * 3) ** 0.5)  # the means of x tie two runs
    assert found.topic_average == pytest.approx((1 + 1 / 3) / 2)
    assert found.all_topic_run == pytest.approx((9 - 1) / 12)  # 3 of 15 pairs tie, in both alike
    assert found.discordant == {"run_level": 0, "topic_average": 1, "all_topic_run": 1}
    assert found.ties["run_level"] == Ties(x=1)


def test_topics_with_a_constant_side_are_dropped_and_counted() -> None:
    found = agreement(table([[0, 1], [1, 1]]), table([[0, 1], [0, 1]]))
    assert (found.topic_average, found.undefined_topics, found.topics) == (1, 1, 2)


def test_runs_are_matched_by_id_and_only_those_of_both_count() -> None:
    x = table([[3, 2, 1]], runs="ABC")
    y = table([[1, 2, 9]], runs="CBX")
    found = agreement(x, y)
    assert (found.runs, found.pairs, found.run_level) == (2, 2, 1)


def test_a_run_without_scores_on_one_side_is_left_out() -> None:
    found = agreement(table([[1, 2, NAN]]), table([[1, 2, 3]]))
    assert (found.runs, found.pairs, found.run_level, found.all_topic_run) == (2, 2, 1, 1)


def test_the_run_level_is_over_own_topics_or_common_ones() -> None:
    x = table([[0, 1], [9, 0]], topics="ab")
    y = table([[0, 1]], topics="a")
    assert agreement(x, y, "all").run_level == -1
    common = agreement(x, y, "common")
    assert (common.run_level, common.topic_average, common.all_topic_run) == (1, 1, 1)
    assert (common.topics, common.pairs) == (1, 2)


def test_no_common_topic_is_said_with_none_and_no_error() -> None:
    x, y = table([[0, 1]], topics="a"), table([[0, 1]], topics="b")
    found = agreement(x, y)
    assert (found.topics, found.pairs, found.topic_average, found.all_topic_run) == (0, 0, None, None)
    assert found.run_level is None
    assert agreement(x, y, "all").run_level == 1


def test_no_common_run_is_no_error() -> None:
    found = agreement(table([[1]], runs="A"), table([[1]], runs="B"))
    assert (found.runs, found.run_level, found.topic_average) == (0, None, None)


def test_a_score_table_knows_which_topics_a_condition_scores() -> None:
    sheet = assignment_sheet(["v", ""], [[2, FAILED]])
    found = score_table(sheet, "vital", Policies())
    assert found.topics.tolist() == [True, False]
    np.testing.assert_array_equal(found.values, [[1, NAN], [NAN, NAN]])


def test_an_excluded_answer_leaves_the_pairs() -> None:
    x = assignment_sheet(["v", "v"], [[2, 1, FAILED], [0, 1, 2]])
    y = assignment_sheet(["v", "v"], [[2, 1, 0], [UNJUDGED, 1, 2]])
    exclude, zero = Policies(), Policies(unjudged="zero")
    tables = [(score_table(x, "vital", each), score_table(y, "vital", each)) for each in (exclude, zero)]
    assert [agreement(*pair).pairs for pair in tables] == [4, 6]


def test_lengths_of_the_same_runs_agree() -> None:
    sheet = assignment_sheet(["v"], [[2, 1]], words=[[5, 7]])
    length = score_table(sheet, "length", Policies())
    assert agreement(length, length).run_level == 1


def test_published_run_level_scores_compare_by_run_id() -> None:
    found = run_level_agreement({"A": 1, "B": 2, "C": None, "D": 5}, {"B": 4, "A": 3, "C": 1, "D": NAN})
    assert (found.runs, found.run_level, found.topics, found.pairs) == (2, 1, 0, 0)
    assert found.topic_average is found.all_topic_run is None
    assert set(found.ties) == set(found.discordant) == set(LEVELS)


def test_run_order_and_topic_order_change_nothing() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 4, (2, 5, 6)) / 4
    rows, columns = rng.permutation(5), rng.permutation(6)
    topics, runs = "".join("abcde"[i] for i in rows), "".join("ABCDEF"[i] for i in columns)
    moved = table(x[rows][:, columns].tolist(), topics, runs)
    first, second = agreement(table(x.tolist()), table(y.tolist())), agreement(moved, table(y.tolist()))
    assert second.topic_average == pytest.approx(first.topic_average)
    assert (first.run_level, first.all_topic_run, first.ties) == (
        second.run_level,
        second.all_topic_run,
        second.ties,
    )
