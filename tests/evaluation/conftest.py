"""The small campaign, loaded once per test."""

from pathlib import Path

import pytest

from tests.evaluation import world


@pytest.fixture
def corpus(db: None, tmp_path: Path) -> Path:
    """The campaign `river` with topics, segments and qrels; the folder for its files."""
    world.load_corpus(tmp_path)
    return tmp_path


@pytest.fixture
def runs(corpus: Path) -> Path:
    """The corpus, and the runs alpha and beta."""
    world.load_runs(corpus)
    return corpus


@pytest.fixture
def lists(runs: Path) -> Path:
    """The runs, and the nugget set auto-m."""
    world.load_nuggets(runs)
    return runs


@pytest.fixture
def labelled(lists: Path) -> Path:
    """The whole small campaign."""
    world.load_labels(lists)
    return lists
