"""PostgreSQL: `pg_dump` of one snapshot, and `pg_restore` into one transaction."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from django.db import connection, transaction

from evaluation.errors import Refused
from exchange.backups import ended

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
END_SESSIONS = """
RESET search_path;
DO $ended$ BEGIN {statements} END $ended$;
"""
WHERE_THERE = """
IF EXISTS (SELECT FROM information_schema.columns WHERE table_schema = current_schema()
    AND table_name = '{table}' AND column_name = '{column}') THEN {statement}; END IF;
"""
FORGET = """
SELECT 'DROP TABLE IF EXISTS ' || string_agg(format('%I.%I', schemaname, tablename), ', ') || ' CASCADE;'
FROM pg_tables WHERE schemaname = current_schema()
UNION ALL
SELECT format('DROP FUNCTION IF EXISTS %s CASCADE;', oid::regprocedure)
FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND proname LIKE '%\\_refuse'
AND prorettype = 'trigger'::regtype
"""


def server() -> str:
    connection.ensure_connection()
    major, minor = divmod(_version(), 10_000)
    return f"{major}.{minor}"


def take(data: Path) -> tuple[dict[str, int], list[str]]:
    """Dump the database into a file, without what no backup keeps; return its rows by table and its migrations.

    Rows are counted in the transaction whose snapshot `pg_dump` reads: what is counted is what is dumped.
    """
    program = _program("pg_dump")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute("SELECT pg_export_snapshot()")
        snapshot = cursor.fetchone()[0]
        left_out = [f"--exclude-table-data={table}" for table in ended.LEFT_OUT]
        _run([program, "--format=custom", "--compress=3", f"--snapshot={snapshot}", f"--file={data}", *left_out])
        cursor.execute("SELECT app, name FROM django_migrations ORDER BY id")
        migrations = [f"{app}.{name}" for app, name in cursor.fetchall()]
        return _rows() | dict.fromkeys(ended.LEFT_OUT, 0), migrations


def inspect(data: Path) -> None:
    # Nothing is loaded here, so rows can be counted only after the restore.
    _run([_program("pg_restore"), "--file=/dev/null", str(data)])


def put_back(data: Path) -> None:
    """Restore in one transaction: everything, or nothing on an error."""
    with connection.cursor() as cursor:
        cursor.execute(FORGET)
        forget = "\n".join(line for (line,) in cursor.fetchall() if line)
    connection.close()
    script = data.with_name("script.sql")
    _run([_program("pg_restore"), "--no-owner", "--no-privileges", f"--file={script}", str(data)])
    before = data.with_name("before.sql")
    before.write_text(f"SET lock_timeout = '{LOCK_TIMEOUT}';\n{forget}\n", encoding="utf-8")
    after = data.with_name("after.sql")
    after.write_text(_ending(), encoding="utf-8")
    psql = [_program("psql"), "--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1"]
    _run([*psql, "--output=/dev/null", f"--file={before}", f"--file={script}", f"--file={after}"])


def _ending() -> str:
    # A dump of an older version may lack a table or a column.
    each = [WHERE_THERE.format(**one._asdict()) for one in ended.STATEMENTS]
    return END_SESSIONS.format(statements="".join(each))


def _rows() -> dict[str, int]:
    names = sorted(connection.introspection.table_names())
    with connection.cursor() as cursor:
        found = {}
        for name in names:
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(name)}")  # noqa: S608
            found[name] = cursor.fetchone()[0]
    return found


def _version() -> int:
    raw: Any = connection
    found: int = raw.pg_version
    return found


def _program(name: str) -> str:
    """Return the newest of PostgreSQL's programs of that name that can talk to the server. Raises `Refused`."""
    major = _version() // 10_000
    places = [*Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), *filter(None, [shutil.which(name)])]
    versions = {str(place): _major_of(str(place)) for place in places}
    if not versions or max(versions.values()) < major:
        raise Refused(
            "no_program",
            f"{name} of PostgreSQL {major} or newer is needed; the newest here is of version "
            f"{max(versions.values(), default=0)}: install postgresql-client-{major}."
            if versions
            else f"{name} of PostgreSQL {major} or newer is needed: install postgresql-client-{major}.",
        )
    same = [place for place, version in versions.items() if version == major]
    return same[0] if same else max(versions, key=lambda place: versions[place])


def _major_of(program: str) -> int:
    output = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603
    found = re.search(r"\) (\d+)", output)
    return int(found[1]) if found else 0


def _run(command: list[str]) -> None:
    # The password goes by the environment: `ps` shows arguments to every user of the host.
    own = connection.settings_dict
    variables = {name: str(own[key]) for key, name in LIBPQ.items() if own.get(key)}
    variables |= {name: str(own["OPTIONS"][key]) for key, name in LIBPQ_OPTIONS.items() if own["OPTIONS"].get(key)}
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no reason given"]
        raise Refused("program_failed", f"{Path(command[0]).name}: {' '.join(lines[:3])}")
