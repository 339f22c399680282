"""A database of the version before the desks is upgraded with everything in it.

`tests/data/demo-before-desks.sql.gz` is the demo campaign as that version had loaded it.
"""

import gzip
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

DUMP = settings.BASE_DIR / "tests" / "data" / "demo-before-desks.sql.gz"
TABLES = ("assignment", "supportjudgment", "event", "nuggetversion", "membership", "protocol", "finding", "qrel")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The old database, in a file."""
    path = tmp_path / "old.sqlite3"
    with sqlite3.connect(path) as connection:
        connection.executescript(gzip.decompress(DUMP.read_bytes()).decode())
    return path


def manage(database: Path, *arguments: str) -> str:
    """Run a command on a database, as an administrator would after an upgrade."""
    own = os.environ | {"DATABASE_URL": f"sqlite:///{database}"}
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(
        command, cwd=settings.BASE_DIR, env=own, capture_output=True, text=True, check=True
    ).stdout


def counts(database: Path) -> dict[str, int]:
    """How many rows each table has."""
    with sqlite3.connect(database) as connection:
        return {
            table: connection.execute(f"SELECT count(*) FROM evaluation_{table}").fetchone()[0]  # noqa: S608
            for table in TABLES
        }


def scores(database: Path) -> dict[str, Any]:
    """The leaderboard of the people's condition."""
    report = manage(
        database, "report", "scores", "--campaign", "river-study", "--condition", "E/M", "--format", "json"
    )
    found: dict[str, Any] = json.loads(report)
    return found


def test_the_demo_of_the_version_before_is_upgraded_with_its_data(old: Path, tmp_path: Path) -> None:
    before = counts(old)
    manage(old, "migrate", "--verbosity", "0")
    assert counts(old) == before
    assert before["assignment"] == 2709
    fresh = tmp_path / "fresh.sqlite3"
    manage(fresh, "migrate", "--verbosity", "0")
    own = os.environ | {"DATABASE_URL": f"sqlite:///{fresh}", "DEMO": "1"}
    subprocess.run(
        [sys.executable, "manage.py", "load_demo"], cwd=settings.BASE_DIR, env=own, capture_output=True, check=True
    )
    assert scores(old) == scores(fresh)


def test_the_log_of_an_upgraded_database_is_append_only(old: Path) -> None:
    manage(old, "migrate", "--verbosity", "0")
    with sqlite3.connect(old) as connection, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute("UPDATE evaluation_event SET kind = 'forged'")
