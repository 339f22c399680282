"""Figures of battles on sheets small enough to work out by hand."""

from collections.abc import Sequence
from itertools import combinations

import choix
import numpy as np
import pytest

from reports.battles.figures import battle_figures
from reports.metrics.arrays import Floats
from reports.metrics.battles.agreement import outcomes, verdict_agreement
from reports.metrics.battles.explained import ScoredBattles, explained, fit
from reports.metrics.battles.ratings import field_rates, length_slope, ratings, side_term
from reports.metrics.battles.sheet import BattleSheet, cycles
from reports.metrics.battles.win_rates import expected_half_width, win_rates


def sheet(rows: Sequence[tuple[int, int, int, float, float]]) -> BattleSheet:
    """Battles as topic, first and second run, points of the first, and log2 of its words over the other's."""
    topic, first, second, points, lengths = zip(*rows, strict=True)
    size = len(rows)
    return BattleSheet(
        run_ids=tuple(map(str, range(max(first + second) + 1))),
        topic_ids=tuple(map(str, range(max(topic) + 1))),
        topic=np.array(topic, dtype=np.int32),
        first=np.array(first, dtype=np.int32),
        second=np.array(second, dtype=np.int32),
        points=np.array(points, dtype=np.float64),
        lengths=np.array(lengths, dtype=np.float64),
        bad=np.zeros(size, dtype=np.bool_),
        split=np.zeros(size, dtype=np.bool_),
    )


def test_a_cycle_is_of_three_battles_of_one_topic() -> None:
    rows = [
        (0, 0, 1, 1.0, 0.0),
        (0, 1, 2, 1.0, 0.0),
        (0, 0, 2, 0.0, 0.0),
        (1, 0, 1, 1.0, 0.0),
        (1, 1, 2, 0.5, 0.0),
    ]
    found = cycles(sheet(rows))
    assert (found.triads, found.cyclic, found.share) == (1, 1, None)


def test_runs_that_win_by_their_number_have_no_cycle() -> None:
    pairs = list(combinations(range(6), 2))
    found = cycles(sheet([(0, a, b, 1.0, 0.0) for a, b in pairs]))
    assert (found.triads, found.share) == (20, 0.0)


def test_the_mean_of_all_ratings_is_1000_whatever_the_battles() -> None:
    """Battles know ratings but for a constant: what is nearly 0 because of it is not divided by."""
    drawn = np.random.default_rng(1)
    battles = [(topic, *pair) for topic in range(14) for pair in combinations(range(7), 2)]
    for _ in range(300):
        points = (drawn.integers(0, 3, len(battles)) / 2).tolist()
        rated = ratings(
            sheet([(*battle, of_first, 0.0) for battle, of_first in zip(battles, points, strict=True)])
        )
        assert rated.value.mean() == pytest.approx(1000, abs=1e-6)


def test_a_balanced_sheet_wins_as_its_ratings_lead_to_expect() -> None:
    drawn = np.random.default_rng(2)
    pairs = list(combinations(range(5), 2))
    rows = [(topic, *pair, float(drawn.integers(0, 3)) / 2, 0.0) for topic in range(9) for pair in pairs]
    balanced = sheet(rows)
    assert field_rates(ratings(balanced).value) == pytest.approx(win_rates(balanced).value, abs=1e-9)
    figures = battle_figures(balanced, least_topics=5, least_battles=1)
    assert figures.unbalanced == ()
    # The best run's battles with the worst are left out.
    values = win_rates(balanced).value
    ends = {int(values.argmax()), int(values.argmin())}
    leaning = sheet([row for row in rows if {row[1], row[2]} != ends])
    unbalanced = battle_figures(leaning, least_topics=5, least_battles=1).unbalanced
    assert {str(run) for run in ends}.intersection(unbalanced)


@pytest.mark.parametrize("points", [0.0, 1.0])
def test_a_run_without_a_rating_makes_no_other_unbalanced(points: float) -> None:
    drawn = np.random.default_rng(2)
    rows = [
        (topic, *pair, points if pair[1] == 5 else float(drawn.integers(0, 3)) / 2, 0.0)
        for topic in range(9)
        for pair in combinations(range(6), 2)
    ]
    figures = battle_figures(sheet(rows), least_topics=5, least_battles=1)
    assert [run.rating.value is None for run in figures.runs] == [False] * 5 + [True]
    assert figures.unbalanced == ()


def test_a_longer_answer_that_always_wins_has_no_slope() -> None:
    rows = [(topic, topic % 2, 1 - topic % 2, 1.0, 1.0) for topic in range(8)]
    assert length_slope(sheet(rows)) is None
    assert length_slope(sheet([(*row[:4], 0.0) for row in rows])) is None


@pytest.mark.parametrize("points", [0.0, 1.0])
def test_battles_of_missing_answers_leave_the_slope_of_lengths_as_it_is(points: float) -> None:
    """Run 0 won all that was judged, or nothing: decided by rule alone it is among the rated, and has no lengths."""
    drawn = np.random.default_rng(3)
    judged = [(topic, 1, 2, float(drawn.integers(0, 3)) / 2, float(drawn.normal())) for topic in range(6)]
    judged += [(topic, 0, other, 1 - points, 0.5) for topic in range(3, 12) for other in (1, 2)]
    by_rule = [(0, 0, other, points, float("nan")) for other in (1, 2)]
    assert length_slope(sheet(judged)) is not None
    assert length_slope(sheet(judged + by_rule)) == length_slope(sheet(judged))


