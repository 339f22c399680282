"""What the REST API answers: each collection in its three forms, a row of each, and what stands behind a label."""

from collections.abc import Iterator

from django.test import Client

from accounts.models import User
from evaluation.models import Campaign
from tests.crawl.canaries import body_of
from tests.golden.keeping import Documents

ROOT = "/api/v1/"
OTHERS = ("rita", "audrey", "ann")
OF_SCORES = ("condition=A/A", "condition=E/M", "condition=scratch")
NEEDED = {"scores": (*OF_SCORES, *(f"{condition}&per_topic=true" for condition in OF_SCORES[1:]))}
"""What a collection asks for beside the campaign."""
KEYS = ("public_id", "slug", "id")


def rest_documents(campaign: Campaign) -> Documents:
    """Yield each collection as its organizer gets it, and as a stream for the other roles."""
    olga = _client("olga")
    for name in sorted(olga.get(ROOT).json()):
        for query in _queries(campaign, name):
            for form in ("json", "jsonl", "csv"):
                yield _document(olga, "olga", f"{name}/?{query}&format={form}")
            for other in OTHERS:
                yield _document(_client(other), other, f"{name}/?{query}&format=jsonl")
        yield from _rows(olga, campaign, name)
    yield "rest", "schema", olga.get("/api/schema/").content


def _queries(campaign: Campaign, name: str) -> Iterator[str]:
    for needed in NEEDED.get(name, ("",)):
        yield f"campaign={campaign.slug}&{needed}".rstrip("&")


def _rows(client: Client, campaign: Campaign, name: str) -> Documents:
    query = next(_queries(campaign, name))
    rows = client.get(f"{ROOT}{name}/?{query}&page_size=1").json()["results"]
    for key in (str(row[key]) for row in rows for key in KEYS if key in row):
        for address in (f"{name}/{key}/", f"{name}/{key}/provenance/"):
            if client.get(ROOT + address).status_code == 200:
                yield _document(client, "olga", address)


def _client(username: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=username))
    return client


def _document(client: Client, username: str, address: str) -> tuple[str, str, bytes]:
    response = client.get(ROOT + address)
    body = body_of(response)
    answer = body if response.status_code == 200 else f"{response.status_code}\n".encode() + body
    return f"rest-{address.partition('/')[0]}", f"{username} {address}", answer
