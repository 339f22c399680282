"""The page of today: four numbers, a forecast from real times, and what needs an organizer."""

import random
import re
from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from django.urls import reverse
from django.utils import timezone

from assessor.desk.context import open_desk
from assessor.models import Desk, TimeSegment
from evaluation.campaigns.create import add_member
from evaluation.models import Event, NuggetList, Submission, Task, Topic
from evaluation.tasks.remarks import remark
from evaluation.terms import RemarkKind, Role, SegmentKind, TaskState
from jobs.models import Notice, WorkItem
from tests.worlds.campaign import World, queries_of
from tests.worlds.cast import make_campaign
from tests.worlds.desk import DeskWorld
from tests.worlds.jobs import make_item, make_job
from tests.worlds.work import hand, make_work_world, more_topics

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


def test_four_numbers_count_each_topic_once(desk: DeskWorld) -> None:
    tasks = hand(desk, more_topics(desk.campaign, 4), "ben")
    worked(tasks[0], 10)
    worked(tasks[1], 10, submitted=False)
    Task.objects.filter(pk=tasks[2].pk).update(state=TaskState.BLOCKED)
    page = page_of(desk)
    for words, number in (("topic done", 1), ("in progress", 1), ("not started", 5), ("blocked", 1)):
        assert f"{words}</a></dt> <dd>{number}</dd>" in page, words
    assert '<a href="/campaigns/river/work/?state=not%20handed%20out"> 2 topics are not handed out</a>' in page


def test_a_forecast_says_its_median_its_people_and_a_range(desk: DeskWorld) -> None:
    with time_machine.travel("2026-11-20T12:00:00Z", tick=False):
        Task.objects.filter(pk=desk.post_edit.pk).update(state=TaskState.WITHDRAWN)
        tasks = hand(desk, more_topics(desk.campaign, 10), "ben")
        for task, minutes in zip(tasks, (60, 120, 180), strict=False):
            worked(task, minutes, hours_ago=48)
        page = page_of(desk)
    # Six hours since the 18th began are 2.4 a day. Eight tasks are open: at the quartiles 1.5 h and 2.5 h each, so that
    # they take 12 to 20 hours: 5 to 8.3 days from noon of the 20th.
    assert "At the median 2 h 00 min (By hand) a topic and 1 assessor: 25 to 28 Nov 2026." in page
    assert "16.0 active hours at the medians" in page
    assert "2.4 active hours a day all together" in page


def test_what_was_worked_already_is_taken_off(desk: DeskWorld) -> None:
    with time_machine.travel("2026-11-20T12:00:00Z", tick=False):
        Task.objects.filter(pk__in=[desk.post_edit.pk, desk.manual.pk]).update(state=TaskState.WITHDRAWN)
        tasks = hand(desk, more_topics(desk.campaign, 4), "ben")
        for task in tasks[:3]:
            worked(task, 60)
        worked(tasks[3], 45, submitted=False)
        assert "0.2 active hours at the medians" in page_of(desk)


def test_too_little_data_is_said(desk: DeskWorld) -> None:
    page = page_of(desk)
    assert (
        "Too little is known for a forecast: fewer than 3 first submissions with a time of Post-edit; By hand."
        in page
    )
    Task.objects.update(state=TaskState.SUBMITTED)
    assert "Nothing that is handed out is still to be done." in page_of(desk)


def test_before_anything_is_handed_out_the_forecast_says_so(desk: DeskWorld) -> None:
    Task.objects.update(state=TaskState.WITHDRAWN)
    page = page_of(desk)
    assert "Nothing is handed out yet, so there is nothing to foretell." in page
    assert "still to be done" not in page
    assert "in no forecast" not in page


def test_long_ago_is_no_pace(desk: DeskWorld) -> None:
    Task.objects.filter(pk=desk.post_edit.pk).update(state=TaskState.WITHDRAWN)
    for task in hand(desk, more_topics(desk.campaign, 3), "ben"):
        worked(task, 60, hours_ago=24 * 30)
    assert "No forecast: nobody worked at a desk in the last 14 days." in page_of(desk)


def test_nothing_needs_anybody_is_said_with_the_time(desk: DeskWorld) -> None:
    with time_machine.travel(timezone.now().replace(year=2027, month=3, day=2, hour=9, minute=5), tick=False):
        page = page_of(desk)
    assert "<b>Nothing needs you.</b> Checked" in page
    assert ">2 Mar 2027, 09:05</time>." in page


