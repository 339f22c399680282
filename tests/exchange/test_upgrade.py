"""Databases of earlier versions are upgraded with everything in them, and work goes on in them.

`tests/data/upgrades` has the demo campaign as each of them had loaded it, on both engines: before there were LLM jobs
(a), before there were desks (b), with the desks where nuggets are made (c), with those where they are judged (d), with
practice and studies (d-studies), with invitations and tokens (e), with snapshots and prompts (g), with imports in two
steps (h).
"""

import json
import sqlite3
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import connection

from exchange.demo_campaign import load_demo
from tests.evaluation.world import run
from tests.exchange.databases import ask, columns, fill, guards, other_database, tables
from tests.exchange.databases import manage as manage_database

pytestmark = [pytest.mark.postgresql, pytest.mark.slow]

DUMPS = settings.BASE_DIR / "tests" / "data" / "upgrades"
BEFORE_JOBS, BEFORE_DESKS = "demo-a", "demo-b"
SINCE_DESKS = ("demo-c", "demo-d", "demo-d-studies", "demo-e", "demo-g", "demo-h")
Built = tuple[set[tuple[Any, ...]], set[tuple[Any, ...]]]
"""The columns of a database, and what guards its rows."""
GROWING = {"django_migrations", "django_content_type", "auth_permission"}
"""Tables to which a migration adds."""

HAND_OUT = """
INSERT INTO evaluation_task (campaign_id, topic_id, assessor_id, stage, public_id, state, version, nugget_set_id,
    qrels_id, protocol_id, priority, expected_minutes, blocked_reason, reopened_reason, created_at)
SELECT topic.campaign_id, topic.id, person.id, 'manual', 'task-' || person.username, 'not started', 1, made.id,
    source.id, protocol.id, 0, 1, '', '', '2026-01-01'
FROM evaluation_topic topic, accounts_user person, evaluation_nuggetset made, evaluation_qrelsource source,
    evaluation_protocol protocol
WHERE person.username = 'PERSON' ORDER BY topic.id LIMIT 1
"""

GOES_ON = """
from django.db import connection
from accounts.models import User
from assessor.blind.desk import desk_state
from evaluation.models import Event, Operation, Task
from evaluation.append_only import missing_triggers
for task in Task.objects.filter(opened_at__isnull=False):
    assert desk_state(task.public_id, task.assessor)["seq"] == Operation.objects.filter(task=task).count(), task
from jobs import queue
assert queue.anything_due("llm")
assert missing_triggers() == [], missing_triggers()
Event.objects.create(kind="after the upgrade")
print("goes on")
"""


def manage(database: str, *words: str) -> str:
    """Run a command on a database, as an administrator would after an upgrade; it must succeed."""
    done = manage_database(database, *words, DEMO="1")
    assert done.returncode == 0, done.stderr
    return done.stdout


def fill_from(database: str, name: str) -> dict[str, int]:
    """Fill a database with an earlier version's; return how many rows each table has."""
    fill(database, DUMPS / f"{name}.{connection.vendor}.sql.xz")
    return counts(database)


def counts(database: str) -> dict[str, int]:
    """How many rows each table has, but for those that migrations fill."""
    named = [name for name in tables(database) if name not in GROWING]
    return {name: ask(database, f"SELECT count(*) FROM {name}")[0][0] for name in named}  # noqa: S608


def scores(database: str) -> dict[str, Any]:
    """The leaderboard of the people's condition."""
    report = manage(
        database, "report", "scores", "--campaign", "river-study", "--condition", "E/M", "--format", "json"
    )
    found: dict[str, Any] = json.loads(report)
    return found


def fresh_scores() -> dict[str, Any]:
    """The same of a demo loaded today."""
    load_demo()
    found: dict[str, Any] = run(
        "report", "scores", "--campaign", "river-study", "--condition", "E/M", "--format", "json"
    ).json()
    return found


def hand_out(database: str, assessors: tuple[str, ...]) -> None:
    """Give each of these the first topic to write by hand, as the version before could beside each other."""
    for name in assessors:
        ask(database, HAND_OUT.replace("PERSON", name))


def assert_nothing_is_lost(before: dict[str, int], after: dict[str, int]) -> None:
    """Every table has the rows that it had."""
    assert {name: after[name] for name in before} == before


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """How a database is built that has always been of this version."""
    with other_database(tmp_path_factory.mktemp("new")) as database:
        manage(database, "migrate", "--verbosity", "0")
        return columns(database), guards(database)


@pytest.mark.django_db
def test_the_demo_of_the_version_before_desks_is_upgraded_with_its_data(tmp_path: Path) -> None:
    """In two steps; in between two people get one topic beside each other, of whom the first counts afterwards."""
    with other_database(tmp_path) as database:
        before = fill_from(database, BEFORE_DESKS)
        manage(database, "migrate", "evaluation", "0003_judging", "--verbosity", "0")
        hand_out(database, ("ben", "ann"))
        manage(database, "migrate", "--verbosity", "0")
        assert_nothing_is_lost(before, counts(database))
        assert before["evaluation_assignment"] == 2709
        assert scores(database) == fresh_scores()
        rows = ask(database, "SELECT public_id, second_opinion FROM evaluation_task ORDER BY id")
        assert rows == [("task-ben", 0), ("task-ann", 1)]
        with pytest.raises((sqlite3.IntegrityError, psycopg.Error), match="append-only"):
            ask(database, "UPDATE evaluation_event SET kind = 'forged'")


