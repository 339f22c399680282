"""Practice comes before a stage's first task; what is known of an item comes after its answer; nothing counts."""

import json
import re
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.apps import apps
from django.test import Client

from assessor.desk.context import open_desk
from assessor.models import PracticeAnswer, PracticeItem, WorkingAssignment, WorkingSupport
from assessor.practice.items import switch_practice
from evaluation import stages
from evaluation.battles import BattleOrder, draw_battles
from evaluation.errors import BadInput, Refused
from evaluation.models import Assignment, Campaign, Event, SupportJudgment, Task
from evaluation.stages import BATTLE, MANUAL, STAGES, SUPPORT_POST_EDIT, SUPPORT_SCRATCH, Stage
from evaluation.terms import TaskState
from tests.assessor.desk_client import Window
from tests.crawl.canaries import whole_response
from tests.worlds.campaign import queries_of
from tests.worlds.desk import DeskWorld, make_desk_world, make_task
from tests.worlds.judging_desk import JudgeWorld, make_judge_world, make_judging_task
from tests.worlds.practice import (
    ALL,
    ASSIGN,
    IMPORTANCE,
    SHOWN,
    SUPPORT,
    item,
    left,
    load_practice,
    practise,
)

PRACTISED = [stage for stage in STAGES.values() if stage.practice]
SECRET = "because of"
TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="[^"]+|data-csrf="[^"]+')


def statements(task: Task) -> list[str]:
    return [practice_item.statement.removeprefix("statement ") for practice_item in left(task, task.assessor)]


def the_item(name: str) -> PracticeItem:
    return PracticeItem.objects.get(statement=f"statement {name}")


def sent(client: Client, task: Task, kind: str, **payload: Any) -> dict[str, Any]:
    window = Window(client, task)
    response = window.post("practice/ops/", {"window": window.window, "ops": [window.op(kind, **payload)]})
    assert response.status_code == 200, response.content
    (receipt,) = response.json()["receipts"]
    return dict(receipt)


def answer(client: Client, task: Task, practice_item: PracticeItem, label: str) -> dict[str, Any]:
    key = practice_item.public_id
    receipt = sent(client, task, "label", key=key, label=label)
    assert receipt["status"] == "applied", receipt
    return dict(receipt["rows"][key])


def state_of(client: Client, task: Task, query: str = "") -> dict[str, Any]:
    response = client.get(f"/desk/{task.public_id}/practice/state/{query}")
    assert response.status_code == 200, response.content
    return dict(response.json())


@pytest.fixture
def practising(world: DeskWorld, tmp_path: Path) -> DeskWorld:
    load_practice(world.campaign, tmp_path, ALL)
    return world


def test_each_stage_asks_for_its_own_items(world: DeskWorld, tmp_path: Path) -> None:
    load_practice(world.campaign, tmp_path, ALL)
    assert statements(world.post_edit) == statements(world.manual) == ["i1", "i2"]


@pytest.mark.django_db
def test_the_judging_stages_ask_for_theirs(tmp_path: Path) -> None:
    world = make_judge_world(tmp_path)
    load_practice(world.campaign, tmp_path, [*IMPORTANCE, *ASSIGN, *SUPPORT])
    offered = {task.stage: statements(task) for task in (world.assign, world.scratch, world.shown)}
    assert offered == {
        stages.ASSIGN: ["a1", "a2"],
        SUPPORT_SCRATCH: ["s1", "s2"],
        SUPPORT_POST_EDIT: ["s1", "s2"],
    }
    load_practice(world.campaign, tmp_path, SHOWN)
    assert (statements(world.scratch), statements(world.shown)) == (["s1", "s2"], ["m1"])


@pytest.mark.django_db
def test_a_machine_s_label_is_there_only_where_the_stage_shows_one(tmp_path: Path) -> None:
    world = make_judge_world(tmp_path)
    load_practice(world.campaign, tmp_path, ALL)
    (pair,) = state_of(world.client("ann"), world.shown)["pairs"]
    assert pair["machine"] == "full_support"
    assert all("machine" not in pair for pair in state_of(world.client("ben"), world.scratch)["pairs"])
    page = world.client("ben").get(f"/desk/{world.scratch.public_id}/practice/").content.decode()
    assert "achine" not in page


