"""Battles of a set as work: each topic's in the order of its walk, for one person, and some for another as well."""

from collections import defaultdict
from collections.abc import Sequence

from django.db.models import QuerySet

from evaluation.battles import battle_set_named, own_minutes, runs_and_words
from evaluation.errors import no_such
from evaluation.labels import BattleLabel
from evaluation.models import (
    Battle,
    BattleSet,
    Campaign,
    SampledBattle,
    Task,
    TaskAnswer,
    Topic,
    Verdict,
)
from evaluation.rules.battles import DrawnBattle, in_tasks, in_turn, overlap, task_minutes
from evaluation.tasks.asking import asking_of
from evaluation.tasks.units import Order, Skipped, TopicUnit
from evaluation.terms import BattleWalk, JudgeKind
from web.statements import ROWS_A_STATEMENT

People = dict[int, dict[int | str, int | None]]
"""By battle, accounts that have it with their task, and whose verdicts a file brought with none.

Somebody without an account goes by the judge's name.
"""


def battle_units(campaign: Campaign, order: Order, topics: list[Topic]) -> tuple[list[TopicUnit], list[Skipped]]:
    """Return each topic's battles that nobody has yet.

    With `again`, a topic without any gives those judged twice, and those of which two people named opposite winners.

    Raises `Refused` where it is not clear which set is meant.
    """
    if order.instead:
        battle_set = BattleSet.objects.get(battles__in=_battles_of(order.instead)[:1])
    else:
        battle_set = battle_set_named(campaign, order.battles)
    runs, words = runs_and_words(campaign)
    rows = _meant(battle_set, order).select_related("topic")
    drawn = {
        DrawnBattle(row.topic.topic_id, runs[row.left_id], runs[row.right_id], row.round): row.pk for row in rows
    }
    people, first = _people(battle_set, order.instead)
    to_hand_out = _to_hand_out(order, battle_set, drawn, people, first)
    by_topic: dict[str, list[DrawnBattle]] = defaultdict(list)
    for battle, key in drawn.items():
        if key in to_hand_out:
            by_topic[battle.topic].append(battle)
    units, skipped = [], []
    protocol, own = campaign.protocol, own_minutes(campaign)
    for topic in topics:
        ordered = in_turn(BattleWalk(protocol.battle_order), battle_set.seed, by_topic[topic.topic_id])
        if not ordered:
            skipped.append(Skipped.of(topic, asking_of(order.stage).without))
            continue
        keys = tuple(drawn[battle] for battle in ordered)
        minutes = sum(task_minutes(part, words, own) for part in in_tasks(ordered, protocol.battle_task))
        holders = [holder for key in keys for holder in people[key].items()]
        units.append(
            TopicUnit(
                topic,
                round(minutes),
                answers=len(keys),
                labels=len(keys),
                battles=keys,
                holders=frozenset(task for _, task in holders if task),
                judged_by=frozenset(person for person, task in holders if not task and isinstance(person, int)),
                second_opinion=not first.isdisjoint(keys),
            )
        )
    return units, skipped


def _meant(battle_set: BattleSet, order: Order) -> QuerySet[Battle]:
    """Return a set's battles, or those of a sample. Raises `Refused` where there is none of that LLM."""
    battles = Battle.objects.filter(battle_set=battle_set)
    if not order.sample:
        return battles
    sampled = SampledBattle.objects.filter(judge__name=order.sample, chance__isnull=False)
    meant = battles.filter(pk__in=sampled.values("battle"))
    if not meant.exists():
        there = SampledBattle.objects.filter(battle__battle_set=battle_set).values_list("judge__name", flat=True)
        what = f"sample of {battle_set} for {order.sample}"
        raise no_such("no_such_sample", what, sorted(set(there.order_by())))
    return meant


def add_battles(task: Task, battles: Sequence[int]) -> None:
    """Give a new task its battles, with the sides changed for a second opinion."""
    TaskAnswer.objects.bulk_create(
        [
            TaskAnswer(task=task, battle_id=battle, position=place, changed_sides=task.second_opinion)
            for place, battle in enumerate(battles)
        ],
        batch_size=ROWS_A_STATEMENT,
    )


def _battles_of(task: str) -> list[int]:
    rows = TaskAnswer.objects.filter(task__public_id=task).order_by("position")
    return [battle for battle in rows.values_list("battle", flat=True) if battle]


def _people(battle_set: BattleSet, instead: str) -> tuple[People, set[int]]:
    """Return who has each battle, and battles of which somebody has the first verdict; without the task to replace."""
    people: People = defaultdict(dict)
    first = set[int]()
    rows = TaskAnswer.objects.filter(battle__battle_set=battle_set).exclude(task__public_id=instead)
    rows = rows.filter(Task.objects.all().not_withdrawn_q("task__"), battle__isnull=False)
    for battle, task, assessor, is_second in rows.values_list(
        "battle", "task", "task__assessor", "task__second_opinion"
    ):
        people[battle][assessor] = task
        if not is_second:
            first.add(battle)
    by_file = _by_people(battle_set).filter(event__kind="import.battles").order_by()
    for battle, account, name, is_second in by_file.values_list(
        "battle", "judge__user", "judge__name", "second_opinion"
    ):
        people[battle].setdefault(account or name, None)
        if not is_second:
            first.add(battle)
    return people, first


def _to_hand_out(
    order: Order, battle_set: BattleSet, drawn: dict[DrawnBattle, int], people: People, first: set[int]
) -> set[int]:
    if order.instead:
        return set(_battles_of(order.instead))
    free = {*drawn.values()} - first
    if not order.again:
        return free
    # A topic with battles that nobody has is handed out first.
    begun = {battle.topic for battle in drawn if drawn[battle] in free}
    share = battle_set.campaign.protocol.battle_overlap
    dealt = {battle for battle in drawn if battle.topic not in begun}
    there = {battle for battle in drawn if len(people[drawn[battle]]) > 1}
    twice = {drawn[battle] for battle in overlap(battle_set.seed, drawn, share, there) if battle in dealt}
    second = {battle for battle in twice if len(people[battle]) == 1}
    third = {drawn[battle] for battle in dealt} & _with_opposite_winners(battle_set)
    return free | second | {battle for battle in third if len(people[battle]) == 2}


def _by_people(battle_set: BattleSet) -> QuerySet[Verdict]:
    return Verdict.objects.current().filter(
        battle__battle_set=battle_set, judge__kind=JudgeKind.HUMAN, judge__aside=False
    )


def _with_opposite_winners(battle_set: BattleSet) -> set[int]:
    """Return the battles of which people gave all points to one answer, and all to the other."""
    decided = _by_people(battle_set).filter(label__in=(BattleLabel.LEFT, BattleLabel.RIGHT)).order_by()
    winners: dict[int, set[bool]] = defaultdict(set)
    for battle, label, left, first in decided.values_list("battle", "label", "left", "battle__left"):
        winners[battle].add((label == BattleLabel.LEFT) is (left == first))
    return {battle for battle, of_battle in winners.items() if len(of_battle) > 1}
