"""The page of today: the pipeline, its acts, and what needs an organizer (surface.md, checks 54 to 63)."""

import random
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from itertools import product
from pathlib import Path

import pytest
import time_machine
from django.db.models import F, Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from pytest_django.fixtures import Settings

from accounts.models import User
from assessor.desk.context import open_desk
from assessor.models import Desk, TimeSegment
from assessor.progress.today import FEWEST, OpenTask, Quartiles, forecast
from evaluation.campaigns.create import add_member
from evaluation.labels import AssignmentLabel
from evaluation.models import (
    Answer,
    AnswerProvenance,
    Assignment,
    Campaign,
    Event,
    Judge,
    ListedNugget,
    Membership,
    NuggetList,
    NuggetSet,
    Qrel,
    QrelSource,
    Remark,
    Run,
    Segment,
    Submission,
    Task,
    Topic,
)
from evaluation.stages import ASSIGN, MANUAL, STAGES, SUPPORT_SCRATCH
from evaluation.tasks.hand_out import hand_out
from evaluation.tasks.remarks import remark
from evaluation.tasks.units import Order
from evaluation.terms import JudgeKind, Origin, RemarkKind, Role, SegmentKind, TaskState
from exchange.demo_campaign import SLUG
from exchange.snapshots.pack import SnapshotContents
from exchange.snapshots.service import take_snapshot
from jobs.models import Job, Notice, WorkItem
from organizer.management.commands.load_demo import visit_before
from organizer.templatetags.work import hours
from tests.accounts.conftest import confirmed
from tests.organizer.work.test_work import NOT_OF_STAGE
from tests.worlds.campaign import World
from tests.worlds.cast import make_campaign, make_cast
from tests.worlds.demo import make_demo
from tests.worlds.desk import DeskWorld
from tests.worlds.jobs import make_call, make_item, make_job
from tests.worlds.judging import load_nuggets, make_judging_world
from tests.worlds.llm import make_world as make_llm_world
from tests.worlds.work import as_submitted, hand, make_work_world, more_topics

pytestmark = pytest.mark.postgresql

TODAY = reverse("organizer:today", args=["river"])
MINUTE = timedelta(minutes=1)


@pytest.fixture
def desk(db: None, tmp_path: Path) -> DeskWorld:
    """Ann's two tasks of four topics."""
    return make_work_world(tmp_path)


def page_of(desk: DeskWorld, person: str = "olga") -> str:
    response = desk.client(person).get(TODAY)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def worked(task: Task, minutes: int, *, submitted: bool = True, hours_ago: float = 30) -> None:
    started = timezone.now() - timedelta(hours=hours_ago)
    TimeSegment.objects.create(
        task=task,
        submission=1,
        window="w",
        number=1,
        kind=SegmentKind.READING,
        started_at=started,
        ended_at=started + minutes * MINUTE,
    )
    state = TaskState.SUBMITTED if submitted else TaskState.IN_PROGRESS
    Task.objects.filter(pk=task.pk).update(state=state, opened_at=started)
    if submitted:
        made = NuggetList.objects.create(nugget_set=task.nuggets, topic=task.topic)
        event = Event.objects.create(campaign=task.campaign, kind="task.submitted")
        Submission.objects.create(task=task, version=1, nugget_list=made, at=timezone.now(), event=event)


def test_nothing_needs_anybody_is_said_with_the_time(desk: DeskWorld) -> None:
    with time_machine.travel(timezone.now().replace(year=2027, month=3, day=2, hour=9, minute=5), tick=False):
        page = page_of(desk)
    assert "Nothing needs you. Checked" in page
    assert ">09:05</time>." in page


@pytest.mark.parametrize(("state", "there"), [("late", "how dams fail"), ("idle", "why rivers bend")])
def test_its_links_find_the_same_tasks_in_the_matrix(desk: DeskWorld, state: str, there: str) -> None:
    Task.objects.filter(pk=desk.manual.pk).update(due=timezone.localdate() - timedelta(days=1))
    open_desk(task=desk.post_edit.public_id, user=desk.people["ann"])
    long_ago = timezone.now() - timedelta(hours=25)
    Desk.objects.filter(task=desk.post_edit).update(held_at=long_ago)
    Task.objects.filter(pk=desk.post_edit.pk).update(opened_at=long_ago)
    page = desk.client("olga").get(reverse("organizer:work", args=["river"]), {"state": state}).content.decode()
    assert there in page
    assert "1 topic with" in page


