"""The agreement page of two conditions that share their nuggets, through Django's views, as HTML and as a picture."""

from django.conf import settings
from django.test import Client
from django.urls import reverse

from accounts.models import User
from benchmarks import synthetic
from benchmarks.measuring import Measured
from benchmarks.scores import LLM, PERSON, SEEDS, SLUG
from benchmarks.sizes import Size
from evaluation.services.campaigns import add_member
from evaluation.terms import JudgeKind, Origin, Role

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


def page(size: Size, _turn: int) -> Measured:
    """Open the page in a new process, then again."""
    measured = Measured(rows=2 * size.labels)
    client = _client()
    for name in ("cold", "warm"):
        with measured.timing(name):
            _get(client, reverse("reports:agreement", args=[SLUG]))
    return measured


def _client() -> Client:
    """Return somebody signed in, for whom another page of the campaign was made: nothing is left to import."""
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    client = Client()
    client.force_login(User.objects.get(username=READER))
    _get(client, reverse("reports:reports", args=[SLUG]))
    return client


def _get(client: Client, address: str) -> bytes:
    reply = client.get(address + QUERY)
    if reply.status_code != 200:
        raise SystemExit(f"{address}: {reply.status_code}")
    return reply.content
