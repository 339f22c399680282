"""What settings and code promise: forms with tokens, redirects that stay, hashed passwords, nothing that unpickles."""

import re

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse
from django.utils.module_loading import import_string

from tests.architecture.tree import ROOT, files, named
from tests.worlds.cast import make_user
from tests.worlds.desk import DeskWorld

DANGEROUS = re.compile(
    r"^\s*(?:import|from) (?:pickle|marshal|shelve|xml\.sax|xml\.dom|lxml)\b"
    r"|\b(?:eval|exec|os\.system)\(|shell=True|\byaml\.(?!safe_load\b|safe_dump\b|SafeLoader\b|Node\b|MappingNode\b|ScalarNode\b|constructor\.ConstructorError\b|YAMLError\b)\w+",
    re.MULTILINE,
)
NOT_OURS_TO_RUN = ("tests", "loadtest")


def test_nothing_unpickles_evaluates_or_asks_a_shell() -> None:
    sources = [path for path in files(".py") if path.relative_to(ROOT).parts[0] not in NOT_OURS_TO_RUN]
    assert len(sources) > 100
    assert [named(path) for path in sources if DANGEROUS.search(path.read_text("utf-8"))] == []


@pytest.mark.parametrize("word", ["password", "12345678901", "short", "kx7qpwzt", "kx7qpwztmfe"])
def test_a_common_or_short_password_is_refused(word: str) -> None:
    with pytest.raises(ValidationError):
        validate_password(word)


def test_passwords_are_kept_as_argon2() -> None:
    text = (ROOT / "config" / "settings.py").read_text("utf-8")
    first = re.search(r"PASSWORD_HASHERS = \[\s*\"([^\"]+)\"", text)
    assert first
    assert import_string(first[1]) is Argon2PasswordHasher


@pytest.mark.django_db
@pytest.mark.parametrize(
    "away",
    ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)", "http:evil.example"],
)
def test_a_sign_in_leads_to_this_host_only(away: str) -> None:
    make_user("ann")
    address = f"{reverse('account_login')}?next={away}"
    answer = Client().post(address, {"login": "ann", "password": "ann", "next": away})
    assert answer.status_code == 302
    assert answer["Location"] == reverse("organizer:landing")


def test_what_changes_something_needs_the_token_of_a_page(desk_world: DeskWorld) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(desk_world.people["ann"])
    for address in (f"/desk/{desk_world.post_edit.public_id}/ops/", "/desk/keys/", reverse("account_logout")):
        assert client.post(address, {}).status_code == 403, address
    sign_in = Client(enforce_csrf_checks=True).post(reverse("account_login"), {"login": "ann", "password": "ann"})
    assert sign_in.status_code == 403
