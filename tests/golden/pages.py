"""Every file that report pages offer: tables in their forms, pictures as specifications, and methods."""

import html
import re
from collections.abc import Iterable, Iterator
from itertools import product
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.test import Client
from django.urls import URLResolver, get_resolver, resolve

from accounts.models import User
from evaluation.models import Campaign
from tests.golden.keeping import Documents

ENTRANCES = ("leaderboard/", "agreement/", "confusion/", "studies/", "methods/", "reports/cost/")
CHOSEN = {"condition", "x", "y", "rows", "columns"}
"""Choices that lead to other labels. The other ones, policies and scores, are those of the `report` command."""
PAGE = re.compile(r'href="([^"?#]+/)"')
FILE = re.compile(r'href="([^"]+\.(?:csv|json|tex|svg|html)(?:\?[^"]*)?)"')
SELECT = re.compile(r'<select[^>]* name="([^"]+)"(.*?)</select>', re.DOTALL)
CHECKBOX = re.compile(r'(?:<input type="checkbox" name="|[?;](?=compare=on))([^"=]+)')
OPTION = re.compile(r'<option value="([^"]*)"')
ONCE = ("json",)
OFFERED = re.compile(r"<(?:table|picture|methods_form):")
"""Parts of a route that stand for the form of a file."""


def page_documents(campaign: Campaign) -> Documents:
    """Yield every file of every report page: in all forms as the page opens, in one form with other labels."""
    visitor = Visitor(campaign)
    for page in visitor.pages():
        group = f"page-{page.removeprefix(visitor.root).strip('/').replace('/', '-')}"
        offered = visitor.files(page)
        for address in offered:
            yield group, *visitor.file(address)
        for choice, address in product(visitor.choices(page), offered):
            if _form(address) in ONCE and "=on" not in address:
                yield group, *visitor.file(f"{address.partition('?')[0]}?{urlencode(choice)}")


def without_document(addresses: Iterable[str]) -> list[str]:
    """Return the routes to files of report pages that none of these addresses takes."""
    taken = {resolve(address).route for address in addresses}
    return [route for route in _routes(get_resolver()) if OFFERED.search(route) and route not in taken | LEFT_OUT]


class Visitor:
    """An organizer who opens pages and takes their files along."""

    def __init__(self, campaign: Campaign) -> None:
        self.client = Client()
        self.client.force_login(User.objects.get(username="olga"))
        self.root = f"/campaigns/{campaign.slug}/"

    def pages(self) -> list[str]:
        found = [self.root + entrance for entrance in ENTRANCES]
        below = PAGE.findall(self._read(f"{self.root}today/").decode())
        return list(dict.fromkeys([*found, *(page for page in below if page.startswith(f"{self.root}reports/"))]))

    def choices(self, page: str) -> Iterator[dict[str, str]]:
        """Yield what else a page can be asked for, one choice of its form at a time."""
        is_group_report = page.endswith("/group-report/")
        for name, options in SELECT.findall(self._read(page).decode()):
            if name in CHOSEN or (is_group_report and name == "group"):
                yield from ({name: html.unescape(value)} for value in OPTION.findall(options))

    def files(self, page: str) -> list[str]:
        body = self._read(page).decode()
        ticked = urlencode(dict.fromkeys(CHECKBOX.findall(body), "on"))
        links = FILE.findall(body) + (FILE.findall(self._read(f"{page}?{ticked}").decode()) if ticked else [])
        found = dict.fromkeys(html.unescape(link) for link in links)
        return [address for address in found if urlsplit(address).path.startswith(self.root)]

    def file(self, address: str) -> tuple[str, bytes]:
        parts = urlsplit(address)
        query = " ".join(f"{name}={value}" for name, value in parse_qsl(parts.query))
        body = self._read(address)
        name = f"{parts.path.removeprefix(self.root)} {query}".strip()
        return name, body

    def _read(self, address: str) -> bytes:
        response = self.client.get(address)
        assert response.status_code in (200, 404, 422), (address, response.status_code)
        return response.content if response.status_code == 200 else str(response.status_code).encode()


def _form(address: str) -> str:
    return urlsplit(address).path.rpartition(".")[2]


LEFT_OUT = {
    "campaigns/<slug:slug>/snapshots/<int:pk>/methods.<methods_form:document>",
    "campaigns/<slug:slug>/leaderboard/corrected.<table:table>",
}
"""The methods of a snapshot are those of the campaign it is of; a corrected table is what `report corrected` prints."""


def _routes(resolver: URLResolver, before: str = "") -> Iterator[str]:
    for entry in resolver.url_patterns:
        route = f"{before}{entry.pattern}"
        yield from _routes(entry, route) if isinstance(entry, URLResolver) else [route]
