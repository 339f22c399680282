"""Files to read: made on the spot, or the real ones where they are at hand."""

from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.formats.source import Source, read_source

DATA = Path(__file__).parents[4] / "shared" / "data"


@pytest.fixture
def write(tmp_path: Path) -> Callable[[bytes | str], Path]:
    def write_file(content: bytes | str) -> Path:
        path = tmp_path / "input"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


@pytest.fixture
def source(write: Callable[[bytes | str], Path]) -> Callable[[bytes | str], Source]:
    return lambda content: read_source(write(content))


@pytest.fixture(scope="session")
def data() -> Path:
    if not DATA.is_dir():
        pytest.skip(f"the real data is not at {DATA}")
    return DATA
