"""Changing work that is handed out: reopen, block, withdraw, reassign, one by one and many at once."""

from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from assessor.models import WorkingNugget
from evaluation.models import Event, NuggetList, Task
from evaluation.tasks.changes import Change
from evaluation.tasks.remarks import remark
from evaluation.terms import TASK_EVENTS, RemarkKind, TaskState
from tests.assessor.desk_client import Window
from tests.worlds.desk import DeskWorld
from tests.worlds.work import REASON, as_submitted, hand, make_work_world, more_topics

CHANGE = reverse("organizer:change_work", args=["river"])


@pytest.fixture
def desk(db: None, tmp_path: Path) -> DeskWorld:
    return make_work_world(tmp_path)


@pytest.fixture
def fifteen(desk: DeskWorld) -> list[Task]:
    tasks = hand(desk, more_topics(desk.campaign, 15))
    as_submitted(tasks[3:])
    return tasks


def bulk(desk: DeskWorld, button: str, status: int = 200, **fields: Any) -> str:
    response = desk.client("olga").post(CHANGE, {"change": "reopen", button: "1", **fields})
    assert response.status_code == status, response.content.decode()
    return response.content.decode()


def act(desk: DeskWorld, what: str, task: Task, status: int = 302, person: str = "olga", **fields: str) -> str:
    response = desk.client(person).post(reverse(f"organizer:{what}_task", args=["river", task.public_id]), fields)
    assert response.status_code == status
    task.refresh_from_db()
    return response.content.decode()


def submit_everything(desk: DeskWorld) -> Window:
    """Ann keeps all drafts as vital and submits."""
    window = Window(desk.client(), desk.post_edit).open()
    for row in window.state()["rows"]:
        window.do("importance", {row["key"]: 1}, key=row["key"], importance=2)
        window.do("decide", {row["key"]: 2}, key=row["key"], decision="kept")
    response = window.post("submit/", {"window": window.window, "seq": window.state()["seq"]})
    assert response.status_code == 200, response.content
    desk.post_edit.refresh_from_db()
    return window


def test_a_preview_of_reopening_names_what_stays_writing_nothing(desk: DeskWorld, fifteen: list[Task]) -> None:
    page = bulk(desk, "preview", tasks=[task.public_id for task in fifteen])
    assert "Changes <b>12</b>, skips <b>3</b>" in page
    assert page.count("only submitted work can be reopened") == 3
    assert not Event.objects.filter(kind="task.reopened").exists()


def test_reopening_12_of_15_leaves_12_events_with_the_reason(desk: DeskWorld, fifteen: list[Task]) -> None:
    bulk(desk, "commit", 302, tasks=[task.public_id for task in fifteen], reason=REASON)
    events = Event.objects.filter(kind="task.reopened")
    assert events.count() == 12
    assert {event.payload["reason"] for event in events} == {REASON}
    assert {event.payload["task"] for event in events} == {task.public_id for task in fifteen[3:]}
    states = Task.objects.filter(pk__in=[task.pk for task in fifteen]).values_list("state", "version")
    assert sorted(states) == [(TaskState.NOT_STARTED, 1)] * 3 + [(TaskState.REOPENED, 2)] * 12


def test_reopening_without_a_reason_does_nothing(desk: DeskWorld, fifteen: list[Task]) -> None:
    page = bulk(desk, "commit", 422, tasks=[task.public_id for task in fifteen], reason="  ")
    assert "Say why: the reason is recorded." in page
    assert "Preview: nothing was changed" in page
    assert not Task.objects.filter(state=TaskState.REOPENED).exists()


def test_several_tasks_get_another_due_date(desk: DeskWorld, fifteen: list[Task]) -> None:
    ids = [task.public_id for task in fifteen]
    bulk(desk, "commit", 302, change="reschedule", tasks=ids, due="2027-01-31", priority="2")
    assert Task.objects.filter(due="2027-01-31", priority=2).count() == 3
    assert Event.objects.filter(kind="task.rescheduled").count() == 3


