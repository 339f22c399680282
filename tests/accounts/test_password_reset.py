"""A forgotten password: mails go to people with an account only, and no answer tells who has one."""

import re

import pytest
from allauth.account.adapter import get_adapter
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.test import Client
from pytest_django.fixtures import Settings

from tests.worlds.cast import make_user

RESET = "/accounts/password/reset/"
MAILS = (
    "account_already_exists",
    "email_added",
    "email_changed",
    "email_confirmation",
    "email_confirmation_signup",
    "email_deleted",
    "password_changed",
    "password_reset",
    "password_reset_key",
    "unconfirmed_address",
    "unknown_account",
)

pytestmark = pytest.mark.django_db


def ask(email: str) -> HttpResponse:
    return Client().post(RESET, {"email": email})  # type: ignore[return-value]


@pytest.mark.parametrize("email", ["stranger@elsewhere.org", "closed@example.org", "ann@example.com"])
def test_no_mail_goes_to_whoever_has_no_account(email: str) -> None:
    make_user("ann")
    make_user("closed", is_active=False)
    assert ask(email).status_code == 302
    assert not mail.outbox


def test_an_unconfirmed_address_is_told_so_and_no_sign_up() -> None:
    make_user("rita")  # whose address stands at the account alone
    ben = make_user("ben")
    EmailAddress.objects.create(user=ben, email="typed@example.org", verified=False)
    for email in ("Rita@example.org", "typed@example.org"):
        mail.outbox.clear()
        ask(email)
        [message] = mail.outbox
        assert message.to == [email.lower()]
        assert "never confirmed" in message.body
        assert "organizer" in message.body
        assert "password/reset/key" not in message.body
        assert not {"ben", "rita"} & set(re.findall(r"\w+", str(message.body).replace(email.lower(), "")))


def test_an_address_that_another_also_typed_resets_its_owner_only() -> None:
    ann, ben = make_user("ann"), make_user("ben")
    EmailAddress.objects.create(user=ann, email="shared@example.org", verified=True)
    EmailAddress.objects.create(user=ben, email="shared@example.org", verified=False)
    ask("shared@example.org")
    [message] = mail.outbox
    assert "your username is ann" in str(message.body)


def test_an_answer_is_the_same_and_given_before_any_mail_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a slow or broken mail server would tell strangers which addresses have an account."""
    ann = make_user("ann")
    EmailAddress.objects.create(user=ann, email="ann@example.org", verified=True)
    make_user("rita")
    answers = []
    for email in ("ann@example.org", "rita@example.org", "stranger@elsewhere.org"):
        answer = ask(email)
        answers.append((answer.status_code, answer["Location"], answer.content))
    assert len(set(answers)) == 1

    def away(*_args: object) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr(EmailBackend, "send_messages", away)
    for email in ("ann@example.org", "rita@example.org"):
        answer = ask(email)
        assert (answer.status_code, answer["Location"], answer.content) == answers[0]


def test_the_page_after_it_does_not_claim_that_a_mail_was_sent(settings: Settings) -> None:
    page = Client().get(f"{RESET}done/").content.decode()
    assert "We have sent" not in page
    assert "confirmed address" in page
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"  # as without EMAIL_URL
    for address in (RESET, f"{RESET}done/"):
        assert "This server sends no mail" in Client().get(address).content.decode()


@pytest.mark.parametrize("name", MAILS)
def test_mails_about_accounts_speak_of_assay_and_offer_no_sign_up(name: str) -> None:
    values = {"email": "ann@example.org", "from_email": "a@example.org", "to_email": "b@example.org"}
    context = {**values, "current_site": {"name": "x", "domain": "x"}, "signup_url": "https://x/accounts/signup/"}
    text = render_to_string(f"account/email/{name}_message.txt", context)
    subject = get_adapter().format_email_subject(render_to_string(f"account/email/{name}_subject.txt", context))
    assert subject.strip().startswith("[Assay] ")
    assert re.search(r"\bAssay\b", text)
    assert not re.search(r"sign ?up|signup|Thank you for using|our database|our site", text)