def test_a_day_that_no_clock_can_have_seen_is_named(desk: DeskWorld) -> None:
    worked(desk.manual, 17 * 60, hours_ago=40)
    page = page_of(desk)
    assert "17 h 00 min on" in page
    assert "a clock that was set" in page


def test_a_job_that_failed_is_there_until_its_notice_is_read(desk: DeskWorld) -> None:
    llm = make_job(World(desk.campaign, desk.people))
    make_item(llm, "1", WorkItem.State.FAILED)
    notice = Notice.objects.create(job=llm.job, kind=Notice.Kind.DONE, since=timezone.now())
    assert "Open the job" in page_of(desk)
    desk.client("olga").post(reverse("organizer:read_notice", args=["river", notice.pk]))
    assert "Open the job" not in page_of(desk)


def test_an_assessor_and_an_organizer_who_judges_get_none_of_it(desk: DeskWorld) -> None:
    assert desk.client("ann").get(TODAY).status_code == 404
    Task.objects.filter(pk=desk.manual.pk).update(assessor=desk.people["olga"])
    assert desk.client("olga").get(TODAY).status_code == 404


@pytest.mark.parametrize("person", ["rita", "audrey"])
def test_who_cannot_act_is_not_told_that_it_needs_them(desk: DeskWorld, person: str) -> None:
    assert "Nothing needs an organizer." in page_of(desk, person)
    Task.objects.filter(pk=desk.post_edit.pk).update(state=TaskState.BLOCKED)
    page = page_of(desk, person)
    assert "Needs an organizer" in page
    assert "Needs you" not in page
    assert "Needs you" in page_of(desk)


def test_the_forecast_is_one_line_in_the_head(desk: DeskWorld) -> None:
    """Check 60."""
    assert "A forecast appears after 3 submitted topics per stage (0 so far)" in page_of(desk)
    with time_machine.travel("2026-11-20T12:00:00Z", tick=False):
        Task.objects.filter(pk=desk.post_edit.pk).update(state=TaskState.WITHDRAWN)
        tasks = hand(desk, more_topics(desk.campaign, 10), "ben")
        for task, minutes in zip(tasks, (60, 120, 180), strict=False):
            worked(task, minutes, hours_ago=48)
        page = page_of(desk)
        assert "All labels by 25 to 28 Nov 2026 at the pace so far" in page
        head = page.partition("<main")[2].partition('class="pipeline"')[0]
        assert not [stage.words for stage in STAGES.values() if stage.words in head]


@pytest.mark.parametrize("seed", range(10))
def test_each_count_is_the_number_of_rows_behind_it(desk: DeskWorld, seed: int) -> None:
    """Check 54."""
    dice = random.Random(seed)  # noqa: S311  # no secret: the same seed gives the same states
    topics = more_topics(desk.campaign, dice.randint(1, 6))
    for task in hand(desk, dice.sample(topics, dice.randint(1, len(topics))), "ben"):
        Task.objects.filter(pk=task.pk).update(state=dice.choice(list(TaskState)))
    for stage, place in product((ASSIGN, SUPPORT_SCRATCH), range(len(topics))):
        if dice.random() < 0.6:
            task = Task.objects.get(pk=desk.manual.pk)
            task.pk, task.public_id, task._state.adding = None, f"{stage[:7]}-{place}", True
            task.stage, task.topic, task.state = stage, topics[place], dice.choice(list(TaskState))
            for name in NOT_OF_STAGE[stage]:
                setattr(task, name, None)
            task.save()
    olga = desk.client("olga")
    cards = olga.get(TODAY).context["cards"]
    for card in cards[:-1]:
        shares = [card.done, *card.others]
        assert sum(share.count for share in shares) == Topic.objects.count(), card.name
        for share in shares:
            assert olga.get(share.link).context["page"].paginator.count == share.count, share.link


