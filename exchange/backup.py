"""The whole database in one file, taken while people work, and put back.

The file is a tar of a manifest, of its signature, and of the dump by the engine's own tools.
"""

import dataclasses
import gzip
import hmac
import io
import os
import re
import shutil
import sqlite3
import subprocess
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Literal, cast

from django.conf import settings
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.utils.crypto import salted_hmac
from django.utils.timezone import now
from pydantic import BaseModel, ConfigDict, ValidationError

from accounts.models import ApiToken, User
from evaluation.append_only import install_triggers, missing_triggers
from evaluation.errors import Refused
from exchange.files import digest_of, whole_file

LEFT_OUT = ("django_session", "accounts_cached", "api_idempotencykey")
"""Tables whose rows stay out of backups: sessions open accounts, and kept answers hold data in full."""


END_SESSIONS = "UPDATE accounts_user SET session_epoch = session_epoch + 1"
"""Run in each restored database: cookies from before the backup open nothing."""


@dataclass(frozen=True, slots=True)
class GoodToken:
    prefix: str
    name: str
    owner: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Openings:
    """Means of getting in: hashes of tokens, and names of open accounts."""

    tokens: dict[str, GoodToken]
    accounts: frozenset[str]


def openings() -> Openings:
    if User._meta.db_table not in connection.introspection.table_names():  # an empty database
        return Openings({}, frozenset())
    accounts = frozenset(User.objects.filter(is_active=True).values_list("username", flat=True))
    good = ApiToken.objects.filter(revoked_at=None, expires_at__gt=now(), user__is_active=True).order_by("pk")
    rows = good.values_list("sha256", "prefix", "name", "user__username", "expires_at")
    return Openings(
        {sha256: GoodToken(prefix, name, owner, until) for sha256, prefix, name, owner, until in rows}, accounts
    )


FORMAT = 1
MANIFEST, SIGNATURE, DATA = "manifest.json", "signature", "database"
PIECE = 1 << 20
WRITE_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


