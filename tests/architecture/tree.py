"""The project's own files: what a clone has, without what it makes or installs."""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from django.conf import settings

ROOT: Path = settings.BASE_DIR
DJANGOS = {"changepassword", "createsuperuser"}
"""Commands of Django's own that are only told more."""
MADE = {".venv", ".git", "var", "node_modules", "vendor", "__pycache__"}


def files(*suffixes: str) -> Iterator[Path]:
    """Every file of ours with one of these suffixes; folders that begin with a dot hold caches, but for .ci."""
    yield from (path for path in _all_files() if path.suffix in suffixes)


@cache
def _all_files() -> tuple[Path, ...]:
    """Look once, and not into what is installed: that is fifty times as much."""
    found = []
    for folder, below, names in os.walk(ROOT):
        below[:] = [name for name in below if name not in MADE and (not name.startswith(".") or name == ".ci")]
        found += [Path(folder, name) for name in names if name not in MADE]
    return tuple(sorted(path for path in found if path.is_file()))


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))
