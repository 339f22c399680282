"""The methods page: contents, paragraphs for a paper, settings in words; its files keep the codes."""

import re
from html import unescape
from pathlib import Path

import pytest
from django.urls import reverse

from reports.methods.page import prose
from reports.methods.report import methods_report
from tests.golden.worlds import make_shared
from tests.worlds.campaign import World, make_world


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


def test_methods_have_contents_prose_and_settings_in_words(world: World) -> None:
    """Check 86."""
    client = world.client("olga")
    page = client.get(reverse("reports:methods", args=[world.campaign.slug])).content.decode()
    contents = page.partition('<nav aria-label="Contents">')[2].partition("</nav>")[0]
    places = re.findall(r'href="#([^"]+)"', contents)
    assert places[0] == "prose"
    assert len(places) > 5
    assert all(f'id="{place}"' in page for place in places)
    for absent in ("nugget sweep<", "nugget sweep: yes", "identical once", "tables of", "0001_"):
        assert absent not in page
    text, latex = map(unescape, re.findall(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL))
    for paragraph in re.findall(
        r'<p dir="auto">(.*?)</p>', page.partition('id="prose"')[2].partition("<details")[0]
    ):
        assert unescape(paragraph) in text
    assert f"The campaign {world.campaign.slug} follows version 1 of its protocol." in text
    assert "wider percentiles of 4,000 bootstrap samples of topics" in text
    assert r"95 \% intervals" in latex
    assert "Of each sentence the first citation is judged." in text
    assert "Its settings" not in text
    assert "Of each sentence the first citation is judged." in text
    assert "wider percentiles" not in text.split("\n\n")[0]
    file = client.get(reverse("reports:methods_file", args=[world.campaign.slug, "json"])).content.decode()
    assert "Consistency check at the end of a topic" in file


def test_the_prose_names_each_condition_once_in_words(db: None, tmp_path: Path) -> None:
    campaign = make_shared(tmp_path)
    text = "\n".join(prose(campaign, methods_report(campaign)))
    assert text.count("edited nuggets with manual labels (E/M)") == 1
    assert text.index("(E/M)") < text.index("E/M ")
    assert re.search(r"Kendall's tau-b \(vital, strict\) of [^.]+ is -?\d\.\d{3}", text)
    assert re.search(
        r"The labels of E/A and E/M agree in \d+\.\d % of \d+ pairs; Cohen's kappa is -?\d\.\d{3}", text
    )
    assert "The importance of nuggets is hidden from assessors who label answers." in text


def test_the_prose_follows_the_settings(world: World) -> None:
    protocol = world.campaign.protocol
    protocol.first_citations, protocol.show_importance, protocol.pool_depth = 2, True, 1
    protocol.edited_cap, protocol.overlap, protocol.nugget_search = 12, 3, "none"
    protocol.save()
    text = "\n".join(prose(world.campaign, methods_report(world.campaign)))
    for sentence in (
        "Of each sentence the first 2 citations are judged.",
        "Of each group and task the first run is judged, by priority.",
        "A topic is judged by at most 3 assessors.",
        "Assessors who label answers see which nuggets are vital.",
        "A list from Edit drafts has at most 12 nuggets.",
    ):
        assert sentence in text
    assert "one key" not in text
