"""The table of acceptance checks is true: each is there once, and each test that it names exists."""

import ast
import re

import pytest

from tests.architecture.tree import ROOT, files, named

TABLE = (ROOT / "docs" / "acceptance-checks.md").read_text(encoding="utf-8")
CHECKS, LAST = list(range(1, 41)), 110  # of those from 41 on only what was ordered so far has a row
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TABLE)))
HOVER = re.compile(r"([^{}]*:hover[^{}]*)\{([^}]*)\}")
UNCOVERS = re.compile(r"\b(display|visibility|opacity|content|clip-path|overflow)\s*:")


def rows() -> dict[int, str]:
    found = re.findall(r"^\| (\d+) \| (.*)$", TABLE, re.MULTILINE)
    return {int(number): row for number, row in found}


def test_every_check_has_a_row_with_a_test_or_says_that_it_is_open() -> None:
    numbers = [int(number) for number in re.findall(r"^\| (\d+) \|", TABLE, re.MULTILINE)]
    assert numbers == sorted(set(numbers))
    assert set(CHECKS) <= set(numbers) <= set(range(1, LAST + 1))
    assert [number for number, row in rows().items() if "::" not in row and row.endswith("| |")] == []


@pytest.mark.parametrize("path", sorted({path for path, _ in NAMED}))
def test_every_test_that_is_named_exists(path: str) -> None:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    there = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert {name for file, name in NAMED if file == path} - there == set()


def test_nothing_is_shown_by_hovering_alone() -> None:
    rules = [
        f"{named(path)}: {selector.strip()}"
        for path in files(".css")
        for selector, body in HOVER.findall(path.read_text(encoding="utf-8"))
        if UNCOVERS.search(body)
    ]
    assert rules == []
