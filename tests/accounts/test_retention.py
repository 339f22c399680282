"""What ended long ago goes; what is in force, and every label, stays."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.utils.timezone import now

from accounts.models import ApiToken, Invitation, User
from accounts.tokens import make_token, revoke_token
from evaluation.models import Event
from tests.accounts.conftest import People

pytestmark = pytest.mark.django_db

LONG = timedelta(days=400)


def make(user: User, name: str, **moments: object) -> None:
    token, _ = make_token(user=user, name=name, scopes=["read"], expires_at=now() + timedelta(days=1))
    ApiToken.objects.filter(pk=token.pk).update(**moments)


def plant(people: People) -> None:
    ann, olga = people.by_name["ann"], people.by_name["olga"]
    make(ann, "in force")
    make(ann, "expired long ago", expires_at=now() - LONG)
    make(ann, "revoked long ago", revoked_at=now() - LONG)
    revoke_token(token=make_token(user=ann, name="just", scopes=["read"], expires_at=now() + LONG / 400)[0])
    for number, ends in enumerate((now() + LONG, now() - LONG)):
        Invitation.objects.create(
            campaign=people.campaign, role="auditor", sha256=str(number), made_by=olga, expires_at=ends
        )
    for key, ends in (("in force", now() + LONG), ("ended", now() - timedelta(seconds=1))):
        Session.objects.create(session_key=key, session_data="", expire_date=ends)


def left() -> tuple[set[str], int, set[str]]:
    tokens = set(ApiToken.objects.values_list("name", flat=True))
    return tokens, Invitation.objects.count(), set(Session.objects.values_list("session_key", flat=True))


def test_what_ended_long_ago_goes(people: People, capsys: pytest.CaptureFixture[str]) -> None:
    plant(people)
    events = Event.objects.count()
    call_command("apply_retention", days=180)
    assert left() == ({"in force", "just"}, 1, {"in force"})
    assert Event.objects.count() == events
    assert "tokens\t2\tgone" in capsys.readouterr().out
    call_command("apply_retention", days=180)
    assert "tokens\t0\tgone" in capsys.readouterr().out


def test_a_try_out_deletes_nothing(people: People, capsys: pytest.CaptureFixture[str]) -> None:
    plant(people)
    before = left()
    call_command("apply_retention", "--dry-run", "--days", "180")
    assert left() == before
    assert "invitations\t1\twould go" in capsys.readouterr().out


@pytest.mark.parametrize("days", [-1, 0, 1_000_000])
def test_days_that_lie_ahead_or_before_all_dates_delete_nothing(
    people: People, capsys: pytest.CaptureFixture[str], days: int
) -> None:
    plant(people)
    before = left()
    with pytest.raises(SystemExit, match="2"):
        call_command("apply_retention", days=days)
    assert "--days: from 1 to 36500" in capsys.readouterr().err
    assert left() == before
