"""Where judges and sets are ambiguous, pages offer the choice, and no page, file or API answer names an option."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from django.test import Client
from django.urls import reverse

from api.collections import COLLECTIONS
from evaluation.imports.assignments import import_assignments
from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.support import import_support
from evaluation.terms import Condition, JudgeKind, Origin, SupportCondition
from reports.registry import pages
from tests.crawl.addresses import FILES
from tests.worlds.campaign import LABELS, NUGGETS, SUPPORT, World, make_world
from tests.worlds.cast import write_source

OPTION = re.compile(r"(?<![\w!-])--[a-z]{2,}")
SILENT = re.compile(r"<(script|style)\b.*?</\1>|<!--.*?-->", re.DOTALL)
TEXTS = ("text/", "application/json", "application/problem+json", "application/x-tex", "application/jsonl")
MOST_PAGES = 150


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    """Two LLMs labelled the automatic and the edited nuggets and the citations, and there are two edited sets."""
    world = make_world(tmp_path)
    campaign = world.campaign
    for name in ("edited", "other"):
        lists = write_source(tmp_path, f"{name}.jsonl", NUGGETS)
        import_nuggets(campaign=campaign, source=lists, origin=Origin.EDITED, judge="editors", name=name)
    for llm in ("robot", "another"):
        labels = write_source(tmp_path, f"{llm}.jsonl", LABELS)
        for origin, name in ((Origin.AUTO, ""), (Origin.EDITED, "edited"), (Origin.EDITED, "other")):
            import_assignments(
                campaign=campaign, sources=[labels], judge=llm, kind=JudgeKind.LLM, origin=origin, nuggets=name
            )
        cited = write_source(tmp_path, f"cited-{llm}.jsonl", SUPPORT)
        import_support(
            campaign=campaign, sources=[cited], judge=llm, kind=JudgeKind.LLM, condition=SupportCondition.LLM
        )
    labels = write_source(tmp_path, "person.jsonl", LABELS)
    import_assignments(
        campaign=campaign,
        sources=[labels],
        judge="person",
        kind=JudgeKind.HUMAN,
        origin=Origin.EDITED,
        nuggets="edited",
    )
    return world


def starts(world: World) -> Iterator[str]:
    """Yield the pages, and each report, file and list of the API of each condition."""
    yield from world.pages().values()
    slug = world.campaign.slug
    yield reverse("organizer:exports", args=[slug])
    yield reverse("organizer:change_defaults", args=[slug])
    yield reverse("organizer:hand_out", args=[slug]) + "?stage=support-post-edit"
    for document in ("html", "tex", "json"):
        yield reverse("reports:methods_file", args=[slug, document])
    for condition in (*Condition, *SupportCondition):
        choices = f"?condition={condition}&x={condition}&y=E/A&rows={condition}&columns=E/A"
        for report in pages():
            yield reverse(f"reports:{report}", args=[slug]) + choices
            for part in FILES["part"]:
                yield reverse(f"reports:{report}_table", args=[slug, part, "csv"]) + choices
        for kind in ("assignments", "support", "scores", "nuggets"):
            yield reverse("organizer:new_export", args=[slug]) + f"?what={kind}&condition={condition}"
        yield from (
            f"/api/v1/{collection.name}/?campaign={slug}&condition={condition}" for collection in COLLECTIONS
        )


def crawled(client: Client, world: World) -> Iterator[tuple[str, str]]:
    waiting, seen = list(starts(world)), set[str]()
    while waiting and len(seen) < MOST_PAGES + 300:
        address = waiting.pop(0)
        if address in seen:
            continue
        seen.add(address)
        response = client.get(address)
        kind = response.headers.get("Content-Type", "")
        if not kind.startswith(TEXTS):
            continue
        body = b"".join(response) if response.streaming else response.content
        text = SILENT.sub("", body.decode())
        yield address, text
        if kind.startswith("text/html") and len(seen) < MOST_PAGES:
            waiting += [
                urljoin(address, unescape(link))
                for link in re.findall(r'href="([^"#]+)', text)
                if urlsplit(unescape(link)).path.startswith(("/campaigns/river/", "/api/v1/")) or link[0] == "?"
            ]


@pytest.mark.slow
def test_no_page_file_or_answer_names_an_option(world: World) -> None:
    client = world.client("olga")
    found = {address: OPTION.findall(text) for address, text in crawled(client, world)}
    assert len(found) > 200
    assert {address: options for address, options in found.items() if options} == {}


def test_an_ambiguous_condition_is_listed_with_a_choice_everywhere(world: World) -> None:
    client, slug = world.client("olga"), world.campaign.slug
    page = client.get(world.pages()["scores"] + "?condition=A/A").content.decode()
    assert "Several judges fit A/A; choose one: another, robot." in page
    links = dict(re.findall(r'<a class="button" href="([^"]*)"><bdi>(another|robot)</bdi>', page))
    assert sorted(links.values()) == ["another", "robot"]
    for link, judge in links.items():
        chosen = client.get(world.pages()["scores"] + unescape(link)).content.decode()
        assert f"labels by <b><bdi>{judge}</bdi></b>" in chosen
    run = client.get(world.pages()["run"]).content.decode()
    for names in ("auto-robot, another", "auto-robot, robot", "edited, another", "other, robot"):
        assert f"<bdi>{names}</bdi>" in run
    exports = client.get(reverse("organizer:exports", args=[slug])).content.decode()
    for address in map(unescape, re.findall(r'href="(/api/v1/scores/\?[^"]*format=csv)"', exports)):
        assert client.get(address).status_code == 200
    assert "Automatic nuggets, automatic labels (A/A), auto-robot, another" in exports
    methods = client.get(reverse("reports:methods", args=[slug])).content.decode()
    assert "Several" not in methods
    assert "(A/A), auto-robot, another" in methods
    refused = client.get(reverse("reports:scores_table", args=[slug, "runs", "csv"]) + "?condition=E/A")
    assert refused.status_code == 422
    assert "Several nugget sets fit E/A; choose one: edited, other." in refused.content.decode()
    problem = client.get(f"/api/v1/scores/?campaign={slug}&condition=A/A")
    assert problem.status_code == 422
    assert problem.json()["detail"] == "Several judges fit A/A; choose one: another, robot."
