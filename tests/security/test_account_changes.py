"""A change of an account asks for the password, is in the audit log, and is told by mail."""

import json
import re
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.core import mail
from django.test import Client
from django.utils.timezone import now
from pytest_django.fixtures import Settings

from accounts.models import User
from accounts.tokens import make_token, revoke_token
from loadtest.servers.provider import Provider
from tests.accounts.conftest import People, confirmed, people, sign_in  # noqa: F401
from tests.accounts.test_provider import provider, running, shown, through  # noqa: F401
from tests.accounts.test_second_factor import code_of
from tests.security.conftest import Audit
from tests.worlds.cast import make_user

pytestmark = pytest.mark.django_db

EMAIL, RESET, ACTIVATE = "/accounts/email/", "/accounts/password/reset/", "/accounts/2fa/totp/activate/"
NEW = "other@example.org"
WORD = "another long enough sentence"


@pytest.fixture(autouse=True)
def _mail_is_set(settings: Settings) -> None:
    settings.ACCOUNT_EMAIL_NOTIFICATIONS = True


def address(user: User, email: str = "", *, verified: bool = True, primary: bool = True) -> EmailAddress:
    email = email or user.email
    return EmailAddress.objects.create(user=user, email=email, verified=verified, primary=primary)


def kinds(audit_log: Audit) -> list[str]:
    return [line["kind"] for line in audit_log.lines() if line["kind"] != "account.signed_in"]


def reset_link(email: str) -> str:
    before = len(mail.outbox)
    Client().post(RESET, {"email": email})
    bodies = "\n".join(str(message.body) for message in mail.outbox[before:])
    found = re.search(r"http://testserver(/accounts/password/reset/key/\S+)", bodies)
    return found[1] if found else ""


@pytest.mark.parametrize("action", ["action_add", "action_primary", "action_remove"])
def test_a_session_alone_changes_no_address(action: str) -> None:
    ben = make_user("ben")
    address(ben)
    address(ben, "second@example.org", primary=False)
    before = list(EmailAddress.objects.order_by("pk").values())
    client = Client()
    client.force_login(ben)
    response = client.post(EMAIL, {"email": NEW if action == "action_add" else "second@example.org", action: ""})
    assert response["Location"].startswith("/accounts/reauthenticate/")
    assert list(EmailAddress.objects.order_by("pk").values()) == before


def test_a_provider_is_not_linked_by_a_session_alone(people: People, provider: Provider) -> None:  # noqa: F811
    through(client := people.client("ann"), "?process=connect")
    assert client.get("/accounts/3rdparty/").content.decode().count("ann@example.org") == 0


@pytest.mark.parametrize("verified", [False, True])
def test_only_a_verified_address_resets_a_password(verified: bool) -> None:
    ben = make_user("ben")
    address(ben, NEW, verified=verified, primary=False)
    assert bool(reset_link(NEW)) is verified


def test_an_address_that_was_only_typed_resets_nothing() -> None:
    assert make_user("ben").email == "ben@example.org"
    assert reset_link("ben@example.org") == ""


def test_the_old_address_is_told_of_a_new_one(audit_log: Audit) -> None:
    ben = make_user("ben")
    address(ben)
    client = confirmed("ben")
    client.post(EMAIL, {"email": NEW, "action_add": ""})
    assert subjects_sent_to("ben@example.org") == ["Email address added"]
    key = re.search(r"/accounts/confirm-email/\S+", str(mail.outbox[-1].body) + str(mail.outbox[0].body))
    assert key
    client.post(key[0])
    client.post(EMAIL, {"email": NEW, "action_primary": ""})
    client.post(EMAIL, {"email": "ben@example.org", "action_remove": ""})
    assert subjects_sent_to("ben@example.org") == ["Email address added", "Email Changed", "Email Removed"]
    wanted = ["email_added", "email_verified", "email_changed", "email_removed"]
    assert kinds(audit_log) == [f"account.{kind}" for kind in wanted]
    assert "example.org" not in audit_log.path.read_text("utf-8")


def subjects_sent_to(email: str) -> list[str]:
    """The subjects of what was sent to an address, without the site's mark before it."""
    return [re.sub(r"^\[\S+\] ", "", str(message.subject)) for message in mail.outbox if email in message.to]


def test_a_new_password_is_recorded_and_told(audit_log: Audit) -> None:
    address(make_user("ben"))
    fields = {"oldpassword": "ben", "password1": WORD, "password2": WORD}
    sign_in("ben").post("/accounts/password/change/", fields)
    assert kinds(audit_log) == ["account.password_changed"]
    assert subjects_sent_to("ben@example.org") == ["Password Changed"]


def test_a_reset_is_recorded_when_asked_for_and_when_done(audit_log: Audit) -> None:
    ben = make_user("ben")
    address(ben)
    client = Client()
    form = client.get(reset_link("ben@example.org"))["Location"]
    client.post(form, {"password1": WORD, "password2": WORD})
    assert kinds(audit_log) == ["account.password_reset_requested", "account.password_reset"]
    assert {line["actor"] for line in audit_log.lines()} == {f"user:{ben.pk}"}
    assert subjects_sent_to("ben@example.org")[-1] == "Password reset by mail"
    assert sign_in("ben", WORD).get("/desk/").status_code == 200


