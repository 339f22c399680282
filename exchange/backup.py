"""The whole database and the stored files in one file, taken while people work, and put back.

The file is a tar of a manifest, of the dump (`VACUUM INTO` of SQLite, `pg_dump` of PostgreSQL) and of the stored files.
The manifest has a checksum of each, and an HMAC.
"""

import dataclasses
import hmac
import os
import shutil
import sqlite3
import subprocess
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Annotated, Any, Literal, cast

from django.conf import settings
from django.db import connection, transaction
from django.db.backends.postgresql.client import DatabaseClient
from django.db.migrations.loader import MigrationLoader
from django.utils.crypto import salted_hmac
from django.utils.timezone import now
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from accounts.models import ApiToken, User
from evaluation.append_only import install_triggers, missing_triggers
from evaluation.errors import Refused
from exchange.files import digest_of, folder_of, whole_file, writing

LEFT_OUT = ("django_session", "accounts_cached", "api_idempotencykey")
"""Tables whose rows stay out of backups: sessions open accounts, and kept answers hold data in full."""
END_SESSIONS = "UPDATE accounts_user SET session_epoch = session_epoch + 1"
"""Run in each restored database: cookies from before the backup open nothing."""
FILLED_BY_MIGRATIONS = {"django_migrations", "django_content_type", "auth_permission"}
FORMAT = 1
MANIFEST, DATABASE, STORED = "manifest.json", "database", "files"
LONGEST_MANIFEST = 64_000_000
PACKING = 3
"""Level of compression: quickly rather than tightly."""


