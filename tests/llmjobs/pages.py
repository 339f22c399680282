"""Pages of the documents whose commands are followed to the letter, from an empty database on."""

import shlex
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command

from tests.architecture.test_docs import blocks

DOCS = Path(settings.BASE_DIR) / "docs"
MANAGE = [".venv/bin/python", "manage.py"]


def commands(page: Path) -> list[str]:
    """What a page has its reader type while `make run` serves, in order."""
    lines: list[str] = []
    for info, body in blocks(page):
        if info == ["console", "tried"]:
            lines += body.replace("\\\n", " ").removeprefix("$ ").rstrip("\n").split("\n$ ")
    return lines


def follow(
    page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[tuple[str, str]]:
    """Type a page's commands; return each with what it printed. Files that are taken out go into the folder."""
    monkeypatch.chdir(folder)
    (folder / "docs").symlink_to(DOCS)
    printed = []
    for line in commands(page):
        words = shlex.split(line)
        assert words[:2] == MANAGE, line
        capsys.readouterr()
        call_command(*words[2:])
        printed.append((line, capsys.readouterr().out))
    return printed
