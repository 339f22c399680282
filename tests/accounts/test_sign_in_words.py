"""What the library of signing in says, in the words of the other pages."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.utils.translation import gettext

from tests.worlds.cast import make_user

WORDS = Path(settings.BASE_DIR) / "locale" / "en" / "LC_MESSAGES" / "django.po"
OPEN = {
    "/accounts/password/reset/": "Forgotten password",
    "/accounts/password/reset/done/": "Forgotten password",
    "/accounts/password/reset/key/1-no-such-key/": "This link does not work",
    "/accounts/confirm-email/": "Verify your email address",
    "/accounts/confirm-email/no-such-key/": "Confirm an email address",
    "/accounts/inactive/": "This account is closed",
    "/accounts/3rdparty/login/cancelled/": "Not signed in",
}
OWN = {
    "/accounts/email/": "Email addresses",
    "/accounts/password/change/": "Change your password",
    "/accounts/reauthenticate/": "Is it you?",
}

pytestmark = pytest.mark.django_db


def heading(client: Client, address: str) -> str:
    found = re.search(r"<h1[^>]*>(.*?)</h1>", client.get(address).content.decode(), re.S)
    assert found, address
    return found[1].strip()


def test_pages_of_strangers_have_titles_as_all_others() -> None:
    assert {address: heading(Client(), address) for address in OPEN} == OPEN


def test_pages_of_an_account_have_titles_as_all_others() -> None:
    client = Client()
    client.force_login(make_user("ann"))
    assert {address: heading(client, address) for address in OWN} == OWN


def test_what_is_compiled_is_what_is_written() -> None:
    """`compilemessages` was run after the last change."""
    entries = re.findall(r'^msgid "(.+)"\nmsgstr "(.+)"$', WORDS.read_text("utf-8"), re.M)
    assert entries
    written = {key.replace('\\"', '"'): translation.replace('\\"', '"') for key, translation in entries}
    assert {key: gettext(key) for key in written} == written


def test_the_administration_has_one_group_of_accounts() -> None:
    client = Client()
    client.force_login(make_user("root", is_staff=True, is_superuser=True))
    page = client.get("/admin/").content.decode()
    groups = [
        caption.strip() for caption in re.findall(r'<a href="[^"]*" class="section"[^>]*>(.*?)</a>', page, re.S)
    ]
    assert "Accounts" in groups
    assert len(groups) == len({group.casefold() for group in groups})
