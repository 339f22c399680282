"""Agreement of verdicts on a set's battles, and battles in which people named opposite winners."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from reports.battles.verdicts import BattleVerdict, CountedBattle, as_counted, by_battle, counted_battles
from reports.metrics.battles.agreement import VerdictAgreement, outcomes, verdict_agreement

PEOPLE: Final = "people"
PEOPLE_AND_LLM: Final = "people and LLM"
BOTH_ORDERS: Final = "orders"


@dataclass(frozen=True, slots=True)
class AgreementOf:
    """Agreement of whom; `judge`: the LLM, '' where there is none."""

    of: str
    judge: str
    agreement: VerdictAgreement


Pair = tuple[CountedBattle, CountedBattle]
"""Two judgments of one battle."""


def agreements(people: Sequence[BattleVerdict], llms: Sequence[BattleVerdict]) -> list[AgreementOf]:
    """Compare people with each other, and each LLM with people and with itself in the other order."""
    by_llm: dict[str, list[BattleVerdict]] = defaultdict(list)
    for verdict in llms:
        by_llm[verdict.record.judge].append(verdict)
    compared = [(PEOPLE, "", _repeated(people))]
    for judge, verdicts in sorted(by_llm.items()):
        compared += [
            (PEOPLE_AND_LLM, judge, _of_both(people, verdicts)),
            (BOTH_ORDERS, judge, _repeated(verdicts)),
        ]
    return [AgreementOf(of, judge, _agreement(pairs)) for of, judge, pairs in compared if pairs]


def conflicts(people: Iterable[BattleVerdict]) -> list[CountedBattle]:
    """Return the battles in which people named opposite winners, from the side of the verdict that was given first."""
    pairs = _repeated(people)
    opposite = {one.battle: one for one, other in pairs if (one.points - 0.5) * (other.points - 0.5) < 0}
    return list(opposite.values())


def _repeated(verdicts: Iterable[BattleVerdict]) -> list[Pair]:
    """Pairs of verdicts on the same battle, whoever gave them."""
    several = (of_battle for of_battle in by_battle(verdicts).values() if len(of_battle) > 1)
    return [pair for of_battle in several for pair in combinations(map(as_counted, of_battle), 2)]


def _of_both(people: Iterable[BattleVerdict], llm: Iterable[BattleVerdict]) -> list[Pair]:
    by_llm = {battle.battle: battle for battle in counted_battles(llm)}
    return [(battle, by_llm[battle.battle]) for battle in counted_battles(people) if battle.battle in by_llm]


def _agreement(pairs: Sequence[Pair]) -> VerdictAgreement:
    _, topics = np.unique([one.topic_id for one, _ in pairs], return_inverse=True)
    one, other = (np.array([pair[side].points for pair in pairs]) for side in (0, 1))
    return verdict_agreement(outcomes(one), outcomes(other), topics.astype(np.int32))
