"""The assessor's first page: what there is to do, and why there is nothing."""

import re
from datetime import date

import pytest
from django.test import Client

from evaluation.campaigns.people import take_role
from evaluation.models import Membership, NuggetList, NuggetSet, Task
from evaluation.tasks.changes import Change, TaskChange, change_tasks
from evaluation.tasks.hand_out import reassign
from evaluation.tasks.remarks import answer_remark, remark
from evaluation.terms import RemarkKind, Role, TaskState
from tests.assessor.desk_client import Window
from tests.worlds.campaign import queries_of
from tests.worlds.cast import make_campaign
from tests.worlds.desk import DeskWorld
from tests.worlds.work import hand, more_topics

HOME = "/desk/"


def home(world: DeskWorld, person: str = "ann") -> str:
    response = world.client(person).get(HOME)
    assert response.status_code == 200
    return response.content.decode()


def set_all(state: TaskState, **fields: object) -> None:
    Task.objects.update(state=state, **fields)


def test_it_lists_own_tasks_with_stage_progress_and_next_step(world: DeskWorld) -> None:
    page = home(world)
    for phrase in ("why rivers bend", "how dams fail", "5 undecided of 5", "0 of 6 read", ">Start<", "2 to do"):
        assert phrase in page
    assert f'href="/desk/{world.post_edit.public_id}/"' in page
    assert "Nothing to do now" not in page


def test_progress_follows_what_is_done_at_the_desk(world: DeskWorld) -> None:
    window = Window(world.client(), world.post_edit).open()
    window.do("decide", {"d1": 1}, key="d1", decision="rejected")
    window.do("mark", segment=world.segments()[0].public_id, mark="read")
    page = home(world)
    assert "4 undecided of 5" in page
    assert "1 of 6 read" in page
    assert "In progress" in page


def test_tasks_stand_by_state_with_the_reason_of_a_reopening(world: DeskWorld) -> None:
    Task.objects.filter(pk=world.manual.pk).update(
        state=TaskState.REOPENED, version=2, reopened_reason="Add <b>dates</b>"
    )
    page = home(world)
    assert "Add &lt;b&gt;dates&lt;/b&gt;" in page
    assert page.index("Reopened <span") < page.index("Not started <span")


def test_check_51_what_was_begun_stands_first_with_continue(world: DeskWorld) -> None:
    begun = world.post_edit
    Window(world.client(), begun).open()
    response = Client().post("/accounts/login/", {"login": "ann", "password": "ann"}, follow=True)
    assert response.redirect_chain[-1][0] == HOME
    page = response.content.decode()
    [first, *_] = re.findall(r'<a class="button go"\s+href="([^"]+)">(\w+)', page)
    assert first == (f"/desk/{begun.public_id}/", "Continue")
    assert 'role="status"' not in page.partition("<main")[2].partition("<h1")[0]  # no greeting


def test_what_is_due_is_said_and_what_is_late_too(world: DeskWorld) -> None:
    Task.objects.filter(pk=world.manual.pk).update(due=date(2020, 2, 1))
    assert "1 Feb 2020" in home(world)
    assert ", late" in home(world)


def test_nobody_reads_of_others(world: DeskWorld) -> None:
    page = home(world, "ben")
    for phrase in ("why rivers bend", "how dams fail", "ann", "drafting-machine", "NIST"):
        assert phrase not in page.replace(world.campaign.name, "")


def test_more_tasks_cost_no_more_queries(world: DeskWorld) -> None:
    client = world.client()
    before = queries_of(client, HOME)
    hand(world, more_topics(world.campaign, 5), "ann")
    assert queries_of(client, HOME) == before


def test_all_done(world: DeskWorld) -> None:
    set_all(TaskState.SUBMITTED)
    page = home(world)
    assert 'data-why="done"' in page
    assert "You have submitted all 2 tasks handed to you" in page


def test_waiting_to_be_handed_out(world: DeskWorld) -> None:
    page = home(world, "ben")
    assert 'data-why="held"' in page
    assert "An organizer has not handed you anything yet." in page


def test_waiting_for_another_stage(world: DeskWorld) -> None:
    NuggetList.objects.filter(nugget_set__in=NuggetSet.objects.filter(name="drafts")).update(submitted=False)
    page = home(world, "ben")
    assert 'data-why="drafts"' in page
    assert "The drafts to edit have not been made yet." in page