@pytest.mark.django_db
def test_a_grade_that_the_scale_lacks_is_refused(tmp_path: Path) -> None:
    world = make_judge_world(tmp_path)
    with pytest.raises(BadInput) as refused:
        load_practice(world.campaign, tmp_path, [item("grade", "g4", "grade_4"), item("grade", "g3", "grade_3")])
    (problem,) = refused.value.problems
    assert (problem.line, problem.field, problem.expected) == (1, "label", "a grade from 0 to 3, found 4")
    assert not PracticeItem.objects.exists()


@pytest.mark.django_db
def test_two_answers_are_practised_side_by_side(tmp_path: Path) -> None:
    world, task = world_with(BATTLE, tmp_path)
    left_text, right_text = "**Clear** it is.\n\n- One", "Padded it is."
    row = item("battle", "b1", "tie", text=left_text, statement=right_text)
    load_practice(world.campaign, tmp_path, [row], replace=True)
    client, practice_item = world.client(task.assessor.username), PracticeItem.objects.get(statement=right_text)
    state = state_of(client, task)
    assert (state["stage"], state["sides"], len(state["answers"])) == (BATTLE, True, 1)
    html = client.get(f"/desk/{task.public_id}/practice/answers/{practice_item.public_id}/").json()["html"]
    one, other = html.split("Answer on the right")
    assert "Answer on the left" in one
    assert "<strong>Clear</strong>" in one
    assert right_text not in one
    assert right_text in other
    receipt = sent(client, task, "label", key=practice_item.public_id, label="left", extras={"reasons": ["point"]})
    told = receipt["rows"][practice_item.public_id]
    assert (told["known"], told["explanation"]) == ("tie", "because of b1")
    assert told["extras"] == {"reasons": ["point"]}


@pytest.mark.django_db
def test_a_state_has_the_shape_of_the_desk_s_own(tmp_path: Path) -> None:
    """So that the desk's own scripts take it."""
    world = make_judge_world(tmp_path)
    load_practice(world.campaign, tmp_path, ALL)
    for task in (world.assign, world.scratch, world.shown):
        practise(task, task.assessor)
        client = world.client(task.assessor.username)
        practised = state_of(client, task)
        window = Window(client, task).open()
        real = window.state()
        assert practised["stage"] == real["stage"]
        assert practised.keys() - real.keys() == set()
        for part in ("answers", "nuggets", "pairs"):
            of_practice, of_desk = (state.get(part, [{}])[0].keys() for state in (practised, real))
            assert of_desk - of_practice == set(), part
        assert practised["task"] != real["task"]  # under it the browser keeps what is unsent


@pytest.mark.django_db
def test_what_is_read_comes_as_at_the_desk(tmp_path: Path) -> None:
    world = make_judge_world(tmp_path)
    together = [item("assign", name, "support", question="why?", text="One. Two.") for name in ("b1", "b2")]
    load_practice(world.campaign, tmp_path, [*together, *ASSIGN, *SUPPORT])
    client = world.client("ann")
    first, *others = state_of(client, world.assign)["answers"]
    assert [len(answer["nuggets"]) for answer in (first, *others)] == [2, 1, 1]
    assert first["question"] == "why?"
    read = client.get(f"/desk/{world.assign.public_id}/practice/answers/{first['id']}/").json()
    assert read["html"].count("data-index") == 2
    pair = state_of(world.client("ben"), world.scratch)["pairs"][0]
    url = f"/desk/{world.scratch.public_id}/practice/answers/"
    read = world.client("ben").get(f"{url}{pair['answer']}/").json()
    assert "statement s1" in read["html"]
    assert "text of s1" in read["passages"][pair["passage"]]
    assert world.client("ben").get(f"{url}{first['id']}/").status_code == 404  # of another stage