@pytest.mark.parametrize(("person", "status"), [("sam", 404), ("ann", 404), ("rita", 403), ("audrey", 403)])
@pytest.mark.parametrize("what", ["reopen", "block", "unblock", "withdraw", "reschedule", "reassign"])
def test_only_organizers_change_tasks(desk: DeskWorld, what: str, person: str, status: int) -> None:
    act(desk, what, desk.post_edit, status, person, reason=REASON, assessor="ben")
    assert desk.post_edit.state == TaskState.NOT_STARTED


def test_a_blocked_task_waits_and_comes_back_to_where_it_was(desk: DeskWorld) -> None:
    Window(desk.client(), desk.post_edit).open()
    act(desk, "block", desk.post_edit, reason=REASON)
    assert (desk.post_edit.state, desk.post_edit.blocked_reason) == (TaskState.BLOCKED, REASON)
    act(desk, "unblock", desk.post_edit)
    assert (desk.post_edit.state, desk.post_edit.blocked_reason) == (TaskState.IN_PROGRESS, "")


def test_what_cannot_be_done_is_said_and_not_done(desk: DeskWorld) -> None:
    page = act(desk, "reopen", desk.post_edit, 422, reason=REASON)
    assert "This task is not started: only submitted work can be reopened." in page


def test_a_reopened_list_goes_on_from_what_was_submitted(desk: DeskWorld) -> None:
    window = submit_everything(desk)
    before = list(WorkingNugget.objects.order_by("pk").values())
    act(desk, "reopen", desk.post_edit, reason=REASON)
    assert list(WorkingNugget.objects.order_by("pk").values()) == before
    assert window.do("decide", {"d1": 3}, key="d1", decision="rejected")["status"] == "applied"
    response = window.post("submit/", {"window": window.window, "seq": window.state()["seq"]})
    assert response.json() == {"version": 2, "nuggets": 4}
    assert [submission.frozen_list.items.count() for submission in desk.post_edit.submissions.all()] == [5, 4]


def test_a_manual_list_stays_closed_once_its_assessor_has_drafts(desk: DeskWorld) -> None:
    [task] = hand(desk, [desk.topic("t1")], "ben")
    as_submitted([task])
    Task.objects.filter(pk=desk.post_edit.pk).update(assessor=desk.people["ben"])
    assert "has been handed the drafts" in act(desk, "reopen", task, 422, reason=REASON)


def test_reopening_answers_the_request_for_it(desk: DeskWorld) -> None:
    submit_everything(desk)
    reopen_request = remark(
        task=desk.post_edit.public_id, user=desk.people["ann"], kind=RemarkKind.REOPEN, text="I missed P3."
    )
    act(desk, "reopen", desk.post_edit, reason=REASON)
    [answered] = desk.post_edit.remarks.filter(public_id=reopen_request.public_id)
    assert answered.answered_by == desk.people["olga"]
    assert REASON in answered.answer


def test_withdrawn_work_is_kept_and_not_counted(desk: DeskWorld) -> None:
    submit_everything(desk)
    revision = type(desk.campaign).objects.get().revision
    act(desk, "withdraw", desk.post_edit, reason=REASON)
    made = NuggetList.objects.get(nugget_set=desk.post_edit.nugget_set)
    assert not made.submitted
    assert made.items.count() == 5
    assert type(desk.campaign).objects.get().revision > revision
    assert desk.client("ann").get(f"/desk/{desk.post_edit.public_id}/").status_code == 404