def test_check_54_publish_is_current_when_the_snapshots_page_says_so(desk: DeskWorld) -> None:
    olga, snapshots = desk.client("olga"), reverse("organizer:snapshots", args=["river"])

    def both() -> tuple[str, bool, bool]:
        page = olga.get(snapshots).content.decode()
        head = olga.get(TODAY).context["cards"][-1].head
        return head, "the last one is current" in page, "data changed since the last one" in page

    assert both() == ("not published", False, False)
    take_snapshot(campaign=desk.campaign, name="one", contents=SnapshotContents())
    assert both() == ("current", True, False)
    Campaign.objects.update(revision=F("revision") + 1)
    assert both() == ("out of date", False, True)


def primary_buttons(page: str) -> list[str]:
    return re.findall(r'class="(?:button )?go" href="([^"]+)"', page)


def test_check_55_a_hand_out_opens_filled_in_and_previewed(desk: DeskWorld) -> None:
    """Topic t4 has a grade and no text, m02 a grade that is too low: nobody can be handed them."""
    more_topics(desk.campaign, 3)
    Qrel.objects.filter(topic__topic_id="m02").update(grade=0)
    Task.objects.filter(pk=desk.post_edit.pk).update(state=TaskState.WITHDRAWN)
    [address] = primary_buttons(page_of(desk))
    shown = desk.client("olga").get(unescape(address)).context
    assert shown["form"]["stage"].value() == "manual"
    given = [piece.topic for piece in shown["plan"].given]
    assert {topic.topic_id for topic in given} == {"t1", "t3", "m00", "m01"}
    assert set(shown["form"]["topics"].value()) == {topic.public_id for topic in given}
    assert not shown["plan"].skipped


def test_check_55_of_several_grades_those_of_before_are_chosen(desk: DeskWorld) -> None:
    for name in ("first", "second"):
        QrelSource.objects.create(campaign=desk.campaign, name=name)
    QrelSource.objects.filter(name="NIST").update(name="third")
    [address] = primary_buttons(page_of(desk))
    assert address == "/campaigns/river/jobs/new/?what=drafts&amp;qrels=third&amp;topics=t3"
    Task.objects.filter(pk=desk.post_edit.pk).update(state=TaskState.WITHDRAWN)
    [address] = primary_buttons(page_of(desk))
    shown = desk.client("olga").get(unescape(address)).context
    assert shown["form"]["qrels"].value() == "third"
    assert [piece.topic.topic_id for piece in shown["plan"].given] == ["t1", "t3"]


def test_check_55_a_topic_with_nothing_to_read_waits(desk: DeskWorld) -> None:
    hand(desk, [desk.topic("t3")], "ben")
    page = page_of(desk)
    assert primary_buttons(page) == []
    assert "Waiting for Ann (2), Ben (1)" in page
    Task.objects.update(state=TaskState.SUBMITTED)
    assert "Waiting for passages to read" in page_of(desk)


def test_check_55_what_nobody_may_do_is_not_handed_out(desk: DeskWorld) -> None:
    Membership.objects.filter(user__username__in=["ann", "ben"]).update(paused_at=timezone.now())
    Task.objects.update(state=TaskState.SUBMITTED)
    page = page_of(desk)
    assert "Hand out t3" not in page
    assert "Make drafts: t3" in page


def job_form(olga: Client) -> tuple[str, str]:
    [address] = primary_buttons(" ".join(olga.get(TODAY).content.decode().split()))
    shown = olga.get(unescape(address)).content.decode()
    return unescape(address), " ".join(shown.split())


def test_check_55_a_missing_job_opens_filled_in_and_previewed(world: World) -> None:
    """Topic t2 lacks a list. A task of t1 keeps the checklist away."""
    order = Order(SUPPORT_SCRATCH, (Topic.objects.get(topic_id="t1").public_id,), "ann")
    hand_out(campaign=world.campaign, order=order, actor=world.people["olga"])
    olga = world.client("olga")
    address, form = job_form(olga)
    assert address == "/campaigns/river/jobs/new/?what=nuggets&topics=t2"
    ticked = [box for box in form.split("<input") if 'name="topics"' in box and " checked" in box]
    assert [box.partition('value="')[2].partition('"')[0] for box in ticked] == ["t2"]
    button = form.partition("data-primary")[2].partition("</button>")[0]
    assert "disabled" not in button
    assert re.search(r"Start: \d+ calls?", button)
    started = olga.post(address, {"start": "1"})
    assert started.status_code == 302, started.content.decode()


