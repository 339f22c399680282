"""The draw of battles: who meets whom, on which side, and in which order a topic's battles are judged."""

from collections import Counter
from itertools import product

import pytest

from evaluation.rules.battles import (
    BattleTerms,
    DrawnBattle,
    deal,
    in_tasks,
    new_terms,
    share_of,
    task_minutes,
    walk,
)

FEW = ("abcd", ("t1", "t2", "t3"))


def pairs(battles: list[DrawnBattle]) -> list[str]:
    return [f"{battle.topic} {battle.left}-{battle.right}" for battle in battles]


def terms(runs: int, topics: int, rounds: int) -> BattleTerms:
    names = [f"r{number}" for number in range(runs)], [f"t{number}" for number in range(topics)]
    return new_terms("seed", *names, rounds, "zero")


def drawn(drawn_by: BattleTerms) -> list[DrawnBattle]:
    return deal(drawn_by, set(product(drawn_by.topics, drawn_by.all_runs)))


def test_four_runs_meet_in_three_topics() -> None:
    battles = drawn(new_terms("demo", *FEW, 2, "zero"))
    first = ["t2 c-a", "t2 b-d", "t3 a-b", "t3 d-c", "t1 a-d", "t1 c-b"]
    assert pairs(battles) == [*first, "t2 b-a", "t2 d-c", "t3 a-d", "t3 b-c", "t1 c-a", "t1 b-d"]
    assert pairs(drawn(new_terms("demo", *FEW, 1, "zero"))) == first


def test_the_walk_keeps_an_answer_on_the_screen() -> None:
    battles = [battle for battle in drawn(new_terms("demo", *FEW, 2, "zero")) if battle.topic == "t1"]
    assert [set(battle.runs) for battle in walk("demo", battles)] == [set("bd"), set("ad"), set("ac"), set("bc")]


@pytest.mark.parametrize(
    ("runs", "topics", "rounds", "battles", "meetings", "hours"),
    [
        (7, 49, 1, 147, {7}, 12),
        (7, 49, 2, 294, {14}, 16),
        (7, 49, 4, 588, {28}, 21),
        (7, 49, 7, 1029, {49}, 28),
        (83, 119, 1, 4879, {1, 2}, 363),
        (83, 119, 2, 9758, {2, 3}, 458),
    ],
)
def test_every_pair_meets_equally_often(
    runs: int, topics: int, rounds: int, battles: int, meetings: set[int], hours: int
) -> None:
    by = terms(runs, topics, rounds)
    all_battles = drawn(by)
    assert len(all_battles) == battles
    assert set(Counter(battle.runs for battle in all_battles).values()) == meetings
    assert len({(battle.topic, battle.runs) for battle in all_battles}) == battles
    by_topic = ([battle for battle in all_battles if battle.topic == topic] for topic in by.topics)
    tasks = [task for of_topic in by_topic for task in in_tasks(walk("seed", of_topic), 40)]
    words = dict.fromkeys(product(by.topics, by.runs), 400)
    assert round(sum(task_minutes(task, words) for task in tasks) / 60) == hours
    assert max(map(len, tasks)) <= 40


def test_more_rounds_keep_the_battles_of_earlier_ones() -> None:
    few, many = (terms(6, 9, rounds) for rounds in (2, 4))
    earlier = drawn(few)
    added = deal(many, set(product(many.topics, many.runs)), few, earlier)
    assert set(earlier) | set(added) == set(drawn(many))
    assert not set(earlier) & set(added)


def test_a_run_and_a_topic_that_come_later_meet_all_alike() -> None:
    before = terms(6, 10, 2)
    earlier = drawn(before)
    after = BattleTerms(before.seed, before.runs, ("late",), (*before.topics, "last"), before.spacing, 2)
    added = deal(after, set(product(after.topics, after.all_runs)), before, earlier)
    assert {battle.topic for battle in added if "late" not in battle.runs} == {"last"}
    assert Counter(battle.topic for battle in added if "late" in battle.runs) == dict.fromkeys(after.topics, 2)
    opponents = Counter(run for battle in added for run in battle.runs if "late" in battle.runs and run != "late")
    assert sorted(opponents.values()) == [3, 3, 4, 4, 4, 4]


def test_runs_whose_opponents_did_not_answer_meet_each_other() -> None:
    by = new_terms("seed", "abcdef", ["t"], 3, "skip")
    answered = {("t", run) for run in "abcd"}
    battles = deal(by, answered)
    assert all(battle.runs <= set("abcd") for battle in battles)
    assert len(battles) == len({battle.runs for battle in battles}) == 6


@pytest.mark.parametrize("percent", range(1, 101))
def test_a_share_of_battles_is_rounded_up_as_written(percent: int) -> None:
    """In floats .07 of 100 battles are 8."""
    rounded_up = [-(-percent * number // 100) for number in range(400)]
    assert [share_of(percent / 100, number) for number in range(400)] == rounded_up