@pytest.mark.usefixtures("transactional_db")  # allauth tells of a factor when it is committed
def test_a_second_factor_is_recorded_and_told(audit_log: Audit) -> None:
    address(make_user("ben"))
    client = confirmed("ben")
    secret = re.findall(r'class="secret" value="([A-Z2-7]+)"', client.get(ACTIVATE).content.decode())[0]
    client.post(ACTIVATE, {"code": code_of(secret)})
    client.post("/accounts/2fa/recovery-codes/generate/", {})
    client.post("/accounts/2fa/totp/deactivate/", {})
    changes = {(line["kind"], line["factor"]) for line in audit_log.lines() if "factor" in line}
    assert changes == {
        ("account.factor_added", "totp"),
        ("account.factor_added", "recovery_codes"),
        ("account.factor_renewed", "recovery_codes"),
        ("account.factor_removed", "recovery_codes"),
        ("account.factor_removed", "totp"),
    }
    assert {"Authenticator App Activated", "Authenticator App Deactivated"} < set(
        subjects_sent_to("ben@example.org")
    )
    assert not Authenticator.objects.exists()


def test_a_factor_taken_by_an_administrator_is_told(people: People) -> None:  # noqa: F811
    ben = people.by_name["ben"]
    address(ben)
    people.client("ada").post(f"/accounts/people/{ben.pk}/factor/")
    assert subjects_sent_to("ben@example.org") == ["Second factor taken away"]


def test_a_providers_link_is_recorded_and_told(
    people: People,  # noqa: F811
    provider: Provider,  # noqa: F811
    audit_log: Audit,
) -> None:
    shown("ann")
    client = Client()
    through(client)
    assert "account.provider_linked" in kinds(audit_log)
    client.post("/accounts/reauthenticate/", {"password": "ann"})
    pk = re.findall(r'name="account"[^>]*value="(\d+)"', client.get("/accounts/3rdparty/").content.decode())
    client.post("/accounts/3rdparty/", {"account": pk[0]})
    assert kinds(audit_log)[-1] == "account.provider_unlinked"
    assert len(subjects_sent_to("ann@example.org")) == 2


def test_tokens_that_open_nothing_are_recorded_and_slowed_down(audit_log: Audit) -> None:
    client = Client(headers={"authorization": "Bearer assay_guessed"})
    answers = [client.get("/api/v1/campaigns").status_code for _ in range(70)]
    assert answers[0] == 401
    assert answers[-1] == 429
    lines = audit_log.lines("account.token_refused")
    assert len(lines) == answers.count(401)
    assert lines[0]["address"] == "127.0.0.1"
    assert "guessed" not in json.dumps(lines)


def test_a_mail_server_that_is_away_undoes_no_change(settings: Settings, audit_log: Audit) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    address(make_user("ben"))
    fields = {"oldpassword": "ben", "password1": WORD, "password2": WORD}
    assert sign_in("ben").post("/accounts/password/change/", fields).status_code == 302
    assert kinds(audit_log) == ["account.password_changed"]


def test_a_revoked_token_that_is_still_used_names_its_owner(audit_log: Audit) -> None:
    ben = make_user("ben")
    token, raw = make_token(user=ben, name="notebook", scopes=["read"], expires_at=now() + timedelta(days=1))
    revoke_token(token=token)
    assert Client(headers={"authorization": f"Bearer {raw}"}).get("/api/v1/campaigns").status_code == 401
    line = audit_log.lines("account.token_refused")[0]
    assert (line["actor"], line["token"]) == (f"user:{ben.pk}", token.pk)


def test_a_password_set_in_the_admin_is_recorded_and_told(people: People, audit_log: Audit) -> None:  # noqa: F811
    ben = people.by_name["ben"]
    address(ben)
    fields = {"password1": WORD, "password2": WORD, "usable_password": "true", "set-password": "1"}
    done = people.client("ada").post(f"/admin/accounts/user/{ben.pk}/password/", fields)
    assert done.status_code == 302
    line = audit_log.lines("account.password_changed")[0]
    assert (line["actor"], line["about"]) == (f"user:{people.by_name['ada'].pk}", f"user:{ben.pk}")
    assert subjects_sent_to("ben@example.org") == ["Password Changed"]


def test_an_address_changed_in_the_admin_tells_the_old_one(people: People, audit_log: Audit) -> None:  # noqa: F811
    ben, ada = people.by_name["ben"], people.client("ada")
    page = f"/admin/accounts/user/{ben.pk}/change/"
    form = ada.get(page).context["adminform"].form
    fields = {
        name: value for name, value in form.initial.items() if value not in (None, False) and name != "password"
    }
    assert ada.post(page, fields | {"email": NEW, "groups": [], "user_permissions": []}).status_code == 302
    assert User.objects.get(pk=ben.pk).email == NEW
    assert audit_log.lines("account.email_changed")[0]["about"] == f"user:{ben.pk}"
    assert subjects_sent_to("ben@example.org") == ["Email Changed"]