def test_check_55_a_labelling_job_is_of_the_lists_there_are(db: None, tmp_path: Path) -> None:
    """Both topics have an edited list and no automatic one; nothing that is graded has a text to make one of."""
    judging = make_judging_world(tmp_path)
    load_nuggets(judging, "edited", Origin.EDITED, topic="t2")
    source = QrelSource.objects.create(campaign=judging.campaign, name="NIST")
    untold = Segment.objects.create(campaign=judging.campaign, docid="untold#1", document="untold")
    for topic in Topic.objects.all():
        Qrel.objects.create(source=source, topic=topic, segment=untold, grade=2)
    judging.hand(SUPPORT_SCRATCH, "ann")
    olga = World(judging.campaign, judging.people).client("olga")
    address, form = job_form(olga)
    assert address == "/campaigns/river/jobs/new/?what=E%2FA&topics=t1&topics=t2"
    assert re.search(r"Start: \d+ calls?", form.partition("data-primary")[2].partition("</button>")[0])
    assert "Nothing to do" not in form


@pytest.mark.django_db
def test_an_answer_without_words_is_waited_for_by_nobody() -> None:
    """Of t2 one answer has no words, of t3 none has any, and t4 lacks a label that an empty answer has."""
    made = make_llm_world(topics=4, runs=2)
    client = World(made.campaign, make_cast(made.campaign)).client("olga")
    pairs = list(product(Answer.objects.order_by("pk"), ListedNugget.objects.all()))
    empty = [answer.pk for answer in Answer.objects.order_by("pk")[3:7]]
    Answer.objects.filter(pk__in=empty).update(words=0)
    rows = [
        Assignment(
            judge=made.judge,
            answer=answer,
            nugget_version=listed.nugget_version,
            label=AssignmentLabel.NOT_SUPPORT,
            given_at=timezone.now(),
        )
        for answer, listed in pairs
        if answer.topic_id == listed.nugget_list.topic_id and answer.pk not in empty[:3]
    ]
    *_, missing, _, _ = Assignment.objects.bulk_create(rows)
    missing.delete()
    assert labels_card(client) == (["t1", "t2", "t3"], "Label answers: t4")
    Assignment.objects.create(
        judge=made.judge,
        answer=missing.answer,
        nugget_version=missing.nugget_version,
        label=AssignmentLabel.FAILED,
        given_at=timezone.now(),
    )
    assert labels_card(client) == (["t1", "t2", "t3"], "Label answers: t4")
    form = client.get(client.get(TODAY).context["cards"][2].act.link).content.decode()
    assert "<dt>Asked again, for what failed</dt><dd>1</dd>" in form
    assert "Nothing to do" not in form
    Assignment.objects.filter(label=AssignmentLabel.FAILED).update(label=AssignmentLabel.SUPPORT)
    assert labels_card(client) == (["t1", "t2", "t3", "t4"], "Done")


def labels_card(client: Client) -> tuple[list[str], str]:
    Campaign.objects.update(revision=F("revision") + 1)
    card = client.get(TODAY).context["cards"][2]
    done = client.get(card.done.link).content.decode()
    return [name for name in ("t1", "t2", "t3", "t4") if f">{name}<" in done], card.act.caption


def test_the_flag_of_a_blocked_task_is_answered_on_the_page(desk: DeskWorld) -> None:
    """Checks 55 and 56: the first click opens the question with its box on the same page, the second answers it."""
    ann, task = desk.people["ann"], desk.manual
    open_desk(task=task.public_id, user=ann)
    flag = remark(task=task.public_id, user=ann, kind=RemarkKind.FLAG, text="The passages <i>repeat</i>.")
    Task.objects.filter(pk=task.pk).update(state=TaskState.BLOCKED)
    page, olga = page_of(desk), desk.client("olga")
    assert "Answer Ann&#x27;s flag" in page
    [address] = primary_buttons(page)
    assert address.startswith(f"{TODAY}?answer=")
    opened = olga.get(address.partition("#")[0]).content.decode()
    case = opened.partition(f'<li id="{address.partition("#")[2]}">')[2].partition("</li>")[0]
    assert '<blockquote class="case-text" dir="auto">The passages &lt;i&gt;repeat&lt;/i&gt;.</blockquote>' in case
    assert "<details open>" in case
    assert re.search(r"<textarea[^>]* autofocus", case)
    assert opened.partition("<main")[2].count(" autofocus") == 1
    [act] = re.findall(r'<form[^>]* action="([^"]+)"', case)
    hidden = dict(re.findall(r'<input type="hidden" name="(back)" value="([^"]+)"', case))
    response = olga.post(act, {"answer": "Thank you.", **hidden})
    assert response.headers["Location"] == TODAY
    assert Remark.objects.get(public_id=flag.public_id).answer == "Thank you."
    assert "asks for help" not in page_of(desk)


