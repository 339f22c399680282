"""An invitation gives one role to one person, once; nobody else gets an account."""

import re
import time
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client
from django.utils.timezone import now
from pytest_django.fixtures import Settings

from accounts.models import Invitation, User
from evaluation.campaigns.people import take_role
from evaluation.models import Event, Membership
from evaluation.terms import Role
from organizer.people.invitations import addressed
from tests.accounts.conftest import People

pytestmark = pytest.mark.django_db

JOIN = {"username": "nina", "full_name": "Nina North", "password": "a long enough sentence"}
INVITATION = "/invitation/"


def link(people: People, role: str = "assessor", email: str = "", by: str = "olga") -> str:
    fields = {"role": role, "addresses": email, "send" if email else "link": "1"}
    page = people.client(by).post(people.page("invite/"), fields).content.decode()
    text = str(mail.outbox[-1].body) if email else page
    return str(re.findall(r"http://testserver(/invitation/[\w-]+/)", text)[0])


def opened(address: str, client: Client | None = None) -> Client:
    client = client or Client()
    assert client.get(address)["Location"] == INVITATION
    return client


def roles(name: str) -> set[str]:
    return set(Membership.objects.filter(user__username=name).values_list("role", flat=True))


def test_whoever_has_the_link_makes_an_account_with_the_role(people: People) -> None:
    client = opened(link(people))
    page = client.get(INVITATION).content.decode()
    assert "River study" in page
    assert "assessor" in page
    assert client.post(INVITATION, JOIN)["Location"] == "/"
    nina = User.objects.get(username="nina")
    assert (nina.name, roles("nina")) == ("Nina North", {"assessor"})
    assert client.get("/desk/")["Location"].startswith("/accounts/notice/")
    assert people.events()[:3] == ["invitation.accepted", "member.added", "invitation.made"]


def test_who_has_just_joined_is_not_asked_for_the_password(people: People) -> None:
    client = opened(link(people))
    client.post(INVITATION, JOIN)
    client.post("/accounts/notice/", {"next": "/"})
    assert client.get("/accounts/tokens/").status_code == 200


def test_a_link_works_once(people: People) -> None:
    address = link(people)
    first, second = opened(address), opened(address)
    first.post(INVITATION, JOIN)
    assert second.post(INVITATION, JOIN | {"username": "mallory"}).status_code == 410
    assert not User.objects.filter(username="mallory").exists()
    assert Client().get(address, follow=True).status_code == 410


def test_a_link_that_was_sent_shows_that_the_address_is_theirs(people: People) -> None:
    opened(link(people, email="Nina@example.org")).post(INVITATION, JOIN)
    address = EmailAddress.objects.get(user__username="nina")
    assert (address.email, address.verified) == ("nina@example.org", True)
    assert mail.outbox[-1].to == ["Nina@example.org"]
    page = people.client("olga").get(people.page()).content.decode()
    assert "/invitation/" not in page


def test_who_has_an_account_accepts_with_it(people: People) -> None:
    client = opened(link(people, role="researcher"), people.client("sam"))
    assert "You are signed in as sam" in client.get(INVITATION).content.decode()
    client.post("/invitation/accept/")
    assert roles("sam") == {"researcher"}


@pytest.mark.parametrize(
    ("name", "role"), [("rita", "assessor"), ("ann", "researcher"), ("ada", "assessor"), ("olga", "auditor")]
)
def test_a_link_gives_nobody_what_may_not_be_given(people: People, name: str, role: str) -> None:
    before = roles(name)
    client = opened(link(people, role=role), people.client(name))
    assert client.post("/invitation/accept/").status_code == 422
    assert roles(name) == before
    assert not Invitation.objects.filter(accepted_at__isnull=False).exists()


