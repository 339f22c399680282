"""A database of before the desks' models moved is carried over with everything in it, and work goes on in it.

`tests/data/upgrades` has, made by the last version of before: the demo with work at its desks on both engines, what its
reports said, and its campaign packed into a file.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

from evaluation.models import Campaign
from exchange.adoption import DESK_MODELS, RETIRED
from tests.exchange.databases import ask, columns, fill, guards, indexes, manage, other_database, tables
from tests.worlds.imported import run

OLD = settings.BASE_DIR / "tests" / "data" / "upgrades"
PACKED = OLD / "before-reset.campaign.zip"
GROWING = {"django_migrations", "django_content_type", "auth_permission"}
"""Tables to which a migration adds."""
REPORTS = {
    "scores": ("scores", "--condition", "E/M"),
    "support": ("support", "--condition", "scratch"),
    "time": ("time",),
}

GOES_ON = """
from assessor.blind.desk import desk_state
from assessor.models import Operation
from evaluation.models import Event, Task
from evaluation.append_only import missing_triggers
for task in Task.objects.filter(opened_at__isnull=False):
    assert desk_state(task.public_id, task.assessor)["seq"] == Operation.objects.filter(task=task).count(), task
from jobs import queue
assert queue.anything_due("llm")
assert missing_triggers() == [], missing_triggers()
Event.objects.create(kind="after the upgrade")
print("goes on")
"""

both_engines = [pytest.mark.postgresql, pytest.mark.slow]


def managed(database: str, *words: str) -> str:
    """Run a command on a database, as an administrator would after an upgrade; it must succeed."""
    done = manage(database, *words, DEMO="1")
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def refused(database: str, *words: str) -> str:
    """Run a command that must not succeed; return why it did not."""
    done = manage(database, *words, DEMO="1")
    assert done.returncode == 1, done.stdout
    return done.stderr


def report(database: str, name: str) -> Any:
    words = ("report", *REPORTS[name], "--campaign", "river-study", "--format", "json")
    done = manage(database, *words)
    assert done.returncode == 0, done.stderr
    return _known_then(json.loads(done.stdout))


def _known_then(report: dict[str, Any]) -> dict[str, Any]:
    """Take out what reports did not have yet: the intervals of each run."""
    for row in report.get("runs", []):
        row.pop("intervals")
    return report


def counts(database: str) -> dict[str, int]:
    """How many rows each table has by today's name, but for those that migrations fill."""
    moved = {f"evaluation_{name.lower()}": f"assessor_{name.lower()}" for name in DESK_MODELS}
    named = [name for name in tables(database) if name not in GROWING]
    return {moved.get(name, name): ask(database, f"SELECT count(*) FROM {name}")[0][0] for name in named}  # noqa: S608


def fill_with_old(database: str) -> dict[str, int]:
    fill(database, OLD / f"before-reset.{connection.vendor}.sql.xz")
    return counts(database)


