"""One battle with both answers and everybody's verdicts, and the way through those with opposite winners."""

from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from evaluation.models import Battle, Campaign
from evaluation.stages import BATTLE
from tests.reports.battles.test_battles_report import verdicts
from tests.reports.battles.worlds import load_runs
from tests.worlds.campaign import World
from tests.worlds.cast import make_cast
from tests.worlds.imported import load, write

pytestmark = pytest.mark.django_db
TURNED = {"left": "right", "right": "left"}


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Ann judges twelve battles; Ben three of them with the sides changed, of which two have the other winner."""
    load_runs(tmp_path, "abcd", ("t1", "t2", "t3"))
    load("draw_battles", "--seed", "demo", "--rounds", 2)
    second = [turned(row, "ben", row["verdict"]) for row in verdicts()[:2]]
    second += [turned(row, "ben", TURNED[row["verdict"]]) for row in verdicts()[2:3]]
    load("import_battles", "--by", "human", write(tmp_path, "verdicts.jsonl", [*verdicts(), *second]))
    campaign = Campaign.objects.get()
    return World(campaign, make_cast(campaign))


def turned(row: dict[str, Any], judge: str, verdict: str) -> dict[str, Any]:
    sides = {"left": row["right"], "right": row["left"]}
    return row | sides | {"judge": judge, "verdict": verdict, "second": True, "reasons": ["point"]}


def page_of(world: World, battle: str, person: str = "olga") -> str:
    response = world.client(person).get(reverse("reports:battle", args=["river", battle]))
    assert response.status_code == 200
    return response.content.decode()


def in_conflict() -> list[str]:
    return list(Battle.objects.order_by("pk").values_list("public_id", flat=True)[:2])


def test_the_report_leads_to_battles_with_opposite_winners(world: World) -> None:
    page = world.client("rita").get("/campaigns/river/reports/battles/").content.decode()
    assert "In 2 battles people named opposite winners." in page
    for battle in in_conflict():
        assert page.count(reverse("reports:battle", args=["river", battle])) == 1
    assert page.count("two people") == 2


def test_a_battle_is_read_with_everybodys_verdicts(world: World) -> None:
    first, second = in_conflict()
    page = page_of(world, first)
    assert "conflict 1 of 2" in page
    assert reverse("reports:battle", args=["river", second]) in page
    for text in ("It is c.", "It is a.", "ann", "ben", "second opinion", ">point<", "what is t2"):
        assert text in page
    other = Battle.objects.order_by("pk")[5].public_id
    assert ">Why</th>" in page
    assert ">Why</th>" not in page_of(world, other)
    assert "conflict " not in page_of(world, other)
    assert "Previous conflict" in page_of(world, second)


def test_an_organizer_asks_a_third_person(world: World) -> None:
    battle = Battle.objects.select_related("topic").order_by("pk")[0]
    topic = battle.topic.public_id
    address = f"/campaigns/river/work/hand-out/?stage={BATTLE}&amp;choose=ticked&amp;topics={topic}&amp;again=on"
    assert address in page_of(world, battle.public_id)
    assert "Ask a third person" not in page_of(world, battle.public_id, "rita")
    assert "Ask a third person" not in page_of(world, Battle.objects.order_by("pk")[2].public_id)


def test_what_a_third_person_settled_is_said(world: World, tmp_path: Path) -> None:
    load("import_battles", "--by", "human", write(tmp_path, "third", [turned(verdicts()[0], "cal", "tie")]))
    page = page_of(world, in_conflict()[0])
    assert "What a third said counts." in page
    assert "Ask a third person" not in page
    report = world.client("rita").get("/campaigns/river/reports/battles/").content.decode()
    assert "In 2 battles people named opposite winners, and a third person settled 1." in report
    assert report.count("by a third person") == 1


def test_what_an_llm_says_of_both_orders_and_against_people_is_listed(world: World, tmp_path: Path) -> None:
    row = verdicts("robot")[3]
    both = [row | {"verdict": "right"}, turned(row, "robot", "right") | {"second": False}]
    against = verdicts("robot")[5] | {"verdict": "right"}
    load("import_battles", "--by", "llm", write(tmp_path, "llm.jsonl", [*both, against]))
    page = world.client("rita").get("/campaigns/river/reports/battles/").content.decode()
    assert page.count("the two orders of robot") == 1
    assert page.count("people and robot") == 1
    assert "conflict 4 of 4" in page_of(world, Battle.objects.order_by("pk")[3].public_id)


@pytest.mark.parametrize(("person", "status"), [("ann", 404), ("sam", 404), ("rita", 200)])
def test_who_may_see_runs_reads_battles(world: World, person: str, status: int) -> None:
    address = reverse("reports:battle", args=["river", in_conflict()[0]])
    assert world.client(person).get(address).status_code == status
    assert world.client("olga").get(address.replace("river", "other")).status_code == 404
