"""Check 47: every page of organizers is two followed links from Today at most; to open a menu is none."""

import html
import re
from urllib.parse import urljoin, urlsplit

import pytest
from django.test import Client
from django.urls import Resolver404, resolve

from accounts.models import User
from exchange.demo_campaign import SLUG
from organizer.navigation import GROUPS
from tests.browser.pages.every_page import PAGES, make_every_page

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("crawl")]

TODAY = f"/campaigns/{SLUG}/today/"
LINK = re.compile(r'<a\b[^>]*?\shref="([^"#]+)')
CARD = re.compile(r'is-[\w-]+" href="tasks/([^/"]+)/"')

OF_A_ROW = [
    "organizer:segment",
    "organizer:answer_labels",
    "organizer:assignment_label",
    "organizer:support_label",
    "organizer:list_origin",
    "organizer:nugget_origin",
    "organizer:grade_origin",
    "organizer:verdict_origin",
    "organizer:call",
]
"""Pages of one passage, label, origin or call: they open from the topic, run or pair in which it stands."""


def view_of(address: str) -> str:
    try:
        return resolve(urlsplit(address).path).view_name
    except Resolver404:
        return ""


def addresses_on(client: Client, address: str) -> list[str]:
    response = client.get(address, follow=True)
    if not response.headers["Content-Type"].startswith("text/html"):
        return []
    page = response.content.decode()
    for card in CARD.findall(page)[:1]:
        page += client.get(address, {"card": card}).content.decode()
    return [urljoin(address, html.unescape(link)) for link in LINK.findall(page)]


def links_of(client: Client, address: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for target in addresses_on(client, address):
        found.setdefault(view_of(target), target)
    return found


def test_check_47_every_page_is_two_links_from_today() -> None:
    make_every_page()
    client = Client()
    client.force_login(User.objects.get(username="olga"))
    first = links_of(client, TODAY)
    reached = {"organizer:today", *first}
    for address in first.values():
        reached |= links_of(client, address).keys()
    assert [name for name in PAGES["olga"].split() if name not in reached and name not in OF_A_ROW] == []
    menu = [page.address(SLUG) for group in GROUPS for page in group.pages]
    assert set(menu) <= set(addresses_on(client, TODAY))


def test_three_questions_are_answered_on_today_or_one_link_from_it() -> None:
    """Which runs differ, may this judge be trusted, what is left to do and who is late."""
    make_every_page()
    client = Client()
    client.force_login(User.objects.get(username="olga"))
    page = client.get(TODAY).content.decode()
    assert re.search(r"Ewan Eddy.*?\d days? late", page, re.DOTALL)
    assert re.search(r"\d of 8 topics", page)
    pages = {
        caption: client.get(html.unescape(link)).content.decode()
        for link, caption in re.findall(
            r'<a href="([^"]+)">(Which runs differ|How far to trust each judge)</a>', page
        )
    }
    shown = re.search(
        r'<section aria-labelledby="h-results">.*?<bdi>(\S+)</bdi>.*?<b class="n">([\d.]+)</b>', page, re.DOTALL
    )
    assert shown
    first_row = pages["Which runs differ"].partition("<tbody>")[2].partition("</tr>")[0]
    assert all(word in first_row for word in shown.groups())
    assert "pair" in pages["Which runs differ"].partition("Holm")[2][:400]
    assert "As people agree" in pages["How far to trust each judge"]
