"""Golden documents are made once of each world; what was written for them is rolled back."""

from collections.abc import Callable
from functools import cache

import pytest

from tests.golden.making import Made, make


@pytest.fixture(scope="session")
def made_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Made]:
    """Return what makes the documents of a world, once; it is called where the database may be used."""
    return cache(lambda world: make(world, tmp_path_factory.mktemp("golden")))
