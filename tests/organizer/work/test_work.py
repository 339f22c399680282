"""Handing work out: who may, what the preview says, what is written."""

import html
import re
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from evaluation.models import Event, Judge, Membership, NuggetSet, Task, Topic
from evaluation.stages import (
    ASSIGN,
    BATTLE,
    GRADE,
    MANUAL,
    POST_EDIT,
    STAGES,
    SUPPORT_POST_EDIT,
    SUPPORT_SCRATCH,
    Stage,
)
from evaluation.terms import JudgeKind, Origin, Role, TaskState
from tests.worlds.desk import DeskWorld
from tests.worlds.work import as_submitted, hand, make_work_world, more_topics

WORK, HAND_OUT, CHANGE, INBOX = (
    reverse(f"organizer:{name}", args=["river"]) for name in ("work", "hand_out", "change_work", "inbox")
)
READERS = [("sam", 404), ("ann", 404), ("olga", 200), ("rita", 200), ("audrey", 200)]
ORGANIZERS = [("sam", 404), ("ann", 404), ("olga", 200), ("rita", 403), ("audrey", 403)]


@pytest.fixture
def desk(db: None, tmp_path: Path) -> DeskWorld:
    return make_work_world(tmp_path)


def post_form(desk: DeskWorld, button: str, status: int = 200, **fields: Any) -> str:
    response = desk.client("olga").post(HAND_OUT, {"stage": "manual", "priority": "0", button: "1", **fields})
    assert response.status_code == status, response.content.decode()
    return response.content.decode()


def key_in(page: str) -> str:
    return page.partition('name="expect" value="')[2].partition('"')[0]


@pytest.mark.parametrize("page", [WORK, INBOX, "task"])
@pytest.mark.parametrize(("person", "status"), READERS)
def test_only_unblinded_members_look(desk: DeskWorld, page: str, person: str, status: int) -> None:
    address = reverse("organizer:task", args=["river", desk.post_edit.public_id]) if page == "task" else page
    assert desk.client(person).get(address).status_code == status


@pytest.mark.parametrize("page", [HAND_OUT, CHANGE])
@pytest.mark.parametrize(("person", "status"), ORGANIZERS)
def test_only_organizers_open_the_forms(desk: DeskWorld, page: str, person: str, status: int) -> None:
    assert desk.client(person).get(page).status_code == status


@pytest.mark.parametrize(("person", "status"), [row for row in ORGANIZERS if row[0] != "olga"])
def test_only_organizers_hand_out(desk: DeskWorld, person: str, status: int) -> None:
    [topic] = more_topics(desk.campaign, 1)
    fields = {"stage": "manual", "priority": "0", "topics": [topic.public_id], "hand_out": "1", "expect": "x"}
    assert desk.client(person).post(HAND_OUT, fields).status_code == status
    assert Task.objects.count() == 2


def test_an_organizer_who_also_assesses_sees_no_work(desk: DeskWorld) -> None:
    Membership.objects.create(campaign=desk.campaign, user=desk.people["olga"], role=Role.ASSESSOR)
    assert desk.client("olga").get(WORK).status_code == 404


def test_a_task_of_another_campaign_is_not_found_in_mine(desk: DeskWorld) -> None:
    other = type(desk.campaign).objects.create(slug="other", name="Other")
    Membership.objects.create(campaign=other, user=desk.people["olga"], role=Role.ORGANIZER)
    address = reverse("organizer:task", args=["other", desk.post_edit.public_id])
    assert desk.client("olga").get(address).status_code == 404


def test_the_matrix_says_who_has_what_and_how_far_it_is(desk: DeskWorld) -> None:
    client = desk.client("olga")
    page = client.get(WORK).content.decode()
    for shown in ("Ann Archer", "not started", "0/5", "0/6"):
        assert shown in page
    for task, shown in ((desk.post_edit, "5 undecided of 5"), (desk.manual, "0 of 6 passages read")):
        assert shown in client.get(WORK, {"card": task.public_id}).content.decode()
    assert page.count('role="img" title="Ann Archer is proposed once the list is submitted"') == 2
    # t1 by hand, t2 to post-edit, both of t3 and t4, and the labels of these two
    assert page.count('class="task-chip is-empty"') == 8