def test_each_open_matter_leads_to_where_it_is_settled(desk: DeskWorld) -> None:
    ann, task = desk.people["ann"], desk.manual
    open_desk(task=task.public_id, user=ann)
    flagged = remark(task=task.public_id, user=ann, kind=RemarkKind.FLAG, text="The passages <i>repeat</i>.")
    Desk.objects.filter(task=task).update(held_at=timezone.now() - timedelta(hours=25))
    Task.objects.filter(pk=task.pk).update(due=timezone.localdate() - timedelta(days=2))
    Task.objects.filter(pk=desk.post_edit.pk).update(state=TaskState.BLOCKED, blocked_reason="No texts.")
    page, link = page_of(desk), reverse("organizer:task", args=["river", task.public_id])
    for title in ("Blocked tasks", "Flags", "Overdue tasks", "Drafts left lying"):
        assert f'{title}</a> <span class="count">1</span>' in page, title
    assert page.count(f'href="{link}"') == 2
    assert f'href="{link}#h-remarks"' in page
    assert "The passages &lt;i&gt;repeat&lt;/i&gt;." in page
    assert "No texts." in page
    assert "Nothing needs you" not in page
    address = reverse("organizer:answer", args=["river", flagged.public_id])
    assert desk.client("olga").post(address, {"answer": "Thank you."}).status_code == 302
    assert "Flags" not in page_of(desk)


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
    assert "Clocks that cannot be right" in page
    assert "Ann Archer: 17 h 00 min on" in page


def test_a_job_that_failed_is_there_until_its_notice_is_read(desk: DeskWorld) -> None:
    llm = make_job(World(desk.campaign, desk.people))
    make_item(llm, "1", WorkItem.State.FAILED)
    notice = Notice.objects.create(job=llm.job, kind=Notice.Kind.DONE, since=timezone.now())
    assert "Jobs that failed or wait" in page_of(desk)
    desk.client("olga").post(reverse("organizer:read_notice", args=["river", notice.pk]))
    assert "Jobs that failed or wait" not in page_of(desk)


def test_an_assessor_and_an_organizer_who_judges_get_none_of_it(desk: DeskWorld) -> None:
    assert desk.client("ann").get(TODAY).status_code == 404
    Task.objects.filter(pk=desk.manual.pk).update(assessor=desk.people["olga"])
    assert desk.client("olga").get(TODAY).status_code == 404


def test_more_work_costs_no_more_queries(desk: DeskWorld) -> None:
    client, topics = desk.client("olga"), more_topics(desk.campaign, 12)
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


def test_times_of_open_work_are_read_anew_when_a_beat_changes_them(desk: DeskWorld) -> None:
    Task.objects.filter(pk__in=[desk.post_edit.pk, desk.manual.pk]).update(state=TaskState.WITHDRAWN)
    tasks = hand(desk, more_topics(desk.campaign, 4), "ben")
    for task in tasks[:3]:
        worked(task, 60)
    worked(tasks[3], 30, submitted=False)
    assert "0.5 active hours at the medians" in page_of(desk)
    [one] = TimeSegment.objects.filter(task=tasks[3])
    one.ended_at += 15 * MINUTE
    one.save(update_fields=["ended_at"])
    assert "0.2 active hours at the medians" in page_of(desk)


def test_a_campaign_without_topics_says_what_comes_first(world: World) -> None:
    add_member(campaign=make_campaign("empty"), user=world.people["olga"], role=Role.ORGANIZER)
    olga = world.client("olga")
    page = olga.get("/campaigns/empty/today/").content.decode()
    assert '<b>There are no topics yet.</b> Load them under <a href="/campaigns/empty/data/">Data</a>' in page
    assert "There are no topics yet" not in olga.get(TODAY).content.decode()


@pytest.mark.parametrize("person", ["rita", "audrey"])
def test_who_cannot_act_is_not_told_that_it_needs_them(desk: DeskWorld, person: str) -> None:
    assert "Nothing needs an organizer." in page_of(desk, person)
    Task.objects.filter(pk=desk.post_edit.pk).update(state=TaskState.BLOCKED)
    page = page_of(desk, person)
    assert "Needs an organizer" in page
    assert "Needs you" not in page
    assert "Needs you" in page_of(desk)


@pytest.mark.parametrize("seed", range(4))
def test_each_number_has_a_unit_and_leads_to_its_rows(desk: DeskWorld, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311  # no secret: the same seed gives the same states
    for task in hand(desk, [desk.topic("t1"), *more_topics(desk.campaign, 9)], "ben"):
        Task.objects.filter(pk=task.pk).update(state=dice.choice(list(TaskState)))
    olga = desk.client("olga")
    today = tiles_of(olga.get(TODAY).content.decode())
    assert sum(today.values()) == Topic.objects.count()
    for address, number in today.items():
        response = olga.get(address)
        assert response.context["page"].paginator.count == number, address


def tiles_of(page: str) -> dict[str, int]:
    """Return the numbers of the first row of tiles by where each leads; every tile says that it counts topics."""
    tiles = " ".join(page.partition('<dl class="tiles">')[2].partition("</dl>")[0].split())
    found = re.findall(r'<dt>\s*(?:<a href="([^"]+)">)?(.*?)(?:</a>)?\s*</dt> <dd>(\d+)</dd>', tiles)
    assert found
    assert all("topic" in words for _, words, _ in found)
    return {address: int(number) for address, _, number in found}
