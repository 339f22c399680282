"""A user name is one person's, however it is written, and in one script."""

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client

from accounts.models import User
from loadtest.servers.provider import Provider
from tests.accounts.conftest import People, sign_in
from tests.accounts.test_invitations import INVITATION, JOIN, link, opened
from tests.accounts.test_provider import provider, running, through  # noqa: F401
from tests.worlds.cast import make_user

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db]

CYRILLIC = "\u041eLGA"  # begins with a Cyrillic letter that looks like an O
FULL_WIDTH = "\uff4f\uff4c\uff47\uff41"  # olga in full-width letters


@pytest.mark.parametrize(
    "name", ["Olga", "OLGA", FULL_WIDTH, CYRILLIC, "olga.", "_olga", "\u00f6lga", "o\u0308lga"]
)
def test_an_invitation_cannot_lock_olga_out(people: People, name: str) -> None:
    guest = opened(link(people))
    refused = guest.post(INVITATION, JOIN | {"username": name})
    assert refused.status_code == 422
    assert User.objects.count() == len(people.by_name)
    assert sign_in("olga").get("/start/").status_code == 302
    assert sign_in("OLGA", "olga").session["_auth_user_id"] == str(people.by_name["olga"].pk)


@pytest.mark.parametrize("name", ["Olga", FULL_WIDTH, CYRILLIC])
def test_a_provider_brings_no_second_olga(people: People, provider: Provider, name: str) -> None:  # noqa: F811
    provider.person = {"sub": "8", "email": "nina@example.org", "email_verified": True}
    client = opened(link(people))
    through(client, "?next=/invitation/")
    repeated = client.post("/accounts/3rdparty/signup/", {"username": name, "email": "nina@example.org"})
    assert repeated.status_code == 200
    assert User.objects.count() == len(people.by_name)


def test_the_database_takes_a_name_once_in_any_case(db: None) -> None:
    make_user("olga")
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create(username="Olga")


@pytest.mark.parametrize("name", ["Olga", CYRILLIC])
def test_commands_make_no_second_olga(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make_user("olga")
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "a long enough sentence")
    with pytest.raises(CommandError):
        call_command("createsuperuser", username=name, email="o@example.org", interactive=False, verbosity=0)
    assert User.objects.count() == 1


@pytest.mark.parametrize("name", ["Olga", CYRILLIC])
def test_the_admin_makes_no_second_olga(name: str) -> None:
    client = Client()
    client.force_login(make_user("ada", is_staff=True, is_superuser=True))
    olga = make_user("olga")
    word = "a long enough sentence"
    form = {"username": name, "password1": word, "password2": word, "usable_password": "true"}
    refused = client.post("/admin/accounts/user/add/", form)
    assert refused.status_code == 200
    assert set(User.objects.values_list("username", flat=True)) == {"ada", olga.username}


@pytest.mark.parametrize("name", ["Nina", "nina.north+2", "Нина", "にな花", "نينا", "Ñandú", "김민수"])
def test_a_name_may_be_of_any_one_script(people: People, name: str) -> None:
    made = opened(link(people)).post(INVITATION, JOIN | {"username": name})
    assert made.status_code == 302, made.content.decode()
    assert User.objects.filter(username=name).exists()


def test_letters_beyond_ascii_differ_by_case_alone(people: People) -> None:
    make_user("ольга")
    assert opened(link(people)).post(INVITATION, JOIN | {"username": "ОЛЬГА"}).status_code == 422


def test_an_account_keeps_its_own_name(people: People) -> None:
    olga = people.by_name["olga"]
    olga.first_name = "Olga"
    olga.full_clean()
