"""Check 95: pages of people show moments in one style, and name the zone once where a clock time stands."""

import re
from html.parser import HTMLParser

import pytest
from django.test import Client

from accounts.models import User
from tests.browser.pages.every_page import PAGES, arguments, make_every_page
from tests.crawl.test_permissions import every_address, filled

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("crawl")]

UNREAD = frozenset({"script", "style", "option", "textarea", "code", "pre", "title"})
MOMENT = re.compile(r"\b\d{1,2} [A-Z][a-z]{2} \d{4}, \d\d:\d\d\b|\bas of \d\d:\d\d\b|\bChecked \d\d:\d\d\b")
OTHER_STYLES = re.compile(
    r"\b\d{4}-\d\d-\d\d\b|\b[A-Z][a-z]+\.? \d{1,2}, \d{4}\b|\b\d{1,2}[./]\d{1,2}[./]\d{4}\b|\b[ap]\.m\."
    r"|\b\d{4} \d\d:\d\d\b"
)


class Reader(HTMLParser):
    """Text that a page shows, without what its texts quote."""

    def __init__(self) -> None:
        super().__init__()
        self.inside: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in UNREAD:
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self.texts.append(data)


def shown_on(page: str) -> str:
    reader = Reader()
    reader.feed(page.partition("<body")[2])
    return " ".join(" ".join(reader.texts).split())


@pytest.mark.parametrize("person", [pytest.param("olga", marks=pytest.mark.slow), "ann", "admin"])
def test_check_95_moments_have_one_style_and_their_zone_is_named_once(person: str) -> None:
    make_every_page()
    routes, client = every_address(), Client()
    client.force_login(User.objects.get(username=person))
    problems = []
    for name in PAGES[person].split():
        for filling in arguments(name):
            address = filled(routes[name], filling)
            text = shown_on(client.get(address).content.decode())
            zones = len(re.findall(r"\bUTC\b", text))
            if MOMENT.search(text) and zones != 1:
                problems.append(f"{address} names its zone {zones} times: {MOMENT.findall(text)[:2]}")
            problems += [f"{address} has {found[0]}" for found in OTHER_STYLES.finditer(text)][:3]
    assert not problems, "\n".join(problems)
