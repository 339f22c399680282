"""A walk over every address as each role: nothing breaks, and nothing of a campaign one is no member of shows.

Canaries are planted in a campaign that only the administrator may see. New addresses join by themselves.
"""

import re
from pathlib import Path

import pytest
from django.test import Client

from accounts.models import User
from evaluation.campaigns.create import create_campaign
from evaluation.imports.assignments import import_assignments
from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.runs import import_runs
from evaluation.imports.support import import_support
from evaluation.imports.topics import import_topics
from evaluation.models import (
    Assignment,
    Campaign,
    NuggetSet,
    NuggetVersion,
    Run,
    Segment,
    SupportJudgment,
    Topic,
)
from evaluation.terms import JudgeKind, Origin, SupportCondition
from exchange.demo_campaign import ADMINISTRATOR, PEOPLE, SLUG
from tests.crawl.addresses import API, addresses, variants_of
from tests.crawl.canaries import body_of
from tests.worlds.cast import make_user, write_source
from tests.worlds.demo import make_demo

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("crawl")]

CANARY = "canary"
TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="[^"]*"')
SECRET = "canary-campaign"
ROLES = [*PEOPLE, "sam"]


@pytest.fixture
def world(tmp_path: Path) -> dict[str, list[str]]:
    """Load the demo and a secret campaign; return the ids that addresses are made of."""
    make_demo()
    make_user("sam")
    plant_canaries(tmp_path)
    topics = list(Topic.objects.filter(campaign__slug=SLUG).values_list("public_id", flat=True)[:2])
    segments = list(Segment.objects.filter(campaign__slug=SLUG).values_list("public_id", flat=True)[:2])
    secret = Topic.objects.filter(campaign__slug=SECRET).values_list("public_id", flat=True)
    runs = [str(pk) for pk in Run.objects.filter(campaign__slug=SLUG).values_list("pk", flat=True)[:2]]
    users = [str(pk) for pk in User.objects.values_list("pk", flat=True)[:2]]
    objects = ["1", *runs[:1], *users[:1], str(Campaign.objects.get(slug=SECRET).pk)]
    return {
        "slug": [SLUG, SECRET, "nothing"],
        "public_id": [*topics, *segments, *secret, "nothing"],
        "pk": [*dict.fromkeys([*runs, *secret_keys()]), "999999"],
        "object_id": objects,
        "app_label": ["evaluation", "accounts"],
        "url": ["nothing"],
    }


def secret_keys() -> list[str]:
    """Keys of the secret campaign's rows, which addresses name by them."""
    rows = [
        Run.objects.filter(campaign__slug=SECRET),
        NuggetSet.objects.filter(campaign__slug=SECRET),
        NuggetVersion.objects.filter(nugget__topic__campaign__slug=SECRET),
        Assignment.objects.filter(answer__topic__campaign__slug=SECRET),
        SupportJudgment.objects.filter(sentence__answer__topic__campaign__slug=SECRET),
    ]
    return [str(queryset.values_list("pk", flat=True)[0]) for queryset in rows]


def plant_canaries(folder: Path) -> None:
    campaign, _ = create_campaign(slug=SECRET, name=f"{CANARY} campaign")
    topics = write_source(folder, "t.tsv", f"{CANARY}-topic\tthe {CANARY} question\n")
    import_topics(campaign=campaign, source=topics)
    run = (
        f'{{"run_id": "{CANARY}-run", "topic_id": "{CANARY}-topic", "topic": "?", "references": ["{CANARY}#1"], '
        f'"response_length": 1, "answer": [{{"text": "{CANARY}", "citations": [0]}}]}}\n'
    )
    import_runs(campaign=campaign, sources=[write_source(folder, "r.jsonl", run)])
    nuggets = f'{{"qid": "{CANARY}-topic", "nuggets": [{{"text": "{CANARY} fact", "importance": "vital"}}]}}\n'
    source = write_source(folder, "n.jsonl", nuggets)
    import_nuggets(campaign=campaign, source=source, origin=Origin.AUTO, judge=f"{CANARY}-llm")
    label = (
        f'{{"qid": "{CANARY}-topic", "run_id": "{CANARY}-run", '
        f'"nuggets": [{{"text": "{CANARY} fact", "assignment": "support"}}]}}\n'
    )
    import_assignments(
        campaign=campaign,
        sources=[write_source(folder, "a.jsonl", label)],
        origin=Origin.AUTO,
        judge=f"{CANARY}-llm",
        kind=JudgeKind.LLM,
    )
    pair = (
        f'{{"run_id": "{CANARY}-run", "topic_id": "{CANARY}-topic", "sentence": 0, "docid": "{CANARY}#1", '
        '"label": "full_support"}\n'
    )
    import_support(
        campaign=campaign,
        sources=[write_source(folder, "s.jsonl", pair)],
        judge=f"{CANARY}-person",
        kind=JudgeKind.HUMAN,
        condition=SupportCondition.SCRATCH,
    )


