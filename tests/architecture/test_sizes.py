"""No god modules: a file has at most 600 lines, a function at most 60."""

import ast
from collections.abc import Iterator

from tests.architecture.tree import files, named

LONGEST_FILE, LONGEST_FUNCTION = 600, 60


def test_no_file_is_longer_than_600_lines() -> None:
    lengths = {
        named(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in files(".py", ".html", ".js", ".css")
        if "migrations" not in path.parts
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}


def test_no_function_is_longer_than_60_lines() -> None:
    assert [said for said, length in functions() if length > LONGEST_FUNCTION] == []


def functions() -> Iterator[tuple[str, int]]:
    """Every function with its length."""
    for path in files(".py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and "migrations" not in path.parts:
                yield f"{named(path)}:{node.lineno} {node.name}", (node.end_lineno or 0) - node.lineno + 1