@pytest.mark.django_db
@pytest.mark.parametrize("stage", PRACTISED)
def test_a_task_of_each_stage_opens_only_after_its_practice(stage: Stage, tmp_path: Path) -> None:
    _, task = world_with(stage, tmp_path)
    with pytest.raises(Refused) as refusal:
        open_desk(task=task.public_id, user=task.assessor)
    assert refusal.value.code == "practice"
    practise(task, task.assessor, wrong=1)
    open_desk(task=task.public_id, user=task.assessor)
    task.refresh_from_db()
    assert task.state == TaskState.IN_PROGRESS


def world_with(stage: Stage, folder: Path) -> tuple[JudgeWorld | DeskWorld, Task]:
    """A world in which all is practised, and its task of a stage."""
    world = make_judge_world(folder) if stage.judges else make_desk_world(folder)
    load_practice(world.campaign, folder, ALL)
    if stage.dealt:
        draw_battles(campaign=world.campaign, order=BattleOrder())
    there = Task.objects.filter(stage=stage).first()
    return world, there or make_judging_task(world.campaign, world.people["ann"], stage)


def test_a_task_that_waits_for_practice_says_so_and_leads_there(practising: DeskWorld) -> None:
    client, url = practising.client(), f"/desk/{practising.post_edit.public_id}/"
    home = " ".join(client.get("/desk/").content.decode().split())
    assert "Practice first: 2 items" in home
    assert f'href="{url}practice/"' in home
    page = client.post(f"{url}start/", follow=True).content.decode()
    assert "Practice first: 2 items. Then the task can be started." in page
    assert f'href="{url}practice/"' in page
    assert ">Start<" not in page
    practise(practising.post_edit, practising.people["ann"])
    assert "Practice first" not in client.get("/desk/").content.decode()
    client.post(f"{url}start/")
    assert client.get(f"{url}state/").status_code == 200


def test_a_campaign_without_items_asks_for_no_practice(world: DeskWorld, tmp_path: Path) -> None:
    load_practice(world.campaign, tmp_path, ASSIGN)
    assert "Practice first" not in world.client().get("/desk/").content.decode()
    response = world.client().get(f"/desk/{world.post_edit.public_id}/practice/")
    assert response["Location"] == f"/desk/{world.post_edit.public_id}/"
    open_desk(task=world.post_edit.public_id, user=world.people["ann"])


def test_work_under_way_is_never_locked(world: DeskWorld, tmp_path: Path) -> None:
    client, url = world.client(), f"/desk/{world.post_edit.public_id}/"
    client.post(f"{url}start/")
    load_practice(world.campaign, tmp_path, ALL)
    assert client.get(f"{url}state/").status_code == 200
    assert "passages" in client.get(url).content.decode()
    home = client.get("/desk/").content.decode()
    assert home.count("Practice first") == 1  # the task that is not begun


def test_one_practice_serves_all_tasks_of_its_items(practising: DeskWorld) -> None:
    practise(practising.post_edit, practising.people["ann"])
    assert left(practising.manual, practising.people["ann"]) == []
    assert len(left(practising.manual, practising.people["ben"])) == 2


def test_switched_off_it_is_not_asked(practising: DeskWorld) -> None:
    version = practising.campaign.protocol.version
    switch_practice(campaign=practising.campaign, on=False, actor=practising.people["olga"])
    assert practising.campaign.protocol.version == version + 1
    assert "Practice first" not in practising.client().get("/desk/").content.decode()
    open_desk(task=practising.post_edit.public_id, user=practising.people["ann"])
    switch_practice(campaign=practising.campaign, on=True, actor=practising.people["olga"])
    assert "Practice first" in practising.client().get("/desk/").content.decode()


def test_what_is_known_comes_with_the_receipt_of_a_label(practising: DeskWorld) -> None:
    client, task = practising.client(), practising.post_edit
    url = f"/desk/{task.public_id}/"
    row = answer(client, task, the_item("i1"), "okay")
    assert (row["label"], row["known"], row["explanation"]) == ("okay", "vital", "because of i1")
    row = answer(client, task, the_item("i2"), "okay")
    assert (row["label"], row["known"]) == ("okay", "okay")
    rows = state_of(client, task)["rows"]
    assert [(row["label"], row["known"]) for row in rows] == [("okay", "vital"), ("okay", "okay")]
    page = client.get(url).content.decode()
    assert "1 of 2 as\n      known" in page
    assert f'href="{url}practice/?again"' in page


