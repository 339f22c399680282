"""Samples of battles: an LLM judged all battles of a set, and people a part of them, drawn by what the LLM said."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction

from accounts.models import User
from evaluation.battles import battle_set_named, own_minutes, runs_and_words
from evaluation.errors import Refused
from evaluation.labelling import touch
from evaluation.models import BattleSet, Campaign, Event, Judge, SampledBattle
from evaluation.rules.battles import DrawnBattle, people_sample, task_minutes, topic_tasks
from evaluation.terms import BattleCondition, BattleWalk, JudgeKind
from reports.battles.verdicts import BattleVerdict, counted_battles, current_verdicts
from web.statements import ROWS_A_STATEMENT

DECIDED, TIED, FAILED = "decided", "tied", "failed"
Class = tuple[int, str]
"""Block of the sample, and what the LLM said."""


@dataclass(frozen=True, slots=True)
class SampleOrder:
    """Order of a sample. `name`: the battle set, '' for the only one; `judge`: the LLM, '' for the only one.

    `number`: battles that people then have to judge in all.
    """

    number: int
    name: str = ""
    judge: str = ""


@dataclass(frozen=True, slots=True)
class SampleDraw:
    """Battles that people are to judge: `drawn` of `battles`, of which `new` come in `tasks` and `hours`."""

    battle_set: BattleSet
    judge: str
    battles: int
    drawn: int
    new: int
    tasks: int
    hours: float


def draw_sample(*, campaign: Campaign, order: SampleOrder, actor: User | None = None) -> SampleDraw:
    """Draw a sample, or more of one; battles that came in since, and those drawn before, are kept apart and stay.

    Raises `Refused`: battles that the LLM has not judged, fewer than are drawn already, more than there are.
    """
    with transaction.atomic():
        # Two draws of one sample would both find the same battles new.
        locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
        plan = _planned(locked, order)
        draw = plan.draw
        payload = {"name": draw.battle_set.name, "judge": draw.judge, "battles": draw.battles, "drawn": draw.drawn}
        Event.objects.create(campaign=locked, kind="battles.sampled", actor=actor, payload=payload)
        SampledBattle.objects.bulk_create(plan.new, batch_size=ROWS_A_STATEMENT)
        SampledBattle.objects.bulk_update(plan.there, ["chance"], batch_size=ROWS_A_STATEMENT)
        touch(locked.pk)
    return draw


def forecast_sample(*, campaign: Campaign, order: SampleOrder) -> SampleDraw:
    """Return what `draw_sample` would, drawing nothing. Raises `Refused` as that does."""
    return _planned(campaign, order).draw


def sample_judges(battle_set: BattleSet) -> list[str]:
    rows = SampledBattle.objects.filter(battle__battle_set=battle_set)
    return sorted(set(rows.order_by().values_list("judge__name", flat=True)))


@dataclass(frozen=True, slots=True)
class _SamplePlan:
    new: list[SampledBattle]
    there: list[SampledBattle]
    draw: SampleDraw


def _planned(campaign: Campaign, order: SampleOrder) -> _SamplePlan:
    battle_set = battle_set_named(campaign, order.name)
    verdicts = current_verdicts(battle_set, BattleCondition.LLM, order.judge)
    judge = Judge.objects.get(kind=JudgeKind.LLM, name=verdicts[0].record.judge)
    battles, words = named_battles(battle_set)
    there = list(SampledBattle.objects.filter(battle__in=battles, judge=judge))
    before = {row.battle_id for row in there}
    new = _new_rows(judge, verdicts, {key: name for key, name in battles.items() if key not in before}, there)
    drawn_before = {battles[row.battle_id] for row in there if row.chance is not None}
    _check(order, battle_set, judge, len(drawn_before), len(battles))
    rows = {battles[row.battle_id]: row for row in [*there, *new]}
    classes: dict[Class, list[DrawnBattle]] = defaultdict(list)
    for battle, row in rows.items():
        classes[row.block, _said(row.points)].append(battle)
    numbers = {name: len(drawn_before.intersection(of_class)) for name, of_class in classes.items()}
    # In the order of their names: equal remainders go by it.
    drawn = people_sample(battle_set.seed, dict(sorted(classes.items())), order.number, numbers)
    for name, of_class in drawn.items():
        for battle in of_class:
            rows[battle].chance = len(of_class) / len(classes[name])
    to_judge = [battle for of_class in drawn.values() for battle in of_class if battle not in drawn_before]
    if not (to_judge or new):
        raise Refused("no_battles", f"{len(drawn_before):,} battles are drawn already: nothing was drawn.")
    protocol, own = battle_set.campaign.protocol, own_minutes(battle_set.campaign)
    tasks = topic_tasks(battle_set.seed, to_judge, BattleWalk(protocol.battle_order), protocol.battle_task)
    return _SamplePlan(
        new,
        there,
        SampleDraw(
            battle_set=battle_set,
            judge=judge.name,
            battles=len(rows),
            drawn=len(drawn_before) + len(to_judge),
            new=len(to_judge),
            tasks=len(tasks),
            hours=sum(task_minutes(task, words, own) for task in tasks) / 60,
        ),
    )


def named_battles(battle_set: BattleSet) -> tuple[dict[int, DrawnBattle], dict[tuple[str, str], int]]:
    """Return a set's battles by key, and the words of each answer by topic and run."""
    runs, words = runs_and_words(battle_set.campaign)
    battles = battle_set.battles.values_list("pk", "topic__topic_id", "left", "right", "round")
    return {
        key: DrawnBattle(topic, runs[left], runs[right], number) for key, topic, left, right, number in battles
    }, words


def _new_rows(
    judge: Judge, verdicts: list[BattleVerdict], battles: Mapping[int, DrawnBattle], there: list[SampledBattle]
) -> list[SampledBattle]:
    """Return battles that come in. Raises `Refused` for those that the LLM has not judged."""
    judged = {(verdict.topic_id, frozenset(verdict.runs)) for verdict in verdicts}
    points = {(row.topic_id, frozenset((row.first, row.second))): row.points for row in counted_battles(verdicts)}
    if lacking := sum((battle.topic, battle.runs) not in judged for battle in battles.values()):
        text = f"{lacking:,} of its battles were not judged by {judge}: a sample is drawn from what an LLM judged."
        raise Refused("not_judged", text, field="judge")
    block = max((row.block for row in there), default=-1) + 1
    rows = []
    for key, battle in battles.items():
        of_first = points.get((battle.topic, battle.runs))
        of_left = of_first if of_first is None or battle.left == min(battle.runs) else 1 - of_first
        rows.append(SampledBattle(battle_id=key, judge=judge, points=of_left, block=block))
    return rows


def _check(order: SampleOrder, battle_set: BattleSet, judge: Judge, drawn: int, battles: int) -> None:
    if order.number < drawn:
        text = f"{drawn:,} battles of {battle_set} are drawn for {judge} already: none is taken back."
        raise Refused("usage", text, field="number")
    if not 1 <= order.number <= battles:
        raise Refused("usage", f"A sample of {battle_set}: 1 to {battles:,} battles.", field="number")


def _said(points: float | None) -> str:
    if points is None:
        return FAILED
    return TIED if points == 0.5 else DECIDED
