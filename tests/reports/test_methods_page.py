"""The methods page: contents, paragraphs for a paper, settings in words; its files keep the codes."""

import re
from html import unescape
from pathlib import Path

import pytest
from django.urls import reverse

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
    file = client.get(reverse("reports:methods_file", args=[world.campaign.slug, "json"])).content.decode()
    assert "nugget sweep" in file