def test_nothing_that_is_known_is_told_before_the_answer(practising: DeskWorld) -> None:
    """Not in a page, a state, a receipt, a header or a cookie; and one item's answer tells nothing of another."""
    client, task = practising.client(), practising.post_edit
    url = f"/desk/{task.public_id}/"
    i1, i2 = the_item("i1"), the_item("i2")
    answer(client, task, i1, "vital")
    parts = ("", "?again", "state/", "state/?again", f"answers/{i1.public_id}/", f"answers/{i2.public_id}/")
    for address in ("/desk/", url, *(f"{url}practice/{part}" for part in parts)):
        for response in (client.get(address), client.get(address, headers={"hx-request": "true"})):
            assert response.status_code == 200, address
            assert b"because of i2" not in whole_response(response), address
    for payload in ({"label": None}, {"label": "nonsense"}, {"label": "cant_judge", "reason": "why"}, {}):
        window = Window(client, task)
        op = window.op("label", key=i2.public_id, **payload)
        response = window.post("practice/ops/", {"window": window.window, "ops": [op]})
        assert SECRET.encode() not in whole_response(response)
    others: list[tuple[str, dict[str, Any]]] = [
        ("locate", {"key": i2.public_id, "sentence": 0}),
        ("open", {"answer": i2.public_id}),
        ("search", {"words": "w"}),
    ]
    for kind, payload in others:
        assert SECRET not in json.dumps(sent(client, task, kind, **payload))
    assert PracticeAnswer.objects.count() == 1


def test_practised_again_nothing_is_told_of_items_that_were_answered(practising: DeskWorld) -> None:
    practise(practising.post_edit, practising.people["ann"])
    client, url = practising.client(), f"/desk/{practising.post_edit.public_id}/practice/"
    for address in (f"{url}?again", f"{url}state/?again"):
        assert SECRET.encode() not in whole_response(client.get(address))
    assert state_of(client, practising.post_edit, "?again")["rows"] == []


@pytest.mark.django_db
@pytest.mark.parametrize("stage", PRACTISED)
def test_a_practice_is_the_same_to_the_byte_whatever_is_known(stage: Stage, tmp_path: Path) -> None:
    world, task = world_with(stage, tmp_path)
    client, url = world.client(task.assessor.username), f"/desk/{task.public_id}/practice/"
    pages = []
    for label in (1, 2):
        PracticeItem.objects.update(label=label, explanation=f"known as {label}")
        texts = [f"{url}answers/{answer['id']}/" for answer in state_of(client, task)["answers"]]
        responses = [client.get(address) for address in (url, f"{url}?again", f"{url}state/", *texts)]
        assert {response.status_code for response in responses} == {200}
        pages.append([TOKEN.sub(b"", response.content) for response in responses])
    assert pages[0] == pages[1]


def test_the_first_answer_stands(practising: DeskWorld) -> None:
    client, task = practising.client(), practising.post_edit
    for label in ("okay", "vital"):
        row = answer(client, task, the_item("i1"), label)
        assert (row["label"], row["known"]) == (label, "vital")  # the screen shows what one says now
    assert [practice_answer.label for practice_answer in PracticeAnswer.objects.all()] == [1]
    assert Event.objects.filter(kind="practice.answered").count() == 1
    assert state_of(client, task)["rows"][0]["label"] == "okay"


def test_what_is_no_label_of_an_item_is_refused(practising: DeskWorld) -> None:
    client, task = practising.client(), practising.post_edit
    wrong = [(the_item("i1").public_id, "support"), (the_item("a1").public_id, "support"), ("nowhere", "okay")]
    receipts = [sent(client, task, "label", key=key, label=label) for key, label in wrong]
    assert [receipt["code"] for receipt in receipts] == ["no_label", "no_such_item", "no_such_item"]
    assert sent(client, task, "decide", key="x", decision="kept")["code"] == "bad_operation"
    assert not PracticeAnswer.objects.exists()


