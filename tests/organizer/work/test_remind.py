"""Reminders of what is past its due date: from Today in one click, by mail and on the list of tasks, once a day."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.core import mail
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings

from evaluation.models import Event, Task
from tests.worlds.desk import DeskWorld
from tests.worlds.work import hand, make_work_world

TODAY, REMIND, AUDIT = (reverse(f"organizer:{name}", args=["river"]) for name in ("today", "remind", "audit"))
TEXT = "Please go on with these."


@pytest.fixture
def desk(db: None, tmp_path: Path) -> DeskWorld:
    return make_work_world(tmp_path)


@pytest.fixture
def late(desk: DeskWorld) -> DeskWorld:
    hand(desk, [desk.topic("t3")], "ben")
    Task.objects.filter(assessor=desk.people["ann"]).update(due=timezone.localdate() - timedelta(days=3))
    desk.people["ann"].email = "ann@example.org"
    desk.people["ann"].save()
    return desk


def test_today_leads_to_the_form_filled_in(late: DeskWorld) -> None:
    page = late.client("olga").get(TODAY).content.decode()
    [link] = set(re.findall(rf'href="({REMIND}[^"]*)"><bdi>Remind Ann</bdi>', page))
    form = late.client("olga").get(link).content.decode()
    assert re.search(r'value="ann" checked', form)
    assert "These tasks are past their due date." in form


def test_a_reminder_is_mailed_noted_and_read_beside_the_task(late: DeskWorld) -> None:
    page = late.client("olga").post(REMIND, {"people": ["ann"], "text": TEXT}, follow=True).content.decode()
    assert "Reminded: 1 person." in page
    assert "<bdi>Remind Ann</bdi>" not in page
    [sent] = mail.outbox
    assert sent.to == ["ann@example.org"]
    assert TEXT in sent.body
    assert "why rivers bend" in sent.body
    assert "http://testserver/desk/" in sent.body
    assert TEXT in late.client("ann").get("/desk/").content.decode()
    assert TEXT not in late.client("ben").get("/desk/").content.decode()
    assert "task.reminded" in late.client("olga").get(AUDIT).content.decode()
    task = reverse("organizer:task", args=["river", late.manual.public_id])
    assert TEXT in late.client("olga").get(task).content.decode()


def test_nobody_is_reminded_twice_a_day(late: DeskWorld) -> None:
    client, fields = late.client("olga"), {"people": ["ann"], "text": TEXT}
    client.post(REMIND, fields)
    repeated = client.post(REMIND, fields)
    assert repeated.status_code == 422
    page = repeated.content.decode()
    assert "Everybody who is ticked was reminded today." in page
    assert "(reminded today)" in page
    assert "Everybody who is late was reminded today." in page
    assert "data-primary" not in page
    assert len(mail.outbox) == 1


def test_yesterday_s_reminder_does_not_count(late: DeskWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    client, fields = late.client("olga"), {"people": ["ann"], "text": TEXT}
    client.post(REMIND, fields)
    tomorrow = timezone.now() + timedelta(days=1)
    monkeypatch.setattr(timezone, "now", lambda: tomorrow)
    late.client("olga").post(REMIND, fields)
    assert len(mail.outbox) == 2


@pytest.mark.parametrize(
    "fields", [{"text": TEXT}, {"people": ["ben"], "text": TEXT}, {"people": ["ann"], "text": " "}]
)
def test_a_bad_form_keeps_its_text_and_reminds_nobody(late: DeskWorld, fields: dict[str, object]) -> None:
    response = late.client("olga").post(REMIND, fields)
    assert response.status_code == 422
    assert "field-error" in response.content.decode()
    assert str(fields["text"]) in response.content.decode()
    assert not mail.outbox
    assert not Event.objects.filter(kind="task.reminded").exists()


def test_a_mail_that_reaches_nobody_is_told(late: DeskWorld) -> None:
    late.people["ann"].email = ""
    late.people["ann"].save()
    page = late.client("olga").post(REMIND, {"people": ["ann"], "text": TEXT}, follow=True).content.decode()
    assert f"No mail reached {late.people['ann'].name}" in page
    assert TEXT in late.client("ann").get("/desk/").content.decode()


def test_where_nobody_is_late_the_page_says_so(desk: DeskWorld) -> None:
    assert "Nobody is late." in desk.client("olga").get(REMIND).content.decode()
    assert desk.client("ann").get(REMIND).status_code == 404


def test_without_a_mail_server_nothing_claims_to_be_mailed(late: DeskWorld, settings: Settings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"  # as without EMAIL_URL
    page = late.client("olga").post(REMIND, {"people": ["ann"], "text": TEXT}, follow=True).content.decode()
    assert f"No mail reached {late.people['ann'].name}" in page
    assert TEXT in late.client("ann").get("/desk/").content.decode()
