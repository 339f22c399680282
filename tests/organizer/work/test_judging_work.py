"""Handing out judgments: which list and machine are meant, who may have what, and how the pages show it."""

import html
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from assessor.desk.context import open_desk
from evaluation.errors import Refused
from evaluation.judges import judge_of
from evaluation.labelling import ensure_nugget_set
from evaluation.models import Campaign, ConditionDefault, Event, Judge, NuggetList, NuggetSet, Task, TaskAnswer
from evaluation.stages import ASSIGN, MANUAL, SUPPORT_POST_EDIT, SUPPORT_SCRATCH, Stage
from evaluation.tasks.hand_out import reassign
from evaluation.terms import Origin, TaskState
from tests.worlds.campaign import queries_of
from tests.worlds.judging import (
    JudgingWorld,
    as_submitted,
    current_task,
    finish,
    load_machine,
    load_nuggets,
    make_judging_world,
)

WORK, HAND_OUT = (reverse(f"organizer:{name}", args=["river"]) for name in ("work", "hand_out"))
PROPOSED, UNDO = (reverse(f"organizer:{name}", args=["river"]) for name in ("hand_out_proposed", "undo_hand_out"))
SCRATCH, SHOWN = SUPPORT_SCRATCH, SUPPORT_POST_EDIT


@pytest.fixture
def world(db: None, tmp_path: Path) -> JudgingWorld:
    """Answers to judge, nothing handed out; people with names to tell them apart by."""
    world = make_judging_world(tmp_path)
    for username, name in (("ann", "Ann Archer"), ("ben", "Ben Brook")):
        first, last = name.split()
        world.people[username].first_name, world.people[username].last_name = first, last
        world.people[username].save()
    return world


def client_of(world: JudgingWorld, name: str = "olga") -> Client:
    client = Client()
    client.force_login(world.people[name])
    return client


def post_form(world: JudgingWorld, button: str, status: int = 200, topic: str = "t1", **fields: Any) -> str:
    filled = {"stage": "assign", "priority": "0", button: "1", "topics": [world.topic(topic).public_id], **fields}
    response = client_of(world).post(HAND_OUT, filled)
    assert response.status_code == status, response.content.decode()
    return response.content.decode()


def key_in(page: str) -> str:
    return page.partition('name="expect" value="')[2].partition('"')[0]


def made_by(world: JudgingWorld, username: str, origin: Origin = Origin.EDITED) -> NuggetSet:
    judge = judge_of(world.people[username])
    own = ensure_nugget_set(world.campaign, judge, origin)
    imported = NuggetList.objects.get(nugget_set__name="edited")
    made = NuggetList.objects.create(nugget_set=own, topic=world.topic())
    for item in imported.items.all():
        made.items.create(nugget_version=item.nugget_version, position=item.position, importance=item.importance)
    source, _ = world.campaign.qrel_sources.get_or_create(name="NIST")
    task = Task.objects.create(
        campaign=world.campaign,
        topic=world.topic(),
        assessor=world.people[username],
        stage=MANUAL,
        nugget_set=own,
        qrels=source,
        protocol=world.campaign.protocol,
    )
    as_submitted(task)
    return own


def test_a_preview_says_list_answers_and_labels_writing_nothing(world: JudgingWorld) -> None:
    page = post_form(world, "preview", assessor="ann")
    assert "Hands out <b>1</b>, skips <b>0</b>." in page
    assert "<td><bdi>edited</bdi></td>" in page
    assert '<td class="n">3</td><td class="n">9</td><td class="n">1</td>' in page
    assert not Task.objects.exists()
    assert not TaskAnswer.objects.exists()


