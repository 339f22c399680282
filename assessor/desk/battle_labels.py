"""Desk of battles: two answers to the topic side by side, and which is better."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assessor.desk.task_labels import SEPARATOR, JudgingDesk, TaskLabels
from assessor.models import TimeSegment
from assessor.rules.clock import ACTIVE
from evaluation.models import Task, TaskAnswer, Verdict
from evaluation.stages.battle import REASONS


def sides_of(row: TaskAnswer) -> tuple[int, int]:
    """Return the answers on the left and on the right of a battle, as this task has them."""
    if row.battle is None:
        raise ValueError(f"{row} is no battle")
    left, right = row.battle.left_id, row.battle.right_id
    return (right, left) if row.changed_sides else (left, right)


@dataclass(frozen=True, slots=True)
class ShownReason:
    code: str
    key: str
    caption: str


class BattleDesk(JudgingDesk):
    template, pane = "assessor/battle_rows.html", "Verdict"
    page = "assessor/battle.html"
    reasons = tuple(ShownReason(reason, *words) for reason, words in REASONS.items())

    def state(self, task: Task, work: TaskLabels) -> dict[str, Any]:
        return super().state(task, work) | {"sides": True}

    def frozen(self, task: Task, work: TaskLabels) -> Iterator[Verdict]:
        rows = {row.battle.public_id: row for row in battles_of(task.pk) if row.battle}
        stayed, seconds = _answers_that_stayed(task.pk), _seconds(task)
        for stored in (work.labels[key].stored for key in work.judgeable):
            row = rows[stored.unit]
            left, _ = sides_of(row)
            yield Verdict(
                battle_id=row.battle_id,
                left_id=left,
                label=stored.label,
                raw=stored.reason,
                reasons=stored.extras.get("reasons", []),
                second_opinion=task.second_opinion,
                place=row.position + 1,
                stayed_id=stayed.get(row.pk),
                seconds=seconds.get(stored.unit),
            )


def battles_of(task: int) -> Any:
    return TaskAnswer.objects.filter(task=task).select_related("battle").order_by("position")


def _answers_that_stayed(task: int) -> Mapping[int, int]:
    """Return, by row, the answer that the battle shares with the one seen before it; none where both or none are."""
    stayed: dict[int, int] = {}
    before: set[int] = set()
    for row in battles_of(task).filter(seen_at__isnull=False).order_by("seen_at", "position"):
        shared = before & set(sides_of(row))
        if len(shared) == 1:
            [stayed[row.pk]] = shared
        before = set(sides_of(row))
    return stayed


def _seconds(task: Task) -> Mapping[str, int]:
    """Return active seconds by battle, of all versions of the task."""
    spent: dict[str, float] = defaultdict(float)
    rows = TimeSegment.objects.filter(task=task, kind__in=ACTIVE)
    for item, start, end in rows.values_list("item", "started_at", "ended_at"):
        spent[item.partition(SEPARATOR)[0]] += (end - start).total_seconds()
    return {battle: round(seconds) for battle, seconds in spent.items()}
