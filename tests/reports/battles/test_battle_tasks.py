"""Battles without verdicts, as RAGDoll's tasks: out, and into a set of their own."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.labels import BattleLabel
from evaluation.models import AnswerProvenance, Battle, BattleSet, Event, Verdict
from tests.reports.battles.test_battles_report import BATTLES, FEW, verdicts
from tests.reports.battles.worlds import load_runs
from tests.worlds.imported import load, refuse, report, run, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    load_runs(tmp_path, "abcd", ("t1", "t2", "t3"))
    return tmp_path


def task(topic: str, left: str, right: str, **more: Any) -> dict[str, Any]:
    """Shape of a line as RAGDoll writes it."""
    first, second = sorted((left, right))
    metadata = {"pair": [first, second], "qid": topic, "query": f"what is {topic}"}
    metadata |= {"assistant_a_run_id": left, "assistant_b_run_id": right, "prompt": "ANY"}
    line = {"task_id": f"arena:{first}:{second}:{topic}", "evaluator": "arena", "system_prompt": ""}
    return line | {"instruction": "Which?", "metadata": metadata} | more


def drawn(battle_set: str) -> list[tuple[str, str]]:
    runs = dict(AnswerProvenance.objects.values_list("answer", "run__run_id"))
    rows = Battle.objects.filter(battle_set__name=battle_set).values_list("topic__topic_id", "left", "right")
    return [(topic, f"{runs[left]}-{runs[right]}") for topic, left, right in rows]


def test_tasks_make_a_set_whose_verdicts_give_its_figures(folder: Path) -> None:
    tasks = [task(*battle.replace("-", " ").split()) for battle in BATTLES]
    swapped = task("t2", "a", "c", task_id="arena:a:c:t2:swapped")
    file = write(folder, "tasks.jsonl", [swapped, *tasks])
    assert "12 battles added" in load("import_battles", "--by", "llm", file).err
    assert sorted(drawn("imported")) == sorted(tuple(battle.split()) for battle in BATTLES)
    assert not Verdict.objects.exists()
    assert "Nothing changed" in load("import_battles", "--by", "llm", "--form", "ragdoll", file).err
    load("import_battles", "--by", "human", write(folder, "verdicts.jsonl", verdicts()))
    rates = {row["run_id"]: row["win_rate"] for row in report("battles", *FEW)["runs"]}
    assert rates == pytest.approx({"a": 2 / 3, "b": 0.5, "c": 7 / 12, "d": 0.25})
    assert BattleSet.objects.count() == 1


def test_a_set_leaves_as_tasks_and_comes_back(folder: Path) -> None:
    load("draw_battles", "--seed", "demo", "--rounds", 2)
    path = folder / "tasks.jsonl"
    assert run("export", "battles", "--campaign", "river", "--form", "tasks", "--output", path).code == 0
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert {"task_id", "evaluator", "system_prompt", "instruction", "metadata"} == lines[0].keys()
    assert (lines[0]["task_id"], lines[0]["metadata"]["pair"]) == ("arena:a:c:t2", ["a", "c"])
    asked = lines[0]["instruction"]
    assert [asked.index(text) for text in ("what is t2", "It is c.", "It is a.", "[[Tie (Both Bad)]]")] == sorted(
        asked.index(text) for text in ("what is t2", "It is c.", "It is a.", "[[Tie (Both Bad)]]")
    )
    load("import_battles", "--by", "llm", "--set", "imported", path)
    assert drawn("imported") == drawn("battles") == [tuple(battle.split()) for battle in BATTLES]


def test_tasks_are_taken_back_until_they_are_judged(folder: Path) -> None:
    file = write(folder, "tasks.jsonl", [task("t1", "a", "b"), task("t2", "c", "b")])
    load("import_battles", "--by", "llm", file)
    event = Event.objects.get(kind="import.battles")
    row = {"topic_id": "t1", "left": "a", "right": "b", "verdict": "tie", "judge": "ann"}
    load("import_battles", "--by", "human", "--set", "imported", write(folder, "verdicts.jsonl", [row]))
    assert "this rests on it: 1 battle verdict" in refuse("undo_import", f"e{event.pk}")
    load("import_battles", "--by", "human", write(folder, "verdicts.jsonl", [row]))
    load("undo_import", Event.objects.filter(kind="import.battles").latest("pk").pk)
    assert (Verdict.objects.current().count(), Verdict.objects.count()) == (0, 1)
    assert "2 battles taken away" in load("undo_import", event.pk).err
    assert (BattleSet.objects.count(), Verdict.objects.count()) == (0, 0)


def test_a_task_in_both_orders_is_one_battle(folder: Path) -> None:
    file = write(
        folder, "tasks.jsonl", [task("t1", "a", "b"), task("t1", "b", "a", task_id="arena:a:b:t1:swapped")]
    )
    assert load("import_battles", "--by", "llm", file).err.startswith("1 battle added.")
    assert load("import_battles", "--by", "llm", file).err.startswith("Nothing changed: 1 battle already loaded.")


def test_tasks_that_nobody_judged_go_with_their_set(folder: Path) -> None:
    load("import_battles", "--by", "llm", write(folder, "tasks.jsonl", [task("t1", "a", "b")]))
    assert "1 battle taken away" in load("undo_import", Event.objects.get(kind="import.battles").pk).err
    assert not BattleSet.objects.exists()


def test_what_is_no_task_is_refused_with_file_line_and_field(folder: Path) -> None:
    wrong = [task("t1", "a", "b"), task("t9", "a", "b"), task("t1", "a", "a"), task("t1", "a", "b")]
    del wrong[3]["metadata"]["qid"]
    file = write(folder, "tasks.jsonl", wrong)
    said = refuse("import_battles", "--by", "llm", file)
    assert f"{file}:3: right: another run than on the left, found a" in said
    assert f"{file}:4: metadata.qid: a value, the field is missing" in said
    said = refuse("import_battles", "--by", "llm", write(folder, "tasks.jsonl", wrong[:2]))
    assert ":2: left: an answer that is loaded; there is none of a for topic t9" in said
    load("draw_battles", "--seed", "demo")
    said = refuse("import_battles", "--by", "llm", "--set", "battles", write(folder, "t.jsonl", wrong[:1]))
    assert "battles was drawn here" in said
    assert BattleSet.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"preferred_run_id": "b"}, "preferred_run_id: the run that the verdict A prefers, a, found b"),
        ({"pair": ["a", "c"]}, "pair: the two runs that the assistants are, a and b, found a, c"),
    ],
)
def test_a_verdict_that_says_two_things_is_refused(folder: Path, change: dict[str, Any], problem: str) -> None:
    row: dict[str, Any] = {"qid": "t1", "assistant_a_run_id": "a", "assistant_b_run_id": "b", "pair": ["b", "a"]}
    row |= {"judge_verdict": "A", "preferred_run_id": "a", "status": "completed", "model": "robot"}
    path = write(folder, "judgments.jsonl", [row | change])
    assert f"{path}:1: {problem}" in refuse("import_battles", "--by", "llm", path)
    odd = task("t1", "a", "b")
    odd["metadata"]["pair"] = ["a", "c"]
    assert ":1: metadata.pair: " in refuse("import_battles", "--by", "llm", write(folder, "tasks.jsonl", [odd]))
    load("import_battles", "--by", "llm", write(folder, "judgments.jsonl", [row]))


@pytest.mark.parametrize(
    ("form", "row"),
    [
        ("assay", {"topic_id": "t1", "left": "a", "right": "b", "verdict": "failed"}),
        ("ragdoll", {"qid": "t1", "assistant_a_run_id": "a", "assistant_b_run_id": "b", "status": "failed"}),
    ],
)
def test_a_person_has_no_verdict_that_failed(folder: Path, form: str, row: dict[str, Any]) -> None:
    path = write(folder, "verdicts.jsonl", [row])
    by_ann = ("import_battles", "--by", "human", "--form", form, "--judge", "ann", path)
    assert f"{path}:1: verdict: a verdict; one of an LLM alone may have failed" in refuse(*by_ann)
    load("import_battles", "--by", "llm", "--judge", "robot", path)


def test_replies_that_failed_at_ragdoll_come_in_as_failed(folder: Path) -> None:
    line: dict[str, Any] = {"qid": "t1", "assistant_a_run_id": "a", "assistant_b_run_id": "b", "model": "robot"}
    failed: dict[str, Any] = {"judge_verdict": None, "status": "failed"}
    rows = [
        line | {"judge_verdict": "A", "status": "completed", "raw_output": "[[A]]"},
        line | failed | {"qid": "t2", "raw_output": "**B**", "error": "could not parse arena verdict"},
        line | failed | {"qid": "t3", "raw_output": "", "error": "timed out"},
        line | failed | {"qid": "t3", "assistant_b_run_id": "c", "judge_verdict": "A", "raw_output": None},
    ]
    load("import_battles", "--by", "llm", write(folder, "judgments.jsonl", rows))
    assert list(Verdict.objects.order_by("pk").values_list("label", "raw")) == [
        (BattleLabel.LEFT, ""),
        (BattleLabel.FAILED, "**B**"),
        (BattleLabel.FAILED, "timed out"),
        (BattleLabel.FAILED, "failed"),
    ]
    runs = {row["run_id"]: row for row in report("battles", "--condition", "B/A")["runs"]}
    assert {name: (row["battles"], row["won"], row["tied"]) for name, row in runs.items()} == {
        "a": (1, 1, 0),
        "b": (1, 0, 0),
    }