def test_a_person_s_load_due_date_and_lateness_are_one_row(desk: DeskWorld) -> None:
    """Check 57."""
    Task.objects.filter(pk=desk.manual.pk).update(due=timezone.localdate() - timedelta(days=2))
    page = page_of(desk)
    row = page.partition("<bdi>Ann Archer</bdi></th>")[2].partition("</tr>")[0]
    assert "2 days late" in row
    assert "0 of 2" in row


def test_check_57_load_due_date_and_lateness_are_those_of_people(desk: DeskWorld) -> None:
    topics = more_topics(desk.campaign, 4)
    hand(desk, topics[:2], "ben")
    late, due = timezone.localdate() - timedelta(days=3), timezone.localdate() + timedelta(days=4)
    Task.objects.filter(assessor=desk.people["ann"]).update(due=late)
    Task.objects.filter(topic=topics[0]).update(due=due)
    as_submitted(list(Task.objects.filter(topic=topics[1])))
    people = " ".join(desk.client("olga").get("/campaigns/river/people/").content.decode().split())
    for row in desk.client("olga").get(TODAY).context["people"]:
        line = people.partition(f"<bdi>{row.name}</bdi>")[2].partition("</tr>")[0]
        assert f"{hours(row.load.hours_left)} left" in line
        assert date_format(row.load.next_due, "j M Y") in line
        assert (f"{row.load.days_late} days late" in line) == (row.load.days_late > 0)
    assert '3 days late</b> <span class="muted nowrap">2 tasks</span>' in people
    assert "1 submitted, 1 not started" in people


def test_jobs_without_a_price_are_said_in_words(desk: DeskWorld) -> None:
    """Check 58."""
    llm = make_job(World(desk.campaign, desk.people))
    make_item(llm, "1", WorkItem.State.DONE)
    make_item(llm, "2", WorkItem.State.QUEUED)
    type(llm).objects.filter(pk=llm.pk).update(sent_calls=1)
    page = page_of(desk)
    jobs = page.partition('id="h-jobs"')[2].partition("</section>")[0]
    assert "1 of 2" in jobs
    assert "nothing ended in the last 10 minutes" in jobs
    assert jobs.count("no price set") == 2
    assert not re.search(r"<dd>\s*[-\u2013\u2014]", jobs)
    WorkItem.objects.filter(key="1").update(ended_at=timezone.now())
    prices = {"prompt_price": 1, "completion_price": 1, "currency": "EUR", "price_table": "t"}
    type(llm).objects.filter(pk=llm.pk).update(**prices, prompt_tokens=2_500_000)
    jobs = page_of(desk).partition('id="h-jobs"')[2].partition("</section>")[0]
    assert "0.1 a minute, " in jobs
    assert jobs.count("2.50 EUR") == 2
    assert "no price set" not in jobs


def test_no_cost_is_told_of_jobs_with_a_reply_whose_tokens_nobody_knows(desk: DeskWorld) -> None:
    llm = make_job(World(desk.campaign, desk.people))
    call = make_call(make_item(llm, "1", WorkItem.State.DONE))
    prices = {"prompt_price": 1, "completion_price": 1, "currency": "EUR", "price_table": "t"}
    type(llm).objects.filter(pk=llm.pk).update(**prices, sent_calls=1)
    type(call).objects.filter(pk=call.pk).update(prompt_tokens=None)
    jobs = page_of(desk).partition('id="h-jobs"')[2].partition("</section>")[0]
    assert "EUR" not in jobs
    assert jobs.count("not known") == 2
    assert "<dt>Tokens not said</dt><dd>1 job</dd>" in jobs
    assert "nothing spent" not in jobs