@pytest.mark.django_db
def test_names_that_differ_by_case_are_named_by_the_upgrade(tmp_path: Path) -> None:
    with other_database(tmp_path) as database:
        fill_from(database, "demo-h")
        ask(database, "UPDATE accounts_user SET username = 'Olga' WHERE username = 'ben'")
        stopped = manage_database(database, "migrate", "--verbosity", "0")
        assert stopped.returncode == 1
        assert "olga (key " in stopped.stderr
        assert "Olga (key " in stopped.stderr
        key = ask(database, "SELECT id FROM accounts_user WHERE username = 'Olga'")[0][0]
        script = "from accounts.models import User; User.objects.filter(pk=KEY).update(username='NEW')"
        assert script in stopped.stderr
        manage(database, "shell", "--no-imports", "-c", script.replace("KEY", str(key)).replace("NEW", "ben"))
        manage(database, "migrate", "--verbosity", "0")


@pytest.mark.django_db
def test_the_demo_of_the_version_before_llm_jobs_is_upgraded_with_its_data(new: Built, tmp_path: Path) -> None:
    with other_database(tmp_path) as database:
        before = fill_from(database, BEFORE_JOBS)
        manage(database, "migrate", "--verbosity", "0")
        assert_nothing_is_lost(before, counts(database))
        assert columns(database) == new[0]  # its triggers say in other words that the log is append-only
        assert scores(database) == fresh_scores()


@pytest.mark.parametrize("name", SINCE_DESKS)
def test_a_database_with_work_at_desks_is_upgraded_and_work_goes_on(name: str, new: Built, tmp_path: Path) -> None:
    with other_database(tmp_path) as database:
        before = fill_from(database, name)
        assert before["evaluation_operation"] >= 60
        manage(database, "migrate", "--verbosity", "0")
        assert_nothing_is_lost(before, counts(database))
        assert (columns(database), guards(database)) == new
        assert "goes on" in manage(database, "shell", "--no-imports", "-c", GOES_ON)
        assert "ann" in manage(database, "load_demo")
        assert_nothing_is_lost({**before, "evaluation_event": before["evaluation_event"] + 1}, counts(database))


AVOID = """
UPDATE evaluation_listednugget SET raw_importance = 'Must avoid', importance = 0
WHERE id IN (SELECT min(id) FROM evaluation_listednugget GROUP BY nugget_list_id)
"""
NOT_ASKED = """
UPDATE evaluation_listednugget SET extra = '{"argue": {"aggregator_type": "NOT"}}'
WHERE id = (SELECT max(id) FROM evaluation_listednugget)
"""
SAID = "SELECT code, message FROM evaluation_finding WHERE code = 'avoid_nugget' ORDER BY id"


@pytest.mark.django_db
def test_loaded_nuggets_to_avoid_are_held_out_after_an_upgrade(tmp_path: Path) -> None:
    with other_database(tmp_path) as database:
        fill_from(database, "demo-h")
        ask(database, AVOID)
        ask(database, NOT_ASKED)
        [(lists,)] = ask(database, "SELECT count(DISTINCT nugget_list_id) FROM evaluation_listednugget")
        before = ask(database, "SELECT revision FROM evaluation_campaign")
        manage(database, "migrate", "--verbosity", "0")
        held = ask(database, "SELECT count(*) FROM evaluation_listednugget WHERE avoid")
        found = ask(database, SAID)
        assert held == [(len(found),)] == [(lists + 1,)]
        assert all("must not be said" in message and "it is in no score" in message for _, message in found)
        [(payload,)] = ask(database, "SELECT payload FROM evaluation_event WHERE kind = 'nuggets.held_out'")
        assert (json.loads(payload) if isinstance(payload, str) else payload)["nuggets"] == lists + 1
        assert ask(database, "SELECT revision FROM evaluation_campaign") != before
        assert scores(database)["avoid_nuggets"] > 0


@pytest.mark.django_db
def test_a_topic_s_texts_and_language_get_their_fields_after_an_upgrade(tmp_path: Path) -> None:
    said = {"background": "I build gliders.", "lang": "ENG", "body": "Wings lift.", "year": 2025}
    with other_database(tmp_path) as database:
        fill_from(database, "demo-h")
        ask(database, f"UPDATE evaluation_topic SET extra = '{json.dumps(said)}' WHERE position = 1")  # noqa: S608
        manage(database, "migrate", "--verbosity", "0")
        columns = "background, article, language, problem_statement, extra"
        [row] = ask(database, f"SELECT {columns} FROM evaluation_topic WHERE position = 1")  # noqa: S608
        assert row[:4] == ("I build gliders.", "Wings lift.", "en", "")
        assert (json.loads(row[4]) if isinstance(row[4], str) else row[4]) == {"year": 2025}
