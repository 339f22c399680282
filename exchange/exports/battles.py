"""Verdicts of battles as files, ours, RAGDoll's and arena-rank's, and battles as RAGDoll's tasks."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from evaluation.formats.battles import BattleForm, BattleRecord, BattleTask, task_line
from evaluation.imports.assignments import answer_objects
from evaluation.labels import BattleLabel
from evaluation.models import AnswerProvenance, BattleSet
from evaluation.rules.markdown import in_lines
from evaluation.terms import BattleCondition
from reports.battles.verdicts import counting_verdicts, current_verdicts

TURNED: Final = {BattleLabel.LEFT: BattleLabel.RIGHT, BattleLabel.RIGHT: BattleLabel.LEFT}


def battle_lines(battle_set: BattleSet, condition: BattleCondition, judge: str, form: BattleForm) -> Iterator[str]:
    """Yield the current verdicts in the order of the draw; other forms than ours have none that counts nowhere."""
    verdicts = current_verdicts(battle_set, condition, judge)
    if form.has_all:
        return _lines([(verdict.record, verdict.battle) for verdict in verdicts], form)
    counting = counting_verdicts(verdicts).items()
    return _lines(
        [(_as_drawn(verdict.record), name) for name, of_battle in counting for verdict in of_battle], form
    )


def task_lines(battle_set: BattleSet) -> Iterator[str]:
    """Yield the battles of a set in the order of the draw, judged or not, as an LLM is asked about them."""
    run_of = dict(
        AnswerProvenance.objects.filter(run__campaign=battle_set.campaign_id).values_list("answer", "run__run_id")
    )
    rows = list(battle_set.battles.values_list("topic__topic_id", "topic__text", "left", "right"))
    texts = answer_objects(sorted({answer for _, _, *sides in rows for answer in sides}))
    for topic, query, left, right in rows:
        task = BattleTask(0, topic, run_of[left], run_of[right])
        yield task_line(task, query, in_lines(texts[left]), in_lines(texts[right]))


def _as_drawn(record: BattleRecord) -> BattleRecord:
    """Return the verdict of a third person, who saw the sides changed, as one on the sides of the draw."""
    if not record.second:
        return record
    label = TURNED.get(record.label, record.label)
    return replace(record, left=record.right, right=record.left, label=label, second=False)


def _lines(verdicts: list[tuple[BattleRecord, str]], form: BattleForm) -> Iterator[str]:
    if form.header:
        yield form.header
    yield from (form.line(record, battle) for record, battle in verdicts if form.holds(record))
