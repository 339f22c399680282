"""Agreement of verdicts on a set's battles, and battles in which people named opposite winners."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from reports.battles.verdicts import (
    BattleVerdict,
    CountedBattle,
    as_counted,
    by_battle,
    counted_battles,
    settled_conflict,
)
from reports.metrics.battles.agreement import VerdictAgreement, outcomes, verdict_agreement

PEOPLE: Final = "people"
PEOPLE_AND_LLM: Final = "people and LLM"
BOTH_ORDERS: Final = "orders"


@dataclass(frozen=True, slots=True)
class Conflict:
    """A battle of which two verdicts name opposite winners. `is_settled`: a third person's counts instead of them."""

    of: str
    judge: str
    battle: CountedBattle
    is_settled: bool


Pair = tuple[CountedBattle, CountedBattle]
"""Two judgments of one battle."""


def agreements(
    people: Sequence[BattleVerdict], llms: Sequence[BattleVerdict]
) -> list[tuple[str, str, VerdictAgreement]]:
    """Compare people with each other, and each LLM, by its name, with people and with itself in the other order."""
    return [(of, judge, _agreement(pairs)) for of, judge, pairs in _compared(people, llms) if pairs]


def conflicts(people: Sequence[BattleVerdict], llms: Sequence[BattleVerdict]) -> list[Conflict]:
    """Return the battles of which two verdicts name opposite winners, from the side of the one that is named first."""
    settled = {name for name, of_battle in by_battle(people).items() if settled_conflict(of_battle)}
    by_battle_and_judge: dict[tuple[str, str, str], Conflict] = {}
    for of, judge, pairs in _compared(people, llms):
        for one, other in pairs:
            if (one.points - 0.5) * (other.points - 0.5) < 0:
                is_settled = of == PEOPLE and one.battle in settled
                by_battle_and_judge.setdefault((of, judge, one.battle), Conflict(of, judge, one, is_settled))
    return list(by_battle_and_judge.values())


def _compared(
    people: Sequence[BattleVerdict], llms: Sequence[BattleVerdict]
) -> Iterator[tuple[str, str, list[Pair]]]:
    by_llm: dict[str, list[BattleVerdict]] = defaultdict(list)
    for verdict in llms:
        by_llm[verdict.record.judge].append(verdict)
    yield PEOPLE, "", _repeated(people)
    for judge, verdicts in sorted(by_llm.items()):
        yield PEOPLE_AND_LLM, judge, _of_both(people, verdicts)
        yield BOTH_ORDERS, judge, _repeated(verdicts)


def _repeated(verdicts: Iterable[BattleVerdict]) -> list[Pair]:
    """Pairs of verdicts on the same battle, whoever gave them.

    A third person is asked only where two disagree, and would make the agreement of these count twice.
    """
    pairs: list[tuple[BattleVerdict, BattleVerdict]] = []
    for of_battle in by_battle(verdicts).values():
        settled = settled_conflict(of_battle)
        first = [verdict for verdict in of_battle if not settled or verdict is not settled[1]]
        pairs += combinations(first, 2)
    return [(as_counted(one), as_counted(other)) for one, other in pairs]


def _of_both(people: Iterable[BattleVerdict], llm: Iterable[BattleVerdict]) -> list[Pair]:
    by_llm = {battle.battle: battle for battle in counted_battles(llm)}
    return [(battle, by_llm[battle.battle]) for battle in counted_battles(people) if battle.battle in by_llm]


def _agreement(pairs: Sequence[Pair]) -> VerdictAgreement:
    _, topics = np.unique([one.topic_id for one, _ in pairs], return_inverse=True)
    one, other = (np.array([pair[side].points for pair in pairs]) for side in (0, 1))
    return verdict_agreement(outcomes(one), outcomes(other), topics.astype(np.int32))
