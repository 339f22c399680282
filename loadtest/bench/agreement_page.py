"""The agreement page of two conditions that share their nuggets, through Django's views: HTML, picture, the rest.

A test client in this process calls the whole application: middleware, queries, figures, template.
"""

import time

from django.conf import settings
from django.db.models import F
from django.test import Client
from django.urls import reverse

from accounts.models import User
from evaluation.campaigns.create import add_member
from evaluation.domain.conditions import resolve
from evaluation.models import Campaign
from evaluation.terms import Condition, JudgeKind, Origin, Role
from loadtest.bench import synthetic
from loadtest.bench.measuring import Measured
from loadtest.bench.scores import LLM, PERSON, SEEDS, SLUG
from loadtest.bench.sizes import Size
from reports.agreement.figures import table_of
from reports.metrics.agreement import LEVELS, agreement
from reports.metrics.policies import Policies
from reports.metrics.registry import PRIMARY

READER = "bench-reader"
QUERY = "?x=E/A&y=E/M"


def prepare(size: Size, _turn: int) -> Measured:
    """Make a campaign with labels of one set of nuggets under E/A and E/M, and a researcher."""
    campaign = synthetic.make_campaign(SLUG, size.topics)
    synthetic.make_answers(campaign, size)
    edited = synthetic.make_nuggets(campaign, size, Origin.EDITED, "bench-nuggetizer")
    synthetic.store_labels(edited, size, LLM, JudgeKind.LLM, SEEDS[0])
    synthetic.store_labels(edited, size, PERSON, JudgeKind.HUMAN, SEEDS[1])
    add_member(campaign=campaign, user=User.objects.create(username=READER), role=Role.RESEARCHER)
    return Measured()


def first(size: Size, _turn: int) -> Measured:
    """Open the page in a new process, the first that asks after the campaign changed."""
    measured = Measured(rows=2 * size.labels)
    client = signed_in()
    Campaign.objects.update(revision=F("revision") + 1)
    _get(measured, client, "all")
    return measured


def page(size: Size, _turn: int) -> Measured:
    """Open the page in another process, and again; `... cpu` is what of it this process worked."""
    measured = Measured(rows=2 * size.labels)
    client = signed_in()
    for name in ("cold", "warm"):
        _get(measured, client, name)
    measured.values = _taus()
    return measured


def whole(size: Size, _turn: int) -> Measured:
    """The page, then what follows it: the interval of the pooled tau, and the picture, cold and warm."""
    measured = Measured(rows=2 * size.labels)
    client = signed_in()
    _get(measured, client, "page")
    _get(measured, client, "pooled", query="&whole=on")
    scatter = reverse("reports:correlation_picture", args=[SLUG, "scatter", "svg"])
    for name in ("picture", "picture again"):
        _get(measured, client, name, scatter)
    return measured


def signed_in() -> Client:
    """Return somebody signed in, for whom another page of the campaign was made: nothing is left to import."""
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    client = Client()
    client.force_login(User.objects.get(username=READER))
    _get(Measured(), client, "", reverse("reports:time", args=[SLUG]))
    return client


def _get(measured: Measured, client: Client, name: str, address: str = "", query: str = "") -> None:
    address = address or reverse("reports:correlation", args=[SLUG])
    worked = time.process_time()
    with measured.timing(name):
        reply = client.get(f"{address}{QUERY}{query}")
    measured.seconds[f"{name} cpu"] = time.process_time() - worked
    if reply.status_code != 200:
        raise SystemExit(f"{address}: {reply.status_code}")


def _taus() -> dict[str, float]:
    """Return the taus that the page shows, from sheets in memory, to compare with the others'."""
    campaign = Campaign.objects.get(slug=SLUG)
    choices = [resolve(campaign, condition) for condition in (Condition.EA, Condition.EM)]
    x, y = (table_of(choice, PRIMARY, Policies()) for choice in choices)
    found = agreement(x, y)
    return {level: getattr(found, level) for level in LEVELS}