def test_a_first_view_of_a_hundred_topics_is_light(desk: DeskWorld) -> None:
    machine = Judge.objects.create(name="machine", kind=JudgeKind.LLM)
    tasks: list[Task] = []
    for n in range(96):
        topic = Topic.objects.create(
            campaign=desk.campaign, topic_id=f"2024-{n}", text="sand " * 10, position=9 + n
        )
        for stage in STAGES.values():
            task = Task.objects.get(pk=desk.post_edit.pk)
            task.pk, task.public_id, task.topic, task.stage = None, f"{len(tasks):012}", topic, stage
            task.state = (TaskState.NOT_STARTED, TaskState.IN_PROGRESS, TaskState.SUBMITTED)[n % 3]
            task.judge = machine
            for name in NOT_OF_STAGE[stage]:
                setattr(task, name, None)
            tasks.append(task)
    Task.objects.bulk_create(tasks)
    page = desk.client("olga").get(WORK).content.decode()
    assert "All 100 topics found" in page
    assert page.count('class="task-chip is-in-progress"') >= 40
    assert page.count('name="topics"') == 30
    assert len(page.encode()) < 67_000


def test_a_card_is_of_a_task_that_the_matrix_shows(desk: DeskWorld) -> None:
    client, card = desk.client("olga"), {"card": desk.manual.public_id}
    assert desk.client("ann").get(WORK, card).status_code == 404
    assert client.get(WORK, {"card": "nothing"}).status_code == 404
    Task.objects.filter(pk=desk.manual.pk).update(state="withdrawn")
    assert client.get(WORK, card).status_code == 404


def test_the_head_counts_topics_and_leads_to_them(desk: DeskWorld) -> None:
    as_submitted([desk.manual])
    client = desk.client("olga")
    head = client.get(WORK).content.decode().partition("</h1>")[2].partition("</div>")[0]
    links = re.findall(r'href="([^"]+state=[^"]+)">(\d+) ([a-z ]+)</a>', head)
    assert [(number, word) for _, number, word in links] == [("3", "not started"), ("1", "done")]
    for link, number, _ in links:
        assert client.get(html.unescape(link)).content.decode().count('name="topics"') == int(number)


def test_an_empty_cell_leads_to_its_hand_out(desk: DeskWorld) -> None:
    page = desk.client("olga").get(WORK).content.decode()
    links = [html.unescape(link) for link in re.findall(r'is-empty" href="([^"]+)"', page)]
    t3 = desk.topic("t3").public_id
    [link] = [link for link in links if t3 in link and "manual" in link]
    assert ticked(desk, link.removeprefix("hand-out/")) == {"t3"}
    assert re.search(r'value="manual"[^>]*checked', desk.client("olga").get(f"{WORK}{link}").content.decode())


def test_ticked_topics_bring_their_tasks_to_a_change(desk: DeskWorld) -> None:
    wanted = {"choose": "ticked", "topics": desk.topic("t2").public_id, "change": "block"}
    page = desk.client("olga").post(CHANGE, wanted).content.decode()
    assert re.search(rf'value="{desk.manual.public_id}"[^>]*checked', page)
    assert not re.search(rf'value="{desk.post_edit.public_id}"[^>]*checked', page)
    assert re.search(r'value="block"[^>]*checked', page)


def test_late_tasks_and_patterns_are_found_by_address(desk: DeskWorld) -> None:
    type(desk.manual).objects.filter(pk=desk.manual.pk).update(due="2020-02-01")
    client = desk.client("olga")
    late = client.get(WORK + "?state=late").content.decode()
    assert (late.count('name="topics"'), ">t2<" in late) == (1, True)
    assert 'value="/^t1/"' in client.get(WORK + "?words=/^t1/").content.decode()


def test_the_matrix_is_filtered(desk: DeskWorld) -> None:
    def topics(query: str) -> set[str]:
        page = desk.client("olga").get(WORK + query).content.decode()
        return {name for name in ("t1", "t2", "t3", "t4") if f"<bdi>{name}</bdi></a>&#32;" in page}

    assert topics("?state=not+handed+out") == {"t3", "t4"}
    assert topics("?state=not+started&stage=manual") == {"t2"}
    assert topics("?assessor=ann") == {"t1", "t2"}
    assert topics("?words=otters") == {"t3"}
    assert topics("?assessor=ben") == set()


def test_a_preview_names_who_gets_and_skips_what_writing_nothing(desk: DeskWorld) -> None:
    topics = [*more_topics(desk.campaign, 4), desk.topic("t2"), desk.topic("t4")]
    events = Event.objects.count()
    page = post_form(desk, "preview", topics=[topic.public_id for topic in topics])
    assert "Hands out <b>4</b>, skips <b>2</b>" in page
    assert "Ann Archer has it (not started)" in page
    assert "no passage with text that NIST grades 1 or higher" in page
    assert Task.objects.count() == 2
    assert Event.objects.count() == events
    assert not Judge.objects.filter(user=desk.people["ben"]).exists()


