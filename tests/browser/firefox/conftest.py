"""Debian's Firefox, where there is one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import needed
from tests.browser.firefox.bidi import Firefox, started


@pytest.fixture
def firefox(tmp_path: Path) -> Iterator[Firefox]:
    profile = tmp_path / "profile"
    profile.mkdir()
    with started(needed.program("firefox-esr"), profile) as browser:
        yield browser
        browser.goto("about:blank")