def test_what_was_previewed_is_handed_out(world: JudgingWorld) -> None:
    fields: dict[str, Any] = {"assessor": "ann", "nuggets": "set:edited", "due": "2099-12-24"}
    key = key_in(post_form(world, "preview", **fields))
    post_form(world, "hand_out", 302, expect=key, **fields)
    task = Task.objects.get()
    assert (task.stage, task.assessor.username, str(task.nugget_set)) == ("assign", "ann", "edited")
    assert (task.qrels, task.drafts, task.judge, task.state) == (None, None, None, TaskState.NOT_STARTED)
    assert TaskAnswer.objects.filter(task=task).count() == 3
    [event] = Event.objects.filter(kind="task.handed_out")
    edited = world.campaign.nugget_sets.get(name="edited")
    assert (event.payload["nuggets"], event.payload["answers"]) == (edited.pk, 3)
    assert Judge.objects.get(user=world.people["ann"]).name == "Ann Archer"


def test_a_topic_with_several_lists_must_be_told_which(world: JudgingWorld) -> None:
    load_nuggets(world, "by hand", Origin.MANUAL)
    page = post_form(world, "preview", assessor="ann")
    assert "several lists fit, say which: by hand, edited" in page
    for choice, chosen in (("set:by hand", "by hand"), ("origin:edited", "edited")):
        assert f"<td><bdi>{chosen}</bdi></td>" in post_form(world, "preview", assessor="ann", nuggets=choice)


def test_two_sets_of_one_topic_are_two_tasks_of_one_assessor(world: JudgingWorld) -> None:
    load_nuggets(world, "automatic", Origin.AUTO)
    for nuggets in ("edited", "automatic"):
        world.hand(ASSIGN, "ann", nuggets=nuggets)
    with pytest.raises(Refused, match="Ann Archer has it"):
        world.hand(ASSIGN, "ann", nuggets="edited", again=True)
    assert Task.objects.count() == 2


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("none", "no list of nuggets is submitted yet"),
        ("empty", "the list in edited is empty"),
        ("mute", "no answer of the judging pool has a word"),
    ],
)
def test_a_topic_with_nothing_to_assign_is_skipped_and_it_is_said_why(
    world: JudgingWorld, change: str, reason: str
) -> None:
    if change == "none":
        NuggetList.objects.update(submitted=False)
    elif change == "empty":
        NuggetList.objects.get().items.all().delete()
    else:
        world.topic().answers.update(words=0)
    assert reason in post_form(world, "preview", assessor="ann")


def test_a_named_list_that_is_not_submitted_is_skipped(world: JudgingWorld) -> None:
    NuggetList.objects.update(submitted=False)
    assert "its list in edited is not submitted yet" in post_form(world, "preview", nuggets="set:edited")
    NuggetList.objects.all().delete()
    assert "there is no list for it in edited" in post_form(world, "preview", nuggets="set:edited")


def test_a_list_made_here_goes_to_whoever_made_it(world: JudgingWorld) -> None:
    own = made_by(world, "ben")
    for username in ("ann", "ben"):  # whoever has less to do
        Task.objects.filter(assessor=world.people["ben"]).update(expected_minutes=0 if username == "ben" else 900)
        page = post_form(world, "preview", nuggets=f"set:{own}")
        assert '<td class="nowrap"><bdi>Ben Brook</bdi></td>' in page


def test_somebody_else_gets_it_with_a_reason_that_the_log_keeps(world: JudgingWorld) -> None:
    own = made_by(world, "ben")
    fields: dict[str, Any] = {"nuggets": f"set:{own}", "assessor": "ann"}
    assert "Ben Brook made this list: say why Ann Archer is to assign it." in post_form(world, "preview", **fields)
    fields["reason"] = "Ben is on leave"
    post_form(world, "hand_out", 302, expect=key_in(post_form(world, "preview", **fields)), **fields)
    assert Event.objects.get(kind="task.handed_out").payload["reason"] == "Ben is on leave"


def test_a_maker_who_may_not_have_it_is_not_replaced_in_silence(world: JudgingWorld) -> None:
    own = made_by(world, "ben")
    world.people["ben"].is_active = False
    world.people["ben"].save()
    assert "Ben Brook cannot sign in." in post_form(world, "preview", nuggets=f"set:{own}")


