"""The list of words of the scripts: in the language of the installation, the same to everybody, and asked for again."""

import json
import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from tests.browser.brackets import bracketed, speak_in_brackets
from tests.factories import make_campaign, make_cast

pytestmark = pytest.mark.django_db


CATALOGUE = re.compile(r"newcatalog = (\{.*?\n  \});", re.DOTALL)


def words(client: Client) -> str:
    """The list as a browser gets it."""
    response = client.get(reverse("script_words"))
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/javascript")
    return response.content.decode()


def catalogue(client: Client) -> dict[str, str | list[str]]:
    """What the list says for each text; a plural has several."""
    found = CATALOGUE.search(words(client))
    return json.loads(found[1]) if found else {}


def test_the_words_are_those_of_the_installation_s_language(
    client: Client, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert catalogue(client) == {}  # English is what stands in the scripts
    speak_in_brackets(tmp_path, settings, monkeypatch)
    said = catalogue(client)
    assert said["Everything is saved"] == bracketed("Everything is saved")
    assert said["%(count)s hit"] == [bracketed("%(count)s hit"), bracketed("%(count)s hits")]
    assert said["a label\x04Partial"] == bracketed("Partial")


def test_the_words_of_other_apps_stay_away(client: Client, settings: Settings) -> None:
    settings.LANGUAGE_CODE = "de"  # in which Django's admin has words for its scripts
    assert catalogue(client) == {}


def test_an_assessor_gets_what_a_stranger_gets(client: Client) -> None:
    people = make_cast(make_campaign())
    before = words(client)
    client.force_login(people["ann"])
    assert words(client) == before


def test_who_has_the_words_is_told_so(client: Client) -> None:
    first = client.get(reverse("script_words"))
    assert first["Cache-Control"] == "no-cache, private"
    again = client.get(reverse("script_words"), headers={"if-none-match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