def test_a_job_of_long_ago_without_a_price_is_none_of_this_week(desk: DeskWorld) -> None:
    llm = make_job(World(desk.campaign, desk.people))
    type(llm).objects.filter(pk=llm.pk).update(sent_calls=1)
    Job.objects.filter(pk=llm.pk).update(made_at=timezone.now() - timedelta(days=30))
    jobs = page_of(desk).partition('id="h-jobs"')[2].partition("</section>")[0]
    assert "<dt>This week</dt><dd>nothing spent</dd>" in jobs
    assert "<dt>In all</dt><dd>no price set</dd>" in jobs


def test_news_are_later_than_the_last_visit(desk: DeskWorld) -> None:
    """Check 59."""
    start = timezone.now()
    assert "What others do from now on is listed here." in page_of(desk)
    other = make_campaign("lake", "Lake study")
    for campaign, person in ((desk.campaign, "ann"), (desk.campaign, "olga"), (other, "ben")):
        Event.objects.create(campaign=campaign, kind="task.submitted", actor=desk.people[person])
    with time_machine.travel(start + timedelta(hours=2), tick=False):
        news = page_of(desk).partition('id="h-news"')[2].partition("</section>")[0]
        assert news.count("<li>") == 1  # neither her own, nor what she may not see
        assert "Ann Archer submitted 1 task" in page_of(desk)
        assert "Ann Archer submitted 1 task" in page_of(desk)
    with time_machine.travel(start + timedelta(hours=4), tick=False):
        assert "Nothing new." in page_of(desk)


@pytest.mark.django_db
def test_the_demo_has_news_at_any_hour(client: Client) -> None:
    """Its work is of 10 o'clock: a day passes between its loading and the first visit of whoever loads it before."""
    with time_machine.travel(datetime(2026, 11, 28, 9, 59, tzinfo=UTC), tick=False) as clock:
        make_demo()
        clock.shift(timedelta(minutes=2))
        visit_before()
        client.force_login(User.objects.get(username="olga"))
        page = client.get(reverse("organizer:today", args=[SLUG])).content.decode()
    assert re.search(r"Ann Archer submitted \d+ tasks", page)


def steps_of(world: World, slug: str) -> dict[str, bool]:
    steps = world.client("olga").get(f"/campaigns/{slug}/today/").context["checklist"]
    return {step.title: step.done for step in steps}


def test_a_new_campaign_begins_with_a_checklist(world: World) -> None:
    """Check 62."""
    add_member(campaign=make_campaign("empty"), user=world.people["olga"], role=Role.ORGANIZER)
    steps = steps_of(world, "empty")
    assert len(steps) == 7
    assert not any(steps.values())
    page = world.client("olga").get("/campaigns/empty/today/").content.decode()
    assert primary_buttons(page) == ["/campaigns/empty/data/"]


@pytest.mark.parametrize(("model", "done"), [("", False), ("gpt-4o", True)])
def test_a_model_is_added_once_there_is_one(world: World, model: str, done: bool) -> None:
    """A judge whose labels came from a file cannot be called, and the built-in one is no model."""
    Assignment.objects.all().delete()
    Campaign.objects.update(revision=F("revision") + 1)
    Judge.objects.filter(kind=JudgeKind.LLM).update(model=model)
    assert steps_of(world, "river")["Add a model"] is done


LOADED = ["Load topics, runs and passages", "Choose the protocol"]
LABELLED = ["Label answers", "See the first leaderboard"]


@pytest.mark.parametrize(
    ("withdrawn", "opened"),
    [
        ([Qrel], LOADED),
        ([Assignment, AnswerProvenance, Run], [*LOADED, *LABELLED]),
        ([Assignment], LABELLED),
        ([Assignment, ListedNugget, NuggetList], ["Make nuggets", *LABELLED]),
        ([Membership], ["Invite people"]),
    ],
)
def test_check_63_each_step_is_open_again_without_its_fact(
    world: World, withdrawn: list[type[Model]], opened: list[str]
) -> None:
    """A campaign whose last steps are left to do: the list stays as long as one is."""
    if Membership in withdrawn:
        Assignment.objects.all().delete()
    else:
        Membership.objects.exclude(user=world.people["olga"]).delete()
    Campaign.objects.update(revision=F("revision") + 1)
    before = steps_of(world, "river")
    assert all(before[title] for title in opened)
    for model in withdrawn:
        rows = model._default_manager.all()
        (rows.exclude(user=world.people["olga"]) if model is Membership else rows).delete()
    Campaign.objects.update(revision=F("revision") + 1)
    after = steps_of(world, "river")
    assert [title for title, done in after.items() if before.get(title) and not done] == opened
    page = world.client("olga").get("/campaigns/river/today/").content.decode()
    # The built-in judge labels where no model is there.
    first = next(title for title, done in after.items() if not done and title != "Add a model")
    assert page.partition('class="button go"')[0].rpartition("<b>")[2].startswith(first)