def test_what_was_previewed_is_handed_out_with_one_event_a_task(desk: DeskWorld) -> None:
    topics = [topic.public_id for topic in more_topics(desk.campaign, 4)]
    fields: dict[str, Any] = {"topics": topics, "due": "2099-12-01", "priority": "1"}
    key = key_in(post_form(desk, "preview", **fields))
    post_form(desk, "hand_out", 302, expect=key, **fields)
    made = Task.objects.filter(topic__public_id__in=topics)
    assert made.count() == 4
    assert {(str(task.due), task.priority, task.state) for task in made} == {
        ("2099-12-01", 1, TaskState.NOT_STARTED)
    }
    events = Event.objects.filter(kind="task.handed_out", payload__task__in=[task.public_id for task in made])
    assert events.count() == 4
    assert {event.actor for event in events} == {desk.people["olga"]}


def test_what_changed_since_the_preview_is_shown_and_not_done(desk: DeskWorld) -> None:
    topics = more_topics(desk.campaign, 2)
    fields: dict[str, Any] = {"topics": [topic.public_id for topic in topics]}
    key = key_in(post_form(desk, "preview", **fields))
    hand(desk, topics[:1], "ben")
    page = post_form(desk, "hand_out", 422, expect=key, **fields)
    assert "Something changed since the preview" in page
    assert "Hands out <b>1</b>, skips <b>1</b>" in page
    assert Task.objects.count() == 3


def test_balanced_work_goes_to_whoever_has_less_to_do(desk: DeskWorld) -> None:
    tasks = hand(desk, more_topics(desk.campaign, 6))
    minutes = dict.fromkeys(("ann", "ben"), 0)
    for task in Task.objects.select_related("assessor"):
        minutes[task.assessor.username] += task.expected_minutes
    assert abs(minutes["ann"] - minutes["ben"]) <= max(task.expected_minutes for task in tasks)
    assert {task.assessor.username for task in tasks} == {"ann", "ben"}


def test_a_hand_out_by_hand_is_refused_to_who_has_seen_the_drafts(desk: DeskWorld) -> None:
    page = post_form(desk, "preview", topics=[desk.topic("t1").public_id], assessor="ann")
    assert "Ann Archer had it to post-edit and has seen the drafts." in page
    balanced = post_form(desk, "preview", topics=[desk.topic("t1").public_id])
    assert "<bdi>Ben Brook</bdi>" in balanced


def test_drafts_are_not_shown_to_who_is_still_writing_by_hand(desk: DeskWorld) -> None:
    hand(desk, [desk.topic("t1")], "ben")
    fields: dict[str, Any] = {"stage": "post-edit", "assessor": "ben", "again": "on"}
    fields["topics"] = [desk.topic("t1").public_id]
    assert "Ben Brook has not submitted the list written by hand yet." in post_form(desk, "preview", **fields)


def test_the_first_task_makes_the_assessor_a_judge_with_an_own_set(desk: DeskWorld) -> None:
    [task] = hand(desk, [desk.topic("t3")], "ben")
    judge = Judge.objects.get(user=desk.people["ben"])
    assert (judge.name, judge.kind) == ("Ben Brook", JudgeKind.HUMAN)
    assert task.nugget_set == NuggetSet.objects.get(name="manual-Ben Brook", judge=judge, origin=Origin.MANUAL)


def test_a_taken_name_does_not_make_two_people_one(desk: DeskWorld) -> None:
    imported = Judge.objects.create(name="Ben Brook", kind=JudgeKind.HUMAN)
    [task] = hand(desk, [desk.topic("t3")], "ben")
    assert task.nuggets.judge.name == "Ben Brook (ben)"
    assert task.nuggets.judge != imported


def test_an_edited_set_knows_its_drafts(desk: DeskWorld) -> None:
    task = Task.objects.get(stage=POST_EDIT)
    assert task.drafts == desk.drafts()
    assert task.nuggets.drafts == task.drafts.nugget_set


def test_which_drafts_must_be_said_where_there_are_several(desk: DeskWorld) -> None:
    NuggetSet.objects.create(
        campaign=desk.campaign, name="other drafts", origin=Origin.DRAFT, judge=desk.drafts().nugget_set.judge
    )
    page = post_form(desk, "preview", 422, stage="post-edit", topics=[desk.topic("t1").public_id])
    assert "Several nugget sets fit origin draft" in page
    page = post_form(desk, "preview", stage="post-edit", topics=[desk.topic("t1").public_id], drafts="drafts")
    assert "Ann Archer has it (not started)" in page


