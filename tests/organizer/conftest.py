"""The small world of the organizer's pages."""

from pathlib import Path

import pytest

from tests.worlds.campaign import World, make_world


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)
