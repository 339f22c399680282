"""The project's own files: what a clone has, without what it makes or installs."""

from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

ROOT: Path = settings.BASE_DIR
MADE = {".venv", ".git", "var", "node_modules", "vendor", "__pycache__"}


def files(*suffixes: str) -> Iterator[Path]:
    """Every file of ours with one of these suffixes; folders that begin with a dot hold caches, but for .ci."""
    for path in sorted(ROOT.rglob("*")):
        folders = path.relative_to(ROOT).parts[:-1]
        made = any(name in MADE or (name.startswith(".") and name != ".ci") for name in folders)
        if path.suffix in suffixes and path.is_file() and not made:
            yield path


def named(path: Path) -> str:
    """A file as a reader of the repository names it."""
    return str(path.relative_to(ROOT))
