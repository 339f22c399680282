"""Two people name opposite winners of a battle: a third is asked, and that verdict counts."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.campaigns.create import add_member
from evaluation.errors import Refused
from evaluation.labels import BattleLabel
from evaluation.models import Verdict
from evaluation.stages import BATTLE
from evaluation.terms import Role
from reports.methods.report import methods_documents
from tests.assessor.comparing.test_comparing import RUNS, draw, judge, submit, window
from tests.assessor.desk_client import Window
from tests.worlds.imported import load, report
from tests.worlds.judging import JudgingWorld, make_judging_world

pytestmark = pytest.mark.django_db
BY_PEOPLE = ("--condition", "B/M")
FEW = (*BY_PEOPLE, "--least-topics", "1", "--least-battles", "1")


@pytest.fixture
def conflict(tmp_path: Path) -> JudgingWorld:
    """Ann says of all ten battles that the left answer won; Ben, of two with the sides changed, says the same."""
    world = make_judging_world(tmp_path)
    for run in RUNS:
        world.run(run, (f"Text of {run[-1]} bends.", []))
    draw(world, runs=tuple(RUNS), topics=("t1",))
    judged(world, "ann", "left")
    judged(world, "ben", "left", again=True)
    add_member(campaign=world.campaign, user=world.people["sam"], role=Role.ASSESSOR)
    return world


def judged(world: JudgingWorld, name: str, label: str, **more: object) -> Window:
    desk = window(world, name, **more)
    judge(desk, label)
    submit(desk)
    return desk


def test_a_third_person_gets_the_battles_with_opposite_winners(conflict: JudgingWorld) -> None:
    document = report("battles", *FEW)
    assert [(row["of"], row["judge"], row["settled"]) for row in document["conflicts"]] == [
        ("people", None, False),
        ("people", None, False),
    ]
    with pytest.raises(Refused, match="ann has it already"):
        conflict.hand(BATTLE, "ann", again=True)
    with pytest.raises(Refused, match="ben has it already"):
        conflict.hand(BATTLE, "ben", again=True)
    third = judged(conflict, "sam", "left", again=True)
    assert {row["battle"] for row in document["conflicts"]} == {
        answer["id"] for answer in third.state()["answers"]
    }
    with pytest.raises(Refused, match="no battle of it is left"):
        conflict.hand(BATTLE, "", again=True)


def test_nothing_waits_for_a_third_person_where_two_agree(conflict: JudgingWorld) -> None:
    Verdict.objects.filter(judge__name="ben").update(label=BattleLabel.TIE)
    with pytest.raises(Refused, match="no battle of it is left"):
        conflict.hand(BATTLE, "sam", again=True)


@pytest.mark.parametrize(("label", "points"), [("left", 0.0), ("right", 1.0), ("tie", 0.5), ("bad", 0.5)])
def test_what_a_third_person_says_counts_for_the_first(conflict: JudgingWorld, label: str, points: float) -> None:
    """A third person sees the sides as the second does, so that left is the loser of the first."""
    before = report("battles", *FEW)
    judged(conflict, "sam", label, again=True)
    after = report("battles", *FEW)
    assert [row["settled"] for row in after["conflicts"]] == [True, True]
    assert after["agreement"] == before["agreement"]
    assert after["side"] == before["side"]
    gained = {run["run_id"]: 0.0 for run in before["runs"]}
    for row in before["conflicts"]:
        winner, loser = (row["a"], row["b"]) if row["points"] else (row["b"], row["a"])
        gained[winner] += points - 1
        gained[loser] += 1 - points
    earlier = points_of(before)
    assert points_of(after) == {name: earlier[name] + gained[name] for name in earlier}


def points_of(document: Any) -> dict[str, float]:
    return {run["run_id"]: run["won"] + (run["tied"] + run["both_bad"]) / 2 for run in document["runs"]}


def test_a_third_person_who_cannot_judge_settles_nothing(conflict: JudgingWorld) -> None:
    before = report("battles", *FEW)
    third = window(conflict, "sam", again=True)
    for answer in third.state()["answers"]:
        third.do("label", key=f"{answer['id']}/battle", label="cant_judge", reason="Both are in Latin.")
    submit(third)
    assert report("battles", *FEW) == before


def test_the_methods_count_a_third_person_whose_verdict_counts(conflict: JudgingWorld) -> None:
    def methods() -> str:
        return methods_documents(conflict.campaign)["methods.json"]

    assert "10 battles over 1 topic" in methods()
    assert "judged blind by 1 person" in methods()
    judged(conflict, "sam", "left", again=True)
    assert "10 battles over 1 topic" in methods()
    assert "judged blind by 2 people" in methods()


@pytest.mark.parametrize("form", ["assay", "ragdoll", "arena"])
def test_files_have_what_a_third_person_said(conflict: JudgingWorld, form: str) -> None:
    judged(conflict, "sam", "left", again=True)
    here = report("battles", *FEW)
    path = conflict.folder / "verdicts"
    load("export", "battles", *BY_PEOPLE, "--form", form, "--output", path)
    judge = () if form == "assay" else ("--judge", "all")
    load("import_battles", "--by", "human", "--form", form, "--set", "imported", *judge, path)
    there = report("battles", *FEW, "--set", "imported")
    assert there["runs"] == here["runs"]
    if form == "assay":
        assert len(path.read_text("utf-8").splitlines()) == 14
        assert json.dumps(there["agreement"]) == json.dumps(here["agreement"])
