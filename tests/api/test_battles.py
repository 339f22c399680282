"""Battle sets, battles and verdicts as collections: what each row says, and what narrows them."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from api.rows.reports import BattleLeaderboardRow, BattlesReportRow
from evaluation.models import AnswerProvenance, Campaign, Judge
from exchange.exports.lines import lines_of
from tests.api.writing import program_of
from tests.worlds.battles import BATTLES, judge_battles
from tests.worlds.imported import load, write
from tests.worlds.judging import JudgingWorld, make_judging_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(tmp_path: Any) -> JudgingWorld:
    world = make_judging_world(tmp_path)
    for number in range(1, 4):
        world.run(f"run-{number}", (f"Text {number}.", [0]))
    judge_battles(world.campaign, "Person", "Other", "robot")
    return world


def read(world: JudgingWorld, path: str, who: str = "olga", status: int = 200) -> Any:
    client = Client()
    client.force_login(world.people[who])
    response = client.get(f"/api/v1/{path}")
    assert response.status_code == status, response.content
    return response.json()


def every(world: JudgingWorld, path: str) -> list[dict[str, Any]]:
    page = read(world, path)
    rows: list[dict[str, Any]] = page["results"]
    while page["next"]:
        page = read(world, page["next"].partition("/api/v1/")[2])
        rows += page["results"]
    return rows


def test_a_set_says_how_it_was_drawn_and_what_people_judge_of_it(world: JudgingWorld) -> None:
    [row] = every(world, "battle-sets/?campaign=river")
    assert (row["name"], row["seed"], row["missing"]) == (BATTLES, "river", "zero")
    assert (row["show"], row["markdown"], row["rubric"]) == ("answer", "alike", "none")
    assert row["battles"] == len(every(world, "battles/?campaign=river"))
    assert row["samples"] == [{"judge": "robot", "battles": row["battles"], "drawn": row["battles"] * 3 // 4 or 1}]
    assert row == read(world, f"battle-sets/{row['id']}/")


def test_verdicts_have_the_sides_that_their_judge_saw(world: JudgingWorld) -> None:
    battles = {row["id"]: row for row in every(world, "battles/?page_size=2")}
    runs = dict(AnswerProvenance.objects.values_list("answer__public_id", "run__run_id"))
    assert all(runs[row["left"]] == row["left_run_id"] for row in battles.values())
    verdicts = every(world, "verdicts/?page_size=3")
    people = [row for row in verdicts if row["judge"] != "robot"]
    assert len(people) < len(verdicts)
    for row in people:
        battle = battles[row["battle"]]
        sides = battle["left_run_id"], battle["right_run_id"]
        assert (row["left_run_id"], row["right_run_id"]) == (sides[::-1] if row["second"] else sides)
    assert {row["verdict"] for row in verdicts} <= {"left", "right", "tie", "bad", "cant_judge"}
    assert any(row["reasons"] == ["accuracy", "point"] for row in verdicts if row["verdict"] == "left")


def test_runs_topics_judges_and_sets_narrow_them(world: JudgingWorld) -> None:
    run = every(world, "battles/")[0]["right_run_id"]
    of_run = every(world, f"battles/?run={run}")
    assert of_run
    assert all(run in (row["left_run_id"], row["right_run_id"]) for row in of_run)
    judged = every(world, f"verdicts/?run={run}&judge=robot&campaign=river")
    assert {row["battle"] for row in judged} == {row["id"] for row in of_run}
    topic = of_run[0]["topic_id"]
    assert {row["topic_id"] for row in every(world, f"verdicts/?topic={topic}")} == {topic}
    assert every(world, "verdicts/?battle_set=other") == []
    assert len(every(world, f"verdicts/?battle_set={BATTLES}")) == len(every(world, "verdicts/"))
    read(world, "verdicts/?run=nowhere", status=400)


@pytest.mark.parametrize("condition", ["B/M", "B/A"])
@pytest.mark.parametrize("by", ["win", "rating", "corrected"])
def test_a_set_has_its_leaderboard_with_the_figures_of_the_report(
    world: JudgingWorld, condition: str, by: str
) -> None:
    [row] = every(world, "battle-sets/")
    board, query = f"battle-sets/{row['id']}/leaderboard/", f"condition={condition}&by={by}&least_battles=1"
    query += "&least_topics=2"
    whole = read(world, f"reports/battles/?campaign=river&{query}")
    found = read(world, f"{board}?{query}")
    assert found == {name: whole[name] for name in BattleLeaderboardRow.model_fields}
    for document, kind in ((whole, BattlesReportRow), (found, BattleLeaderboardRow)):
        # Nothing that the schema does not name, and all that it does.
        assert kind.model_validate(document, strict=True).model_dump() == document
    assert read(world, f"{board}?campaign=river&{query}", status=400)["errors"] == {
        "campaign": ["There is no such parameter."]
    }
    read(world, board, status=400)
    read(world, f"battle-sets/999/leaderboard/?{query}", status=404)
    read(world, f"{board}?{query}", "ann", status=404)


def test_verdicts_taken_out_under_pseudonyms_are_those_of_the_same_judges(
    world: JudgingWorld, tmp_path: Path
) -> None:
    Judge.objects.filter(name="Person").update(user=world.people["ann"])
    judges = list(Judge.objects.values_list("name", flat=True))
    text = "\n".join(lines_of("battles", world.campaign, {"condition": "B/M", "pseudonyms": True}))
    assert len(set(re.findall(r'"judge": ?"(person-[0-9a-f]{8})"', text))) == 2
    answer = program_of(world.people["olga"]).load("/campaigns/river/imports/battles/?by=human", text)
    assert answer.json()["message"].startswith("Nothing changed"), answer.content
    assert "Nothing changed" in load("import_battles", "--by", "human", write(tmp_path, "out.jsonl", text)).err
    assert list(Judge.objects.values_list("name", flat=True)) == judges


def test_assessors_see_none(world: JudgingWorld) -> None:
    for collection in ("battle-sets", "battles", "verdicts"):
        [key, *_] = [row["id"] for row in every(world, f"{collection}/")]
        assert read(world, f"{collection}/", "ann")["results"] == []
        read(world, f"{collection}/{key}/", "ann", status=404)
    assert Campaign.objects.count() == 1
