"""Verdicts of battles as files: ours, RAGDoll's and arena-rank's."""

from collections.abc import Iterator

from evaluation.formats.battles import BattleForm, BattleRecord
from evaluation.models import BattleSet
from evaluation.terms import BattleCondition
from reports.battles.verdicts import current_verdicts


def battle_lines(battle_set: BattleSet, condition: BattleCondition, judge: str, form: BattleForm) -> Iterator[str]:
    """Yield the current verdicts in the order of the draw; other forms than ours have none that counts nowhere."""
    verdicts = current_verdicts(battle_set, condition, judge)
    return _lines([(verdict.record, verdict.battle) for verdict in verdicts], form)


def _lines(verdicts: list[tuple[BattleRecord, str]], form: BattleForm) -> Iterator[str]:
    if form.header:
        yield form.header
    yield from (form.line(record, battle) for record, battle in verdicts if form.holds(record))
