"""Databases of earlier versions are upgraded with everything in them, and work goes on in them.

`tests/data/upgrades` has the demo campaign as each of them had loaded it: before there were desks (b), with the desks
where nuggets are made (c), with those where they are judged (d), and with practice and studies (d-studies).
"""

import gzip
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from exchange.demo_campaign import load_demo
from tests.evaluation.world import run

DUMPS = settings.BASE_DIR / "tests" / "data" / "upgrades"
BEFORE_DESKS, *SINCE_DESKS = ("demo-b", "demo-c", "demo-d", "demo-d-studies")
GROWING = {"django_migrations", "django_content_type", "auth_permission", "sqlite_sequence"}
"""Tables to which a migration adds."""

GOES_ON = """
from django.db import connection
from accounts.models import User
from evaluation.blind.desk import desk_state
from evaluation.models import Event, Operation, Task
from evaluation.triggers import missing_triggers
for task in Task.objects.filter(opened_at__isnull=False):
    assert desk_state(task.public_id, task.assessor)["seq"] == Operation.objects.filter(task=task).count(), task
from jobs import queue
assert queue.anything_due("llm")
assert missing_triggers() == [], missing_triggers()
Event.objects.create(kind="after the upgrade")
print("goes on")
"""


def manage(database: Path, *arguments: str) -> str:
    """Run a command on a database, as an administrator would after an upgrade."""
    own = os.environ | {"DATABASE_URL": f"sqlite:///{database}", "DEMO": "1"}
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(command, cwd=settings.BASE_DIR, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def old(name: str, folder: Path) -> Path:
    """A database of an earlier version, in a file."""
    path = folder / f"{name}.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(gzip.decompress((DUMPS / f"{name}.sql.gz").read_bytes()).decode())
    return path


def counts(database: Path) -> dict[str, int]:
    """How many rows each table has, but for those that migrations fill."""
    with closing(sqlite3.connect(database)) as connection:
        listed = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {
            name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]  # noqa: S608
            for (name,) in listed
            if name not in GROWING
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
    with closing(sqlite3.connect(database)) as connection, connection:
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


def assert_nothing_is_lost(before: dict[str, int], after: dict[str, int]) -> None:
    """Every table has the rows that it had."""
    assert {name: after[name] for name in before} == before


@pytest.mark.django_db
def test_the_demo_of_the_version_before_desks_is_upgraded_with_its_data(tmp_path: Path) -> None:
    """In two steps; in between two people get one topic beside each other, of whom the first counts afterwards."""
    database = old(BEFORE_DESKS, tmp_path)
    before = counts(database)
    manage(database, "migrate", "evaluation", "0003_judging", "--verbosity", "0")
    hand_out(database, ("ben", "ann"))
    manage(database, "migrate", "--verbosity", "0")
    assert_nothing_is_lost(before, counts(database))
    assert before["evaluation_assignment"] == 2709
    load_demo()
    fresh = run("report", "scores", "--campaign", "river-study", "--condition", "E/M", "--format", "json").json()
    assert scores(database) == fresh
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute("SELECT public_id, second_opinion FROM evaluation_task ORDER BY id").fetchall()
        assert rows == [("task-ben", 0), ("task-ann", 1)]
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute("UPDATE evaluation_event SET kind = 'forged'")


@pytest.mark.thorough
@pytest.mark.parametrize("name", SINCE_DESKS)
def test_a_database_with_work_at_desks_is_upgraded_and_work_goes_on(name: str, tmp_path: Path) -> None:
    database = old(name, tmp_path)
    before = counts(database)
    assert before["evaluation_operation"] >= 60
    manage(database, "migrate", "--verbosity", "0")
    assert_nothing_is_lost(before, counts(database))
    assert "goes on" in manage(database, "shell", "--no-imports", "-c", GOES_ON)
    assert "ann" in manage(database, "load_demo")
    assert_nothing_is_lost({**before, "evaluation_event": before["evaluation_event"] + 1}, counts(database))
