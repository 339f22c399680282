"""Battles beside another board: what scores of answers explain of them, and whether both order the runs alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np

from evaluation.errors import Refused
from evaluation.models import Campaign
from evaluation.terms import SupportCondition
from reports.agreement.figures import table_of
from reports.battles.corrected import CorrectedFigures
from reports.battles.figures import LEVEL, BattleFigures, BattleRun
from reports.battles.verdicts import CountedBattle
from reports.document import chosen_labels
from reports.metrics.agreement import ScoreTable
from reports.metrics.arrays import column_means
from reports.metrics.battles.agreement import outcomes
from reports.metrics.battles.explained import ScoredBattles
from reports.metrics.intervals import FRACTIONS, UNDEFINED_ORDER, difference_intervals
from reports.metrics.kendall import kendall
from reports.metrics.policies import Policies, SupportPolicies
from reports.metrics.support import SUPPORT_NAMES
from reports.profiles import profile_of, usual_score

WIN_RATE: Final = "win_rate"
WIDE_GAP: Final = 0.2
"""From here on a battle that the lower score won is an inversion."""

SureDifferences = Mapping[tuple[str, str], float]
"""Pairs of runs that differ for sure, with the sign of the first less the second."""


@dataclass(frozen=True, slots=True)
class Board:
    """Runs by a figure, and the pairs that differ for sure; `table`: scores of answers, where it rests on such."""

    condition: str
    score: str
    means: Mapping[str, float]
    apart: SureDifferences
    table: ScoreTable | None = None


def board_of_scores(campaign: Campaign, choices: Mapping[str, Any]) -> Board:
    """Return the board that `against` names. Raises `Refused`: a score of the other kind, and as `resolve` does."""
    of_citations = choices["against"] in list(SupportCondition)
    score = choices["score"] or usual_score(campaign, choices["against"])
    if (score in SUPPORT_NAMES) is not of_citations:
        raise Refused("usage", f"{choices['against']} has no score {score}.", field="score")
    policies = (
        SupportPolicies(campaign.protocol.measure)
        if of_citations
        else Policies(profile=profile_of(campaign, score))
    )
    labels = chosen_labels(campaign, choices, "against")
    table = table_of(labels, score, policies)
    means = dict(zip(table.run_ids, column_means(table.values, table.topics).tolist(), strict=True))
    return Board(choices["against"], score, means, _apart(table), table)


def board_of_battles(condition: str, figures: BattleFigures | CorrectedFigures) -> Board:
    ids = figures.run_ids
    apart = {(ids[gap.a], ids[gap.b]): gap.value for gap in figures.differences if gap.p < LEVEL}
    rates = ((run.run_id, run.win_rate if isinstance(run, BattleRun) else run.corrected) for run in figures.runs)
    means = {run_id: rate.value for run_id, rate in rates if rate.value is not None}
    return Board(condition, WIN_RATE, means, apart)


def _apart(table: ScoreTable) -> SureDifferences:
    intervals = difference_intervals(table.values[table.topics], FRACTIONS)
    return {
        (table.run_ids[a], table.run_ids[b]): ends[0]
        for a, b in combinations(range(len(table.run_ids)), 2)
        if (ends := intervals[a][b].ends) and ends[0] * ends[1] > 0
    }


def beside(battles: Board, other: Board) -> dict[str, Any]:
    """Return tau of the runs on both, None for a `reason`, and how many pairs differ on both, by their order there."""
    runs = [run for run in battles.means if not np.isnan(other.means.get(run, np.nan))]
    tau = kendall(*(np.array([board.means[run] for run in runs]) for board in (battles, other))).tau
    both_ways = {**other.apart, **{(b, a): -sign for (a, b), sign in other.apart.items()}}
    signs = [battles.apart[pair] * sign for pair, sign in both_ways.items() if pair in battles.apart]
    return {
        "condition": other.condition,
        "score": other.score,
        "tau": tau,
        "runs": len(runs),
        "same": sum(sign > 0 for sign in signs),
        "opposite": sum(sign < 0 for sign in signs),
        "reason": None if tau is not None else UNDEFINED_ORDER,
    }


def with_scores(battles: Sequence[CountedBattle], table: ScoreTable) -> tuple[list[CountedBattle], ScoredBattles]:
    """Return the battles of which both answers have a score, with the gap of the scores."""
    topic_at, run_at = (
        {name: place for place, name in enumerate(names)} for names in (table.topic_ids, table.run_ids)
    )
    places = [
        (topic_at.get(battle.topic_id), run_at.get(battle.first), run_at.get(battle.second)) for battle in battles
    ]
    differences = [
        (battle, topic, float(table.values[topic, first] - table.values[topic, second]))
        for battle, (topic, first, second) in zip(battles, places, strict=True)
        if topic is not None and first is not None and second is not None
    ]
    scored = [(battle, topic, gap) for battle, topic, gap in differences if not np.isnan(gap)]
    return [battle for battle, *_ in scored], ScoredBattles(
        topic=np.array([topic for _, topic, _ in scored], dtype=np.int32),
        # Rounded: equal scores have no difference, whatever their last bits.
        gap=np.array([gap for *_, gap in scored], dtype=np.float64).round(10),
        outcome=outcomes(np.array([battle.points for battle, *_ in scored], dtype=np.float64)),
    )


def is_inversion(battle: CountedBattle, gap: float) -> bool:
    """Whether the answer won whose score is lower by .2 or more."""
    return abs(gap) >= WIDE_GAP and (battle.points - 0.5) * gap < 0
