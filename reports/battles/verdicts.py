"""Verdicts of a battle set, as the report and the export read them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from math import log2, nan
from operator import attrgetter
from statistics import fmean

import numpy as np

from evaluation.errors import Refused
from evaluation.formats.battles import BattleRecord
from evaluation.labels import LEFT_POINTS, BattleLabel
from evaluation.models import AnswerProvenance, BattleSet, Verdict
from evaluation.stages.battle import LEFT, RIGHT
from evaluation.terms import BattleCondition, JudgeKind
from reports.metrics.battles.sheet import BattleSheet


@dataclass(frozen=True, slots=True)
class BattleVerdict:
    """A current verdict, with the public id of its battle. `words`: of the answer on the left and on the right."""

    battle: str
    record: BattleRecord
    words: tuple[int, int]

    @property
    def topic_id(self) -> str:
        return self.record.topic_id

    @property
    def second(self) -> bool:
        return self.record.second

    @property
    def runs(self) -> tuple[str, str]:
        """The two runs by name: whatever the sides, the same for all who judge the battle."""
        left, right = self.record.left, self.record.right
        return (left, right) if left < right else (right, left)

    @property
    def left_points(self) -> float | None:
        return LEFT_POINTS.get(self.record.label)

    @property
    def stayed_points(self) -> float | None:
        """Points of the answer that was on the screen just before; None where there are none, or none was."""
        of_left = self.left_points
        if of_left is None or not self.record.stayed:
            return None
        return of_left if self.record.stayed == LEFT else 1 - of_left

    @property
    def points(self) -> float | None:
        """Points of the first run by name."""
        of_left = self.left_points
        return of_left if of_left is None or self.record.left == self.runs[0] else 1 - of_left


@dataclass(frozen=True, slots=True)
class CountedBattle:
    """A battle that counts, `points` being those of the first run. `length`: log2 of its words over the other's."""

    topic_id: str
    first: str
    second: str
    points: float
    is_bad: bool = False
    is_split: bool = False
    length: float = nan
    battle: str = ""
    reasons: tuple[str, ...] = ()


IN_ORDER = attrgetter(*(field.name for field in fields(CountedBattle)))


def current_verdicts(battle_set: BattleSet, condition: BattleCondition, judge: str = "") -> list[BattleVerdict]:
    """Return the verdicts of people, or of an LLM, in the order of the draw.

    Raises `Refused`: nobody judged, and several LLMs of which none is named.
    """
    verdicts = verdicts_by(battle_set, condition.judge_kind)
    names = sorted({verdict.record.judge for verdict in verdicts})
    if judge and judge not in names:
        text = f"{judge} judged no battle of {battle_set}; there are: {', '.join(names) or 'none'}."
        raise Refused("no_labels", text, field="judge", choices=names)
    if not names:
        raise Refused("no_labels", f"No battle of {battle_set} was judged under {condition}.")
    if not judge and len(names) > 1 and condition.judge_kind is JudgeKind.LLM:
        raise Refused("ambiguous", f"Say which judge: {', '.join(names)}.", field="judge", choices=names)
    return [verdict for verdict in verdicts if not judge or verdict.record.judge == judge]


def verdicts_by(battle_set: BattleSet, kind: JudgeKind) -> list[BattleVerdict]:
    """Return all current verdicts of people, or of LLMs, in the order of the draw."""
    return list(_rows(battle_set, kind))


def _rows(battle_set: BattleSet, kind: JudgeKind) -> Iterator[BattleVerdict]:
    provenance = AnswerProvenance.objects.filter(run__campaign=battle_set.campaign_id)
    answers = {
        key: (run, words) for key, run, words in provenance.values_list("answer", "run__run_id", "answer__words")
    }
    verdicts = Verdict.objects.current().filter(
        battle__battle_set=battle_set, judge__kind=kind, judge__aside=False
    )
    battle = ("public_id", "topic__topic_id", "left", "right", "round")
    own = ("left", "label", "raw", "reasons", "judge__name", "second_opinion", "place", "stayed", "seconds")
    rows = verdicts.order_by("battle", "second_opinion", "pk").values_list(
        *(f"battle__{name}" for name in battle), *own
    )
    for row in rows.iterator():
        public_id, topic_id, one, other, number = row[: len(battle)]
        left, label, raw, reasons, judge, second, place, stayed, seconds = row[len(battle) :]
        (left_run, left_words), (right_run, right_words) = answers[left], answers[other if left == one else one]
        record = BattleRecord(
            *(0, topic_id, left_run, right_run, BattleLabel(label)),
            raw=raw,
            reasons=tuple(reasons),
            judge=judge,
            round=number,
            second=second,
            place=place,
            stayed="" if stayed is None else LEFT if stayed == left else RIGHT,
            seconds=seconds,
        )
        yield BattleVerdict(public_id, record, (left_words, right_words))


