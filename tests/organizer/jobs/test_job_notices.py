"""What organizers are told of jobs: in the inbox until one of them has read it, and by mail to who started one."""

from datetime import timedelta

import pytest
from django.core import mail
from django.core.mail.backends.base import BaseEmailBackend
from django.utils import timezone
from pytest_django.fixtures import Settings

from evaluation.models import Campaign, Membership
from evaluation.terms import Role
from jobs.models import Job, Notice, WorkItem
from jobs.queue import note
from llmjobs.models import LlmJob
from organizer.jobs.mails import send_due
from tests.worlds.campaign import World, queries_of
from tests.worlds.jobs import make_item, make_job

INBOX = "/campaigns/river/inbox/"


@pytest.fixture
def llm(world: World) -> LlmJob:
    """A job of Olga's that has come to its end, but for two items."""
    llm = make_job(world, state=Job.State.DONE)
    for number in range(5):
        make_item(llm, str(number), WorkItem.State.FAILED if number < 2 else WorkItem.State.DONE)
    return llm


@pytest.fixture
def _mail(settings: Settings) -> None:
    settings.MAIL_ABOUT_JOBS, settings.PUBLIC_URL = True, "https://assay.example"


def tell(llm: LlmJob, kind: Notice.Kind = Notice.Kind.DONE) -> Notice:
    note(kind, [llm.job], timezone.now())
    return Notice.objects.order_by("pk").reverse()[0]


def inbox(world: World, person: str = "olga") -> str:
    return world.client(person).get(INBOX).content.decode()


def test_the_inbox_tells_of_a_job_until_somebody_has_read_it(world: World, llm: LlmJob) -> None:
    notice = tell(llm)
    page = inbox(world)
    for text in (
        "AutoAssign A/A, job",
        "3 of 5 items done, 2 failed",
        "0 jobs done, 1 failed",
        f"/jobs/{llm.pk}/",
    ):
        assert text in page
    # What machines tell does not count beside the inbox's name.
    assert '<span class="count">' not in world.client("olga").get("/campaigns/river/runs/").content.decode()
    address = f"{INBOX}jobs/{notice.pk}/read/"
    assert world.client("olga").post(address).status_code == 302
    assert world.client("olga").post(address).status_code == 302
    assert "AutoAssign A/A, job" not in inbox(world)


@pytest.mark.parametrize(("person", "status"), [("sam", 404), ("ann", 404), ("rita", 403), ("audrey", 403)])
def test_only_organizers_take_it_out(world: World, llm: LlmJob, person: str, status: int) -> None:
    notice = tell(llm)
    assert world.client(person).post(f"{INBOX}jobs/{notice.pk}/read/").status_code == status
    assert Notice.objects.get().read_at is None


def test_all_that_was_on_the_page_is_taken_out_at_once(world: World, llm: LlmJob) -> None:
    tell(llm)
    newest = tell(make_job(world))
    assert f"{INBOX}jobs/{newest.pk}/read-all/" in inbox(world)
    tell(make_job(world))
    assert world.client("rita").post(f"{INBOX}jobs/{newest.pk}/read-all/").status_code == 403
    assert world.client("olga").post(f"{INBOX}jobs/{newest.pk}/read-all/").status_code == 302
    assert "1 job done, 0 failed" in inbox(world)


def test_who_may_only_look_sees_it_without_a_button(world: World, llm: LlmJob) -> None:
    notice = tell(llm)
    assert f"jobs/{notice.pk}/read/" not in inbox(world, "rita")
    assert "AutoAssign A/A, job" in inbox(world, "rita")


def test_another_campaigns_notice_is_not_found_in_mine(world: World, llm: LlmJob) -> None:
    notice, other = tell(llm), Campaign.objects.create(slug="other", name="Other")
    Membership.objects.create(campaign=other, user=world.people["olga"], role=Role.ORGANIZER)
    client = world.client("olga")
    assert client.post(f"/campaigns/other/inbox/jobs/{notice.pk}/read/").status_code == 404
    assert "AutoAssign" not in client.get("/campaigns/other/inbox/").content.decode()


def test_more_notices_cost_no_more_queries(world: World, llm: LlmJob) -> None:
    tell(llm)
    client = world.client("olga")
    before = queries_of(client, INBOX)
    for _ in range(4):
        tell(make_job(world))
    assert queries_of(client, INBOX) == before


@pytest.mark.usefixtures("_mail")
def test_whoever_started_it_gets_one_mail(llm: LlmJob) -> None:
    tell(llm)
    send_due()
    send_due()
    (sent,) = mail.outbox
    assert sent.to == ["olga@example.org"]
    assert sent.subject == "Job done: AutoAssign A/A (River study)"
    assert "3 of 5 items are done, 2 failed, 0 are left." in sent.body
    assert f"https://assay.example/campaigns/river/jobs/{llm.pk}/" in sent.body
    assert Notice.objects.get().mailed_at


@pytest.mark.usefixtures("_mail")
def test_the_mail_says_why_a_job_rests(llm: LlmJob) -> None:
    llm.job.waiting_for = "The budget of 5 requests is used up."
    tell(llm, Notice.Kind.PAUSED)
    send_due()
    assert "is paused" in mail.outbox[0].body
    assert "The budget of 5 requests is used up." in mail.outbox[0].body


def test_where_no_mail_is_configured_none_is_sent(llm: LlmJob, settings: Settings) -> None:
    settings.MAIL_ABOUT_JOBS = False
    tell(llm)
    send_due()
    assert mail.outbox == []


@pytest.mark.usefixtures("_mail")
def test_what_is_old_when_mail_is_turned_on_is_not_sent(llm: LlmJob) -> None:
    tell(llm)
    Notice.objects.update(noted_at=timezone.now() - timedelta(days=2))
    send_due()
    assert mail.outbox == []


@pytest.mark.usefixtures("_mail")
def test_who_assesses_by_now_is_told_nothing(world: World, llm: LlmJob) -> None:
    tell(llm)
    Membership.objects.create(campaign=world.campaign, user=world.people["olga"], role=Role.ASSESSOR)
    send_due()
    assert mail.outbox == []
    assert Notice.objects.get().mail_after is None


class Deaf(BaseEmailBackend):
    def send_messages(self, _messages: object) -> int:
        raise ConnectionRefusedError


@pytest.mark.usefixtures("_mail")
def test_a_server_that_is_away_is_tried_again(llm: LlmJob, settings: Settings) -> None:
    working, settings.EMAIL_BACKEND = settings.EMAIL_BACKEND, f"{__name__}.Deaf"
    tell(llm)
    send_due()
    settings.EMAIL_BACKEND = working
    send_due()
    assert mail.outbox == []  # not at once
    Notice.objects.update(mail_after=timezone.now())
    send_due()
    assert len(mail.outbox) == 1
