"""Corrected win rates of a set: what an LLM says of all its battles, people of a sample, and both together."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Final

import numpy as np

from evaluation.models import BattleSet, SampledBattle
from evaluation.rules.battles import DrawnBattle
from evaluation.terms import BattleCondition, JudgeKind
from reports.battles.figures import TOO_FEW_BATTLES, battle_figures, rank_ranges_of
from reports.battles.samples import named_battles
from reports.battles.verdicts import (
    BattleVerdict,
    counted_battles,
    counting_verdicts,
    current_verdicts,
    sheet_of,
    verdicts_by,
)
from reports.metrics.arrays import Booleans, Floats
from reports.metrics.battles.agreement import OUTCOMES, outcomes
from reports.metrics.battles.corrected import POINTS, BattleSample, CorrectedRates, corrected_rates
from reports.metrics.battles.win_rates import RunDifference, win_rates
from reports.metrics.intervals import TOO_FEW_TOPICS, Estimate, Interval

THESE, NEW = TARGETS = ("these", "new")
TOO_FEW_JUDGED: Final = "too few judged by people"


NOT_BY_LLM: Final = Estimate(None, Interval(reason=TOO_FEW_BATTLES))


@dataclass(frozen=True, slots=True)
class CorrectedWinRate:
    """A run's win rate by the LLM, by people alone, and corrected. `refused`: drawn battles that nobody could judge."""

    run_id: str
    llm: Estimate
    people: Estimate
    corrected: Estimate
    rank: tuple[int, int] | None
    drawn: int
    judged: int
    refused: int


@dataclass(frozen=True, slots=True)
class CorrectedFigures:
    """Runs by name and the differences of those with a corrected win rate; battles of the whole sample.

    `outside`: battles of the set that came in after the draw; `stale`: those that the LLM judges otherwise by now.
    """

    judge: str
    target: str
    run_ids: tuple[str, ...]
    runs: tuple[CorrectedWinRate, ...]
    differences: tuple[RunDifference, ...]
    battles: int
    drawn: int
    judged: int
    refused: int
    outside: int
    stale: int


@dataclass(frozen=True, slots=True)
class _Sample:
    """A sample's arrays, and by battle whether it is `refused`, and whether it waits for people; N each."""

    arrays: BattleSample
    refused: Booleans
    waiting: Booleans
    outside: int
    stale: int

    def of_runs(self, battles: Floats | Booleans) -> Floats:
        """Sum over the battles of each run, R."""
        runs = np.concatenate([self.arrays.first, self.arrays.second])
        return np.bincount(runs, np.tile(battles, 2), minlength=len(self.arrays.run_ids)).astype(np.float64)


def corrected_figures(
    battle_set: BattleSet, judge: str, *, target: str, least_topics: int, least_battles: int
) -> CorrectedFigures:
    llm = current_verdicts(battle_set, BattleCondition.LLM, judge)
    sample = _sample(battle_set, judge, llm)
    arrays = sample.arrays
    board = battle_figures(
        sheet_of(battle_set, counted_battles(llm)), least_topics=least_topics, least_battles=least_battles
    )
    by_llm = {run.run_id: run.win_rate for run in board.runs}
    rates = corrected_rates(arrays, new_topics=target == NEW)
    drawn = (arrays.chances > 0) & ~arrays.by_rule
    numbers = [sample.of_runs(of) for of in (drawn, arrays.judged, sample.refused)]
    counts = [tuple(int(of[run]) for of in numbers) for run in range(len(arrays.run_ids))]
    fewest_topics = max(least_topics if target == NEW else 2, 2)
    reasons = [
        _refusal(sample, run, counts[run], max(least_battles, 2), fewest_topics) for run in range(len(counts))
    ]
    shown = [run for run, reason in enumerate(reasons) if not reason]
    compared = rates.differences(shown, fewest_topics)
    ranks = rank_ranges_of(shown, compared)
    people = _people(sample, least_topics)
    return CorrectedFigures(
        judge=judge,
        target=target,
        run_ids=arrays.run_ids,
        runs=tuple(
            CorrectedWinRate(
                name,
                by_llm.get(name, NOT_BY_LLM),
                people[run],
                _corrected(rates, run, reasons[run]),
                ranks.get(run),
                *counts[run],
            )
            for run, name in enumerate(arrays.run_ids)
        ),
        differences=tuple(compared),
        battles=int((~arrays.by_rule).sum()) - sample.outside,
        drawn=int(drawn.sum()),
        judged=int(arrays.judged.sum()),
        refused=int(sample.refused.sum()),
        outside=sample.outside,
        stale=sample.stale,
    )


def _refusal(sample: _Sample, run: int, counts: tuple[int, ...], least_battles: int, least_topics: int) -> str:
    drawn, judged, refused = counts
    if sample.outside:
        return f"{sample.outside:,} battles of the set are outside the sample"
    # What is judged first is not random: no figure before all of a run's are.
    if judged + refused < drawn:
        return f"{judged + refused:,} of {drawn:,} judged"
    if judged < least_battles:
        return TOO_FEW_JUDGED
    arrays = sample.arrays
    topics = np.unique(arrays.topic[(arrays.first == run) | (arrays.second == run)])
    return TOO_FEW_TOPICS if len(topics) < least_topics else ""