def test_reassigning_makes_an_empty_task_and_withdraws_the_old(desk: DeskWorld) -> None:
    Window(desk.client(), desk.post_edit).open()
    act(desk, "reassign", desk.post_edit, assessor="ben", reason=REASON)
    new = Task.objects.get(topic=desk.post_edit.topic, assessor=desk.people["ben"])
    assert desk.post_edit.state == TaskState.WITHDRAWN
    assert (new.state, new.version, new.drafts) == (TaskState.NOT_STARTED, 1, desk.post_edit.drafts)
    assert new.nugget_set != desk.post_edit.nugget_set
    assert WorkingNugget.objects.filter(task=desk.post_edit).count() == 5
    [event] = Event.objects.filter(kind="task.reassigned")
    assert (event.payload["reason"], event.payload["new"]) == (REASON, new.public_id)
    for task in (desk.post_edit, new):
        address = reverse("organizer:task", args=["river", task.public_id])
        page = desk.client("olga").get(address).content.decode()
        assert "The guidelines changed &lt;b&gt;twice&lt;/b&gt;." in page


@pytest.mark.parametrize(
    ("to", "message"),
    [
        ("ann", "Ann Archer has it already."),
        ("olga", "olga is no assessor of this campaign."),
        ("sam", "sam is no"),
    ],
)
def test_work_is_not_reassigned_to_just_anybody(desk: DeskWorld, to: str, message: str) -> None:
    assert message in act(desk, "reassign", desk.post_edit, 422, assessor=to, reason=REASON)
    assert desk.post_edit.state == TaskState.NOT_STARTED
    assert Task.objects.count() == 2


def test_a_submitted_task_shows_what_became_of_the_drafts(desk: DeskWorld) -> None:
    window = Window(desk.client(), desk.post_edit).open()
    window.do("merge", {"d1": 1, "d2": 1}, key="m", from_=["d1", "d2"], text="both", importance=2, evidence=[])
    window.do("decide", {"d3": 1}, key="d3", decision="rejected")
    window.do("edit", {"d4": 1}, key="d4", text="a quite different sentence")
    window.do("importance", {"d4": 2}, key="d4", importance=1)
    window.do("importance", {"d5": 1}, key="d5", importance=1)
    window.do("decide", {"d5": 2}, key="d5", decision="kept")
    window.do("add", key="a", text="a new one", importance=1, evidence=[], after=None)
    response = window.post("submit/", {"window": window.window, "seq": window.state()["seq"]})
    assert response.status_code == 200, response.content
    address = reverse("organizer:task", args=["river", desk.post_edit.public_id])
    page = desk.client("olga").get(address).content.decode()
    lines = {
        name: page.count(f'class="line line-{name}" d="M430') for name in ("kept", "edited", "merged", "split")
    }
    assert lines == {"kept": 1, "edited": 1, "merged": 2, "split": 0}
    for name in ("add nugget", "remove nugget", "major edit"):
        assert f'<span class="tag">{name}</span>' in page
    assert page.count('<th scope="row">removed</th>') == 1
    assert page.count('<th scope="row">added</th>') == 1
    assert 'style="' not in page


def test_many_tasks_are_reassigned_and_the_preview_says_which_not(desk: DeskWorld, fifteen: list[Task]) -> None:
    before = {task.pk: task.assessor_id for task in Task.objects.all()}
    mine = list(Task.objects.filter(pk__in=[task.pk for task in fifteen], assessor__username="ann"))
    open_ones = [task for task in mine if task.state == TaskState.NOT_STARTED]
    Task.objects.filter(pk__in=[task.pk for task in mine[:-1]]).update(state=TaskState.NOT_STARTED)
    fields: dict[str, Any] = {
        "change": "reassign",
        "tasks": [task.public_id for task in mine],
        "assessor": "ben",
        "reason": REASON,
    }
    page = bulk(desk, "preview", **fields)
    assert f"Changes <b>{len(mine) - 1}</b>, skips <b>1</b>" in page
    assert "This task is submitted" in page
    assert {task.pk: task.assessor_id for task in Task.objects.all()} == before
    assert not Event.objects.filter(kind="task.reassigned").exists()
    bulk(desk, "commit", 302, **fields)
    events = Event.objects.filter(kind="task.reassigned")
    assert {event.payload["reason"] for event in events} == {REASON}
    assert events.count() == len(mine) - 1 >= len(open_ones)
    assert Task.objects.filter(assessor__username="ben", state=TaskState.NOT_STARTED).count() >= len(mine) - 1


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"assessor": "ben", "reason": " "}, "Say why: the reason is recorded."),
        ({"assessor": "", "reason": REASON}, "Choose to whom the tasks are given."),
    ],
)
def test_reassigning_needs_a_reason_and_somebody(desk: DeskWorld, fields: dict[str, str], why: str) -> None:
    page = bulk(desk, "preview", 422, change="reassign", tasks=[desk.manual.public_id], **fields)
    assert why in page


