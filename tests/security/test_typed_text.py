"""What was typed into a form outlives the session: the same account sends it once more, by a click of its own."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from evaluation.models import Protocol
from tests.worlds.campaign import World, make_world

CHANGE = "/campaigns/river/protocol/change/"
WORDS = "Judge what the passage says,\nnot what you know."
PASSWORD = "river-study-demo"
FORMS = {
    CHANGE: {"guidelines": WORDS, "reason": "clearer words"},
    "/campaigns/river/prompts/new/": {"system": WORDS},
    "/campaigns/river/work/change/": {"change": "block", "reason": WORDS},
    "/campaigns/river/work/remind/": {"text": WORDS},
    "/campaigns/river/people/invite/": {"addresses": WORDS},
    "/campaigns/new/": {"description": WORDS},
    "/campaigns/river/inbox/x/answer/": {"answer": WORDS},
}


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    world = make_world(tmp_path)
    for name in ("olga", "rita"):
        world.people[name].set_password(PASSWORD)
        world.people[name].save()
    return world


def token(client: Client, address: str = CHANGE) -> str:
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', client.get(address).content.decode())
    assert found
    return found[1]


def signed_in(client: Client, name: str) -> None:
    sent = {"login": name, "password": PASSWORD, "csrfmiddlewaretoken": token(client, "/accounts/login/")}
    assert client.post("/accounts/login/", sent).status_code == 302


@pytest.fixture
def olga(world: World) -> Client:
    client = Client(enforce_csrf_checks=True)
    signed_in(client, "olga")
    return client


def hidden(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]+)"', page)
    return found[1] if found else ""


def kept(page: str) -> bool:
    return f">\n{WORDS}</textarea>" in page


@pytest.mark.parametrize("address", FORMS)
def test_typed_text_outlives_the_session(olga: Client, address: str) -> None:
    sent = FORMS[address] | {"csrfmiddlewaretoken": token(olga)}
    del olga.cookies["sessionid"]
    answer = olga.post(address, sent)
    page = answer.content.decode()
    assert (answer.status_code, kept(page)) == (403, True)
    assert "You are signed out, so nothing was saved." in page


def test_after_signing_in_the_same_account_sends_it_by_a_click(olga: Client) -> None:
    sent = {"guidelines": WORDS, "reason": "clearer words", "csrfmiddlewaretoken": token(olga)}
    del olga.cookies["sessionid"]
    page = olga.post(CHANGE, sent).content.decode()
    signed_in(olga, "olga")
    before = Protocol.objects.count()
    again = sent | {"typed_by": hidden(page, "typed_by"), "csrfmiddlewaretoken": token(olga)}
    assert Protocol.objects.count() == before
    olga.post(CHANGE, again)
    assert "csrf" not in olga.get(CHANGE).content.decode()[:10]


@pytest.mark.parametrize("address", FORMS)
def test_a_sign_in_elsewhere_keeps_the_text(olga: Client, address: str) -> None:
    sent = FORMS[address] | {"csrfmiddlewaretoken": token(olga)}
    signed_in_again = Client(enforce_csrf_checks=True)
    signed_in_again.cookies = olga.cookies
    del olga.cookies["sessionid"]
    signed_in(olga, "olga")
    page = olga.post(address, sent).content.decode()
    assert kept(page)
    assert "You have signed in again" in page
    assert "Send again" in page
    assert "CSRF" not in page


def test_another_account_cannot_send_it(olga: Client) -> None:
    sent = {"guidelines": WORDS, "csrfmiddlewaretoken": token(olga)}
    del olga.cookies["sessionid"]
    page = olga.post(CHANGE, sent).content.decode()
    signed_in(olga, "rita")
    before = Protocol.objects.count()
    answers = [
        olga.post(CHANGE, sent),
        olga.post(CHANGE, sent | {"typed_by": hidden(page, "typed_by"), "csrfmiddlewaretoken": token(olga, "/")}),
    ]
    assert all("Another account typed this" in answer.content.decode() for answer in answers)
    assert Protocol.objects.count() == before


def test_short_words_are_shown_and_no_password_is_missed(olga: Client) -> None:
    sent = {"role": "assessor", "addresses": "ann@example.org", "csrfmiddlewaretoken": token(olga)}
    del olga.cookies["sessionid"]
    came_from = "http://testserver/campaigns/river/people/"
    page = olga.post("/campaigns/river/people/invite/", sent, headers={"Referer": came_from}).content.decode()
    assert "<bdi>ann@example.org</bdi>" in page
    assert f'href="{came_from}">Leave it' in page
    assert "Passwords and files are not kept" not in page


def test_passwords_are_never_kept(olga: Client) -> None:
    sent = {"oldpassword": "correct-horse", "password1": "battery", "csrfmiddlewaretoken": token(olga)}
    del olga.cookies["sessionid"]
    page = olga.post("/accounts/password/change/", sent | {"name": "two words"}, follow=True).content.decode()
    assert "correct-horse" not in page
    assert "battery" not in page
    assert "Passwords and files are not kept" in page


def test_over_https_no_sibling_host_can_plant_the_writers(world: World, settings: Any) -> None:
    settings.SESSION_COOKIE_SECURE = True
    client = Client()
    client.force_login(world.people["olga"])
    cookie = client.get(CHANGE).cookies["__Host-writers"]
    assert [cookie[key] for key in ("secure", "httponly", "path", "domain")] == [True, True, "/", ""]


def test_another_site_s_form_cannot_be_sent_from_here(olga: Client) -> None:
    answer = olga.post(CHANGE, {"guidelines": WORDS}, headers={"Origin": "https://evil.example"})
    page = answer.content.decode()
    assert answer.status_code == 403
    assert "Send again" not in page
    assert "CSRF" not in page


@pytest.mark.parametrize("address", ["/campaigns/river/jobs/1/", "/campaigns/river/data/", CHANGE])
def test_a_part_that_asks_by_itself_says_that_it_is_signed_out(world: World, address: str) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{address}"}
    answer = Client().get(address, headers=headers)
    # htmx takes an answer of 286 and asks no more.
    assert answer.status_code == 286
    assert "You are signed out." in answer.content.decode()
    assert f"?next={address.replace('/', '%2F')}" in answer.content.decode()
    assert (answer["HX-Retarget"], answer["HX-Reswap"]) == ("#signed-out", "innerHTML")
