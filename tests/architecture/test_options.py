"""What pages, files and the API say names no option and no command: only commands have these."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.test_commands import OURS
from tests.architecture.tree import files, named

ROOMS = ("accounts", "api", "assessor", "evaluation", "exchange", "jobs", "llmjobs", "organizer", "reports", "web")
OF_COMMANDS = {"evaluation/errors.py", "exchange/backup.py"}
"""What these say beside a sentence of the rules is printed by commands alone."""
OPTION = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*(?![\w-])")


def spoken(path: Path) -> Iterator[str]:
    """Yield every text but docstrings, which are for readers of the code."""
    tree = ast.parse(path.read_text("utf-8"))
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            yield f"{named(path)}:{node.lineno}: {node.value}"


def modules() -> list[Path]:
    return [
        path
        for path in files(".py")
        if named(path).startswith(ROOMS) and "/management/" not in named(path) and named(path) not in OF_COMMANDS
    ]


def test_no_module_that_pages_share_speaks_of_an_option() -> None:
    assert [text for path in modules() for text in spoken(path) if OPTION.search(text)] == []


def test_no_module_that_pages_share_speaks_of_a_command() -> None:
    command = re.compile(rf"(?:^| )(?:run|with|by|see|manage\.py) ({'|'.join(OURS)})\b")
    assert [text for path in modules() for text in spoken(path) if command.search(text)] == []


@pytest.mark.parametrize("folder", ["templates", "static/js"])
def test_no_template_and_no_script_speaks_of_an_option(folder: str) -> None:
    kinds = {"templates": ".html", "static/js": ".js"}
    # Names of style properties begin alike and stand in scripts as a text of their own.
    option = re.compile(r"(?<![\w\"'`(!-])--[a-z][a-z-]+")
    found = [
        f"{named(path)}:{number}: {line.strip()}"
        for path in files(kinds[folder])
        if named(path).startswith(folder)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if option.search(line)
    ]
    assert found == []