def test_a_link_that_is_over_opens_nothing(people: People) -> None:
    old, revoked = link(people), link(people, role="auditor")
    Invitation.objects.filter(role="assessor").update(expires_at=now() - timedelta(seconds=1))
    [row] = Invitation.objects.filter(role="auditor")
    people.client("olga").post(people.page(f"invitations/{row.pk}/revoke/"))
    for address in (old, revoked, "/invitation/never-made/"):
        client = Client()
        assert client.get(address).status_code == 410
        assert client.get(INVITATION).status_code == 410
        assert client.post(INVITATION, JOIN).status_code == 410
    assert not User.objects.filter(username="nina").exists()


def test_a_link_of_somebody_who_organizes_no_more_is_over(people: People) -> None:
    address = link(people)
    people.client("ada").post(people.page("give/"), {"username": "sam", "role": "organizer"})
    take_role(campaign=people.campaign, username="olga", role=Role.ORGANIZER, actor=people.by_name["ada"])
    client = opened(address)
    assert client.post(INVITATION, JOIN).status_code == 422
    assert not User.objects.filter(username="nina").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong", [{"password": "12345678"}, {"password": "nina"}, {"username": "olga"}, {"username": "no spaces"}]
)
def test_an_account_needs_a_free_name_and_a_good_password(people: People, wrong: dict[str, str]) -> None:
    client = opened(link(people))
    answer = client.post(INVITATION, JOIN | wrong)
    assert answer.status_code == 422
    assert 'role="alert"' in answer.content.decode()
    assert not User.objects.filter(username="nina").exists()
    assert client.post(INVITATION, JOIN).status_code == 302  # the link is still good


def pasted() -> str:
    """Thirty addresses in several ways: two are known here, and one is none."""
    new = [f"p{number}@example.org" for number in range(24)]
    named = ['"New, Nina" <nina@example.org>', "Bo Brandt <bo@example.org>", "cy@example.org"]
    mixed = [", ".join(new[:8]), "; ".join(new[8:16]), "\n".join(new[16:]), *named]
    return "\n".join([*mixed, "ann@example.org\tBEN@example.org", "broken@"])


def test_check_90_thirty_pasted_addresses_send_27(people: People) -> None:
    client, fields = people.client("olga"), {"role": "assessor", "addresses": pasted()}
    page = " ".join(client.post(people.page("invite/"), fields).content.decode().split())
    assert "<b>27 new</b>, 2 known, 1 invalid." in page
    assert '<bdi>broken@</bdi> <span class="muted">This is no email address.' in page
    assert "<bdi>New, Nina</bdi>, <bdi>nina@example.org</bdi>" in page
    assert not mail.outbox
    assert client.post(people.page("invite/"), fields | {"send": "1"}).status_code == 302
    assert len(mail.outbox) == 27
    assert {invitation.role for invitation in Invitation.objects.all()} == {"assessor"}
    assert "Bo Brandt <bo@example.org>" in [address for sent in mail.outbox for address in sent.to]
    assert "0 new" in client.post(people.page("invite/"), fields).content.decode()


def test_a_preview_of_no_address_makes_no_link(people: People) -> None:
    client, empty = people.client("olga"), {"role": "auditor", "addresses": " "}
    refused = client.post(people.page("invite/"), empty)
    assert refused.status_code == 422
    error = "Found none; write at least one address, or press Make a link"
    assert f'_error">{error}</span>' in refused.content.decode()
    assert '<option value="auditor" selected>' in refused.content.decode()
    both = client.post(people.page("invite/"), {"role": "auditor", "addresses": "x@example.org", "link": "1"})
    assert both.status_code == 422
    assert "x@example.org</textarea>" in both.content.decode()
    assert not Invitation.objects.exists()
    made = client.post(people.page("invite/"), empty | {"link": "1"}).content.decode()
    assert 'data-copy="link-1"' in made
    assert Invitation.objects.get().email == ""


def test_the_name_beside_an_address_stands_in_the_form(people: People) -> None:
    client = opened(link(people, email="Nina New <nina@example.org>"))
    assert 'value="Nina New"' in client.get(INVITATION).content.decode()


