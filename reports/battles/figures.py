"""Win rates and ratings of a battle set, as its report has them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reports.metrics.arrays import defined
from reports.metrics.battles.ratings import Ratings, field_rates, ratings
from reports.metrics.battles.sheet import BattleSheet
from reports.metrics.battles.win_rates import RunDifference, WinRates, differences, reliability, win_rates
from reports.metrics.intervals import TOO_FEW_TOPICS, Estimate, Interval
from reports.metrics.random_check.estimate import rank_ranges

NOT_JUDGED, TOO_FEW_BATTLES = "no battle judged", "too few battles"
UNRATED = {1.0: "won every battle", 0.0: "lost every battle"}
FEW_OPPONENTS = "took points from too few"
FEW_TOPICS = 10
"""Below so many topics a figure is shown grey."""
LEVEL = 0.05
UNBALANCED = 0.01


@dataclass(frozen=True, slots=True)
class BattleRun:
    """A run's figures. `win_rate`, `rating` and its interval have no value where they are refused, for `reason`.

    `few`: below 10 topics. `rank`: best and worst, by the pairs that differ one by one.
    """

    run_id: str
    win_rate: Estimate
    rating: Estimate
    rank: tuple[int, int] | None
    battles: int
    won: int
    lost: int
    tied: int
    both_bad: int
    topics: int
    few: bool
    reason: str


@dataclass(frozen=True, slots=True)
class BattleFigures:
    """Runs by name, differences of those with a win rate, and the share of spread that is no noise.

    `unbalanced`: runs whose win rate is another than their rating leads to expect against the whole field.
    """

    run_ids: tuple[str, ...]
    runs: tuple[BattleRun, ...]
    differences: tuple[RunDifference, ...]
    split: int
    reliability: float | None
    unbalanced: tuple[str, ...]


def battle_figures(sheet: BattleSheet, *, least_topics: int, least_battles: int) -> BattleFigures:
    rates, rated = win_rates(sheet), ratings(sheet)
    reasons = [_refusal(rates, run, least_topics, least_battles) for run in range(len(sheet.run_ids))]
    shown = [run for run, reason in enumerate(reasons) if not reason]
    compared = differences(rates, shown)
    ranks = rank_ranges_of(shown, compared)
    # Against the rated alone, as the other: of who lost all to everybody, or won, no rating tells what to expect.
    against_rated = win_rates(sheet.of_runs(~np.isnan(rated.value))).value
    apart = np.nan_to_num(against_rated - field_rates(rated.value))
    runs = [_run(sheet, rates, rated, run, reasons[run], ranks.get(run)) for run in range(len(sheet.run_ids))]
    return BattleFigures(
        run_ids=sheet.run_ids,
        runs=tuple(runs),
        differences=tuple(compared),
        split=int(sheet.split.sum()),
        reliability=reliability(rates, shown),
        unbalanced=tuple(sheet.run_ids[run] for run in shown if abs(apart[run]) > UNBALANCED),
    )


def _refusal(rates: WinRates, run: int, least_topics: int, least_battles: int) -> str:
    if not rates.battles[run]:
        return NOT_JUDGED
    # Of one topic there is no spread, whatever was asked for.
    if rates.topics[run] < max(least_topics, 2):
        return TOO_FEW_TOPICS
    return TOO_FEW_BATTLES if rates.battles[run] < least_battles else ""


def _run(
    sheet: BattleSheet, rates: WinRates, rated: Ratings, run: int, reason: str, rank: tuple[int, int] | None
) -> BattleRun:
    points = np.concatenate([sheet.points[sheet.first == run], 1 - sheet.points[sheet.second == run]])
    either = (sheet.first == run) | (sheet.second == run)
    won, lost = int((points > 0.5).sum()), int((points < 0.5).sum())
    bad, split = int(sheet.bad[either].sum()), int(sheet.split[either].sum())
    rate, rating = float(rates.value[run]), None if reason else defined(float(rated.value[run]))
    rating_interval = Interval() if rating is None else rated.intervals[run]
    return BattleRun(
        run_id=sheet.run_ids[run],
        win_rate=Estimate(None, Interval(reason=reason)) if reason else Estimate(rate, rates.interval(run)),
        rating=Estimate(rating, rating_interval),
        rank=rank,
        battles=len(points),
        won=won,
        lost=lost,
        tied=len(points) - won - lost - bad - split,
        both_bad=bad,
        topics=int(rates.topics[run]),
        few=int(rates.topics[run]) < FEW_TOPICS,
        reason=reason or (UNRATED.get(rate, FEW_OPPONENTS) if rating is None else rating_interval.reason),
    )


def rank_ranges_of(runs: list[int], compared: Sequence[RunDifference]) -> dict[int, tuple[int, int]]:
    """Best and worst rank of each run, by the pairs that differ one by one."""
    place = {run: number for number, run in enumerate(runs)}
    above = np.zeros((len(runs), len(runs)), dtype=np.bool_)
    for gap in compared:
        if gap.p < LEVEL:
            better, worse = (gap.a, gap.b) if gap.value > 0 else (gap.b, gap.a)
            above[place[better], place[worse]] = True
    best, worst = rank_ranges(above) if runs else ([], [])
    return {run: (int(best[number]), int(worst[number])) for run, number in place.items()}