def test_a_second_list_for_comparison_is_handed_out_on_purpose(desk: DeskWorld) -> None:
    page = post_form(desk, "preview", stage="post-edit", topics=[desk.topic("t1").public_id], again="on")
    assert "Hands out <b>1</b>" in page
    assert "<bdi>Ben Brook</bdi>" in page


def test_staff_is_handed_nothing(desk: DeskWorld) -> None:
    desk.people["ben"].is_staff = True
    desk.people["ben"].save()
    page = post_form(desk, "preview", 422, topics=[desk.topic("t3").public_id], assessor="ben")
    assert "administrator&#x27;s account" in page


def test_all_that_the_matrix_found_comes_ticked(desk: DeskWorld) -> None:
    more_topics(desk.campaign, 3)
    fields = {"choose": "found", "state": "not handed out", "words": "more topic"}
    page = desk.client("olga").post(HAND_OUT, fields).content.decode()
    assert page.count("checked") == 3 + 1  # three topics, and the stage's radio


def test_an_empty_choice_says_what_is_missing(desk: DeskWorld) -> None:
    assert "tick at least one" in post_form(desk, "preview", 422)


def test_a_pattern_finds_topics_by_id_and_text(desk: DeskWorld) -> None:
    page = desk.client("olga").get(WORK, {"words": "/^(t1|how dams)/"}).content.decode()
    assert "2 topics with their tasks" in page
    assert "why rivers bend" in page


def test_an_invalid_pattern_is_named_and_matches_nothing(desk: DeskWorld) -> None:
    client = desk.client("olga")
    page = client.get(WORK, {"words": "/(bend/"}).content.decode()
    assert "This is no pattern: unclosed group." in page
    assert "why rivers bend" not in page
    chosen = {"choose": "found", "words": "/(bend/"}
    for view in ("change_work", "hand_out"):
        page = client.post(reverse(f"organizer:{view}", args=["river"]), chosen).content.decode()
        assert "checked" not in page.split('class="ticks"')[1]


def ticked(desk: DeskWorld, query: str = "", **fields: Any) -> set[str]:
    """Return the topics that come ticked on the hand-out form, asked for by address or by a button."""
    client = desk.client("olga")
    response = client.post(HAND_OUT, fields) if fields else client.get(HAND_OUT + query)
    boxes = response.content.decode().split('class="ticks"')[1].split("</fieldset>")[0].split("<label")[1:]
    return {topic_in(box) for box in boxes if " checked" in box}


def topic_in(box: str) -> str:
    return box.partition('<span dir="auto">')[2].partition(":")[0]


@pytest.mark.parametrize("fields", [{}, {"stage": "dance"}])
def test_a_form_without_a_stage_says_so(desk: DeskWorld, fields: dict[str, str]) -> None:
    refused = desk.client("olga").post(f"{WORK}hand-out/", fields)
    assert refused.status_code == 422
    assert "<b>No stage</b>" in refused.content.decode()


def test_topics_that_lack_the_chosen_stage_come_ticked(desk: DeskWorld) -> None:
    assert ticked(desk, "?stage=post-edit") == {"t2", "t3", "t4"}
    assert ticked(desk, "?stage=manual") == {"t1", "t3", "t4"}
    assert ticked(desk, "?stage=assign") == {"t1", "t2", "t3", "t4"}
    page = " ".join(desk.client("olga").get(HAND_OUT + "?stage=manual").content.decode().split())
    assert "3 topics lack it" in page
    assert "handed out: Write nuggets</span>" in page


NOT_OF_STAGE = {
    POST_EDIT: ["judge"],
    MANUAL: ["judge", "drafts"],
    ASSIGN: ["judge", "drafts", "qrels"],
    SUPPORT_SCRATCH: ["judge", "drafts", "qrels", "nugget_set"],
    SUPPORT_POST_EDIT: ["drafts", "qrels", "nugget_set"],
    GRADE: ["judge", "drafts", "qrels", "nugget_set"],
    BATTLE: ["judge", "drafts", "qrels", "nugget_set"],
}
"""Fields that a task of a stage must not have."""


