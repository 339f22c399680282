"""Practice comes before a stage's first task; what is known of an item comes after its answer; nothing counts."""

import json
import re
from pathlib import Path

import pytest
from django.test import Client

from assessor.desk.context import open_desk
from assessor.models import PracticeAnswer, PracticeItem, WorkingAssignment, WorkingSupport
from assessor.practice.items import switch_practice
from evaluation.errors import Refused
from evaluation.models import Assignment, Campaign, Event, SupportJudgment, Task
from evaluation.terms import Stage, TaskState
from tests.crawl.canaries import whole_response
from tests.worlds.campaign import queries_of
from tests.worlds.desk import DeskWorld, make_desk_world, make_task
from tests.worlds.judging_desk import make_judge_world
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

SECRET = "because of"
TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="[^"]+')


def statements(task: Task) -> list[str]:
    return [practice_item.statement.removeprefix("statement ") for practice_item in left(task, task.assessor)]


def the_item(name: str) -> PracticeItem:
    return PracticeItem.objects.get(statement=f"statement {name}")


def answer(client: Client, task: Task, practice_item: PracticeItem, label: str) -> str:
    """Send an answer; return where it leads."""
    sent = {"item": practice_item.public_id, "label": label}
    response = client.post(f"/desk/{task.public_id}/practice/", sent)
    assert response.status_code == 302, response.content
    return str(response["Location"])


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
        Stage.ASSIGN: ["a1", "a2"],
        Stage.SUPPORT_SCRATCH: ["s1", "s2"],
        Stage.SUPPORT_POST_EDIT: ["s1", "s2"],
    }
    load_practice(world.campaign, tmp_path, SHOWN)
    assert (statements(world.scratch), statements(world.shown)) == (["s1", "s2"], ["m1"])


@pytest.mark.django_db
def test_a_machine_s_label_is_shown_only_where_the_stage_shows_one(tmp_path: Path) -> None:
    world = make_judge_world(tmp_path)
    load_practice(world.campaign, tmp_path, ALL)
    shown = world.client("ann").get(f"/desk/{world.shown.public_id}/practice/").content.decode()
    scratch = world.client("ben").get(f"/desk/{world.scratch.public_id}/practice/").content.decode()
    assert "Machine label: Full" in shown
    assert "achine" not in scratch
    assert "checked" not in shown


@pytest.mark.django_db
@pytest.mark.parametrize("stage", Stage)
def test_a_task_of_each_stage_opens_only_after_its_practice(stage: Stage, tmp_path: Path) -> None:
    if stage.judges:
        judging = make_judge_world(tmp_path)
        campaign, tasks = judging.campaign, [judging.assign, judging.scratch, judging.shown]
    else:
        desks = make_desk_world(tmp_path)
        campaign, tasks = desks.campaign, [desks.post_edit, desks.manual]
    task = next(candidate for candidate in tasks if candidate.stage == stage)
    load_practice(campaign, tmp_path, ALL)
    with pytest.raises(Refused) as refusal:
        open_desk(task=task.public_id, user=task.assessor)
    assert refusal.value.code == "practice"
    practise(task, task.assessor, wrong=1)
    open_desk(task=task.public_id, user=task.assessor)
    task.refresh_from_db()
    assert task.state == TaskState.IN_PROGRESS


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


def test_items_come_one_by_one_and_the_result_last(practising: DeskWorld) -> None:
    client, task = practising.client(), practising.post_edit
    url = f"/desk/{task.public_id}/practice/"
    first = client.get(url).content.decode()
    assert "item 1 of 2" in first
    assert "statement i1" in first
    assert "statement i2" not in first
    after = client.get(answer(client, task, the_item("i1"), "okay")).content.decode()
    assert "not as known" in after
    assert "because of i1" in after
    assert after.index("Okay") < after.index("Vital")  # one's own, then the known one
    after = client.get(answer(client, task, the_item("i2"), "okay")).content.decode()
    assert ": as known" in after
    done = client.get(url).content.decode()
    assert "1 of 2 as known" in done
    assert f'href="/desk/{task.public_id}/"' in done


def test_nothing_that_is_known_is_told_before_the_answer(practising: DeskWorld) -> None:
    """Not in a page, a redirect, a header or a cookie; and the page of another item tells nothing of this one."""
    client, task = practising.client(), practising.post_edit
    url = f"/desk/{task.public_id}/"
    i1, i2 = the_item("i1"), the_item("i2")
    answer(client, task, i1, "vital")
    for address in ("/desk/", url, f"{url}practice/", f"{url}practice/{i2.public_id}/", f"{url}start/"):
        for response in (client.get(address), client.get(address, headers={"hx-request": "true"})):
            assert SECRET.encode() not in whole_response(response), address
    for sent in ({"item": i2.public_id}, {"item": i2.public_id, "label": "nonsense"}, {"label": "vital"}, {}):
        refused = client.post(f"{url}practice/", sent)
        assert SECRET.encode() not in whole_response(refused)
        assert SECRET.encode() not in whole_response(client.get(refused["Location"]))
    assert client.get(f"{url}practice/{i2.public_id}/").status_code == 404
    assert b"because of i2" not in whole_response(client.get(f"{url}practice/{i1.public_id}/"))
    assert PracticeAnswer.objects.count() == 1


def test_a_page_is_the_same_to_the_byte_whatever_is_known(practising: DeskWorld) -> None:
    client, url = practising.client(), f"/desk/{practising.post_edit.public_id}/practice/"
    pages = []
    for label in (1, 2):
        PracticeItem.objects.filter(kind="importance").update(label=label, explanation=f"known as {label}")
        pages.append(TOKEN.sub(b"", client.get(url).content))
    assert pages[0] == pages[1]


def test_the_first_answer_stands(practising: DeskWorld) -> None:
    client, task = practising.client(), practising.post_edit
    assert answer(client, task, the_item("i1"), "okay") == answer(client, task, the_item("i1"), "vital")
    assert [practice_answer.label for practice_answer in PracticeAnswer.objects.all()] == [1]
    assert Event.objects.filter(kind="practice.answered").count() == 1


def test_an_answer_without_a_label_says_what_is_missing(practising: DeskWorld) -> None:
    client, url = practising.client(), f"/desk/{practising.post_edit.public_id}/practice/"
    page = client.post(url, {"item": the_item("i1").public_id}, follow=True).content.decode()
    assert "Choose a label first." in page
    assert "item 1 of 2" in page
    assert (
        "not part of the practice"
        in client.post(url, {"item": the_item("a1").public_id, "label": "support"}, follow=True).content.decode()
    )  # of another stage
    assert not PracticeAnswer.objects.exists()


def test_another_s_task_answers_exactly_as_a_missing_one(practising: DeskWorld) -> None:
    client, practice_item = practising.client("ben"), the_item("i1")
    client.get("/desk/")
    for name in ("practice/", f"practice/{practice_item.public_id}/"):
        theirs = client.get(f"/desk/{practising.post_edit.public_id}/{name}")
        nothing = client.get(f"/desk/nothing/{name}")
        assert theirs.headers.pop("X-Request-ID") != nothing.headers.pop("X-Request-ID")
        assert (theirs.status_code, theirs.headers, theirs.content.partition(b"csrf")[0]) == (
            404,
            nothing.headers,
            nothing.content.partition(b"csrf")[0],
        )
    sent = client.post(
        f"/desk/{practising.post_edit.public_id}/practice/", {"item": practice_item.public_id, "label": "vital"}
    )
    assert sent.status_code == 404
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
    make_task(practising.campaign, practising.people["ann"], "t3", Stage.MANUAL)
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