def test_a_run_that_always_stood_on_the_left_tells_nothing_of_sides() -> None:
    rows = [(topic, 0, other, float(topic % 2), 0.0) for topic in range(8) for other in (1, 2)]
    assert side_term(sheet(rows)) is None
    turned = [(topic, other, 0, 0.5, 0.0) for topic, _, other, *_ in rows]
    assert side_term(sheet(rows + turned)) is not None


def test_agreement_does_not_know_which_run_is_named_first() -> None:
    drawn = np.random.default_rng(1)
    first, second = drawn.integers(0, 3, (2, 60)).astype(np.int8)
    topics = (np.arange(60) % 6).astype(np.int32)
    renamed = drawn.random(60) < 0.5
    one, other = (np.where(renamed, 2 - side, side).astype(np.int8) for side in (first, second))
    assert verdict_agreement(first, second, topics) == verdict_agreement(one, other, topics)


def test_without_scores_nothing_is_explained() -> None:
    figures = explained(scored([], []))
    assert (figures.decided, figures.agree, figures.equal, figures.reason) == (0, None, None, "too few topics")


def test_scores_that_are_all_equal_gain_nothing_and_no_interval_is_sure_of_it() -> None:
    prediction = explained(scored([0.0] * 36, [2, 1, 0] * 12)).prediction
    assert prediction is not None
    assert (prediction.gain.value, prediction.gain.interval.ends) == (0, None)
    assert prediction.gain.interval.reason == "no topic differs from another"


def test_half_of_the_points_is_a_tie() -> None:
    assert outcomes(np.array([0.0, 0.25, 0.5, 0.75, 1.0])).tolist() == [0, 0, 1, 2, 2]


def scored(gap: Sequence[float], outcome: Sequence[int]) -> ScoredBattles:
    topic = np.arange(len(gap), dtype=np.int32) % 6
    return ScoredBattles(topic, np.array(gap, dtype=np.float64), np.array(outcome, dtype=np.int8))


def test_scores_that_say_nothing_gain_nothing() -> None:
    """Each gap occurs as often with a won as with a lost battle."""
    battles = scored([0.5, 0.5, 0.5, -0.5, -0.5, -0.5] * 6, [2, 1, 0, 2, 1, 0] * 6)
    model = fit(battles)
    assert model is not None
    assert model.slope == pytest.approx(0, abs=1e-9)
    # A third of ties: S(-c) is a third.
    assert model.band == pytest.approx(np.log(2), abs=1e-9)


@pytest.mark.parametrize(
    ("gap", "outcome", "reason"),
    [
        ([0.5, -0.5] * 12, [2, 0] * 12, "undefined without one of the topics"),
        (
            [0.5, -0.5, 0.0, 0.5, -0.5, 0.0, 0.0] * 6,
            [2, 0, 1, 2, 0, 1, 1] * 6,
            "undefined: scores tell every winner",
        ),
        ([0.5, -0.5, 0.2], [2, 0, 1], "too few topics"),
    ],
)
def test_a_model_that_has_no_end_is_refused(gap: list[float], outcome: list[int], reason: str) -> None:
    figures = explained(scored(gap, outcome))
    assert (figures.prediction, figures.reason) == (None, reason)


def test_ratings_are_those_of_another_fit() -> None:
    drawn = np.random.default_rng(3)
    pairs = list(combinations(range(6), 2))
    rows = [(topic, *pair, float(drawn.integers(0, 3)) / 2, 0.0) for topic in range(9) for pair in pairs]
    battles = sheet(rows)
    assert ratings(battles).value == pytest.approx(fitted(battles), abs=1e-6)


def fitted(battles: BattleSheet) -> Floats:
    """Ratings by choix."""
    runs = len(battles.run_ids)
    won = np.zeros((runs, runs))
    np.add.at(won, (battles.first, battles.second), battles.points)
    np.add.at(won, (battles.second, battles.first), 1 - battles.points)
    strengths = choix.ilsr_pairwise_dense(won, max_iter=1000, tol=1e-10)
    scaled: Floats = 1000 + 400 / np.log(10) * (strengths - strengths.mean())
    return scaled


@pytest.mark.parametrize("points", [[0.5] * 7, [0.0, 1.0] * 3], ids=["ties", "each-once"])
def test_ratings_of_topics_that_all_say_the_same_have_no_interval(points: list[float]) -> None:
    """Between topics nothing differs, of which the interval is; one without a width would be sure of the rating."""
    rows = [
        (topic, *pair, won, 1.0 - 2 * (place % 2))
        for topic in range(8)
        for pair in combinations(range(3), 2)
        for place, won in enumerate(points)
    ]
    figures = battle_figures(sheet(rows), least_topics=5, least_battles=20)
    assert [run.rating.value for run in figures.runs] == [1000, 1000, 1000]
    assert {run.rating.interval.ends for run in figures.runs} == {None}
    assert {run.rating.interval.reason for run in figures.runs} == {"no topic differs from another"}
    assert all(run.win_rate.interval.ends for run in figures.runs)
    slope = length_slope(sheet([(topic, first, second, 0.5, words) for topic, first, second, _, words in rows]))
    assert slope is not None
    assert slope.interval.ends is None


def test_an_expected_interval_is_no_wider_than_all_win_rates() -> None:
    assert expected_half_width(battles=2, runs=2, topics=2) == 0.5
    assert expected_half_width(battles=48, runs=4, topics=8) == pytest.approx(0.2, abs=0.1)
