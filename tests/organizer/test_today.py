"""The page of today: the pipeline, its acts, and what needs an organizer (surface.md, checks 54 to 63)."""

import random
import re
from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from django.db.models import F
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from assessor.desk.context import open_desk
from assessor.models import Desk, TimeSegment
from evaluation.campaigns.create import add_member
from evaluation.models import Campaign, Event, Membership, NuggetList, Qrel, Submission, Task, Topic
from evaluation.tasks.remarks import remark
from evaluation.terms import RemarkKind, Role, SegmentKind, TaskState
from exchange.snapshots.pack import SnapshotContents
from exchange.snapshots.service import take_snapshot
from jobs.models import Notice, WorkItem
from organizer.templatetags.work import hours
from tests.worlds.campaign import World, queries_of
from tests.worlds.cast import make_campaign
from tests.worlds.desk import DeskWorld
from tests.worlds.jobs import make_item, make_job
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
    """Have somebody read for some minutes, and submit."""
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


@pytest.mark.parametrize(("due", "there"), [("late", "how dams fail"), ("idle", "why rivers bend")])
def test_its_links_find_the_same_tasks_in_the_matrix(desk: DeskWorld, due: str, there: str) -> None:
    Task.objects.filter(pk=desk.manual.pk).update(due=timezone.localdate() - timedelta(days=1))
    open_desk(task=desk.post_edit.public_id, user=desk.people["ann"])
    long_ago = timezone.now() - timedelta(hours=25)
    Desk.objects.filter(task=desk.post_edit).update(held_at=long_ago)
    Task.objects.filter(pk=desk.post_edit.pk).update(opened_at=long_ago)
    page = desk.client("olga").get(reverse("organizer:work", args=["river"]), {"due": due}).content.decode()
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


def test_more_work_costs_no_more_queries(desk: DeskWorld) -> None:
    client, topics = desk.client("olga"), more_topics(desk.campaign, 12)
    client.get(TODAY)  # the first visit is noted by a query more
    for task in hand(desk, topics[:2], "ben"):
        worked(task, 30)
        remark(task=task.public_id, user=desk.people["ben"], kind=RemarkKind.COMMENT, text="Done.")
    Task.objects.filter(pk=desk.post_edit.pk).update(state=TaskState.BLOCKED)
    before = queries_of(client, TODAY)
    for task in hand(desk, topics[2:], "ben"):
        worked(task, 30)
        remark(task=task.public_id, user=desk.people["ben"], kind=RemarkKind.COMMENT, text="Done.")
    Task.objects.filter(pk=desk.manual.pk).update(state=TaskState.BLOCKED)
    assert queries_of(client, TODAY) == before


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
        assert "All labels by 25 to 28 Nov 2026 at the pace so far" in page_of(desk)


@pytest.mark.parametrize("seed", range(20))
def test_each_count_is_the_number_of_rows_behind_it(desk: DeskWorld, seed: int) -> None:
    """Check 54."""
    dice = random.Random(seed)  # noqa: S311  # no secret: the same seed gives the same states
    topics = more_topics(desk.campaign, dice.randint(1, 6))
    for task in hand(desk, dice.sample(topics, dice.randint(1, len(topics))), "ben"):
        Task.objects.filter(pk=task.pk).update(state=dice.choice(list(TaskState)))
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
    take_snapshot(campaign=desk.campaign, name="one", wish=SnapshotContents())
    assert both() == ("current", True, False)
    Campaign.objects.update(revision=F("revision") + 1)
    assert both() == ("out of date", False, True)


def primary_buttons(page: str) -> list[str]:
    return re.findall(r'class="(?:button )?go" href="([^"]+)"', page)


def test_one_button_is_primary_and_its_form_is_filled_in(desk: DeskWorld) -> None:
    """Check 55."""
    more_topics(desk.campaign, 3)
    Task.objects.filter(pk=desk.post_edit.pk).update(state=TaskState.WITHDRAWN)
    [address] = primary_buttons(page_of(desk))
    shown = desk.client("olga").get(address.replace("&amp;", "&")).context
    assert shown["form"]["stage"].value() == "manual"
    assert len(shown["form"]["topics"].value()) == 6
    assert len(shown["plan"].given) == 5


def test_the_flag_of_a_blocked_task_is_answered_on_the_page(desk: DeskWorld) -> None:
    """Check 56."""
    ann, task = desk.people["ann"], desk.manual
    open_desk(task=task.public_id, user=ann)
    flag = remark(task=task.public_id, user=ann, kind=RemarkKind.FLAG, text="The passages <i>repeat</i>.")
    Task.objects.filter(pk=task.pk).update(state=TaskState.BLOCKED)
    page, olga = page_of(desk), desk.client("olga")
    assert "Answer Ann&#x27;s flag" in page
    [address] = primary_buttons(page)
    opened = olga.get(address.partition("#")[0]).content.decode()
    assert "The passages &lt;i&gt;repeat&lt;/i&gt;." in opened
    assert " autofocus" in opened
    sent = {"answer": "Thank you.", "back": "today"}
    response = olga.post(reverse("organizer:answer", args=["river", flag.public_id]), sent)
    assert response.headers["Location"] == TODAY
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
    assert "1 of 2" in page
    assert "no price set" in page


def test_news_are_later_than_the_last_visit(desk: DeskWorld) -> None:
    """Check 59."""
    start = timezone.now()
    assert "This is your first visit." in page_of(desk)
    Event.objects.create(campaign=desk.campaign, kind="task.submitted", actor=desk.people["ann"])
    with time_machine.travel(start + timedelta(hours=2), tick=False):
        assert "Ann Archer submitted 1 task" in page_of(desk)
        assert "Ann Archer submitted 1 task" in page_of(desk)
    with time_machine.travel(start + timedelta(hours=4), tick=False):
        assert "Nothing new." in page_of(desk)


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


def test_a_step_is_open_again_when_its_fact_goes(world: World) -> None:
    """Check 63."""
    Membership.objects.exclude(user=world.people["olga"]).delete()
    assert steps_of(world, "river")["Load topics, runs and passages"]
    Qrel.objects.all().delete()
    assert not steps_of(world, "river")["Load topics, runs and passages"]
