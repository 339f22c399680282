"""What pages offer: readers get no offer that is refused to them, and every lower page has a way back up."""

import html
import re
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

import pytest

from accounts.models import User
from evaluation.campaigns.create import add_member
from evaluation.models import Campaign
from evaluation.terms import Role
from exchange.demo_campaign import SLUG
from organizer.navigation import GROUPS
from tests.browser.pages.every_page import PAGES, arguments, make_every_page
from tests.crawl.test_permissions import client_of, every_address, filled, outcomes_of
from tests.crawl.test_two_links import view_of
from tests.worlds.cast import make_user

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("crawl")]

LINK = re.compile(r'<a\b[^>]*?\shref="([^"#]+)')
FORM = re.compile(r"<form\b([^>]*)>(.*?)</form>", re.DOTALL)
ACTION = re.compile(r'\s(?:form)?action="([^"]+)"')
FALSE_FOR_READERS = re.compile(
    r"Needs you\b|Nothing needs you|Only organizers read|Load them under Data|tell you|waits for your answer"
    r"|you (?:may|can) (?:hand|start|change|answer|load|take)"
)


def pages_of(person: User) -> Iterator[tuple[str, str]]:
    """Address and main part of each page of organizers that somebody may open."""
    client, routes = client_of(person), every_address()
    for name in PAGES["olga"].split():
        for filling in arguments(name):
            address = filled(routes[name], filling)
            response = client.get(address)
            if response.status_code == 200 and response.headers["Content-Type"].startswith("text/html"):
                yield address, response.content.decode().partition("<main")[2].partition("</main>")[0]


@pytest.mark.slow
@pytest.mark.parametrize("role", [Role.RESEARCHER, Role.AUDITOR])
def test_check_52_readers_are_offered_and_told_nothing_false(role: Role) -> None:
    make_every_page()
    reader = make_user("reader")
    add_member(campaign=Campaign.objects.get(slug=SLUG), user=reader, role=role)
    client = {"reader": client_of(reader)}
    found, seen = [], set()
    for address, main in pages_of(reader):
        found += [
            f"{address}: {hit[0]!r}" for hit in FALSE_FOR_READERS.finditer(re.sub(r"<[^>]+>|\s+", " ", main))
        ]
        offers = [("GET", link) for link in LINK.findall(main)]
        offers += [
            ("POST", action)
            for tag, body in FORM.findall(main)
            if 'method="post"' in tag and "<button" in body
            for action in [*ACTION.findall(tag), *ACTION.findall(body)]
        ]
        for method, offer in offers:
            target = urljoin(address, html.unescape(offer))
            if urlsplit(target).netloc or (offered := (method, view_of(target))) in seen:
                continue
            seen.add(offered)
            if outcomes_of(client, method, target) != ("ok",):
                found.append(f"{address}: {method} {target} is refused")
    assert not found, "\n".join(found)
    assert len(seen) > 20


TODAY = f"/campaigns/{SLUG}/today/"
ROOMS = ("organizer:", "reports:")
WITHOUT_ROOM = {"organizer:campaigns", "organizer:exports"}
"""The list of campaigns, and the page on which researchers land."""


def test_check_53_every_lower_page_has_its_way_back_up() -> None:
    make_every_page()
    routes, olga = every_address(), User.objects.get(username="olga")
    client, found = client_of(olga), []
    menu = {page.address(SLUG): page.caption for group in GROUPS for page in group.pages}
    for name in PAGES["olga"].split():
        for filling in arguments(name):
            address = filled(routes[name], filling)
            if address in {TODAY, *menu} or name in WITHOUT_ROOM or not name.startswith(ROOMS):
                continue
            page = client.get(address).content.decode()
            crumbs = page.partition('class="crumbs"')[2].partition("</nav>")[0]
            links = LINK.findall(crumbs)
            if len(links) < 2 or links[0] != TODAY or links[1] not in menu:
                found.append(f"{address}: {links}")
    assert not found, "\n".join(found)
