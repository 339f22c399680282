"""Signing in by a provider, over real HTTP: people whom Assay knows, and people who were invited. Nobody else."""

import urllib.request
from collections.abc import Iterator
from http.client import HTTPMessage
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import environ
import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpResponse
from django.test import Client
from pytest_django.fixtures import Settings

from accounts.models import User
from config.settings import oidc_provider
from evaluation.models import Membership
from loadtest.servers.provider import CLIENT, SECRET, Provider, running_provider
from tests.accounts.conftest import People
from tests.accounts.test_invitations import link, opened

pytestmark = pytest.mark.django_db

LOGIN, CALLBACK = "/accounts/oidc/lab/login/", "/accounts/oidc/lab/login/callback/"
ANN = {"sub": "7", "email": "ann@example.org", "email_verified": True, "preferred_username": "annie"}


def environment(**variables: str) -> Any:
    """Return what `oidc_provider` reads, as django-environ gives it."""
    env = environ.Env()
    env.ENVIRON = variables
    return env


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def provider(running: Provider, settings: Settings) -> Provider:
    running.person, running.requests = dict(ANN), []
    variables = {"OIDC_SERVER_URL": running.address, "OIDC_CLIENT_ID": CLIENT, "OIDC_CLIENT_SECRET": SECRET}
    settings.OIDC = oidc_provider(environment(**variables, OIDC_PROVIDER_ID="lab", OIDC_NAME="Lab sign-on"))
    return running


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None


def led_to(address: str) -> str:
    """Ask the provider as a browser would; return where it leads."""
    try:
        urllib.request.build_opener(_Stay).open(address)
    except urllib.error.HTTPError as answer:
        return str(answer.headers["Location"])
    raise AssertionError("the provider led nowhere")


def through(client: Client, query: str = "") -> HttpResponse:
    """Go the whole way: to the provider, and back with what it says."""
    back = urlsplit(led_to(client.post(LOGIN + query)["Location"]))
    return client.get(f"{back.path}?{back.query}")  # type: ignore[return-value]


def shown(name: str) -> None:
    user = User.objects.get(username=name)
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)


def is_in(client: Client) -> str:
    pk = client.session.get("_auth_user_id")
    return User.objects.get(pk=pk).username if pk else ""


def test_somebody_known_signs_in(people: People, provider: Provider) -> None:
    shown("ann")
    client = Client()
    assert "Use Lab sign-on" in client.get("/accounts/login/").content.decode()
    assert through(client).status_code == 302
    assert is_in(client) == "ann"
    assert provider.requests[0]["code_challenge_method"] == "S256"
    assert User.objects.get(username="ann").check_password("ann")


def test_the_provider_s_number_counts_once_it_is_known(people: People, provider: Provider) -> None:
    shown("ann")
    through(Client())
    provider.person |= {"email": "new@example.org"}
    client = Client()
    through(client)
    assert is_in(client) == "ann"
    assert SocialAccount.objects.get().uid == "7"


@pytest.mark.parametrize(
    "claims",
    [
        {"email": "stranger@example.org"},
        {"email_verified": False},
        {"email": "ben@example.org"},  # Ben never showed that it is his
        {"email": ""},
    ],
)
def test_a_stranger_stays_outside(people: People, provider: Provider, claims: dict[str, Any]) -> None:
    shown("ann")
    before = User.objects.count()
    provider.person |= claims
    client = Client()
    answer = through(client)
    assert "By invitation" in answer.content.decode()
    assert is_in(client) == ""
    assert User.objects.count() == before
    assert User.objects.get(username="ben").check_password("ben")


def test_somebody_invited_comes_in_with_their_role(people: People, provider: Provider) -> None:
    provider.person = {"sub": "8", "email": "nina@example.org", "email_verified": True}
    client = opened(link(people))
    assert through(client, "?next=/invitation/")["Location"] == "/accounts/3rdparty/signup/"
    done = client.post("/accounts/3rdparty/signup/", {"username": "nina", "email": "nina@example.org"})
    assert done.status_code == 302
    assert is_in(client) == "nina"
    assert Membership.objects.get(user__username="nina").role == "assessor"
    assert EmailAddress.objects.get(user__username="nina").verified
    second = Client()
    through(second)
    assert is_in(second) == "nina"


def test_an_invitation_that_is_over_lets_nobody_in(people: People, provider: Provider) -> None:
    provider.person = {"sub": "8", "email": "nina@example.org", "email_verified": True}
    address = link(people)
    client = opened(address)
    through(client, "?next=/invitation/")
    opened(address, people.client("sam")).post("/invitation/accept/")
    done = client.post("/accounts/3rdparty/signup/", {"username": "nina", "email": "nina@example.org"})
    assert "By invitation" in done.content.decode() or done.status_code == 422
    assert not User.objects.filter(username="nina").exists()


def test_an_answer_that_nobody_asked_for_is_refused(people: People, provider: Provider) -> None:
    shown("ann")
    back = urlsplit(led_to(Client().post(LOGIN)["Location"]))
    other = Client()
    other.get(f"{back.path}?{back.query}")
    assert is_in(other) == ""


def test_a_closed_account_stays_closed(people: People, provider: Provider) -> None:
    shown("ann")
    through(Client())
    User.objects.filter(username="ann").update(is_active=False)
    client = Client()
    through(client)
    assert is_in(client) == ""


def test_the_second_factor_is_asked_for_all_the_same(people: People, provider: Provider) -> None:
    shown("ann")
    secret = {"secret": get_adapter().encrypt("JBSWY3DPEHPK3PXP")}
    Authenticator.objects.create(user=User.objects.get(username="ann"), type="totp", data=secret)
    client = Client()
    assert through(client)["Location"] == "/accounts/2fa/authenticate/"
    assert is_in(client) == ""


def test_a_provider_in_the_database_is_none(people: People, provider: Provider, settings: Settings) -> None:
    settings.OIDC = None
    SocialApp.objects.create(
        provider="openid_connect",
        provider_id="lab",
        name="Planted",
        client_id="x",
        settings={"server_url": provider.address},
    )
    assert "Planted" not in Client().get("/accounts/login/").content.decode()
    assert Client().post(LOGIN).status_code == 404


def test_the_secret_comes_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("from a file\n")
    variables = {"OIDC_SERVER_URL": "https://id.example.org/realm", "OIDC_CLIENT_ID": "assay"}
    found = oidc_provider(environment(**variables, OIDC_CLIENT_SECRET_FILE=str(file)))
    assert found
    assert (found["secret"], found["settings"]["origin"]) == ("from a file", "https://id.example.org")
    assert oidc_provider(environment()) is None
    for wrong in (
        {"OIDC_CLIENT_SECRET_FILE": str(tmp_path / "none")},
        {"OIDC_SERVER_URL": "http://id.example.org"},
        {"OIDC_CLIENT_ID": ""},
    ):
        with pytest.raises(ImproperlyConfigured):
            oidc_provider(environment(**(variables | wrong)))
