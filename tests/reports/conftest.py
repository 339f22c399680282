"""The small campaign of the import tests, and its protocol and defaults changed from a file."""

from pathlib import Path

import pytest

from tests.worlds import imported


@pytest.fixture
def labelled(db: None, tmp_path: Path) -> Path:
    """The whole small campaign; the folder for its files."""
    imported.load_world(tmp_path)
    return tmp_path


def settle(folder: Path, toml: str) -> None:
    path = imported.write(folder, "campaign.toml", toml)
    outcome = imported.run("create_campaign", "river", "--name", "River study", "--from", path, "--replace")
    assert outcome.code == 0, outcome.err