def test_blocked(world: DeskWorld) -> None:
    set_all(TaskState.BLOCKED, blocked_reason="Texts are missing.")
    page = home(world)
    assert 'data-why="blocked"' in page
    assert "2 tasks of yours are blocked" in page
    assert page.count("Texts are missing.") == 2


@pytest.mark.parametrize("handed_on", [True, False])
def test_what_was_taken_back_is_told_with_who_and_why(world: DeskWorld, *, handed_on: bool) -> None:
    task, olga = world.post_edit, world.people["olga"]
    window = Window(world.client(), task).open()
    reason = "Topic is <dropped>"
    if handed_on:
        reassign(campaign=world.campaign, task=task.public_id, assessor="ben", reason=reason, actor=olga)
    else:
        order = TaskChange(Change.WITHDRAW, (task.public_id,), reason)
        change_tasks(campaign=world.campaign, order=order, actor=olga)
    address = world.client().get(window.url())
    assert address.status_code == 404
    for page in (home(world), address.content.decode()):
        assert f"{olga.name} took this task back on " in page
        assert "Topic is &lt;dropped&gt;" in page
        assert not re.search(r"\bben\b", page, re.IGNORECASE)
    sent = window.op("decide", {"d1": 1}, key="d1", decision="rejected")
    ops = window.post("ops/", {"window": window.window, "ops": [sent]}).json()
    assert ops["code"] == "task_ended"
    assert ops["message"].endswith("Topic is <dropped>")
    for stranger in ("ben", "olga"):
        client = world.client(stranger)
        assert "took this task back" not in client.get(window.url()).content.decode()
        assert client.get(window.url("state/")).json()["code"] == "not_found"
        if stranger == "ben":
            assert "Taken back" not in home(world, "ben")


def test_whose_role_was_taken_is_told_so_at_the_tasks_address(world: DeskWorld) -> None:
    window = Window(world.client(), world.post_edit).open()
    Task.objects.update(state=TaskState.SUBMITTED)
    take_role(campaign=world.campaign, username="ann", role=Role.ASSESSOR, actor=world.people["olga"])
    page = world.client().get(window.url()).content.decode()
    assert f"{world.people['olga'].name} took your role in River study away on " in page
    assert window.post("state/", {}).status_code == 405
    assert world.client().get(window.url("state/")).json()["code"] == "task_ended"


def test_a_part_that_is_not_there_ends_no_desk(world: DeskWorld) -> None:
    window = Window(world.client(), world.post_edit).open()
    assert world.client().get(window.url("answers/nothing/")).json()["code"] == "no_such_part"


def test_each_campaign_says_why(world: DeskWorld) -> None:
    other = make_campaign("lake", "Lake study")
    Membership.objects.create(campaign=other, user=world.people["ann"], role=Role.ASSESSOR)
    set_all(TaskState.SUBMITTED)
    page = home(world)
    assert "<bdi>River study</bdi>: <b>All done.</b>" in " ".join(page.split())
    assert "<bdi>Lake study</bdi>: <b>Waiting for another stage.</b>" in " ".join(page.split())


def test_who_assesses_nowhere_is_told_so(world: DeskWorld) -> None:
    assert "You assess in no campaign." in home(world, "sam")


def test_own_remarks_come_back_with_their_answers(world: DeskWorld) -> None:
    remarks = [
        remark(task=world.manual.public_id, user=world.people["ann"], kind=kind, text=text)
        for kind, text in ((RemarkKind.FLAG, "P3 is empty."), (RemarkKind.COMMENT, "Nice topic."))
    ]
    answer_remark(
        campaign=world.campaign, remark=remarks[0].public_id, answer="Leave it out.", actor=world.people["olga"]
    )
    page = home(world)
    assert "P3 is empty." in page
    assert "Leave it out." in page
    assert "olga" not in page
    assert "1 remark of yours waits for an answer." in page


@pytest.mark.parametrize("phrase", ["What is recorded", "Each change to a nugget", "camera", "other assessors"])
def test_it_says_what_is_recorded_and_what_is_not(world: DeskWorld, phrase: str) -> None:
    assert phrase.lower() in home(world).lower()
