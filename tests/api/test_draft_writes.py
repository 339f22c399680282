"""Organizers' programs take automatic lists as drafts."""

from pathlib import Path

import pytest

from tests.api.writing import program_of
from tests.worlds.campaign import make_world

pytestmark = pytest.mark.django_db


def test_an_automatic_set_is_taken_as_drafts_once(tmp_path: Path) -> None:
    olga = program_of(make_world(tmp_path).people["olga"])
    made = olga.post("/nugget-sets/", {"campaign": "river", "nuggets": "auto-robot"})
    assert (made.status_code, made.json()["name"], made.json()["origin"]) == (201, "draft-robot", "draft")
    again = olga.post("/nugget-sets/", {"campaign": "river"})
    assert (again.status_code, again.json()) == (200, made.json())
    refused = olga.post("/nugget-sets/", {"campaign": "river", "nuggets": "draft-robot"})
    assert (refused.status_code, refused.json()["code"]) == (422, "no_such_set")