def test_every_change_is_in_the_history_of_its_task() -> None:
    assert {change.done for change in Change} <= set(TASK_EVENTS)


def scheduled(desk: DeskWorld) -> list[str]:
    """Public ids of Ann's two tasks, which are due and of priority first."""
    Task.objects.update(due="2099-11-30", priority=2)
    return list(Task.objects.values_list("public_id", flat=True))


def schedules() -> set[tuple[str, int]]:
    return {(str(task.due), task.priority) for task in Task.objects.all()}


@pytest.mark.parametrize(
    ("fields", "after", "loss"),
    [
        ({"due": "", "priority": "1"}, ("2099-11-30", 1), "Replaces the priority of 2 tasks."),
        ({"due": "2099-12-24", "priority": ""}, ("2099-12-24", 2), "Replaces the due date of 2 tasks."),
        ({"due": "2099-12-24"}, ("2099-12-24", 2), "Replaces the due date of 2 tasks."),
        ({"drops_due": "on"}, ("None", 2), "Takes the due date of 2 tasks away."),
    ],
)
def test_what_is_left_empty_stays_as_it_is(
    desk: DeskWorld, fields: dict[str, Any], after: tuple[str, int], loss: str
) -> None:
    tasks = scheduled(desk)
    assert loss in bulk(desk, "preview", change="reschedule", tasks=tasks, **fields)
    assert schedules() == {("2099-11-30", 2)}
    bulk(desk, "commit", 302, change="reschedule", tasks=tasks, **fields)
    assert schedules() == {after}


def test_one_task_keeps_the_date_that_its_form_leaves_empty(desk: DeskWorld) -> None:
    scheduled(desk)
    act(desk, "reschedule", desk.post_edit, due="", priority="0")
    assert (str(desk.post_edit.due), desk.post_edit.priority) == ("2099-11-30", 0)
    act(desk, "reschedule", desk.post_edit, drops_due="on", priority="0")
    assert desk.post_edit.due is None


def test_a_schedule_that_says_nothing_changes_nothing(desk: DeskWorld) -> None:
    tasks = scheduled(desk)
    assert "stays as it is" in bulk(desk, "commit", 422, change="reschedule", tasks=tasks)
    assert schedules() == {("2099-11-30", 2)}


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ({"priority": 1}, ("2099-11-30", 1)),
        ({"due": "2099-12-24"}, ("2099-12-24", 2)),
        ({"due": None}, ("None", 2)),
        ({"due": "2099-12-24", "priority": None}, ("2099-12-24", 2)),
    ],
)
@pytest.mark.parametrize("at_once", [True, False])
def test_a_program_leaves_alone_what_it_does_not_name(
    desk: DeskWorld, body: dict[str, Any], after: tuple[str, int], at_once: bool
) -> None:
    tasks = scheduled(desk)
    olga, kind = desk.client("olga"), "application/json"
    many = {"campaign": "river", "change": "reschedule", "tasks": tasks, **body}
    tried = olga.post("/api/v1/task-changes/?dry_run=true", many, content_type=kind)
    assert [loss.split(" of ")[-1][:7] for loss in tried.json()["takes_away"]] == ["2 tasks"]
    if at_once:
        assert olga.post("/api/v1/task-changes/", many, content_type=kind).status_code == 200
    else:
        for task in tasks:
            assert olga.post(f"/api/v1/tasks/{task}/reschedule/", body, content_type=kind).status_code == 200
    assert schedules() == {after}
