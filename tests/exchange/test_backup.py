"""A backup holds every row of every table as it was at one moment, and comes back so; anything else is refused."""

import json
import sqlite3
import subprocess
import tarfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from threading import Thread
from typing import Any

import psycopg
import pytest
from django.db import connection, connections
from django.utils.timezone import now

from accounts.models import Cached, User
from accounts.session_store import hashed
from accounts.tokens import make_token
from api.models import IdempotencyKey
from assessor.models import Operation
from evaluation.models import Event
from exchange import backup
from exchange.backup import back_up
from exchange.files import new_folder
from loadtest.desk.judging_campaign import Extent, seat_judges
from loadtest.desk.judging_load import JudgingAssessor
from loadtest.desk.plan import Plan
from loadtest.servers.sessions import new_session
from tests.exchange.databases import ask, manage, other_database, tables
from tests.loadtest.in_process import InProcess
from tests.needed import POSTGRESQL
from tests.worlds.cast import make_user
from tests.worlds.imported import run

pytestmark = [
    pytest.mark.postgresql,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("transactional_db"),
]
LEFT_OUT = ("django_session", "accounts_cached", "api_idempotencykey")
CONSISTENT = "from loadtest.consistency import tell; tell()"
TOMORROW = now() + timedelta(days=1)
ANSWER = "an answer that was kept for a day"
Rows = dict[str, list[str]]


def every_row(address: str) -> Rows:
    """Return all rows of all tables of a database, each as the text of its values."""
    return {name: sorted(map(str, ask(address, f'SELECT * FROM "{name}"'))) for name in tables(address)}  # noqa: S608


def kept_rows(address: str) -> Rows:
    """Return the rows that a backup keeps. Epochs go up when one is restored, which ends every session."""
    rows = every_row(address)
    rows["accounts_user"] = sorted(map(str, ask(address, "SELECT id, username, password FROM accounts_user")))
    return {name: [] if name in LEFT_OUT else table_rows for name, table_rows in rows.items()}


def own_address() -> str:
    name = connection.settings_dict["NAME"]
    return f"sqlite:///{name}" if connection.vendor == "sqlite" else f"{POSTGRESQL.rpartition('/')[0]}/{name}"


def restored(file: Path, database: str, *more: str) -> str:
    done = manage(database, "restore", str(file), *more)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.fixture(autouse=True)
def _stored_files(settings: Any, tmp_path: Path) -> None:
    settings.FILES_DIR = tmp_path / "stored"


@pytest.fixture
def judges() -> list[JudgingAssessor]:
    """Three people at judging desks who give a label every two milliseconds, until they are stopped."""
    complaints, now = list[str](), time.monotonic()
    plan = Plan("", now + 60, complaints.append, complaints.append, now, every=0.002)
    seats = seat_judges(4, [Extent(answers=6, sentences=4, nuggets=6)] * 3)
    return [JudgingAssessor(seat, plan, number, InProcess) for number, seat in enumerate(seats[1:])]


@contextmanager
def at_work(judges: Sequence[JudgingAssessor]) -> Iterator[None]:
    def judge(assessor: JudgingAssessor) -> None:
        try:
            assessor.run()
        finally:
            connections.close_all()

    threads = [Thread(target=judge, args=(assessor,)) for assessor in judges]
    for thread in threads:
        thread.start()
    try:
        while not Operation.objects.exists():
            time.sleep(0.01)
        yield
    finally:
        judges[0].plan.stopped.set()
        for thread in threads:
            thread.join()


def test_a_backup_comes_back_with_every_row_of_every_table(judges: list[JudgingAssessor], tmp_path: Path) -> None:
    file = tmp_path / "assay.tar"
    Event.objects.create(kind="kept")
    manifest = back_up(file)
    assert file.stat().st_mode & 0o777 == 0o600
    with other_database(tmp_path) as other:
        restored(file, other)
        before = kept_rows(own_address())
        assert kept_rows(other) == before
        assert {name: len(rows) for name, rows in before.items()} == manifest.rows
        assert manifest.rows["evaluation_task"] == 12
        with pytest.raises((sqlite3.Error, psycopg.Error), match="append-only"):
            ask(other, "UPDATE evaluation_event SET kind = 'forged'")
    assert run("restore", str(file)).code == 1
    assert "rows in accounts_user" in run("restore", str(file)).err