@pytest.mark.parametrize("stage", STAGES.values())
def test_check_67_topics_that_lack_the_stage_are_ticked(desk: DeskWorld, stage: Stage) -> None:
    task = Task.objects.get(pk=desk.post_edit.pk)
    task.pk, task.public_id, task.stage, task._state.adding = None, "made", stage, True
    task.topic, task.judge = desk.topic("t3"), Judge.objects.create(name="machine", kind=JudgeKind.LLM)
    for name in NOT_OF_STAGE[stage]:
        setattr(task, name, None)
    task.save()
    having = set(Task.objects.filter(stage=stage).values_list("topic__topic_id", flat=True))
    assert "t3" in having
    assert ticked(desk, f"?stage={stage}") == {"t1", "t2", "t3", "t4"} - having
    for name in {"t1", "t2", "t4"} - having:
        task.pk, task.public_id, task.topic, task._state.adding = None, f"copy-{name}", desk.topic(name), True
        task.save()
    assert ticked(desk, f"?stage={stage}") == set()
    page = " ".join(desk.client("olga").get(f"{HAND_OUT}?stage={stage}").content.decode().split())
    assert "Nothing to hand out: no topic lacks this stage." in page
    assert "no topic lacks it</span>" in page
    assert 'data-primary disabled aria-describedby="why-not"' in page


def test_check_67_the_page_opens_with_its_preview(desk: DeskWorld) -> None:
    events = Event.objects.count()
    page = desk.client("olga").get(f"{HAND_OUT}?stage=manual&hand_out=1&expect=x").content.decode()
    assert "Hands out <b>2</b>, skips <b>1</b>" in page
    assert "least open work</td>" in page
    assert '<details class="fold" open>' in page
    assert (Task.objects.count(), Event.objects.count()) == (2, events)
    chosen = f"?stage=manual&choose=ticked&topics={desk.topic('t3').public_id}"
    assert '<details class="fold">' in desk.client("olga").get(HAND_OUT + chosen).content.decode()


def test_work_leads_to_a_hand_out_with_topics_ticked(desk: DeskWorld) -> None:
    hand(desk, [desk.topic(name) for name in ("t1", "t3", "t4")], "ben")
    page = desk.client("olga").get(WORK).content.decode()
    link = page.partition('class="button go" href="')[2].partition('"')[0]
    assert ticked(desk, link.removeprefix(HAND_OUT)) == {"t2", "t3", "t4"}  # those that nobody post-edits


def test_a_stage_that_no_topic_lacks_says_so(desk: DeskWorld) -> None:
    text = "No topic lacks this stage"
    assert (
        "data-all-have-it hidden>No topic lacks"
        in desk.client("olga").get(HAND_OUT + "?stage=manual").content.decode()
    )
    for name in ("t1", "t3", "t4"):
        task = Task.objects.get(pk=desk.manual.pk)
        task.pk, task.public_id, task.topic, task._state.adding = None, f"copy-{name}", desk.topic(name), True
        task.save()
    page = desk.client("olga").get(HAND_OUT + "?stage=manual").content.decode()
    assert text in page
    assert "data-all-have-it hidden" not in page
    assert "no topic lacks it" in page
    assert ticked(desk, "?stage=manual") == set()


def test_buttons_tick_all_none_or_those_that_lack_it(desk: DeskWorld) -> None:
    filled: dict[str, Any] = {"stage": "manual", "due": "2099-12-01", "topics": [desk.topic("t2").public_id]}
    assert ticked(desk, choose="all", **filled) == {"t1", "t2", "t3", "t4"}
    assert ticked(desk, choose="none", **filled) == set()
    assert ticked(desk, choose="lacking", **filled) == {"t1", "t3", "t4"}
    page = desk.client("olga").post(HAND_OUT, {"choose": "all", **filled}).content.decode()
    assert 'value="2099-12-01"' in page


def test_a_due_date_in_the_past_is_refused_in_preview_and_hand_out(desk: DeskWorld) -> None:
    fields: dict[str, Any] = {"topics": [desk.topic("t3").public_id], "due": "2020-01-01"}
    error = "a day from today on, found 1 Jan 2020"
    preview = desk.client("olga").post(HAND_OUT, {"stage": "manual", **fields}, headers={"HX-Request": "true"})
    assert f"<b>Due: {error}</b>" in preview.content.decode()
    page = post_form(desk, "hand_out", 422, expect="0" * 16, **fields)
    assert f'_error">{error}</span>' in page
    described = set(re.findall(r'aria-describedby="(\w+_error)"', page))
    assert described
    assert described <= set(re.findall(r' id="(\w+)"', page))
    assert 'value="2020-01-01"' in page
    assert not Task.objects.filter(topic=desk.topic("t3")).exists()
