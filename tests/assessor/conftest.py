"""The desk's world."""

from pathlib import Path

import pytest

from tests.worlds.desk import DeskWorld, make_desk_world


@pytest.fixture
def world(db: None, tmp_path: Path) -> DeskWorld:
    """Ann's two tasks: 6 passages of 3 sentences each, 5 drafts."""
    return make_desk_world(tmp_path)
