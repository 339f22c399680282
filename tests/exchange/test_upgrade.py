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

from exchange.demo_campaign import load_demo
from tests.evaluation.world import run

DUMP = settings.BASE_DIR / "tests" / "data" / "demo-before-desks.sql.gz"
TABLES = ("assignment", "supportjudgment", "event", "nuggetversion", "membership", "protocol", "finding", "qrel")


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


def hand_out(database: Path, assessors: tuple[str, ...]) -> None:
    """Give each of these the first topic to write by hand, as the version before could beside each other."""
    with sqlite3.connect(database) as connection:
        for name in assessors:
            connection.execute(
                "INSERT INTO evaluation_task (campaign_id, topic_id, assessor_id, stage, public_id, state, version,"
                " nugget_set_id, qrels_id, protocol_id, priority, expected_minutes, blocked_reason, reopened_reason,"
                " created_at) SELECT topic.campaign_id, topic.id, user.id, 'manual', 'task-' || user.username,"
                " 'not started', 1, made.id, source.id, protocol.id, 0, 1, '', '', '2026-01-01'"
                " FROM evaluation_topic topic, accounts_user user, evaluation_nuggetset made,"
                " evaluation_qrelsource source, evaluation_protocol protocol WHERE user.username = ? LIMIT 1",
                (name,),
            )


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The old database, in a file."""
    path = tmp_path / "old.sqlite3"
    with sqlite3.connect(path) as connection:
        connection.executescript(gzip.decompress(DUMP.read_bytes()).decode())
    return path


@pytest.mark.django_db
def test_the_demo_of_the_version_before_is_upgraded_with_its_data(old: Path) -> None:
    """In two steps; in between two people get one topic beside each other, of whom the first counts afterwards."""
    before = counts(old)
    manage(old, "migrate", "evaluation", "0003_judging", "--verbosity", "0")
    hand_out(old, ("ben", "ann"))
    manage(old, "migrate", "--verbosity", "0")
    assert counts(old) == before
    assert before["assignment"] == 2709
    load_demo()
    fresh = run("report", "scores", "--campaign", "river-study", "--condition", "E/M", "--format", "json").json()
    assert scores(old) == fresh
    with sqlite3.connect(old) as connection:
        rows = connection.execute("SELECT public_id, second_opinion FROM evaluation_task ORDER BY id").fetchall()
        assert rows == [("task-ben", 0), ("task-ann", 1)]
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute("UPDATE evaluation_event SET kind = 'forged'")