def test_a_second_opinion_needs_no_reason(world: JudgingWorld) -> None:
    own = made_by(world, "ben")
    world.hand(ASSIGN, "ben", nuggets=own.name)
    page = post_form(world, "preview", nuggets=f"set:{own}", again="on")
    assert "nobody else may, second opinion</td>" in page


def test_an_imported_list_goes_to_anybody(world: JudgingWorld) -> None:
    assert "Hands out <b>1</b>" in post_form(world, "preview", assessor="ben")


def test_whoever_has_a_list_in_the_making_assigns_no_other(world: JudgingWorld) -> None:
    made_by(world, "ben")
    Task.objects.update(state=TaskState.IN_PROGRESS)
    page = post_form(world, "preview", nuggets="set:edited", assessor="ben")
    assert "Ben Brook has a list of their own in the making." in page


def test_whoever_assigned_another_s_list_makes_none_of_the_topic(world: JudgingWorld) -> None:
    source = world.campaign.qrel_sources.create(name="NIST")
    source.qrels.create(topic=world.topic(), segment=world.campaign.segments.get(docid="d1"), grade=2)
    world.withdraw(world.hand(ASSIGN, "ann"))
    page = post_form(world, "preview", stage="manual", assessor="ann")
    assert "Ann Archer had another&#x27;s list of it to assign and has seen that." in page
    assert "Hands out <b>1</b>" in post_form(world, "preview", stage="manual", assessor="ben")


def test_a_list_that_is_assigned_is_not_withdrawn(world: JudgingWorld) -> None:
    own = made_by(world, "ben")
    making = current_task(Task.objects.get().public_id)
    assigning = world.hand(ASSIGN, "ben", nuggets=own.name)
    with pytest.raises(Refused, match="Its list is assigned by Ben Brook: withdraw that first"):
        world.withdraw(making)
    world.withdraw(assigning)
    world.withdraw(making)
    assert making.state == TaskState.WITHDRAWN


def test_support_with_the_label_shown_takes_the_campaign_s_machine(world: JudgingWorld) -> None:
    assert "Say which LLM&#x27;s labels are shown" in post_form(world, "preview", 422, stage=SHOWN, assessor="ann")
    load_machine(world, ("alpha", 0, "d1", "full_support"))
    assert "Labels shown of <bdi>robot</bdi>" in post_form(world, "preview", stage=SHOWN, assessor="ann")
    load_machine(world, ("alpha", 0, "d1", "full_support"), name="other robot")
    assert "there are: other robot, robot" in post_form(world, "preview", 422, stage=SHOWN, assessor="ann")
    page = post_form(world, "preview", stage=SHOWN, assessor="ann", judge="other robot")
    assert "Labels shown of <bdi>other robot</bdi>" in page
    ConditionDefault.objects.create(campaign=world.campaign, condition="llm", judge="robot")
    assert "Labels shown of <bdi>robot</bdi>" in post_form(world, "preview", stage=SHOWN, assessor="ann")


def test_a_topic_that_cites_nothing_with_a_text_is_skipped(world: JudgingWorld) -> None:
    page = post_form(world, "preview", stage=SCRATCH, topic="t2", assessor="ann")
    assert "no answer of the judging pool cites a passage whose text is loaded" in page


@pytest.mark.parametrize(("first", "second"), [(SCRATCH, SHOWN), (SHOWN, SCRATCH)])
@pytest.mark.parametrize("withdrawn", [False, True])
def test_nobody_gets_a_topic_s_support_in_both_conditions(
    world: JudgingWorld, first: Stage, second: Stage, withdrawn: bool
) -> None:
    load_machine(world, ("alpha", 0, "d1", "full_support"))
    task = world.hand(first, "ann")
    if withdrawn:
        world.withdraw(task)
    page = post_form(world, "preview", stage=second, assessor="ann")
    assert "Ann Archer has or had its citations in the other condition." in page
    assert "<bdi>Ben Brook</bdi>" in post_form(world, "preview", stage=second)


