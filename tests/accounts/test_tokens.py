"""A token opens the API for its owner alone, for a while, and is nowhere to be read again."""

import os
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now
from pytest_django.fixtures import Settings

from accounts.models import ApiToken, User
from accounts.tokens import make_token, revoke_token, revoke_tokens_of, token_of, tokens_of
from tests.worlds.cast import make_user
from web.middleware import RuleRefusal

pytestmark = pytest.mark.django_db


def make(user: User, days: float = 1) -> tuple[ApiToken, str]:
    return make_token(user=user, name="my notebook", scopes=["read"], expires_at=now() + timedelta(days=days))


def age(token: ApiToken, **moments: timedelta) -> None:
    ApiToken.objects.filter(pk=token.pk).update(**{name: now() - past for name, past in moments.items()})


def test_a_token_is_its_owners() -> None:
    ann, ben = make_user("ann"), make_user("ben")
    token, raw = make(ann)
    make(ben)
    found = token_of(raw)
    assert found == token
    assert found.user == ann
    assert raw.startswith("assay_")
    assert raw.startswith(token.prefix)
    assert found.scopes == ["read"]


def test_a_token_is_stored_nowhere(tmp_path: os.PathLike[str]) -> None:
    token, raw = make(make_user("ann"))
    dump = os.path.join(tmp_path, "all.json")
    call_command("dumpdata", output=dump, verbosity=0)
    with open(dump, encoding="utf-8") as written:
        text = written.read()
    assert token.prefix in text
    assert raw not in text
    assert raw.removeprefix(token.prefix) not in text


@pytest.mark.parametrize("wrong", ["", "assay_", "assay_x", "Bearer"])
def test_an_unknown_token_opens_nothing(wrong: str) -> None:
    _, raw = make(make_user("ann"))
    assert token_of(wrong) is None
    assert token_of(raw[:-1]) is None
    assert token_of(raw.upper()) is None


def test_a_token_ends_when_it_expires_or_is_revoked() -> None:
    ann = make_user("ann")
    expired, expired_raw = make(ann)
    revoked, revoked_raw = make(ann)
    age(expired, expires_at=timedelta(seconds=1))
    revoke_token(token=revoked)
    assert token_of(expired_raw) is None
    assert token_of(revoked_raw) is None


def test_a_token_revoked_twice_keeps_its_first_moment() -> None:
    token, _ = make(make_user("ann"))
    revoke_token(token=token)
    first = token.revoked_at
    revoke_token(token=token)
    assert first is not None
    assert token.revoked_at == first


def test_a_closed_account_has_no_tokens_that_open_anything() -> None:
    ann = make_user("ann")
    _, raw = make(ann)
    User.objects.filter(pk=ann.pk).update(is_active=False)
    assert token_of(raw) is None


def test_all_of_a_persons_tokens_are_revoked_at_once() -> None:
    ann, ben = make_user("ann"), make_user("ben")
    raws = [make(ann)[1], make(ann)[1]]
    _, other = make(ben)
    assert revoke_tokens_of(ann) == 2
    assert [token_of(raw) for raw in raws] == [None, None]
    assert token_of(other)
    assert all(token.revoked_at for token in tokens_of(ann))


def test_use_is_noted_once_a_minute() -> None:
    token, raw = make(make_user("ann"))
    found = token_of(raw)
    assert found
    assert found.last_used_at
    with CaptureQueriesContext(connection) as reads:
        token_of(raw)
    assert len(reads) == 1
    age(token, last_used_at=timedelta(minutes=2))
    reloaded = token_of(raw)
    assert reloaded
    assert reloaded.last_used_at
    assert reloaded.last_used_at >= found.last_used_at


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"name": "  "}, "token_name"),
        ({"name": "x" * 101}, "token_name"),
        ({"scopes": []}, "token_scopes"),
        ({"scopes": ["read", "admin"]}, "token_scopes"),
        ({"days": 0}, "token_expiry"),
        ({"days": -1}, "token_expiry"),
        ({"days": 31}, "token_expiry"),
    ],
)
def test_a_token_needs_a_name_scopes_and_an_end_in_time(
    changes: dict[str, object], code: str, settings: Settings
) -> None:
    settings.API_TOKEN_MAX_DAYS = 30
    fields = {"name": "notebook", "scopes": ["read"], "days": 30} | changes
    ends = now() + timedelta(days=fields.pop("days"))  # type: ignore[arg-type]
    with pytest.raises(RuleRefusal) as refusal:
        make_token(user=make_user("ann"), expires_at=ends, **fields)  # type: ignore[arg-type]
    assert refusal.value.code == code
    assert not ApiToken.objects.exists()
