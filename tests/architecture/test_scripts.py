"""Linters of the scripts: what they are pinned to, and what is said where Node is missing."""

import json
import re
import subprocess
from pathlib import Path

from tests.architecture.test_docs import rows_of
from tests.architecture.tree import ROOT
from tests.bare_path import link_programs


def test_every_linter_is_pinned_and_has_its_reason() -> None:
    linters = json.loads((ROOT / "package.json").read_text("utf-8"))["devDependencies"]
    assert [version for version in linters.values() if not re.fullmatch(r"[\d.]+", version)] == []
    assert sorted(linters.keys() - rows_of(ROOT / "docs" / "dependencies.md")) == []


def test_the_lock_file_names_no_registry() -> None:
    lock = (ROOT / "package-lock.json").read_text("utf-8")
    assert "://" not in lock
    assert lock.count('"integrity"') > 20


def test_lint_without_node_says_so_and_goes_on(tmp_path: Path) -> None:
    link_programs(tmp_path)
    done = lint_scripts({"PATH": str(tmp_path)})
    assert "apt-get install nodejs npm" in done.stdout
    assert done.returncode == 0


def test_lint_without_node_fails_in_ci(tmp_path: Path) -> None:
    link_programs(tmp_path)
    assert lint_scripts({"PATH": str(tmp_path), "CI": "true"}).returncode != 0


def lint_scripts(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = ["make", "--no-print-directory", "lint-scripts"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
