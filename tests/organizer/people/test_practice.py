"""The organizer's page of practice: who did how well, which items mislead, and that nothing else reads of it."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.urls import reverse

from evaluation import stages
from evaluation.models import Event, Task
from evaluation.tasks.hand_out import hand_out
from evaluation.tasks.units import Order
from tests.worlds.campaign import World, queries_of
from tests.worlds.imported import run
from tests.worlds.practice import ASSIGN, BATTLE, IMPORTANCE, SHOWN, SUPPORT, item, load_practice, practise

PAGE, SWITCH = (reverse(f"organizer:{name}", args=["river"]) for name in ("practice", "switch_practice"))
THREE = [*ASSIGN, item("assign", "a3", "partial_support")]
READERS = {"sam": 404, "ann": 404, "olga": 200, "rita": 200, "audrey": 200}
SWITCHERS = {"sam": 404, "ann": 404, "rita": 403, "audrey": 403, "olga": 302}


@dataclass(frozen=True, slots=True)
class Practised:
    """The small campaign, in which Ann and Ben have a topic to assign."""

    world: World
    tasks: dict[str, Task]

    def page(self, name: str = "olga") -> str:
        response = self.world.client(name).get(PAGE)
        assert response.status_code == 200
        return re.sub(r"[ \n]+", " ", response.content.decode())


@pytest.fixture
def practised(world: World) -> Practised:
    topic = world.campaign.topics.get(topic_id="t1")
    tasks = {}
    for name in ("ann", "ben"):
        order = Order(stages.ASSIGN, (topic.public_id,), name, nuggets="auto-robot", again=True)
        receipt = hand_out(campaign=world.campaign, order=order, actor=world.people["olga"])
        tasks[name] = Task.objects.select_related("assessor").get(public_id=receipt.tasks[0])
    return Practised(world, tasks)


def test_only_unblinded_members_open_it(practised: Practised) -> None:
    assert {name: practised.world.client(name).get(PAGE).status_code for name in READERS} == READERS


def test_it_is_linked_from_the_work_page(practised: Practised) -> None:
    page = practised.world.client("olga").get(reverse("organizer:work", args=["river"])).content.decode()
    assert f'href="{PAGE}"' in page


def test_without_items_it_says_how_to_load_them(practised: Practised) -> None:
    page = practised.page()
    assert '<a href="/campaigns/river/data/load/practice/">Load them</a> under Data.' in page
    assert "<table" not in page


def test_it_names_the_verdicts_of_battles(practised: Practised, tmp_path: Path) -> None:
    load_practice(practised.world.campaign, tmp_path, BATTLE)
    page = practised.page()
    assert "Compare answers" in page
    assert "Answer on the right</th>" in page
    assert "left better" in page
    assert "both bad" in page


def test_it_shows_by_assessor_and_by_item_how_many_are_as_known(practised: Practised, tmp_path: Path) -> None:
    load_practice(practised.world.campaign, tmp_path, THREE)
    practise(practised.tasks["ann"], practised.tasks["ann"].assessor, wrong=1)
    page = practised.page()
    assert "3 / 3</td>" in page
    assert "66.7\N{NO-BREAK SPACE}%" in page
    assert '<td class="n">0.500</td>' in page  # 3 of 9 expected by chance
    assert "0 / 3</td>" in page  # Ben
    assert "none yet" in page
    assert [
        part.partition("<")[0] for part in page.split('<td class="n">') if " of " in part.partition("<")[0]
    ] == [
        "0 of 1",
        "1 of 1",
        "1 of 1",
    ]


def test_a_kappa_that_is_undefined_is_a_dash(practised: Practised, tmp_path: Path) -> None:
    load_practice(practised.world.campaign, tmp_path, ASSIGN[:1])
    practise(practised.tasks["ann"], practised.tasks["ann"].assessor)
    assert '100.0\N{NO-BREAK SPACE}%</td> <td class="n">\N{EN DASH}</td>' in practised.page()


def test_stages_that_ask_for_the_same_stand_together(practised: Practised, tmp_path: Path) -> None:
    load_practice(practised.world.campaign, tmp_path, [*IMPORTANCE, *SUPPORT])
    page = practised.page()
    assert "Edit drafts · Write nuggets <span" in page
    assert "Judge citations, unaided · Judge citations, machine label shown <span" in page
    load_practice(practised.world.campaign, tmp_path, SHOWN)
    assert "Judge citations, unaided · Judge citations, machine label shown <span" not in practised.page()


def test_replaced_items_are_counted(practised: Practised, tmp_path: Path) -> None:
    load_practice(practised.world.campaign, tmp_path, ASSIGN)
    practise(practised.tasks["ann"], practised.tasks["ann"].assessor)
    load_practice(practised.world.campaign, tmp_path, ASSIGN[1:], replace=True)
    page = practised.page()
    assert "1 replaced item is kept with the answers to it" in page
    assert "statement a1" not in page


def test_more_answers_cost_no_more_queries(practised: Practised, tmp_path: Path) -> None:
    load_practice(practised.world.campaign, tmp_path, ASSIGN)
    client = practised.world.client("olga")
    before = queries_of(client, PAGE)
    load_practice(practised.world.campaign, tmp_path, [item("assign", f"x{n}", "support") for n in range(5)])
    for task in practised.tasks.values():
        practise(task, task.assessor, wrong=2)
    assert queries_of(client, PAGE) == before


def test_only_organizers_switch_it(practised: Practised) -> None:
    for person, status in SWITCHERS.items():
        response = practised.world.client(person).post(SWITCH, {"practice": "off"})
        assert (person, response.status_code) == (person, status)
        assert practised.world.campaign.protocol.practice is (status != 302)


def test_the_switch_is_one_new_protocol_version_and_nothing_else(practised: Practised) -> None:
    campaign, client = practised.world.campaign, practised.world.client("olga")
    before = settings_of(practised)
    for value in ("off", "off", "on"):
        client.post(SWITCH, {"practice": value})
    assert settings_of(practised) == before
    assert list(campaign.protocols.order_by("version").values_list("version", "practice")) == [
        (1, True),
        (2, False),
        (3, True),
    ]
    assert Event.objects.filter(kind="campaign.changed").count() == 2
    assert "Switch practice off" in practised.page()
    assert "Switch practice" not in practised.page("rita")


def settings_of(practised: Practised) -> dict[str, object]:
    protocol = practised.world.campaign.protocol
    of_a_version = {"id", "version", "created_at", "reason", "changed_by_id"}
    return {
        field.attname: getattr(protocol, field.attname)
        for field in protocol._meta.concrete_fields
        if field.attname not in of_a_version
    }


OUTPUTS = [
    ("report", "scores", "--condition", "A/A"),
    ("report", "confusion", "--rows", "A/A", "--columns", "A/M"),
    ("report", "support", "--condition", "scratch"),
    ("report", "descriptives"),
    ("report", "time"),
    ("export", "assignments", "--condition", "A/M"),
    ("export", "support", "--condition", "scratch"),
    ("export", "nuggets", "--nuggets", "auto-robot"),
    ("export", "scores", "--condition", "A/A"),
    ("export", "time"),
]


def test_practice_is_in_no_report_and_no_export(
    practised: Practised, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    load_practice(practised.world.campaign, tmp_path, [*THREE, *IMPORTANCE])
    before = outputs(capsys)
    for task in practised.tasks.values():
        practise(task, task.assessor, wrong=2)
    assert outputs(capsys) == before
    assert all(before)
    log = run("export", "events", "--campaign", "river").out
    assert log.count('"practice.answered"') == 6
    assert '"label"' not in log


def outputs(capsys: pytest.CaptureFixture[str]) -> list[str]:
    found = []
    for words in OUTPUTS:
        outcome = run(*words[:2], "--campaign", "river", *words[2:])
        assert outcome.code == 0, outcome
        found.append(outcome.out + capsys.readouterr().out)
    return found
