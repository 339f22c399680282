"""What a fresh machine lacks is skipped with the line that installs it, and CI installs all of it."""

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from tests import needed
from tests.bare_path import bare_environment, link_programs

TESTS = settings.BASE_DIR / "tests"


def names_needed() -> Iterator[str]:
    for path in TESTS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("needed.program", "needed.lacking"):
                yield str(ast.literal_eval(node.args[0]))


def test_what_a_test_needs_has_an_install_line() -> None:
    assert set(names_needed()) == set(needed.PACKAGES)


def test_ci_installs_what_its_tests_need() -> None:
    installed = (settings.BASE_DIR / ".ci" / "run").read_text("utf-8").split()
    for name in needed.PACKAGES.keys() - needed.NEVER_IN_CI:
        assert [
            package for package in needed.PACKAGES[name].split() if not any(package in word for word in installed)
        ] == [], name


def test_a_missing_program_is_skipped_with_its_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(needed, "SYSTEM", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="on Debian: apt-get install nginx-light"):
        needed.program("nginx")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="nginx was not found"):
        needed.program("nginx")


def test_the_bare_path_has_no_server_and_no_browser(tmp_path: Path) -> None:
    link_programs(tmp_path)
    own = bare_environment(tmp_path, os.environ)
    find = "import shutil, sys; print(*filter(shutil.which, sys.argv[1:]))"
    names = ["make", "git", "python3", "nginx", "curl", "openssl", "redis-server", "psql", "chromium", "docker"]
    done = subprocess.run(
        [sys.executable, "-c", find, *names], env=own, text=True, capture_output=True, check=True
    )
    there = [name for name in ("make", "git", "python3") if name == "python3" or shutil.which(name)]
    assert done.stdout.split() == there


def test_the_bare_path_wants_no_program_that_this_machine_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    (tmp_path / "bare").mkdir()
    link_programs(tmp_path / "bare")
    assert [path.name for path in (tmp_path / "bare").iterdir()] == ["python3"]
