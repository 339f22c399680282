"""Every page in a language in which what is translated stands in brackets: nothing else is English but data and codes.

The codes are those of CONTRIBUTING, "Another language". What a page says in English on purpose has `lang="en"`, as the
methods report, the API's schema and the audit log have. Django's admin shows the names of tables and columns, and is
left out.
"""

import logging
from collections import defaultdict
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import get_resolver
from django.utils.translation import gettext

from accounts.models import User
from api.collections import COLLECTIONS
from evaluation.models import Protocol
from evaluation.terms import AssignmentLabel, Condition, Importance, Origin, Stage, SupportCondition, SupportLabel
from exchange.exports.lines import EXPORTS
from llmjobs.prompts import TEMPLATES
from reports.metrics.edits import EDIT_CLASSES
from reports.metrics.scores import LENGTH, SCORE_NAMES
from reports.metrics.support import SUPPORT_NAMES
from tests.browser.every_page import PAGES, arguments, make_every_page
from tests.crawl.second_language import WORD, data, outside, spoken
from tests.crawl.test_permissions import addresses, filled
from web.shown import shown

pytestmark = pytest.mark.xdist_group("crawl")

NAMES = (
    *(*AssignmentLabel.__members__, *SupportLabel.__members__, *Importance.__members__),
    *(*Condition, *Origin, *Stage, *SupportCondition, *SCORE_NAMES, *SUPPORT_NAMES, *EDIT_CLASSES, LENGTH),
    *(*EXPORTS, *(one.name for one in COLLECTIONS), *TEMPLATES),
    "missing unjudged cited no skip zero exclude common inferred yes not yet and temperature stop",
    "Assay AG RAG CSV JSON HTML LaTeX SVG PNG PDF USD sha px ms n x y",
)
CODES = {word for one in NAMES for word in WORD.findall(one.replace("_", " ").lower())}
"""What is the same in every language, as in files: labels, conditions, scores, policies; and formats and units."""
ENGLISH = {"api:docs"}
"""The API's schema as a page: what it says of fields stands in the schema too."""


def pages() -> Iterator[tuple[str, str, Client]]:
    """Yield every page of every role: its name, its address and who asks for it."""
    routes = dict(addresses(get_resolver().url_patterns))
    for who, names in PAGES.items():
        client = Client()
        if who != "nobody":
            client.force_login(User.objects.get(username=who))
        yield from (
            (name, filled(routes[name], one), client)
            for name in names.split()
            if name not in ENGLISH
            for one in arguments(name)
        )


@pytest.mark.slow
@pytest.mark.django_db
def test_a_page_says_nothing_in_english_but_data_and_codes() -> None:
    logging.disable()
    make_every_page()
    Protocol.objects.update(guidelines="")  # pieces of what is made of it are not found again among the data
    known, found = data(), defaultdict(set)
    for name, address, client in pages():
        with spoken():
            html = client.get(address).content.decode()
        for piece in outside(html):
            if {word.lower() for word in WORD.findall(known.without(piece))} - CODES:
                found[piece].add(name)
    logging.disable(logging.NOTSET)
    assert dict(found) == {}


def test_what_is_not_translated_is_found() -> None:
    with spoken():
        said = gettext("%(name)s is no assessor of this campaign.") % {"name": "Ann"}
        assert outside(f"<p>{said} {gettext('Nobody marked this.')}</p>") == ["Ann", "Nobody marked this."]
        assert outside(f'<p title="Left">{shown("not started")}</p><p lang="en">Kept</p>') == ["Left"]