def _corrected(rates: CorrectedRates, run: int, reason: str) -> Estimate:
    if reason:
        return Estimate(None, Interval(reason=reason))
    return Estimate(float(rates.value[run]), rates.interval(run))


def _people(sample: _Sample, least_topics: int) -> list[Estimate]:
    """Return each run's win rate in the drawn battles, those of missing answers being what they are."""
    arrays, sheet = sample.arrays, sample.arrays.people_sheet
    rates = win_rates(sheet)
    of_rule, all_of = sample.of_runs(arrays.by_rule), sample.of_runs(np.ones(len(arrays.topic)))
    points = arrays.people @ POINTS
    won = np.zeros(len(all_of))
    for side, of_side in ((arrays.first, points), (arrays.second, 1 - points)):
        won += np.bincount(side, of_side * arrays.by_rule, minlength=len(all_of))
    estimates = []
    for run, waiting in enumerate(sample.of_runs(sample.waiting)):
        reason = TOO_FEW_TOPICS if rates.topics[run] < max(least_topics, 2) else ""
        if waiting or reason:
            estimates.append(Estimate(None, Interval(reason=reason or "not all judged")))
            continue
        known, share = won[run] / all_of[run], 1 - of_rule[run] / all_of[run]
        low, high = rates.interval(run).ends or (nan, nan)
        ends = Interval(float(known + share * low), float(known + share * high))
        estimates.append(Estimate(float(known + share * rates.value[run]), ends))
    return estimates


@dataclass(frozen=True, slots=True)
class _Row:
    """A battle of the sample, with points of the first run by name. `people`: those of each verdict, None for none."""

    battle: DrawnBattle
    llm: float | None
    block: int
    chance: float
    people: Sequence[float | None]
    by_rule: bool = False

    @property
    def shares(self) -> Floats:
        points = np.array([of_one for of_one in self.people if of_one is not None])
        return np.bincount(outcomes(points), minlength=len(OUTCOMES)) / max(len(points), 1)

    @property
    def waits(self) -> bool:
        return self.chance > 0 and not self.people

    @property
    def is_refused(self) -> bool:
        return self.chance > 0 and bool(self.people) and not self.shares.any()


def _sample(battle_set: BattleSet, judge: str, llm: Sequence[BattleVerdict]) -> _Sample:
    battles, _ = named_battles(battle_set)
    stored = SampledBattle.objects.filter(battle__in=battles, judge__name=judge).order_by("battle")
    by_people = counting_verdicts(verdicts_by(battle_set, JudgeKind.HUMAN))
    people = {name: [verdict.points for verdict in of_battle] for name, of_battle in by_people.items()}
    now = {battle.battle: battle.points for battle in counted_battles(llm)}
    rows, stale = [], 0
    for key, name, points, block, chance in stored.values_list(
        "battle", "battle__public_id", "points", "block", "chance"
    ):
        battle = battles[key]
        of_first = _of_first(battle, points)
        stale += now.get(name) != of_first
        rows.append(_Row(battle, of_first, block, chance or 0.0, people.get(name, ()) if chance else ()))
    inside = {row.battle for row in rows}
    outside = [battle for battle in battles.values() if battle not in inside]
    # No run has a figure while there are any, but each has its reason.
    rows += [_Row(battle, None, 0, 0.0, ()) for battle in outside]
    for topic, left, right, number, points in battle_set.design.get("by_rule", []):
        of_first = _of_first(battle := DrawnBattle(topic, left, right, number), points)
        rows.append(_Row(battle, of_first, 0, 1.0, [of_first], by_rule=True))
    return _Sample(
        arrays=_arrays(rows),
        refused=np.array([row.is_refused for row in rows], dtype=np.bool_),
        waiting=np.array([row.waits for row in rows], dtype=np.bool_),
        outside=len(outside),
        stale=stale,
    )


def _of_first(battle: DrawnBattle, points: float | None) -> float | None:
    """Points of the first run by name, from those of the left one."""
    return points if points is None or battle.left == min(battle.runs) else 1 - points


def _arrays(rows: Sequence[_Row]) -> BattleSample:
    runs = sorted({run for row in rows for run in row.battle.runs})
    topics = sorted({row.battle.topic for row in rows})
    run_at, topic_at = ({name: place for place, name in enumerate(names)} for names in (runs, topics))
    return BattleSample(
        run_ids=tuple(runs),
        topic_ids=tuple(topics),
        topic=np.array([topic_at[row.battle.topic] for row in rows], dtype=np.int32),
        first=np.array([run_at[min(row.battle.runs)] for row in rows], dtype=np.int32),
        second=np.array([run_at[max(row.battle.runs)] for row in rows], dtype=np.int32),
        llm=np.array([nan if row.llm is None else row.llm for row in rows], dtype=np.float64),
        block=np.array([row.block for row in rows], dtype=np.int64),
        chances=np.array([row.chance for row in rows], dtype=np.float64),
        people=np.array([row.shares for row in rows], dtype=np.float64),
        by_rule=np.array([row.by_rule for row in rows], dtype=np.bool_),
    )
