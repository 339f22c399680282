"""Desks are above the domain: modules and models that belong to `assessor` are imported by nothing below it."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.tree import ROOT, files, named

DESK_MODULES = (
    *(
        "evaluation.models.desk",
        "evaluation.models.judging",
        "evaluation.models.practice",
        "evaluation.models.timing",
    ),
    *(
        "assessor.desk",
        "assessor.blind",
        "assessor.timing",
        "assessor.practice",
        "assessor.progress",
        "assessor.rules",
    ),
)
DESK_MODELS = (
    *(
        "Desk",
        "WorkingNugget",
        "MarkedPassage",
        "Operation",
        "WorkingLabel",
        "WorkingAssignment",
        "WorkingSupport",
    ),
    *("PracticeItem", "PracticeAnswer", "TimeSegment"),
)
FORBIDDEN = {*DESK_MODULES, *(f"evaluation.models.{name}" for name in DESK_MODELS)}
OPEN = {"evaluation.models"}
"""Hands on the models of both, while they are one app."""


def test_every_module_of_the_desks_is_there() -> None:
    there = {one for path in files(".py") for one in _with_parents(_module_of(path))}
    assert set(DESK_MODULES) - there == set()


def test_nothing_of_the_domain_imports_the_desks() -> None:
    found = [
        f"{named(path)}: {one}"
        for path in _domain()
        for one in _imported(path)
        if FORBIDDEN & set(_with_parents(one))
    ]
    assert found == []


def _domain() -> Iterator[Path]:
    for path in files(".py"):
        module = _module_of(path)
        is_ours = path.is_relative_to(ROOT / "evaluation") and "migrations" not in path.parts
        if is_ours and module not in OPEN and not set(DESK_MODULES) & set(_with_parents(module)):
            yield path


def _module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _with_parents(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts) + 1)]


def _imported(path: Path) -> Iterator[str]:
    """Yield what a file imports, by full name, a name of a module included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{one.name}" for one in node.names)