def by_battle(verdicts: Iterable[BattleVerdict]) -> dict[str, list[BattleVerdict]]:
    """Return the verdicts that have points by their battles, in their order."""
    grouped: dict[str, list[BattleVerdict]] = {}
    for verdict in verdicts:
        if verdict.left_points is not None:
            grouped.setdefault(verdict.battle, []).append(verdict)
    return grouped


def counting_verdicts(verdicts: Iterable[BattleVerdict]) -> dict[str, list[BattleVerdict]]:
    """Return by battle the verdicts that count: those that are no second opinion, or a third person's alone."""
    grouped: dict[str, list[BattleVerdict]] = {}
    for verdict in verdicts:
        grouped.setdefault(verdict.battle, []).append(verdict)
    return {battle: _counting(of_battle) for battle, of_battle in grouped.items()}


def _counting(of_battle: Sequence[BattleVerdict]) -> list[BattleVerdict]:
    settled = settled_conflict([verdict for verdict in of_battle if verdict.points is not None])
    return [settled[1]] if settled else [verdict for verdict in of_battle if not verdict.second]


def settled_conflict(
    of_battle: Sequence[BattleVerdict],
) -> tuple[BattleVerdict, BattleVerdict, BattleVerdict] | None:
    """Return the verdicts for one run, of a third person, and for the other run, where two named opposite winners.

    The third's is the one in the middle, whoever judged last: the other two lie on either side of whatever it says.
    """
    if len(of_battle) != 3 or sum(not verdict.second for verdict in of_battle) != 1:
        return None
    low, middle, high = sorted(of_battle, key=lambda verdict: verdict.points or 0.0)
    return (low, middle, high) if {low.points, high.points} == {0.0, 1.0} else None


def counted_battles(verdicts: Iterable[BattleVerdict]) -> list[CountedBattle]:
    """Count each battle once, by the mean of the verdicts that count: an LLM's two orders are two."""
    counting = (verdict for of_battle in counting_verdicts(verdicts).values() for verdict in of_battle)
    return [as_counted(*of_battle) for of_battle in by_battle(counting).values()]


def as_counted(*verdicts: BattleVerdict) -> CountedBattle:
    one = verdicts[0]
    points = [verdict.points for verdict in verdicts if verdict.points is not None]
    left, right = one.words
    length = log2(left / right) if left and right else nan
    return CountedBattle(
        one.topic_id,
        *one.runs,
        points=fmean(points),
        is_bad=all(verdict.record.label is BattleLabel.BAD for verdict in verdicts),
        # Several people who differ are no question of sides.
        is_split={0.0, 1.0} <= set(points) and len({verdict.record.judge for verdict in verdicts}) == 1,
        length=length if one.record.left == one.runs[0] else -length,
        battle=one.battle,
        reasons=tuple(dict.fromkeys(reason for verdict in verdicts for reason in verdict.record.reasons)),
    )


def sheet_of(battle_set: BattleSet, battles: Iterable[CountedBattle]) -> BattleSheet:
    """Return battles as arrays, with those of missing answers as they are decided by rule, and all runs of the set."""
    design = battle_set.design
    by_rule = [
        CountedBattle(topic, left, right, points) for topic, left, right, _, points in design.get("by_rule", ())
    ]
    return plain_sheet([*battles, *by_rule], (*design.get("runs", ()), *design.get("joined", ())))


def sheet_of_sides(verdicts: Iterable[BattleVerdict]) -> BattleSheet:
    """Return verdicts that are no second opinion as battles whose first answer was on the left."""
    return plain_sheet(
        CountedBattle(verdict.topic_id, verdict.record.left, verdict.record.right, verdict.left_points)
        for verdict in verdicts
        if verdict.left_points is not None and not verdict.second
    )


def plain_sheet(battles: Iterable[CountedBattle], run_ids: Iterable[str] = ()) -> BattleSheet:
    """Return battles as arrays, with runs that may have none."""
    # In an order of their own: sums of another order differ in their last bits.
    rows = sorted(battles, key=IN_ORDER)
    met = (run for row in rows for run in (row.first, row.second))
    runs = sorted({*run_ids, *met})
    topics = sorted({row.topic_id for row in rows})
    run_at, topic_at = ({name: place for place, name in enumerate(names)} for names in (runs, topics))
    return BattleSheet(
        run_ids=tuple(runs),
        topic_ids=tuple(topics),
        topic=np.array([topic_at[row.topic_id] for row in rows], dtype=np.int32),
        first=np.array([run_at[row.first] for row in rows], dtype=np.int32),
        second=np.array([run_at[row.second] for row in rows], dtype=np.int32),
        points=np.array([row.points for row in rows], dtype=np.float64),
        lengths=np.array([row.length for row in rows], dtype=np.float64),
        bad=np.array([row.is_bad for row in rows], dtype=np.bool_),
        split=np.array([row.is_split for row in rows], dtype=np.bool_),
    )