def client_of(username: str) -> Client:
    client = Client(raise_request_exception=False)
    if username:
        client.force_login(User.objects.get(username=username))
    return client


def without_tokens(body: bytes) -> bytes:
    """Return a page without its CSRF tokens, which differ each time."""
    return TOKEN.sub(b"", body)


def problems_of(username: str, world: dict[str, list[str]], *, htmx: bool = False) -> list[str]:
    """Walk as one person; return what broke and where a canary sang. Only pages have fragments."""
    client, found = client_of(username), []
    for address in (variant for base in addresses(world) for variant in variants_of(base, world["slug"])):
        if htmx and address.startswith((API, "/admin/")):
            continue
        headers = {"hx-request": "true"} if htmx else {}
        response = client.get(address, headers=headers)
        body = b"".join(response) if response.streaming else response.content
        if response.status_code >= 500:
            found.append(f"{response.status_code} {address}")
        sang = CANARY.encode() in body.replace(address.encode(), b"")
        if sang or CANARY in str(response.headers).replace(address, ""):
            found.append(f"canary {address}")
    return found


OF_EACH_ROLE = [*{role: name for name, (_, role) in PEOPLE.items()}.values(), "sam"]
"""No address of this walk is a person's own, so people of one role get the same answers. Sam has none."""


@pytest.mark.parametrize("username", ["", *(pytest.param(name, marks=pytest.mark.slow) for name in OF_EACH_ROLE)])
def test_a_walk_breaks_nothing_and_shows_no_other_campaign(username: str, world: dict[str, list[str]]) -> None:
    assert problems_of(username, world) == []


@pytest.mark.slow
def test_fragments_show_no_other_campaign_either(world: dict[str, list[str]]) -> None:
    assert problems_of("olga", world, htmx=True) == []


@pytest.mark.slow
def test_an_administrator_walks_everywhere_and_hears_the_canaries(world: dict[str, list[str]]) -> None:
    """Who may see everything breaks nothing; and what is planted is heard, so that the other walks can fail."""
    found = problems_of(ADMINISTRATOR[0], world)
    planted = [problem for problem in found if problem.startswith("canary")]
    assert found == planted
    assert any(f"/campaigns/{SECRET}/" in problem for problem in planted)
    for collection in ("topics", "answers", "assignments", "support-judgments", "scores"):
        assert any(f"/api/v1/{collection}/?" in problem for problem in planted), collection


def test_nobody_gets_past_the_door_unasked(world: dict[str, list[str]]) -> None:
    response = client_of("").get(f"/campaigns/{SLUG}/")
    assert response.status_code == 302
    assert response["Location"].startswith("/accounts/login/")


def test_what_is_not_yours_answers_as_what_does_not_exist(world: dict[str, list[str]]) -> None:
    for username in ROLES:
        client = client_of(username)
        theirs, nothing = client.get(f"/campaigns/{SECRET}/"), client.get("/campaigns/nothing/")
        assert theirs.status_code == nothing.status_code == 404, username
        assert without_tokens(theirs.content) == without_tokens(nothing.content), username


@pytest.mark.slow
def test_the_api_tells_an_organizer_of_no_other_campaign(world: dict[str, list[str]]) -> None:
    """Every list and row in every form, by name where a campaign can be named."""
    client = client_of("olga")
    lists = [candidate for candidate in addresses(world) if candidate.startswith(API) and candidate.endswith("/")]
    for address in (variant for base in lists for variant in variants_of(base, world["slug"])):
        body = body_of(client.get(address)).replace(address.encode(), b"")
        assert CANARY.encode() not in body, address