class BackupManifest(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    format: int
    engine: Literal["sqlite", "postgresql"]
    server: str
    made_at: str
    migrations: list[str]
    rows: dict[str, int]
    sha256: str
    size: int

    @property
    def total(self) -> int:
        return sum(self.rows.values())


def write_archive(path: Path, data: Path, manifest: BackupManifest) -> None:
    """Write a backup. It appears under its name only when it is whole and on the disk; only its owner may read it."""
    with whole_file(path) as part, open(os.open(part, WRITE_NEW, 0o600), "wb") as out:
        with tarfile.open(fileobj=out, mode="w") as tar:
            packed = manifest.model_dump_json(indent=1).encode()
            _add(tar, MANIFEST, io.BytesIO(packed), len(packed))
            signature = signature_of(packed, settings.SECRET_KEY).encode()
            _add(tar, SIGNATURE, io.BytesIO(signature), len(signature))
            with data.open("rb") as content:
                _add(tar, DATA, content, manifest.size)
        out.flush()
        os.fsync(out.fileno())
    with suppress(OSError):  # not every file system lets a folder be synchronised
        folder = os.open(path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


def _add(tar: tarfile.TarFile, name: str, content: IO[bytes], size: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    tar.addfile(entry, content)


def signature_of(manifest: bytes, key: str | bytes) -> str:
    # The manifest names the checksum of the dump, so its signature covers the dump too.
    return salted_hmac("exchange.backups", manifest, secret=key, algorithm="sha256").hexdigest()


def check_signature(path: Path) -> None:
    """Raise `Refused` unless this installation wrote the backup: the dump is run as it is, so it has to be ours."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    manifest, signature = _content(path, MANIFEST), b""
    with suppress(Refused):
        signature = _content(path, SIGNATURE)
    if not any(hmac.compare_digest(signature_of(manifest, key).encode(), signature) for key in keys):
        raise Refused(
            "not_ours",
            f"{path} does not carry the signature of this installation's SECRET_KEY: it was changed, or made "
            "by another installation. --from-elsewhere restores it all the same. "
            "Whoever made it then decides on every account and row, and may run commands here: use it only "
            "for a file of your own.",
        )


def _content(path: Path, name: str) -> bytes:
    with _member(path, name) as content:
        return content.read(PIECE)


def read_manifest(path: Path) -> BackupManifest:
    """Read what a backup holds. Raises `Refused` where it is none, or of a later form."""
    content = _content(path, MANIFEST)
    try:
        manifest = BackupManifest.model_validate_json(content)
    except ValidationError as error:
        raise damaged(path, "its manifest cannot be read") from error
    if manifest.format != FORMAT:
        raise Refused(
            "other_form", f"{path} has form {manifest.format}; this version of Assay reads form {FORMAT}."
        )
    return manifest


def unpack(path: Path, manifest: BackupManifest, data: Path) -> None:
    """Write the dump of a backup into a file. Raises `Refused` where it is not what was written then."""
    with _member(path, DATA) as content, data.open("wb") as out:
        shutil.copyfileobj(content, out, PIECE)
    if (digest_of(data), data.stat().st_size) != (manifest.sha256, manifest.size):
        raise damaged(path, "its checksum is not the one of its content")


def damaged(path: Path, why: str) -> Refused:
    return Refused("not_a_backup", f"{path} is not a backup that Assay made, or is damaged: {why}.")


@contextmanager
def _member(path: Path, name: str) -> Iterator[IO[bytes]]:
    """Open a part of a backup. Raises `Refused` where that cannot be done, also in the middle of reading."""
    try:
        with tarfile.open(path, mode="r:") as tar:
            content = tar.extractfile(name)
            if content is None:
                raise KeyError(name)
            with content:
                yield content
    except (tarfile.TarError, KeyError, EOFError) as error:
        raise damaged(path, f"it has no whole {name}") from error
    except OSError as error:
        raise Refused("cannot_read", f"{path}: {error.strerror or error}") from error


def compress(source: Path, target: Path) -> None:
    # Level 3: quickly rather than tightly.
    with source.open("rb") as content, gzip.open(target, "wb", compresslevel=3) as out:
        shutil.copyfileobj(content, out, PIECE)


def decompress(source: Path, target: Path) -> None:
    with gzip.open(source, "rb") as content, target.open("wb") as out:
        shutil.copyfileobj(content, out, PIECE)


class SqliteTools:
    """SQLite's online backup: one state, however many people write meanwhile."""

    def server(self) -> str:
        return sqlite3.sqlite_version

    def take(self, data: Path) -> tuple[dict[str, int], list[str]]:
        """Copy the database into a file; return its rows by table and its migrations."""
        copy = data.with_name("copy.sqlite3")
        with closing(sqlite3.connect(copy)) as target:
            self._own().backup(target)  # in one step: in pieces it would begin again whenever somebody writes
            target.execute("PRAGMA journal_mode=DELETE")  # one file, whole in itself
            for table in LEFT_OUT:
                target.execute(f"DELETE FROM {table}")  # noqa: S608  # constants
            target.commit()
            target.execute("VACUUM")  # deleted rows stay readable in the pages that they left
            self._check(target)
            applied = target.execute("SELECT app, name FROM django_migrations ORDER BY id")
            contents = self._rows(target), [f"{app}.{name}" for app, name in applied]
        compress(copy, data)
        copy.unlink()
        return contents

    def inspect(self, data: Path) -> dict[str, int]:
        copy = self._unfolded(data)
        with closing(sqlite3.connect(copy)) as database:
            self._check(database)
            return self._rows(database)

    def put_back(self, data: Path) -> None:
        """Restore in one transaction, which other processes see at once or not at all."""
        copy = self._unfolded(data)
        with closing(sqlite3.connect(copy)) as source:
            source.execute(END_SESSIONS)
            source.commit()
            source.backup(self._own())
        connection.close()

    def _own(self) -> sqlite3.Connection:
        connection.ensure_connection()
        return cast(sqlite3.Connection, connection.connection)

    def _unfolded(self, data: Path) -> Path:
        copy = data.with_name("copy.sqlite3")
        if not copy.exists():
            decompress(data, copy)
        return copy

    def _check(self, database: sqlite3.Connection) -> None:
        report = database.execute("PRAGMA integrity_check(3)").fetchall()
        if report != [("ok",)]:
            raise Refused("damaged", f"SQLite finds the database damaged: {report[0][0]}")

    def _rows(self, database: sqlite3.Connection) -> dict[str, int]:
        listed = database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
        names = sorted(name for (name,) in listed)
        return {name: database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names}  # noqa: S608


LOCK_TIMEOUT = "60s"
LIBPQ = {"HOST": "PGHOST", "PORT": "PGPORT", "USER": "PGUSER", "PASSWORD": "PGPASSWORD", "NAME": "PGDATABASE"}
LIBPQ_OPTIONS = {
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "sslcert": "PGSSLCERT",
    "sslkey": "PGSSLKEY",
    "service": "PGSERVICE",
    "passfile": "PGPASSFILE",
}
FORGET = """
SELECT 'DROP TABLE IF EXISTS ' || string_agg(format('%I.%I', schemaname, tablename), ', ') || ' CASCADE;'
FROM pg_tables WHERE schemaname = current_schema()
UNION ALL
SELECT format('DROP FUNCTION IF EXISTS %s CASCADE;', oid::regprocedure)
FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND proname LIKE '%\\_refuse'
AND prorettype = 'trigger'::regtype
"""


class PostgresqlTools:
    """`pg_dump` of one snapshot, and `pg_restore` into one transaction."""

    def server(self) -> str:
        connection.ensure_connection()
        major, minor = divmod(cast(Any, connection).pg_version, 10_000)
        return f"{major}.{minor}"

    def take(self, data: Path) -> tuple[dict[str, int], list[str]]:
        """Dump the database into a file, without what no backup keeps; return its rows by table and its migrations.

        Rows are counted in the transaction whose snapshot `pg_dump` reads: what is counted is what is dumped.
        """
        program = self._program("pg_dump")
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            cursor.execute("SELECT pg_export_snapshot()")
            snapshot = cursor.fetchone()[0]
            left_out = [f"--exclude-table-data={table}" for table in LEFT_OUT]
            self._run(
                [program, "--format=custom", "--compress=3", f"--snapshot={snapshot}", f"--file={data}", *left_out]
            )
            cursor.execute("SELECT app, name FROM django_migrations ORDER BY id")
            migrations = [f"{app}.{name}" for app, name in cursor.fetchall()]
            return count_rows(connection.introspection.table_names()) | dict.fromkeys(LEFT_OUT, 0), migrations

    def inspect(self, data: Path) -> None:
        # Nothing is loaded here, so rows can be counted only after the restore.
        self._run([self._program("pg_restore"), "--file=/dev/null", str(data)])

    def put_back(self, data: Path) -> None:
        """Restore in one transaction: everything, or nothing on an error."""
        with connection.cursor() as cursor:
            cursor.execute(FORGET)
            forget = "\n".join(line for (line,) in cursor.fetchall() if line)
        connection.close()
        script = data.with_name("script.sql")
        self._run([self._program("pg_restore"), "--no-owner", "--no-privileges", f"--file={script}", str(data)])
        before = data.with_name("before.sql")
        before.write_text(f"SET lock_timeout = '{LOCK_TIMEOUT}';\n{forget}\n", encoding="utf-8")
        after = data.with_name("after.sql")
        after.write_text(f"RESET search_path;\n{END_SESSIONS};\n", encoding="utf-8")
        psql = [self._program("psql"), "--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1"]
        self._run([*psql, "--output=/dev/null", f"--file={before}", f"--file={script}", f"--file={after}"])

    def _program(self, name: str) -> str:
        """Return the newest of PostgreSQL's programs of that name that can talk to the server. Raises `Refused`."""
        major: int = cast(Any, connection).pg_version // 10_000
        places = [*map(str, Path("/usr/lib/postgresql").glob(f"*/bin/{name}")), shutil.which(name)]
        versions = {place: self._major_of(place) for place in places if place}
        if not versions or max(versions.values()) < major:
            newest = f"; the newest here is of version {max(versions.values())}" if versions else ""
            needed = f"{name} of PostgreSQL {major} or newer is needed{newest}: install postgresql-client-{major}."
            raise Refused("no_program", needed)
        same = [place for place, version in versions.items() if version == major]
        return same[0] if same else max(versions, key=lambda place: versions[place])

    def _major_of(self, program: str) -> int:
        output = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603
        version = re.search(r"\) (\d+)", output)
        return int(version[1]) if version else 0

    def _run(self, command: list[str]) -> None:
        # The password goes by the environment: `ps` shows arguments to every user of the host.
        own = connection.settings_dict
        variables = {name: str(own[key]) for key, name in LIBPQ.items() if own.get(key)}
        variables |= {
            name: str(own["OPTIONS"][key]) for key, name in LIBPQ_OPTIONS.items() if own["OPTIONS"].get(key)
        }
        done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no reason given"]
            raise Refused("program_failed", f"{Path(command[0]).name}: {' '.join(lines[:3])}")


FILLED_BY_MIGRATIONS = {"django_migrations", "django_content_type", "auth_permission"}


@dataclass(frozen=True, slots=True)
class Restored:
    """Rows restored, migrations still to apply, and the tokens and accounts that became good again."""

    manifest: BackupManifest
    waiting: list[str]
    tokens: tuple[GoodToken, ...] = ()
    accounts: tuple[str, ...] = ()


def default_path() -> Path:
    folder: Path = settings.VAR_DIR / "backups"
    folder.mkdir(exist_ok=True)
    return folder / f"assay-{datetime.now(UTC):%Y%m%d-%H%M%S}.tar"


def back_up(path: Path) -> BackupManifest:
    """Write the database as it is at one moment into a file. Nobody who works waits for it.

    Raises `Refused` where the file is there already or cannot be written.
    """
    if path.exists():
        raise Refused("is_there", f"{path} is there already; a backup is never written over another.")
    try:
        with TemporaryDirectory(prefix=".assay-backup-", dir=path.parent) as folder:
            data = Path(folder) / "data"
            now = datetime.now(UTC).isoformat(timespec="seconds")
            rows, migrations = _tools().take(data)
            manifest = BackupManifest(
                format=FORMAT,
                engine=connection.vendor,
                server=_tools().server(),
                made_at=now,
                migrations=migrations,
                rows=rows,
                sha256=digest_of(data),
                size=data.stat().st_size,
            )
            write_archive(path, data, manifest)
    except OSError as error:
        raise Refused("cannot_write", f"{path}: {error.strerror or error}") from error
    return manifest


def check(path: Path, *, from_elsewhere: bool = False) -> Restored:
    """Check a backup as far as that goes without touching the database. Raises `Refused` with what is wrong."""
    with TemporaryDirectory(prefix="assay-check-") as folder:
        return _checked(path, Path(folder) / "data", from_elsewhere=from_elsewhere)


def restore(path: Path, *, replace: bool, from_elsewhere: bool = False) -> Restored:
    """Make the database what it was when the backup was taken, with every session ended.

    `from_elsewhere`: a backup that this installation did not sign is restored too.

    Raises `Refused`, with the database as it was, where the backup is damaged, of another engine or of a newer version
    of Assay, or where the database holds anything and nobody said that it may go.
    """
    with TemporaryDirectory(prefix="assay-restore-") as folder:
        data = Path(folder) / "data"
        restored = _checked(path, data, from_elsewhere=from_elsewhere)
        if not replace and (held := _held()):
            raise Refused(
                "not_empty",
                f"The database is not empty: {held}. Everything in it would be lost; --replace says that it may "
                "be.",
            )
        before = openings()
        _tools().put_back(data)
    _check_restored(restored.manifest)
    after = openings()
    reopened = (token for sha256, token in after.tokens.items() if sha256 not in before.tokens)
    opened = sorted(after.accounts - before.accounts) if before.accounts else []
    return dataclasses.replace(restored, tokens=tuple(reopened), accounts=tuple(opened))


def _tools() -> SqliteTools | PostgresqlTools:
    return SqliteTools() if connection.vendor == "sqlite" else PostgresqlTools()


def _checked(path: Path, data: Path, *, from_elsewhere: bool) -> Restored:
    manifest = read_manifest(path)
    if not from_elsewhere:
        check_signature(path)
    if manifest.engine != connection.vendor:
        raise Refused(
            "other_engine", f"{path} is of a {manifest.engine} database, and this one is {connection.vendor}."
        )
    migrations = {f"{app}.{name}" for app, name in MigrationLoader(None).graph.nodes}
    applied = {*manifest.migrations}
    if newer := [name for name in manifest.migrations if name not in migrations]:
        raise Refused(
            "newer",
            f"{path} was made by a newer version of Assay, which has {', '.join(newer[:3])}: upgrade Assay first.",
        )
    unpack(path, manifest, data)
    rows = _tools().inspect(data)
    if rows is not None and rows != manifest.rows:
        raise damaged(path, "its rows are not those it names")
    return Restored(manifest, sorted(migrations - applied))


def count_rows(tables: Iterable[str]) -> dict[str, int]:
    counts = {}
    with connection.cursor() as cursor:
        for table in sorted(tables):
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(table)}")  # noqa: S608
            counts[table] = cursor.fetchone()[0]
    return counts


def _held() -> str:
    # Migrations fill some tables themselves; rows of those are no reason to refuse.
    counts = count_rows({*connection.introspection.table_names()} - FILLED_BY_MIGRATIONS)
    held = [f"{rows:,} rows in {table}" for table, rows in counts.items() if rows]
    more = f" and {len(held) - 3} more tables" if len(held) > 3 else ""
    return ", ".join(held[:3]) + more


def _check_restored(manifest: BackupManifest) -> None:
    """The same rows are there, and the logs are append-only."""
    for table, rows in count_rows(manifest.rows).items():
        if rows != manifest.rows[table]:
            raise Refused("incomplete", f"{table} has {rows} rows after the restore, not {manifest.rows[table]}.")
    install_triggers()
    if missing := missing_triggers():
        raise Refused("no_triggers", f"The logs can be changed: {', '.join(missing)} could not be made.")
