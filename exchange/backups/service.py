"""Taking a backup and putting one back: what holds for either database."""

import dataclasses
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from evaluation.append_only import install_triggers, missing_triggers
from evaluation.errors import Refused
from exchange.adoption import RETIRED_NAMES, is_of_before, missing_before
from exchange.backups import archive, postgresql, sqlite
from exchange.backups.archive import FORMAT, BackupManifest
from exchange.backups.ended import LEFT_OUT, GoodToken, openings

ENGINES: dict[str, ModuleType] = {"sqlite": sqlite, "postgresql": postgresql}
FILLED_BY_MIGRATIONS = {"django_migrations", "django_content_type", "auth_permission"}


@dataclass(frozen=True, slots=True)
class Restored:
    """Rows restored, migrations still to apply, and the tokens and accounts that became good again.

    `of_before`: the database has to be carried over by `adopt_database` instead of migrations.
    """

    manifest: BackupManifest
    waiting: list[str]
    of_before: bool = False
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
            rows, migrations = _engine().take(data)
            manifest = BackupManifest(
                format=FORMAT,
                engine=connection.vendor,
                server=_engine().server(),
                made_at=now,
                migrations=migrations,
                rows=rows,
                sha256=archive.checksum(data),
                size=data.stat().st_size,
            )
            archive.write_archive(path, data, manifest)
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
        found = _checked(path, data, from_elsewhere=from_elsewhere)
        if not replace and (held := _held()):
            raise Refused(
                "not_empty",
                f"The database is not empty: {held}. Everything in it would be lost; --replace says that it may "
                "be.",
            )
        before = openings()
        _engine().put_back(data)
    _check_restored(found.manifest)
    after = openings()
    reopened = (token for sha256, token in after.tokens.items() if sha256 not in before.tokens)
    opened = sorted(after.accounts - before.accounts) if before.accounts else []
    return dataclasses.replace(found, tokens=tuple(reopened), accounts=tuple(opened))


def _engine() -> ModuleType:
    return ENGINES[connection.vendor]


def _checked(path: Path, data: Path, *, from_elsewhere: bool) -> Restored:
    manifest = archive.read_manifest(path)
    if not from_elsewhere:
        archive.check_signature(path)
    if manifest.engine != connection.vendor:
        raise Refused(
            "other_engine", f"{path} is of a {manifest.engine} database, and this one is {connection.vendor}."
        )
    known = {f"{app}.{name}" for app, name in MigrationLoader(None).graph.nodes}
    _check_age(path, manifest)
    if newer := [name for name in manifest.migrations if name not in known | RETIRED_NAMES]:
        raise Refused(
            "newer",
            f"{path} was made by a newer version of Assay, which has {', '.join(newer[:3])}: upgrade Assay first.",
        )
    archive.unpack(path, manifest, data)
    rows = _engine().inspect(data)
    if rows is not None and rows != manifest.rows:
        raise archive.damaged(path, "its rows are not those it names")
    return Restored(manifest, sorted(known - {*manifest.migrations}), is_of_before({*manifest.migrations}))


def _check_age(path: Path, manifest: BackupManifest) -> None:
    applied = {*manifest.migrations}
    if is_of_before(applied) and (missing := missing_before(applied)):
        raise Refused(
            "too_old",
            f"{path} was made by a version of Assay that lacks {', '.join(missing[:3])}: restore it with that version, "
            "upgrade to the last one that has these migrations, and take a backup there.",
        )


def _held() -> str:
    # Migrations fill some tables themselves; rows of those are no reason to refuse.
    held = []
    with connection.cursor() as cursor:
        for table in sorted({*connection.introspection.table_names(cursor)} - FILLED_BY_MIGRATIONS):
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(table)}")  # noqa: S608
            if rows := cursor.fetchone()[0]:
                held.append(f"{rows:,} rows in {table}")
    more = f" and {len(held) - 3} more tables" if len(held) > 3 else ""
    return ", ".join(held[:3]) + more


def _check_restored(manifest: BackupManifest) -> None:
    """The same rows are there, and the logs are append-only."""
    with connection.cursor() as cursor:
        for table, rows in (manifest.rows | dict.fromkeys(manifest.rows.keys() & {*LEFT_OUT}, 0)).items():
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(table)}")  # noqa: S608
            if (found := cursor.fetchone()[0]) != rows:
                raise Refused("incomplete", f"{table} has {found} rows after the restore, not {rows}.")
    install_triggers()
    if missing := missing_triggers():
        raise Refused("no_triggers", f"The logs can be changed: {', '.join(missing)} could not be made.")
