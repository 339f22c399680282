"""Every address that the resolver knows, with the demo's data: axe in both themes, the console, what is cut off.

An address that is not in every_page.py fails the first test here.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from django.urls import get_resolver
from playwright.sync_api import Browser, Page
from pytest_django.live_server_helper import LiveServer

from exchange.demo_campaign import PASSWORD
from reports.registry import pages
from tests.browser.pages.every_page import (
    ADMIN,
    DATA,
    NOT_PAGES,
    PAGES,
    admin_pages,
    arguments,
    make_every_page,
)
from tests.browser.pages.test_axe import SIDEWAYS, SIZES, console_of, problems_at_hand, sign_in
from tests.crawl.test_permissions import addresses, filled

pytestmark = [pytest.mark.xdist_group("browser")]

CLIPPED = Path(__file__).with_name("clipped.js").read_text()
WIDTHS = (1440, 1024, 390)
REFUSED = re.compile(r"responded with a status of (403|410)")
"""What the browser says of a page that is somebody else's, or of an invitation that has ended."""
UNFOLD = "document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"


def listed(table: dict[str, str]) -> list[str]:
    return [name for names in table.values() for name in names.split()]


def test_every_address_is_in_the_table_once() -> None:
    named = {name for name, _ in addresses(get_resolver().url_patterns) if not name.startswith((ADMIN, DATA))}
    known = [*listed(PAGES), *listed(NOT_PAGES)]
    assert sorted(named - {*known}) == [], "add these to tests/browser/pages/every_page.py"
    assert sorted({name for name in known if not name.startswith(DATA)} - named) == [], "not there any more"
    assert len(known) == len({*known})


@pytest.mark.slow
@pytest.mark.django_db
def test_what_is_called_no_page_shows_none() -> None:
    make_every_page()
    client = Client()
    found = []
    for who in ("olga", "ann", "admin"):
        assert client.login(username=who, password=PASSWORD)
        for name in listed(NOT_PAGES):
            response = client.get(addresses_of_name(name)[0], headers={"accept": "text/html"})
            if response.status_code == 200 and response["Content-Type"].startswith("text/html"):
                found.append(f"{name} shows {who} a page")
            for close in vars(response)["_resource_closers"]:  # to close the response would close the database
                close()
    assert [finding for finding in found if "_methods" not in finding and "methods_file" not in finding] == []


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("who", ["nobody", "olga", "ann", "admin"])
def test_no_page_has_a_problem(who: str, chromium: Browser, live_server: LiveServer) -> None:
    make_every_page()
    found = [address for name in PAGES[who].split() for address in addresses_of_name(name)]
    problems = _problems(chromium, live_server, who, found)
    assert not problems, "\n".join(problems)


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_no_page_of_the_admin_has_a_problem(chromium: Browser, live_server: LiveServer) -> None:
    make_every_page()
    problems = _problems(chromium, live_server, "admin", admin_pages())
    assert not problems, "\n".join(problems)


def addresses_of_name(name: str) -> list[str]:
    route = dict(addresses(get_resolver().url_patterns))[name]
    report = pages().get(name.removeprefix("reports:"))
    return [filled(route, values) + (f"?{report.example}" if report else "") for values in arguments(name)]


def _problems(chromium: Browser, live_server: LiveServer, who: str, found: list[str]) -> list[str]:
    """Open each address as somebody; return what is wrong with it, or that it is no page at all."""
    context = chromium.new_context(base_url=live_server.url, viewport=SIZES["desk"])
    page = context.new_page()
    if who != "nobody":
        sign_in(page, who, PASSWORD)
    messages = console_of(page)
    problems = [problem for number, address in enumerate(found) for problem in _on(page, address, number)]
    context.close()
    return problems + [message for message in messages if not REFUSED.search(message)]


def _on(page: Page, address: str, number: int) -> Iterator[str]:
    response = page.goto(address)
    if response is None or response.status >= 500 or response.status == 404:
        yield f"{address}: {response.status if response else 'no answer'}"
        return
    # Axe looks at every third page on a narrow screen too: a sample. How the admin's look there is up to Django.
    is_own = not address.startswith("/admin/")
    yield from problems_at_hand(page, SIZES if is_own and number % 3 == 0 else {"desk": SIZES["desk"]})
    if is_own:
        yield from _cut_off(page, address)


def _cut_off(page: Page, address: str) -> Iterator[str]:
    """What does not fit at any width, with everything unfolded."""
    page.evaluate(UNFOLD)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        yield from (f"{address} at {width}: {problem}" for problem in page.evaluate(CLIPPED))
    if page.evaluate(SIDEWAYS):
        yield f"{address}: scrolls sideways with everything unfolded"
    page.set_viewport_size(SIZES["desk"])
