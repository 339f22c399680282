"""The inbox: what assessors say reaches the organizers, and the answer reaches the assessor, and nobody else."""

from pathlib import Path

import pytest
from django.urls import reverse
from django.utils import timezone

from evaluation.errors import NoSuchTask, Refused
from evaluation.models import Event, Remark
from evaluation.tasks.remarks import remark
from evaluation.terms import RemarkKind
from jobs.models import Job, Notice, WorkItem
from jobs.queue import note
from tests.worlds.campaign import World
from tests.worlds.desk import DeskWorld
from tests.worlds.jobs import make_item, make_job
from tests.worlds.work import as_submitted, make_work_world

INBOX = "/campaigns/river/inbox/"
ASKED = "P3 is in <i>German</i>."


@pytest.fixture
def desk(db: None, tmp_path: Path) -> DeskWorld:
    return make_work_world(tmp_path)


def say(desk: DeskWorld, kind: RemarkKind = RemarkKind.FLAG, text: str = ASKED, public_id: str = "") -> str:
    task, ann = desk.post_edit.public_id, desk.people["ann"]
    return remark(task=task, user=ann, kind=kind, about="P3", text=text, public_id=public_id).public_id


def inbox(desk: DeskWorld, query: str = "", person: str = "olga") -> str:
    return " ".join(desk.client(person).get(INBOX + query).content.decode().split())


def test_an_empty_inbox_says_so(desk: DeskWorld) -> None:
    page = inbox(desk)
    assert "Nothing waits for an answer." in page
    assert '<span class="count">' not in page


def test_a_flag_reaches_the_inbox_and_the_count_beside_its_name(desk: DeskWorld) -> None:
    say(desk)
    page = inbox(desk)
    stage_and_name = ", Edit drafts</a>, <bdi>Ann Archer</bdi>"
    for text in ("P3 is in &lt;i&gt;German&lt;/i&gt;.", stage_and_name, '<span class="count">1<'):
        assert text in page
    assert '<span class="count">1<' in desk.client("olga").get("/campaigns/river/today/").content.decode()


def test_an_answer_takes_it_out_and_reaches_its_assessor_alone(desk: DeskWorld) -> None:
    public_id = say(desk)
    response = desk.client("olga").post(
        reverse("organizer:answer", args=["river", public_id]), {"answer": "Skip it."}
    )
    assert response.status_code == 302
    page = inbox(desk)
    assert "Nothing waits for an answer." in page
    assert "Skip it." in page.partition("Answered lately")[2]
    assert "Skip it." in inbox(desk, "?answered=on")
    assert "Skip it." in desk.client("ann").get("/desk/").content.decode()
    assert "Skip it." not in desk.client("ben").get("/desk/").content.decode()
    [event] = Event.objects.filter(kind="remark.answered")
    assert (event.actor, event.payload["answer"]) == (desk.people["olga"], "Skip it.")


def test_check_93_people_come_first_and_jobs_are_one_line(desk: DeskWorld) -> None:
    say(desk)
    llm = make_job(World(desk.campaign, desk.people), state=Job.State.DONE)
    make_item(llm, "1", WorkItem.State.DONE)
    note(Notice.Kind.DONE, [llm.job], timezone.now())
    page = inbox(desk)
    assert "why rivers bend · not started" in page
    assert page.index("P3 is in") < page.index("1 job done, 0 failed")
    assert "<details" in page[page.index("P3 is in") : page.index("1 job done, 0 failed")]
    assert f"job {llm.pk}" in page
    assert '<span class="count">1<' in page.partition("</nav>")[0]


def test_marked_as_read_it_is_out_and_nothing_is_answered(desk: DeskWorld) -> None:
    address = reverse("organizer:answer", args=["river", say(desk)])
    page = desk.client("olga").post(address, follow=True).content.decode()
    assert "Nothing waits for an answer." in page
    assert '<span class="count">' not in page.partition("</nav>")[0]
    assert Remark.objects.get().answer == ""


def test_a_second_answer_is_refused(desk: DeskWorld) -> None:
    address = reverse("organizer:answer", args=["river", say(desk)])
    client = desk.client("olga")
    client.post(address, {"answer": "Skip it."})
    assert client.post(address, {"answer": "Read it."}).status_code == 422
    assert Remark.objects.get().answer == "Skip it."


@pytest.mark.parametrize(("person", "status"), [("sam", 404), ("ann", 404), ("rita", 403), ("audrey", 403)])
def test_only_organizers_answer(desk: DeskWorld, person: str, status: int) -> None:
    address = reverse("organizer:answer", args=["river", say(desk)])
    assert desk.client(person).post(address, {"answer": "x"}).status_code == status
    assert Remark.objects.get().answered_at is None


def test_whoever_may_only_look_has_no_form(desk: DeskWorld) -> None:
    say(desk)
    assert "Answer; the assessor reads it" in inbox(desk)
    assert "Answer; the assessor reads it" not in inbox(desk, person="audrey")


def test_an_interruption_is_noted_and_asks_nothing(desk: DeskWorld) -> None:
    say(desk, RemarkKind.INTERRUPTION, "10 minutes")
    assert "Nothing waits for an answer." in inbox(desk)
    page = desk.client("olga").get(reverse("organizer:task", args=["river", desk.post_edit.public_id]))
    assert "10 minutes" in page.content.decode()


def test_a_flag_blocks_nothing_by_itself(desk: DeskWorld) -> None:
    before = desk.post_edit.state
    say(desk)
    desk.post_edit.refresh_from_db()
    assert desk.post_edit.state == before


def test_sent_twice_it_is_one_remark_and_one_event(desk: DeskWorld) -> None:
    assert say(desk, public_id="made-by-the-window") == say(desk, public_id="made-by-the-window")
    assert Remark.objects.count() == 1
    assert Event.objects.filter(kind="remark.made").count() == 1


def test_an_id_of_another_task_s_remark_tells_nothing(desk: DeskWorld) -> None:
    say(desk, public_id="made-by-the-window")
    with pytest.raises(Refused):
        remark(
            task=desk.manual.public_id,
            user=desk.people["ann"],
            kind=RemarkKind.FLAG,
            text="x",
            public_id="made-by-the-window",
        )


def test_a_reopening_is_asked_for_only_when_submitted(desk: DeskWorld) -> None:
    with pytest.raises(Refused, match="Only submitted work can be reopened"):
        say(desk, RemarkKind.REOPEN)
    as_submitted([desk.post_edit])
    say(desk, RemarkKind.REOPEN)
    assert "reopen request" in inbox(desk).lower()


def test_nobody_remarks_on_another_s_task(desk: DeskWorld) -> None:
    with pytest.raises(NoSuchTask):
        remark(task=desk.post_edit.public_id, user=desk.people["ben"], kind=RemarkKind.FLAG, text="x")


@pytest.mark.parametrize("person", ["rita", "audrey"])
def test_who_only_reads_has_no_badge_and_is_told_so(desk: DeskWorld, person: str) -> None:
    say(desk)
    page = inbox(desk, person=person)
    assert "P3 is in" in page
    assert "Only organizers read it" not in page
    assert "tell you" not in page
    assert "You can read them; organizers answer them." in page
    assert '<span class="count">' not in page.partition("</nav>")[0]
    assert '<span class="count">1<' in inbox(desk).partition("</nav>")[0]
