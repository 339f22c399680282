"""Drawing battles by the command: what is said before, what is stored, and what grows."""

from pathlib import Path

import pytest

from evaluation.models import AnswerProvenance, Battle, BattleSet, Event
from tests.reports.battles.worlds import load_runs
from tests.worlds.imported import answer, everything, load, refuse, sentence, write

pytestmark = pytest.mark.django_db
TOPICS = ("t1", "t2", "t3")


def stored(name: str = "battles") -> list[str]:
    run_of = dict(AnswerProvenance.objects.values_list("answer", "run__run_id"))
    rows = Battle.objects.filter(battle_set__name=name).order_by("pk")
    return [f"{row.topic.topic_id} {run_of[row.left_id]}-{run_of[row.right_id]} {row.round}" for row in rows]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    load_runs(tmp_path, "abcd", TOPICS)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_dry_run_says_what_would_be_drawn_and_draws_nothing() -> None:
    before = everything()
    shown = load("draw_battles", "--rounds", 2, "--seed", "demo", "--dry-run")
    assert "battles: 4 runs, 3 topics, 2 rounds, seed demo. 12 battles in 3 tasks, about 24 min." in shown.err
    assert "Win rates to expect: ± " in shown.err
    assert everything() == before


def test_hours_go_by_what_battles_took_here_once_twenty_are_known(tmp_path: Path) -> None:
    load_runs(tmp_path, "abcd", [f"t{place}" for place in range(8)])
    load("draw_battles", "--rounds", 3)
    rows = [
        {"topic_id": topic, "left": sides[0], "right": sides[2], "verdict": "tie", "judge": "ann", "seconds": 90}
        for topic, sides, _ in map(str.split, stored())
    ]
    for number, hours in ((19, "1 h 25 min"), (20, "1 h 24 min")):
        load("import_battles", "--by", "human", write(tmp_path, f"{number}.jsonl", rows[:number]))
        # 48 battles of 8 topics, and 8 of 6 topics that a second person judges too: 14 narratives of 2 minutes,
        # 56 battles of 1, and half a minute of words; or 56 battles of a minute and a half.
        assert f"about {hours}" in load("draw_battles", "--set", "more", "--dry-run").err


@pytest.mark.usefixtures("folder")
def test_a_set_grows_by_rounds_and_keeps_what_it_has() -> None:
    load("draw_battles", "--rounds", 1, "--seed", "demo")
    first = stored()
    assert first == ["t2 c-a 1", "t2 b-d 1", "t3 a-b 1", "t3 d-c 1", "t1 a-d 1", "t1 c-b 1"]
    load("draw_battles", "--rounds", 2)
    second = ["t2 b-a 2", "t2 d-c 2", "t3 a-d 2", "t3 b-c 2", "t1 c-a 2", "t1 b-d 2"]
    assert stored() == [*first, *second]
    assert "nothing was drawn" in refuse("draw_battles", "--rounds", 2)
    assert "no battle is taken back" in refuse("draw_battles", "--rounds", 1, code=2)
    assert "with seed demo" in refuse("draw_battles", "--rounds", 3, "--seed", "other", code=2)
    assert [event.kind for event in Event.objects.filter(kind__startswith="battles").order_by("pk")] == [
        "battles.drawn",
        "battles.grown",
    ]


@pytest.mark.usefixtures("folder")
def test_runs_and_topics_are_added_by_name() -> None:
    load("draw_battles", "--rounds", 1, "--runs", "a", "b", "c", "--topics", "t1", "t2")
    earlier = stored()
    load("draw_battles", "--runs", "d", "--topics", "t3")
    assert stored()[: len(earlier)] == earlier
    assert sorted(row[:2] for row in stored() if "d" in row) == ["t1", "t2", "t3"]
    assert BattleSet.objects.get().design["joined"] == ["d"]


@pytest.mark.parametrize("named", [(), ("--runs", "d")])
def test_controls_are_added_to_a_set_that_is_there(folder: Path, named: tuple[str, ...]) -> None:
    lines = [answer("quiet", topic, sentence("It is quiet.")) for topic in TOPICS]
    load("import_run", "--task", "RAG", "--control", write(folder, "quiet.jsonl", lines))
    load("draw_battles", "--rounds", 1, "--runs", "a", "b", "c")
    earlier = stored()
    load("draw_battles", *named, "--controls")
    assert stored()[: len(earlier)] == earlier
    assert sorted(BattleSet.objects.get().design["joined"]) == [*named[1:], "quiet"]
    assert "nothing was drawn" in refuse("draw_battles", "--controls")


def test_controls_meet_the_runs_that_are_named(folder: Path) -> None:
    lines = [answer("quiet", topic, sentence("It is quiet.")) for topic in TOPICS]
    load("import_run", "--task", "RAG", "--control", write(folder, "quiet.jsonl", lines))
    load("draw_battles", "--runs", "a", "b", "--controls")
    assert sorted(BattleSet.objects.get().design["runs"]) == ["a", "b", "quiet"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("--runs", "a", "z"), 1, "There is no run z in river."),
        (("--topics", "t9"), 1, "There is no topic t9 in river."),
        (("--runs", "a"), 1, "needs two runs or more"),
        (("--rounds", 4), 2, "Rounds of 4 runs: from 1 to 3"),
        (("--rounds", 0), 2, "Rounds of 4 runs: from 1 to 3"),
        (("--set", "=x"), 1, "battle set: something that does not begin with"),
        (("--seed", "x" * 61), 2, "A seed has 1 to 60 characters"),
    ],
)
def test_what_cannot_be_drawn_is_refused(words: tuple[object, ...], code: int, text: str) -> None:
    assert text in refuse("draw_battles", *words, code=code)


def test_a_missing_answer_loses_by_rule_or_is_not_drawn(tmp_path: Path) -> None:
    load_runs(tmp_path, "abcd", TOPICS, lacking=[("t1", "a"), ("t2", "a"), ("t2", "b")])
    shown = load("draw_battles", "--set", "zero", "--rounds", 3)
    assert "12 battles in 3 tasks" not in shown.err
    assert "8 more are decided by rule: an answer is missing." in shown.err
    assert len(stored("zero")) == 10
    decided = {(topic, left, right): points for topic, left, right, _, points in by_rule("zero")}
    assert {points for (_, left, _), points in decided.items() if left == "a"} <= {0.0, 0.5}
    assert next(points for key, points in decided.items() if set(key) == {"t2", "a", "b"}) == 0.5
    load("draw_battles", "--set", "skip", "--rounds", 3, "--missing", "skip")
    assert by_rule("skip") == []
    meetings = [(topic, set(pair.split("-"))) for topic, pair, _ in map(str.split, stored("skip"))]
    assert [len([pair for topic, pair in meetings if topic == name]) for name in TOPICS] == [3, 1, 6]
    assert not any("a" in pair for topic, pair in meetings if topic != "t3")


def by_rule(name: str) -> list[tuple[str, str, str, int, float]]:
    return [tuple(row) for row in BattleSet.objects.get(name=name).design["by_rule"]]