def test_practice_writes_first_answers_and_nothing_else(practising: DeskWorld) -> None:
    client, task = practising.client(), practising.post_edit
    before = everything()
    key = the_item("i1").public_id
    for kind, payload in (
        ("label", {"key": key, "label": None}),
        ("locate", {"key": key, "sentence": 0}),
        ("search", {"words": "otter"}),
        ("open", {"answer": key}),
        ("sweep", {}),
        ("undo", {"target": str(uuid.uuid4())}),
        ("redo", {"target": str(uuid.uuid4())}),
    ):
        assert sent(client, task, kind, **payload)["status"] == "applied"
    assert everything() == before
    answer(client, task, the_item("i1"), "okay")
    assert changed(before, everything()) == {"PracticeAnswer", "Event"}
    for name in ("beat/", "hold/", "gap/", "submit/", "remarks/"):  # a practice has none of these
        assert client.post(f"/desk/{task.public_id}/practice/{name}").status_code == 404


@time_machine.travel(datetime(2026, 5, 4, 9, tzinfo=UTC), tick=False)  # Expires is the second of the answer
def test_another_s_practice_answers_exactly_as_a_missing_one(practising: DeskWorld) -> None:
    client, practice_item = practising.client("ben"), the_item("i1")
    client.get("/desk/")
    for name in ("practice/", "practice/state/", f"practice/answers/{practice_item.public_id}/"):
        theirs = client.get(f"/desk/{practising.post_edit.public_id}/{name}")
        nothing = client.get(f"/desk/nothing/{name}")
        assert theirs.headers.pop("X-Request-ID") != nothing.headers.pop("X-Request-ID")
        assert (theirs.status_code, theirs.headers, theirs.content.partition(b"csrf")[0]) == (
            404,
            nothing.headers,
            nothing.content.partition(b"csrf")[0],
        )
    window = Window(client, practising.post_edit)
    op = window.op("label", key=practice_item.public_id, label="vital")
    assert window.post("practice/ops/", {"window": window.window, "ops": [op]}).status_code == 404
    assert not PracticeAnswer.objects.exists()


def test_a_replaced_item_is_asked_anew_and_its_answer_kept(practising: DeskWorld, tmp_path: Path) -> None:
    ann = practising.people["ann"]
    practise(practising.post_edit, ann)
    load_practice(practising.campaign, tmp_path, [item("importance", "i1", "okay"), IMPORTANCE[1]], replace=True)
    assert statements(practising.post_edit) == ["i1"]
    assert PracticeAnswer.objects.count() == 2


def test_more_tasks_and_items_cost_the_home_page_nothing(practising: DeskWorld, tmp_path: Path) -> None:
    client = practising.client()
    before = queries_of(client, "/desk/")
    load_practice(practising.campaign, tmp_path, [item("importance", f"x{n}", "okay") for n in range(9)])
    make_task(practising.campaign, practising.people["ann"], "t3", MANUAL)
    assert queries_of(client, "/desk/") == before


@pytest.mark.django_db
def test_practice_leaves_no_label_anywhere(tmp_path: Path) -> None:
    world = make_judge_world(tmp_path)
    load_practice(world.campaign, tmp_path, ALL)
    before = labels(), Campaign.objects.get().revision
    for task in (world.assign, world.scratch, world.shown):
        practise(task, task.assessor, wrong=1)
    assert (labels(), Campaign.objects.get().revision) == before
    payloads = json.dumps(list(Event.objects.filter(kind="practice.answered").values_list("payload", flat=True)))
    assert "support" in payloads  # the kind
    assert "full_support" not in payloads
    assert "label" not in payloads


def labels() -> list[list[tuple[object, ...]]]:
    tables = (Assignment, SupportJudgment, WorkingAssignment, WorkingSupport)
    return [list(table._default_manager.order_by("pk").values_list()) for table in tables]


def everything() -> dict[str, list[object]]:
    ours = ("evaluation", "jobs", "assessor")
    tables = [model for room in ours for model in apps.get_app_config(room).get_models()]
    return {table.__name__: list(table._default_manager.order_by("pk").values_list()) for table in tables}


def changed(before: dict[str, list[object]], after: dict[str, list[object]]) -> set[str]:
    return {table for table in after if after[table] != before[table]}