def test_nor_by_handing_it_on(world: JudgingWorld) -> None:
    load_machine(world, ("alpha", 0, "d1", "full_support"))
    world.hand(SHOWN, "ann")
    task = world.hand(SCRATCH, "ben")
    with pytest.raises(Refused, match="Ann Archer has or had its citations in the other condition"):
        reassign(
            campaign=world.campaign,
            task=task.public_id,
            assessor="ann",
            reason="Ben is away.",
            actor=world.people["olga"],
        )
    task.refresh_from_db()
    assert task.state == TaskState.NOT_STARTED


@pytest.mark.parametrize("stage", [ASSIGN, SCRATCH, SHOWN])
def test_judging_that_is_handed_on_asks_the_same_in_another_order(world: JudgingWorld, stage: Stage) -> None:
    load_machine(world, ("alpha", 0, "d1", "full_support"))
    task = world.hand(stage, "ann")
    new = reassign(
        campaign=world.campaign,
        task=task.public_id,
        assessor="ben",
        reason="Ann is away.",
        actor=world.people["olga"],
    )
    made = current_task(new)
    assert (made.nugget_set, made.judge, made.stage) == (task.nugget_set, task.judge, stage)
    answers = [
        set(TaskAnswer.objects.filter(task=judging).values_list("answer", flat=True)) for judging in (task, made)
    ]
    assert answers[0] == answers[1]


def test_the_matrix_shows_the_stages_that_have_tasks_or_are_chosen(world: JudgingWorld) -> None:
    world.hand(ASSIGN, "ann")
    page = words_of(client_of(world).get(WORK))
    assert '<th scope="col">Label answers</th>' in page
    assert '<th scope="col">Edit drafts</th>' not in page
    [card] = cards_of(client_of(world))
    assert "0 of 9 labels of <bdi>edited</bdi>" in card
    page = client_of(world).get(f"{WORK}?stage=support-post-edit").content.decode()
    assert '<th scope="col">Judge citations, machine label shown</th>' in page


def test_the_matrix_says_what_waits_for_a_machine(world: JudgingWorld) -> None:
    load_machine(world, ("alpha", 0, "d1", "full_support"))
    world.hand(SHOWN, "ann")
    [card] = cards_of(client_of(world))
    assert "waits for 2 machine labels" in card


def cards_of(client: Client) -> list[str]:
    chips = re.findall(r'is-[\w-]+" href="tasks/([^/"]+)/"', client.get(WORK).content.decode())
    return [words_of(client.get(WORK, {"card": chip})) for chip in chips]


def words_of(response: Any) -> str:
    return " ".join(response.content.decode().split())


def proposals(world: JudgingWorld) -> list[dict[str, str]]:
    """What each dashed chip that can be pressed sends."""
    page = words_of(client_of(world).get(WORK))
    return [{"proposed": html.unescape(value)} for value in re.findall(r'name="proposed" value="([^"]+)"', page)]


def test_a_list_is_proposed_to_its_maker_until_it_is_handed_out(world: JudgingWorld) -> None:
    own = made_by(world, "ben")
    assert proposals(world) == [{"proposed": f"{world.topic().public_id} ben {own.name}"}]
    world.hand(ASSIGN, "ben", nuggets=own.name)
    assert not proposals(world)


def test_check_88_a_proposed_chip_hands_out_and_undo_takes_back(world: JudgingWorld) -> None:
    made_by(world, "ben")
    client, [proposal] = client_of(world), proposals(world)
    page = words_of(client.post(PROPOSED, proposal, follow=True))
    assert "<bdi>Ben Brook</bdi> has <bdi>t1</bdi>, Label answers." in page
    task = Task.objects.get(stage=ASSIGN)
    assert (task.assessor.username, task.topic.topic_id) == ("ben", "t1")
    assert not proposals(world)
    page = words_of(client.post(UNDO, {"task": task.public_id}, follow=True))
    assert "Undone: Ben Brook does not have t1, Label answers." in page
    assert proposals(world) == [proposal]
    client.post(PROPOSED, proposal)
    assert Task.objects.not_withdrawn().filter(stage=ASSIGN).count() == 1