class BackupManifest(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    format: int
    engine: Literal["sqlite", "postgresql"]
    made_at: str
    migrations: list[str]
    rows: dict[str, int]
    sha256: dict[Annotated[str, StringConstraints(pattern=r"^(database|files/[\w-]+/\d+)$")], str]
    hmac: str = ""

    @property
    def total(self) -> int:
        return sum(self.rows.values())

    def hmac_under(self, key: str | bytes) -> str:
        # The manifest names the checksum of the dump, so its signature covers the dump too.
        content = self.model_dump_json(exclude={"hmac"})
        return salted_hmac("exchange.backups", content, secret=key, algorithm="sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class Restored:
    """Rows restored, migrations still to apply, and the tokens and accounts that became good again."""

    manifest: BackupManifest
    waiting: list[str]
    tokens: list[ApiToken] = field(default_factory=list)
    accounts: list[str] = field(default_factory=list)


def default_path() -> Path:
    folder: Path = settings.VAR_DIR / "backups"
    folder.mkdir(exist_ok=True)
    return folder / f"assay-{datetime.now(UTC):%Y%m%d-%H%M%S}.tar"


def back_up(path: Path) -> BackupManifest:
    """Write the database as it is at one moment, and the stored files, into a file. Nobody who works waits for it.

    Raises `Refused` where the file is there already or cannot be written.
    """
    if path.exists():
        raise Refused("is_there", f"{path} is there already; a backup is never written over another.")
    with writing(path), TemporaryDirectory(prefix=".assay-backup-", dir=path.parent) as folder:
        return _write(path, Path(folder))


def _write(path: Path, folder: Path) -> BackupManifest:
    made_at = datetime.now(UTC).isoformat(timespec="seconds")
    rows, migrations = _engine().take(folder / DATABASE)
    _copy_stored(folder)
    manifest = BackupManifest(
        format=FORMAT,
        engine=connection.vendor,
        made_at=made_at,
        migrations=migrations,
        rows=rows,
        sha256=_digests(folder),
    )
    manifest = manifest.model_copy(update={"hmac": manifest.hmac_under(settings.SECRET_KEY)})
    (folder / MANIFEST).write_text(manifest.model_dump_json(indent=1), encoding="utf-8")
    # It appears under its name only when it is whole and on the disk; only its owner may read it.
    with whole_file(path) as part, open(os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
        with tarfile.open(fileobj=out, mode="w:gz", compresslevel=PACKING) as tar:
            for name in (MANIFEST, *manifest.sha256):
                tar.add(folder / name, name)
        out.flush()
        os.fsync(out.fileno())
    return manifest


def _copy_stored(folder: Path) -> None:
    for file in Path(settings.FILES_DIR).glob("*/*"):
        if file.name.isdigit():  # others are being written
            copy = folder / STORED / file.parent.name / file.name
            copy.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # it was taken away just now
                shutil.copyfile(file, copy)


def _digests(folder: Path) -> dict[str, str]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): digest_of(file) for file in files}


def check(path: Path, *, from_elsewhere: bool = False) -> Restored:
    """Check a backup as far as that goes without touching the database. Raises `Refused` with what is wrong."""
    with TemporaryDirectory(prefix="assay-check-") as folder:
        return _unpacked(path, Path(folder), from_elsewhere=from_elsewhere)


def restore(path: Path, *, replace: bool, from_elsewhere: bool = False) -> Restored:
    """Make the database what it was when the backup was taken, with every session ended; put stored files back.

    `from_elsewhere`: a backup that this installation did not sign is restored too.

    Raises `Refused`, with the database as it was, where the backup is damaged, of another engine or of a newer version
    of Assay, or where the database holds anything and nobody said that it may go.
    """
    with TemporaryDirectory(prefix="assay-restore-") as name:
        folder = Path(name)
        restored = _unpacked(path, folder, from_elsewhere=from_elsewhere)
        if not replace and (held := _held()):
            raise Refused(
                "not_empty",
                f"The database is not empty: {held}. Everything in it would be lost; --replace says that it may "
                "be.",
            )
        tokens, accounts = _openings()
        _engine().put_back(folder / DATABASE)
        for file in folder.glob(f"{STORED}/*/*"):
            target = folder_of(file.parent.name)
            target.mkdir(parents=True, mode=0o700, exist_ok=True)
            shutil.copyfile(file, target / file.name)
            (target / file.name).chmod(0o600)
    _check_restored(restored.manifest)
    tokens_now, accounts_now = _openings()
    good_again = [token for sha256, token in tokens_now.items() if sha256 not in tokens]
    open_again = sorted(accounts_now - accounts) if accounts else []
    return dataclasses.replace(restored, tokens=good_again, accounts=open_again)


def _openings() -> tuple[dict[str, ApiToken], set[str]]:
    """Return the means of getting in: tokens by their hashes, and names of open accounts."""
    if User._meta.db_table not in connection.introspection.table_names():  # an empty database
        return {}, set()
    good = ApiToken.objects.filter(revoked_at=None, expires_at__gt=now(), user__is_active=True).order_by("pk")
    tokens = {token.sha256: token for token in good.select_related("user")}
    return tokens, {*User.objects.filter(is_active=True).values_list("username", flat=True)}


def read_manifest(path: Path) -> BackupManifest:
    """Read what a backup holds. Raises `Refused` where it is none, or of a later form."""
    with _opened(path) as tar:
        return _manifest_of(path, tar)


def _unpacked(path: Path, folder: Path, *, from_elsewhere: bool) -> Restored:
    """Check a backup, and write its dump and stored files into a folder."""
    with _opened(path) as tar:
        manifest = _manifest_of(path, tar)
        if not from_elsewhere:
            _check_signature(path, manifest)
        migrations = _check_fits(path, manifest)
        for entry in tar:
            content = tar.extractfile(entry)
            if content and entry.name in manifest.sha256:
                (folder / entry.name).parent.mkdir(parents=True, exist_ok=True)
                with content, (folder / entry.name).open("wb") as out:
                    shutil.copyfileobj(content, out)
    if _digests(folder) != manifest.sha256:
        raise _damaged(path, "its checksums are not those of its content")
    rows = _engine().inspect(folder / DATABASE)
    if rows is not None and rows != manifest.rows:
        raise _damaged(path, "its rows are not those it names")
    return Restored(manifest, sorted(migrations - {*manifest.migrations}))


@contextmanager
def _opened(path: Path) -> Iterator[tarfile.TarFile]:
    """Open a backup. Raises `Refused` where that cannot be done, also in the middle of reading."""
    try:
        with tarfile.open(path) as tar:
            yield tar
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise _damaged(path, "it cannot be unpacked") from error
    except OSError as error:
        raise Refused("cannot_read", f"{path}: {error.strerror or error}") from error


def _manifest_of(path: Path, tar: tarfile.TarFile) -> BackupManifest:
    first = tar.next()
    content = tar.extractfile(first) if first and first.name == MANIFEST else None
    try:
        manifest = BackupManifest.model_validate_json(content.read(LONGEST_MANIFEST) if content else b"")
    except ValidationError as error:
        raise _damaged(path, "its manifest cannot be read") from error
    if manifest.format != FORMAT:
        raise Refused(
            "other_form", f"{path} has form {manifest.format}; this version of Assay reads form {FORMAT}."
        )
    return manifest


def _check_signature(path: Path, manifest: BackupManifest) -> None:
    """Raise `Refused` unless this installation wrote the backup: the dump is run as it is, so it has to be ours."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    if not any(hmac.compare_digest(manifest.hmac_under(key).encode(), manifest.hmac.encode()) for key in keys):
        raise Refused(
            "not_ours",
            f"{path} does not carry the signature of this installation's SECRET_KEY: it was changed, or made "
            "by another installation. --from-elsewhere restores it all the same. "
            "Whoever made it then decides on every account and row, and may run commands here: use it only "
            "for a file of your own.",
        )


def _check_fits(path: Path, manifest: BackupManifest) -> set[str]:
    """Return this version's migrations. Raises `Refused` for a backup of another engine or a newer version."""
    if manifest.engine != connection.vendor:
        raise Refused(
            "other_engine", f"{path} is of a {manifest.engine} database, and this one is {connection.vendor}."
        )
    migrations = {f"{app}.{name}" for app, name in MigrationLoader(None).graph.nodes}
    if newer := [name for name in manifest.migrations if name not in migrations]:
        raise Refused(
            "newer",
            f"{path} was made by a newer version of Assay, which has {', '.join(newer[:3])}: upgrade Assay first.",
        )
    return migrations


def _damaged(path: Path, why: str) -> Refused:
    return Refused("not_a_backup", f"{path} is not a backup that Assay made, or is damaged: {why}.")


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


class Sqlite:
    """`VACUUM INTO`: one state, however many people write meanwhile."""

    def take(self, dump: Path) -> tuple[dict[str, int], list[str]]:
        """Copy the database into a file; return its rows by table and its migrations."""
        with connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [str(dump)])
        with closing(sqlite3.connect(dump)) as database:
            database.execute("PRAGMA secure_delete = ON")  # deleted rows stay readable in the pages that they left
            for table in LEFT_OUT:
                database.execute(f"DELETE FROM {table}")  # noqa: S608  # constants
            database.commit()
            applied = database.execute("SELECT app, name FROM django_migrations ORDER BY id")
            migrations = [f"{app}.{name}" for app, name in applied]
        return self.inspect(dump), migrations

    def inspect(self, dump: Path) -> dict[str, int]:
        """Return the rows of each table of a sound database. Raises `Refused` where it is damaged."""
        with closing(sqlite3.connect(dump)) as database:
            report = database.execute("PRAGMA integrity_check(3)").fetchall()
            if report != [("ok",)]:
                raise Refused("damaged", f"SQLite finds the database damaged: {report[0][0]}")
            names = database.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
            ).fetchall()
            counted = {name: database.execute(f'SELECT count(*) FROM "{name}"') for (name,) in names}  # noqa: S608
            return {name: rows.fetchone()[0] for name, rows in counted.items()}

    def put_back(self, dump: Path) -> None:
        """Restore in one transaction, which other processes see at once or not at all."""
        connection.ensure_connection()
        with closing(sqlite3.connect(dump)) as source:
            source.execute(END_SESSIONS)
            source.commit()
            source.backup(cast(sqlite3.Connection, connection.connection))
        connection.close()


