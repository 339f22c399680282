"""Accounts that are made or changed from a shell leave a line in the audit log, as they do on pages."""

import getpass

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from tests.security.conftest import Audit
from tests.worlds.cast import make_user
from web.audit_log import system_actor

pytestmark = pytest.mark.django_db

WORD = "another long enough sentence"


def typed(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    left = list(words)
    monkeypatch.setattr(getpass, "getpass", lambda prompt="": left.pop(0))


def test_a_password_changed_in_a_shell_is_in_the_audit_log(
    audit_log: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    ben = make_user("ben")
    typed(monkeypatch, WORD, WORD)
    call_command("changepassword", "ben")
    [line] = audit_log.lines()
    assert (line["kind"], line["actor"], line["about"]) == (
        "account.password_changed",
        system_actor(),
        f"user:{ben.pk}",
    )
    assert User.objects.get(username="ben").check_password(WORD)


def test_a_password_that_was_not_changed_is_not_in_the_audit_log(
    audit_log: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_user("ben")
    typed(monkeypatch, *["short"] * 6)
    with pytest.raises(CommandError, match="Aborting"):
        call_command("changepassword", "ben")
    assert audit_log.lines() == []


def test_an_administrator_made_in_a_shell_is_in_the_audit_log(
    audit_log: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_user("olga")
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", WORD)
    call_command("createsuperuser", "--noinput", username="ada", email="ada@example.org")
    ada = User.objects.get(username="ada")
    assert ada.is_superuser
    [line] = audit_log.lines()
    assert (line["kind"], line["actor"], line["about"]) == ("account.made", system_actor(), f"user:{ada.pk}")
