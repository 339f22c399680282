"""The small campaign, as far as a test needs it."""

from pathlib import Path

import pytest

from tests.worlds import imported


@pytest.fixture
def corpus(db: None, tmp_path: Path) -> Path:
    """The campaign `river` with topics, segments and qrels; the folder for its files."""
    imported.load_world(tmp_path, parts=1)
    return tmp_path


@pytest.fixture
def runs(db: None, tmp_path: Path) -> Path:
    imported.load_world(tmp_path, parts=2)
    return tmp_path


@pytest.fixture
def lists(db: None, tmp_path: Path) -> Path:
    """The runs, and the nugget set auto-m."""
    imported.load_world(tmp_path, parts=3)
    return tmp_path


@pytest.fixture
def labelled(db: None, tmp_path: Path) -> Path:
    imported.load_world(tmp_path)
    return tmp_path