class TestAdoptDatabase:
    pytestmark = both_engines

    def test_is_built_as_a_new_one_with_every_row(self, tmp_path: Path) -> None:
        with other_database(tmp_path) as new, other_database(tmp_path) as database:
            managed(new, "migrate", "--verbosity", "0")
            added = dict.fromkeys(counts(new), 0)
            before = added | fill_with_old(database)
            assert all(before[f"assessor_{name.lower()}"] for name in DESK_MODELS)
            output = managed(database, "adopt_database")
            assert "every row is kept" in output
            assert "Run manage.py migrate next" in output
            assert "evaluation.0002_audits" in managed(database, "migrate", "--plan")
            managed(database, "migrate", "--verbosity", "0")
            assert counts(database) == before
            assert columns(database) == columns(new)
            assert guards(database) == guards(new)
            assert indexes(database) == indexes(new)
            kinds = "SELECT app_label, model FROM django_content_type"
            assert set(ask(database, kinds)) == set(ask(new, kinds))
            names = "SELECT app, name FROM django_migrations"
            assert set(ask(database, names)) == set(ask(new, names))

    def test_every_report_and_the_work_go_on(self, tmp_path: Path) -> None:
        reports = json.loads((OLD / "before-reset.reports.json").read_text("utf-8"))
        with other_database(tmp_path) as database:
            before = fill_with_old(database)
            managed(database, "adopt_database")
            assert {name: report(database, name) for name in REPORTS} == reports
            gaps = ask(database, "SELECT gap_answer FROM assessor_timesegment ORDER BY number")
            assert gaps == [("",), ("away",), ("",), ("reading",)]
            assert "goes on" in managed(database, "shell", "--no-imports", "-c", GOES_ON)
            assert "ann" in managed(database, "load_demo")
            assert counts(database) == before | {"evaluation_event": before["evaluation_event"] + 1}

    def test_a_plain_migrate_refuses_and_names_the_command(self, tmp_path: Path) -> None:
        with other_database(tmp_path) as database:
            before = fill_with_old(database)
            assert "manage.py adopt_database" in refused(database, "migrate")
            assert counts(database) == before
            managed(database, "adopt_database")
            assert "Nothing to do" in managed(database, "adopt_database")

    def test_an_older_one_is_refused_and_left_alone(self, tmp_path: Path) -> None:
        with other_database(tmp_path) as database:
            fill_with_old(database)
            ask(database, "DELETE FROM django_migrations WHERE name = '0003_told'")
            before = tables(database)
            assert "lacks jobs.0003_told" in refused(database, "adopt_database")
            assert tables(database) == before

    def test_it_ends_whole_or_not_at_all(self, tmp_path: Path) -> None:
        with other_database(tmp_path) as database:
            fill_with_old(database)
            ask(database, "CREATE TABLE assessor_timesegment (id integer)")
            before = tables(database), guards(database)
            assert manage(database, "adopt_database").returncode == 1
            assert (tables(database), guards(database)) == before


@pytest.mark.postgresql
@pytest.mark.slow
def test_a_backup_of_before_is_restored_and_adopted(tmp_path: Path) -> None:
    with other_database(tmp_path) as old, other_database(tmp_path) as here:
        before = fill_with_old(old)
        file = str(tmp_path / "before.tar")
        managed(old, "backup", file)
        assert "adopt_database carries it over" in managed(here, "restore", file)
        managed(here, "adopt_database")
        kept = {name: rows for name, rows in before.items() if name not in ("django_session", "accounts_cached")}
        assert counts(here).items() >= kept.items()
        ask(old, "DELETE FROM django_migrations WHERE name = '0003_told'")
        managed(old, "backup", str(tmp_path / "older.tar"))
        assert "lacks jobs.0003_told" in refused(here, "restore", "--replace", str(tmp_path / "older.tar"))


@pytest.mark.django_db
def test_a_campaign_packed_before_is_opened() -> None:
    done = run("import_campaign", str(PACKED))
    assert done.code == 0, done.err
    reports = json.loads((OLD / "before-reset.reports.json").read_text("utf-8"))
    copy = Campaign.objects.get(slug="river-study")
    for name in ("scores", "time"):
        words = ("report", *REPORTS[name], "--campaign", copy.slug, "--format", "json")
        figures = _known_then(run(*words).json())
        assert _without_names(figures) == _without_names(reports[name])


def _without_names(report: dict[str, Any]) -> dict[str, Any]:
    """Take the people's names out: a file brings those of their accounts, which others may have here."""
    for row in report.get("submissions", []):
        row.pop("assessor")
    return report


def test_no_migration_of_before_has_the_name_of_one_of_today() -> None:
    there = {path.stem for app in RETIRED for path in (settings.BASE_DIR / app / "migrations").glob("0*.py")}
    assert there.isdisjoint({name for names in RETIRED.values() for name in names})
