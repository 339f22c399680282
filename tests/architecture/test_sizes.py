"""No god modules: a file has at most 600 lines, a function at most 60, a folder at most 20 files of tests."""

import ast
from collections import Counter
from collections.abc import Iterator

from tests.architecture.tree import files, named

LONGEST_FILE, LONGEST_FUNCTION = 600, 60
LONGEST_NAME = 60
"""Characters after `test_`: a sentence that one line of pytest's summary holds, with the path before it."""

MOST_TEST_FILES = 20


def test_no_file_is_longer_than_600_lines() -> None:
    lengths = {
        named(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in files(".py", ".html", ".js", ".css")
        if "migrations" not in path.parts
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}


def test_no_function_is_longer_than_60_lines() -> None:
    assert [place for place, length in functions() if length > LONGEST_FUNCTION] == []


def test_a_test_s_name_has_at_most_60_characters() -> None:
    names = [place.split()[-1].removeprefix("test_") for place, _ in functions() if " test_" in place]
    assert [name for name in names if len(name) > LONGEST_NAME] == []


def test_a_folder_has_at_most_20_files_of_tests() -> None:
    folders = Counter(named(path.parent) for path in files(".py") if path.name.startswith("test_"))
    assert {name: count for name, count in folders.items() if count > MOST_TEST_FILES} == {}


def functions() -> Iterator[tuple[str, int]]:
    """Every function with its length."""
    for path in files(".py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and "migrations" not in path.parts:
                yield f"{named(path)}:{node.lineno} {node.name}", (node.end_lineno or 0) - node.lineno + 1