LOCK_TIMEOUT = "60s"
PROGRAMS = "/usr/lib/postgresql/{}/bin"
"""Debian has those of each version in a folder of its own."""
FORGET = """
SELECT 'DROP TABLE IF EXISTS ' || string_agg(format('%I.%I', schemaname, tablename), ', ') || ' CASCADE;'
FROM pg_tables WHERE schemaname = current_schema()
UNION ALL
SELECT format('DROP FUNCTION IF EXISTS %s CASCADE;', oid::regprocedure)
FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND proname LIKE '%\\_refuse'
AND prorettype = 'trigger'::regtype
"""


class Postgresql:
    """`pg_dump` of one snapshot, and `pg_restore` into one transaction."""

    def take(self, dump: Path) -> tuple[dict[str, int], list[str]]:
        """Dump the database into a file, without what no backup keeps; return its rows by table and its migrations.

        Rows are counted in the transaction whose snapshot `pg_dump` reads: what is counted is what is dumped.
        """
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            cursor.execute("SELECT pg_export_snapshot()")
            snapshot = f"--snapshot={cursor.fetchone()[0]}"
            left_out = [f"--exclude-table-data={table}" for table in LEFT_OUT]
            form = ["--format=custom", "--compress=0"]  # the whole file is compressed
            _run("pg_dump", *form, snapshot, f"--file={dump}", *left_out, *_address()[0])
            cursor.execute("SELECT app, name FROM django_migrations ORDER BY id")
            migrations = [f"{app}.{name}" for app, name in cursor.fetchall()]
            return count_rows(connection.introspection.table_names()) | dict.fromkeys(LEFT_OUT, 0), migrations

    def inspect(self, dump: Path) -> None:
        # Nothing is loaded here, so rows can be counted only after the restore.
        _run("pg_restore", "--file=/dev/null", str(dump))

    def put_back(self, dump: Path) -> None:
        """Restore in one transaction: everything, or nothing on an error."""
        with connection.cursor() as cursor:
            cursor.execute(FORGET)
            forget = "\n".join(line for (line,) in cursor.fetchall() if line)
        connection.close()
        script = dump.with_name("script.sql")
        with script.open("w", encoding="utf-8") as out:
            print(f"SET lock_timeout = '{LOCK_TIMEOUT}';\n{forget}", file=out, flush=True)
            _run("pg_restore", "--no-owner", "--no-privileges", "--file=-", str(dump), out=out)
        with script.open("a", encoding="utf-8") as out:
            print(f"RESET search_path;\n{END_SESSIONS};", file=out)
        words = ["--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1", "--output=/dev/null"]
        _run("psql", *words, f"--file={script}", *_address()[0])


def _engine() -> Sqlite | Postgresql:
    return Sqlite() if connection.vendor == "sqlite" else Postgresql()


def _address() -> tuple[list[str], dict[str, str]]:
    """Return the words and variables with which PostgreSQL's programs reach the database, as `dbshell` does."""
    words, variables = DatabaseClient.settings_to_cmd_args_env(connection.settings_dict, [])
    return words[1:], variables or {}


def _run(name: str, *words: str, out: IO[str] | None = None) -> None:
    program = _program(name)
    variables = os.environ | _address()[1]
    done = subprocess.run(  # noqa: S603
        [program, *words], env=variables, stdout=out, stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no reason given"]
        raise Refused("program_failed", f"{name}: {' '.join(lines[:3])}")


def _program(name: str) -> str:
    major = cast(Any, connection).pg_version // 10_000
    places = os.pathsep.join([PROGRAMS.format(major), os.environ.get("PATH", os.defpath)])
    program = shutil.which(name, path=places)
    if not program:
        raise Refused(
            "no_program",
            f"{name} of PostgreSQL {major} is not on this machine: install postgresql-client-{major}.",
        )
    return program