def test_the_link_is_stored_nowhere(people: People) -> None:
    raw = link(people).split("/")[2]
    row = Invitation.objects.get()
    assert raw not in str(vars(row))
    assert all(raw not in str(event.payload) for event in Event.objects.all())


def test_without_an_invitation_nobody_signs_up(people: People) -> None:
    Client().post("/accounts/signup/", {"username": "eve", "password1": "a long enough sentence"})
    Client().post(INVITATION, JOIN)
    assert not User.objects.filter(username__in=["eve", "nina"]).exists()


def test_a_mail_that_cannot_be_sent_invites_nobody(people: People, settings: Settings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    answer = people.client("olga").post(
        people.page("invite/"), {"role": "auditor", "addresses": "x@example.org", "send": "1"}
    )
    assert answer.status_code == 422
    assert "The mail to x@example.org could not be sent" in answer.content.decode()
    assert Invitation.objects.get().revoked_at


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ann", "rita", "audrey", "sam"])
def test_only_organizers_invite(people: People, name: str) -> None:
    answer = people.client(name).post(people.page("invite/"), {"role": "organizer", "addresses": "", "link": "1"})
    assert answer.status_code in (403, 404)
    assert not Invitation.objects.exists()


def test_without_a_mail_server_each_person_has_a_link_to_hand_over(people: People, settings: Settings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"  # as without EMAIL_URL
    client = people.client("olga")
    fields = {"role": "assessor", "addresses": "Nina New <nina@example.org>, bo@example.org"}
    preview = client.post(people.page("invite/"), fields).content.decode()
    assert "Make 2 links as assessor" in preview
    assert "sends no mail" in preview
    assert "Send 2" not in preview
    page = client.post(people.page("invite/"), fields | {"send": "1"}).content.decode()
    assert "nothing was sent" in page
    assert "invitations sent" not in page
    links = re.findall(r"http://testserver(/invitation/[\w-]+/)", page)
    assert len(set(links)) == len(links) == 2
    assert (
        page.index("nina@example.org") < page.index(links[0]) < page.index("bo@example.org") < page.index(links[1])
    )
    opened(links[0]).post(INVITATION, JOIN)
    assert roles("nina") == {"assessor"}
    # Who was handed a link has not shown that the address is theirs.
    assert not EmailAddress.objects.get(user__username="nina").verified


@pytest.mark.parametrize("part", ["a ", "a. ", '"', "<", '"a ', "a@", " \n", "a <", "<>", '"a" '])
def test_text_without_addresses_is_read_in_linear_time(part: str) -> None:
    short, long = part * (2_000 // len(part)), part * (32_000 // len(part))
    # Sixteen times as long: a pattern that tries each end from each place takes 256 times as long.
    assert seconds_to_read(long) < 80 * seconds_to_read(short)


def seconds_to_read(text: str) -> float:
    def once() -> float:
        began = time.thread_time()
        addressed(text)
        return time.thread_time() - began

    return min(once() for _ in range(5))


@pytest.mark.parametrize("text", ["x" * 400, "x" * 400 + "@example.org", "\n".join(map(str, range(200)))])
def test_text_that_is_no_list_of_addresses_is_refused_in_words(people: People, text: str) -> None:
    answer = people.client("olga").post(people.page("invite/"), {"role": "assessor", "addresses": text})
    assert answer.status_code == 422
    assert re.search("at most 320 characters|At most 100 addresses", answer.content.decode())


def test_names_and_addresses_are_read_as_people_paste_them() -> None:
    text = 'x@a.org Nina  New <n@a.org>; "Lee, Bo" <b@a.org>,c@a.org\t<d@a.org>\nOld "Bill" Hay <e@a.org>'
    text += " broken <f@a.org"
    assert [(person.name, person.email) for person in addressed(text)] == [
        ("", "x@a.org"),
        ("Nina New", "n@a.org"),
        ("Lee, Bo", "b@a.org"),
        ("", "c@a.org"),
        ("", "d@a.org"),
        ("Old Bill Hay", "e@a.org"),
        ("", "broken"),
        ("", "f@a.org"),
    ]
