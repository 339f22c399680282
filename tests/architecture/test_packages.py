"""`docs/dependencies.md` names the packages that are used, and only those."""

import ast
import re
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, files, named

DOCUMENT = ROOT / "docs" / "dependencies.md"
TESTS = ("tests", "loadtest", "deploy", "client")
"""Folders that the server runs without; client/pyproject.toml says itself what it needs."""
WITHOUT_IMPORT = {
    "requirements.in": {
        "argon2-cffi": "config/settings.py: Argon2PasswordHasher",
        "brotli": "config/settings.py: whitenoise.compress",
        "django-template-partials": "config/settings.py: template_partials",
        "gunicorn": "assay.py: gunicorn",
        "psycopg": ".env.example: postgres://",
    },
    "requirements-dev.in": {
        "django-stubs": "pyproject.toml: mypy_django_plugin",
        "djangorestframework-stubs": "Makefile: mypy",
        "djade": "Makefile: djade",
        "import-linter": "Makefile: lint-imports",
        "pytest-cov": "pyproject.toml: tool.coverage",
        "pytest-randomly": "tests/suite.py: pytest",
        "pytest-rerunfailures": "tests/conftest.py: reruns",
        "pytest-xdist": "tests/suite.py: worksteal",
        "ruff": "Makefile: ruff",
        "scipy-stubs": "Makefile: mypy",
        "types-markdown": "Makefile: mypy",
        "types-tqdm": "Makefile: mypy",
    },
}
"""Packages that no file imports, each with the file that has it at work and the word there."""


@pytest.mark.parametrize(("name", "heading"), [("requirements.in", "product"), ("requirements-dev.in", "tests")])
def test_the_packages_that_are_named_are_used(name: str, heading: str) -> None:
    packages = required(name)
    used = imported(of_tests=name == "requirements-dev.in") | WITHOUT_IMPORT[name].keys()
    assert packages == used - (required("requirements.in") if name == "requirements-dev.in" else set())
    assert packages == section(heading)


@pytest.mark.parametrize(
    "place", sorted({place for places in WITHOUT_IMPORT.values() for place in places.values()})
)
def test_a_package_without_import_is_at_work(place: str) -> None:
    file, _, word = place.partition(": ")
    path = ROOT / file
    texts = [path] if path.is_file() else [*path.glob("*.py")]
    assert any(word in text.read_text("utf-8") for text in texts)


def required(name: str) -> set[str]:
    lines = (ROOT / name).read_text("utf-8").splitlines()
    return {plain(re.split(r"[\[<>=;~! ]", line)[0]) for line in lines if line and line[0] not in "#-"}


def section(heading: str) -> set[str]:
    """Names in the first column of the table below a heading."""
    [part] = re.findall(
        rf"^## What[^\n]*\b{heading}\b[^\n]*\n(.*?)(?=^## )", DOCUMENT.read_text("utf-8"), re.M | re.S
    )
    return {plain(row) for row in re.findall(r"^\| `([^`]+)`", part, re.MULTILINE)}


def imported(*, of_tests: bool) -> set[str]:
    distributions, ours = packages_distributions(), {path.name for path in ROOT.iterdir()}
    return {
        plain(distributions[module][0])
        for path in files(".py")
        if (named(path).split("/")[0] in TESTS) is of_tests
        for module in modules_of(path)
        if module not in sys.stdlib_module_names and module not in ours and module in distributions
    }


def modules_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def plain(name: str) -> str:
    return name.lower().replace("_", "-")