@pytest.mark.parametrize(
    ("zone", "hour", "day"),
    [("Pacific/Auckland", 20, "5 Mar 2027"), ("America/Los_Angeles", 3, "3 Mar 2027"), ("UTC", 12, "4 Mar 2027")],
)
def test_every_day_is_of_the_campaigns_own_zone(
    desk: DeskWorld, settings: Settings, zone: str, hour: int, day: str
) -> None:
    settings.TIME_ZONE = zone
    moment = datetime(2027, 3, 4, hour, 30, tzinfo=UTC)
    with time_machine.travel(moment, tick=False):
        take_snapshot(campaign=desk.campaign, name="one", contents=SnapshotContents())
        worked(desk.manual, 17 * 60, submitted=False, hours_ago=0)
        local = timezone.localtime(moment)
        page = page_of(desk)
        assert f"last snapshot {date_format(local, 'j M Y, H:i')}" in page
        assert date_format(local, "j M Y") == day
        assert f"17 h 00 min on {day}" in page
        known = {stage: Quartiles(1, 1, 1, FEWEST) for stage in STAGES.values()}
        soon = forecast([OpenTask(MANUAL)], known, 24.0, moment - timedelta(hours=1))
        assert (soon.first, soon.last) == (local.date(), local.date())
        ann = confirmed("ann")
        data = ann.post(reverse("organizer:own_data"))
        data.close()
        assert f"{local:%Y-%m-%d}.zip" in data["Content-Disposition"]


@pytest.mark.django_db
def test_labelled_topics_stay_done_when_others_are_handed_out() -> None:
    """All four topics are labelled by import; then t1 is handed out too."""
    made = make_llm_world(topics=4, runs=2)
    people = make_cast(made.campaign)
    client = World(made.campaign, people).client("olga")
    Assignment.objects.bulk_create(
        Assignment(
            judge=made.judge,
            answer=answer,
            nugget_version=listed.nugget_version,
            label=AssignmentLabel.NOT_SUPPORT,
            given_at=timezone.now(),
        )
        for answer, listed in product(Answer.objects.all(), ListedNugget.objects.all())
        if answer.topic_id == listed.nugget_list.topic_id
    )
    names = ["t1", "t2", "t3", "t4"]
    assert labels_card(client) == (names, "Done")
    work = reverse("organizer:work", args=["river"])
    done = client.get(work, {"state": "topics done"}).context["page"].paginator
    assert done.count == 4
    [nuggets] = NuggetSet.objects.filter(campaign=made.campaign)
    topic = Topic.objects.get(topic_id="t1")
    order = Order(ASSIGN, (topic.public_id,), "ann", nuggets=nuggets.name)
    hand_out(campaign=made.campaign, order=order, actor=people["olga"])
    assert labels_card(client)[0] == names[1:]
    done = client.get(work, {"state": "topics done"}).context["page"].paginator
    assert done.count == 3


def test_a_job_that_goes_on_again_needs_nobody(desk: DeskWorld) -> None:
    llm = make_job(World(desk.campaign, desk.people))
    reason = "The budget of 0.2 USD is used up."
    Notice.objects.create(job=llm.job, kind=Notice.Kind.PAUSED, reason=reason, since=timezone.now())
    waits = "It does not answer."
    Notice.objects.create(job=llm.job, kind=Notice.Kind.STUCK, reason=waits, since=timezone.now())
    for state, waiting, reasons in (
        (Job.State.PAUSED, "", [reason]),
        (Job.State.RUNNING, waits, [waits]),
        (Job.State.RUNNING, "", []),
        (Job.State.DONE, "", []),
        (Job.State.CANCELLED, "", []),
    ):
        Job.objects.filter(pk=llm.job_id).update(state=state, waiting_for=waiting)
        needs = page_of(desk).partition('id="h-needs"')[2].partition("</section>")[0]
        assert [text for text in (reason, waits) if text in needs] == reasons