def test_a_backup_takes_the_place_of_what_is_there_where_that_is_said(
    judges: list[JudgingAssessor], tmp_path: Path
) -> None:
    with other_database(tmp_path) as other:
        for number in range(2):
            file = tmp_path / f"{number}.tar"
            assert run("backup", str(file)).code == 0
            restored(file, other, *["--replace"][:number])
            assert kept_rows(other) == kept_rows(own_address())
            Event.objects.create(kind="later")


def test_a_backup_taken_while_people_work_has_no_half_operation(
    judges: list[JudgingAssessor], tmp_path: Path
) -> None:
    files = [tmp_path / f"{number}.tar" for number in range(3)]
    with at_work(judges):
        manifests = []
        for file in files:
            manifests.append(back_up(file))
            time.sleep(0.2)
    logged = [manifest.rows["assessor_operation"] for manifest in manifests]
    assert 0 < logged[0] < logged[-1] <= Operation.objects.count()
    with other_database(tmp_path) as other:
        restored(files[1], other)
        consistency = json.loads(manage(other, "shell", "--no-imports", "-c", CONSISTENT).stdout)
        assert consistency["violations"] == []
        assert consistency["rows"] == manifests[1].rows


def signed_in(name: str) -> str:
    key = new_session(make_user(name))
    Cached.objects.create(cache_key=f"attempts of {name}", value='"a kept count"', expires=TOMORROW)
    IdempotencyKey.objects.create(
        user=User.objects.get(username=name),
        key=name,
        sent="?",
        status=200,
        created_at=TOMORROW,
        body=ANSWER,
    )
    return key


def plain(file: Path, folder: Path) -> bytes:
    """Return the dump of a backup as statements or pages that can be searched."""
    with tarfile.open(file) as tar:
        tar.extract(backup.DATABASE, folder)
    dump = folder / backup.DATABASE
    if connection.vendor == "sqlite":
        return dump.read_bytes()
    return subprocess.run(
        [backup._program("pg_restore"), "--file=-", str(dump)], check=True, capture_output=True
    ).stdout


def test_a_backup_opens_nothing(tmp_path: Path) -> None:
    """Neither sessions nor kept answers are in it, not even in pages that deleted rows left free."""
    key, file = signed_in("olga"), tmp_path / "assay.tar"
    manifest = back_up(file)
    dump = plain(file, tmp_path)
    assert b"olga@example.org" in dump
    for secret in (key, hashed(key), ANSWER, "a kept count"):
        assert secret.encode() not in dump
    assert [manifest.rows[name] for name in LEFT_OUT] == [0, 0, 0]


def test_a_restored_database_has_no_session(tmp_path: Path) -> None:
    signed_in("olga")
    file = tmp_path / "assay.tar"
    back_up(file)
    with other_database(tmp_path) as other:
        assert "Every session is ended" in restored(file, other)
        assert [ask(other, f"SELECT count(*) FROM {name}") for name in LEFT_OUT] == [[(0,)]] * 3  # noqa: S608
        assert ask(other, "SELECT session_epoch FROM accounts_user") == [(1,)]


def test_stored_files_come_back_for_their_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, folder = new_folder()
    (folder / "0").write_text("an export", encoding="utf-8")
    (folder / "1.part").write_text("not yet whole", encoding="utf-8")
    file = tmp_path / "assay.tar"
    assert "1 stored files" in run("backup", str(file)).err
    monkeypatch.setenv("FILES_DIR", str(tmp_path / "restored"))
    with other_database(tmp_path) as other:
        restored(file, other)
    back = tmp_path / "restored" / name
    assert [path.name for path in back.iterdir()] == ["0"]
    assert (back / "0").read_text(encoding="utf-8") == "an export"
    assert [path.stat().st_mode & 0o777 for path in (back, back / "0")] == [0o700, 0o600]