def test_check_88_undo_refuses_work_that_was_begun(world: JudgingWorld) -> None:
    made_by(world, "ben")
    client = client_of(world)
    client.post(PROPOSED, proposals(world)[0])
    task = Task.objects.get(stage=ASSIGN)
    open_desk(task=task.public_id, user=world.people["ben"])
    page = words_of(client.post(UNDO, {"task": task.public_id}, follow=True))
    assert "Ben Brook has begun t1, Label answers, so it stays handed out." in page
    assert Task.objects.get(pk=task.pk).state == TaskState.IN_PROGRESS


def test_a_chip_pressed_twice_hands_out_once_and_says_so(world: JudgingWorld) -> None:
    made_by(world, "ben")
    client, [proposal] = client_of(world), proposals(world)
    client.post(PROPOSED, proposal)
    page = words_of(client.post(PROPOSED, proposal, follow=True))
    assert "Ben Brook has it (not started)" in page
    assert Task.objects.filter(stage=ASSIGN).count() == 1


def test_more_judging_costs_no_more_queries(world: JudgingWorld) -> None:
    load_machine(world, ("alpha", 0, "d1", "full_support"))
    for stage, name in ((ASSIGN, "ann"), (SCRATCH, "ann"), (SHOWN, "ben")):
        world.hand(stage, name)
    before = queries_of(client_of(world), WORK)
    world.hand(ASSIGN, "ben", again=True)
    load_nuggets(world, "automatic", Origin.AUTO)
    world.hand(ASSIGN, "ben", nuggets="automatic")
    assert queries_of(client_of(world), WORK) == before


@pytest.mark.parametrize(
    ("stage", "text"),
    [
        (ASSIGN, "label answers with <bdi>edited</bdi>"),
        (SCRATCH, "judge citations, unaided"),
        (SHOWN, "labels of <bdi>robot</bdi> shown"),
    ],
)
def test_a_judging_task_s_page_says_what_is_judged_and_how_far_it_is(
    world: JudgingWorld, stage: Stage, text: str
) -> None:
    pairs = [("alpha", 0, "d1"), ("alpha", 1, "d2"), ("gamma", 1, "d2")]
    load_machine(world, *((*pair, "full_support") for pair in pairs))
    task = world.hand(stage, "ann")
    address = reverse("organizer:task", args=["river", task.public_id])
    assert text in words_of(client_of(world).get(address))
    finish(task)
    page = words_of(client_of(world).get(address))
    number = 9 if stage is ASSIGN else 3
    assert f"{number} of {number} labels, " in page
    assert f"{number} labels, <time" in page
    world.withdraw(task)
    assert "withdrawn, not counted" in client_of(world).get(address).content.decode()


def test_an_organizer_blocks_unblocks_and_reopens_judging_as_any_work(world: JudgingWorld) -> None:
    task = world.hand(SCRATCH, "ann")
    for act, state in (("block", TaskState.BLOCKED), ("unblock", TaskState.NOT_STARTED)):
        address = reverse(f"organizer:{act}_task", args=["river", task.public_id])
        assert client_of(world).post(address, {"reason": "wait"}).status_code == 302
        assert current_task(task.public_id).state == state
    finish(task)
    world.reopen(task)
    assert (task.state, task.version) == (TaskState.REOPENED, 2)


def test_changing_work_names_judging_tasks(world: JudgingWorld) -> None:
    world.hand(SCRATCH, "ann")
    page = client_of(world).get(reverse("organizer:change_work", args=["river"])).content.decode()
    assert "t1, Judge citations, unaided: Ann Archer, not started" in page
    assert Campaign.objects.count() == 1


def test_the_form_offers_no_machine_of_another_campaign(world: JudgingWorld) -> None:
    load_machine(world, ("alpha", 0, "d1", "full_support"))
    Judge.objects.create(name="their robot", kind="llm", model="m")
    page = client_of(world).get(HAND_OUT).content.decode()
    assert '<option value="robot">robot</option>' in page
    assert "their robot" not in page
