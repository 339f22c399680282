"""Desk of battles: two answers to the topic side by side, and which is better."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from assessor.desk.task_labels import SEPARATOR, JudgingDesk, TaskLabels
from assessor.models import TimeSegment
from assessor.rules.clock import ACTIVE
from evaluation.battles import BattleLook
from evaluation.errors import Refused
from evaluation.models import ListedNugget, NuggetList, Task, TaskAnswer, Verdict
from evaluation.stages.battle import REASONS
from evaluation.terms import BattleReason, BattleRubric, BattleShow, Origin


def sides_of(row: TaskAnswer) -> tuple[int, int]:
    if row.battle is None:
        raise ValueError(f"{row} is no battle")
    left, right = row.battle.left_id, row.battle.right_id
    return (right, left) if row.changed_sides else (left, right)


@dataclass(frozen=True, slots=True)
class ShownReason:
    code: str
    key: str
    caption: str


def look_of(task: Task) -> BattleLook:
    designs = battles_of(task.pk).values_list("battle__battle_set__design", flat=True)
    return BattleLook.of(task.protocol, designs.first() or {})


def reasons_of(task: Task) -> list[str]:
    """Return the reasons that may be given: none where none are asked for, evidence only where citations are shown."""
    if not task.protocol.battle_reasons:
        return []
    shows_citations = look_of(task).show != BattleShow.ANSWER
    return [reason for reason in REASONS if reason != BattleReason.EVIDENCE or shows_citations]


RUBRICS: Final = (Origin.EDITED, Origin.MANUAL, Origin.AUTO)


def rubric_of(task: Task) -> list[str]:
    """Return the topic's nuggets, where the battle set shows them: of an edited list before others, the first made."""
    if look_of(task).rubric != BattleRubric.NUGGETS:
        return []
    lists = NuggetList.objects.newest_submitted().filter(
        topic=task.topic_id, nugget_set__campaign=task.campaign_id
    )
    places = {origin: place for place, origin in enumerate(RUBRICS)}
    fitting = [row for row in lists.select_related("nugget_set") if row.nugget_set.origin in places]
    if not fitting:
        return []
    # By key: the same list for everybody, whoever submits another one meanwhile.
    first = min(fitting, key=lambda row: (places[Origin(row.nugget_set.origin)], row.nugget_set_id))
    listed = ListedNugget.objects.filter(nugget_list=first).order_by("position")
    return list(listed.values_list("nugget_version__text", flat=True))


class BattleDesk(JudgingDesk):
    template, pane = "assessor/battle_rows.html", "Verdict"
    page = "assessor/battle.html"
    reasons = tuple(ShownReason(reason, *words) for reason, words in REASONS.items())

    def state(self, task: Task, work: TaskLabels) -> dict[str, Any]:
        more = {"sides": True, "reasons": reasons_of(task), "rubric": rubric_of(task)}
        return super().state(task, work) | more

    def check_extras(self, task: int, extras: Mapping[str, Any]) -> None:
        allowed = reasons_of(Task.objects.select_related("protocol").get(pk=task))
        if others := [reason for reason in extras.get("reasons", []) if reason not in allowed]:
            caption = REASONS[BattleReason(others[0])][1]
            why = "where no citations are shown" if allowed else "here: none are asked for"
            raise Refused("no_such_label", f"{caption} is no reason {why}.")

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