def test_a_missing_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite needs no program")
    monkeypatch.setattr(backup, "PROGRAMS", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    refused = run("backup", str(tmp_path / "assay.tar"))
    assert refused.code == 1
    assert "pg_dump of PostgreSQL" in refused.err
    assert "install postgresql-client-" in refused.err


def test_tokens_that_are_good_again_are_named(tmp_path: Path) -> None:
    token = make_token(user=make_user("olga"), name="notebook", scopes=["read"], expires_at=TOMORROW)[0]
    make_user("carl")
    file = tmp_path / "assay.tar"
    back_up(file)
    with other_database(tmp_path) as other:
        assert f"{token.prefix}… of olga, notebook" in restored(file, other)  # nothing is known of before
        assert "good again" not in restored(file, other, "--replace")
        ask(other, f"UPDATE accounts_apitoken SET revoked_at = '{now().isoformat()}'")  # noqa: S608
        ask(other, "UPDATE accounts_user SET is_active = false WHERE username = 'carl'")
        output = restored(file, other, "--replace")
        assert f"{token.prefix}… of olga, notebook" in output
        assert "Accounts that are open again: carl." in output


def test_only_what_this_installation_signed_is_restored(tmp_path: Path) -> None:
    """A changed backup whose checksums fit, one without a signature, and one of another installation are refused."""
    Event.objects.create(kind="kept")
    file = tmp_path / "assay.tar"
    manifest = back_up(file)
    other_key = manage(own_address(), "restore", str(file), "--check", SECRET_KEY="another" * 10)
    with tarfile.open(file) as tar:
        assert tar.getnames() == ["manifest.json", "database"]
    changed = rewritten(file, made_at="2026-01-01T00:00:00+00:00")
    assert manifest.made_at != backup.read_manifest(changed).made_at
    refused = run("restore", str(changed), "--check")
    for code, message in ((refused.code, refused.err), (other_key.returncode, other_key.stderr)):
        assert code == 1
        assert "does not carry the signature of this installation's SECRET_KEY" in message
        assert "--from-elsewhere" in message
    assert run("restore", str(changed), "--check", "--from-elsewhere").code == 0
    with other_database(tmp_path) as other:
        assert manage(other, "restore", str(changed)).returncode == 1
        restored(changed, other, "--from-elsewhere")
        assert ask(other, "SELECT count(*) FROM evaluation_event WHERE kind = 'kept'") == [(1,)]


def rewritten(file: Path, data: bytes | None = None, **changes: Any) -> Path:
    manifest = backup.read_manifest(file).model_copy(update=changes)
    with tarfile.open(file) as tar:
        content = tar.extractfile(backup.DATABASE)
        assert content
        parts = {backup.MANIFEST: manifest.model_dump_json().encode(), backup.DATABASE: data or content.read()}
    changed = file.with_name("changed.tar")
    with tarfile.open(changed, "w") as tar:
        for name, part in parts.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(part)
            tar.addfile(entry, BytesIO(part))
    return changed


def test_what_is_no_whole_backup_of_this_database_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "assay.tar"
    manifest = back_up(file)
    other = {"sqlite": "postgresql", "postgresql": "sqlite"}[connection.vendor]
    assert run("restore", str(file), "--check").code == 0
    bad: dict[str, dict[str, Any]] = {
        "checksum": {"data": b"other pages"},
        "is of a": {"engine": other},
        "upgrade Assay first": {"migrations": [*manifest.migrations, "evaluation.9999_tomorrow"]},
        "reads form 1": {"format": 2},
    }
    for message, change in bad.items():
        refused = run("restore", str(rewritten(file, **change)), "--check", "--from-elsewhere")
        assert (refused.code, message in refused.err) == (1, True), refused.err
    half = tmp_path / "half.tar"
    half.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    for path in (half, tmp_path / "nothing.tar"):
        assert run("restore", str(path), "--check").code == 1
    assert run("backup", str(file)).code == 1
    assert "is there already" in run("backup", str(file)).err
    assert [leftover.name for leftover in tmp_path.glob(".assay*")] == []
