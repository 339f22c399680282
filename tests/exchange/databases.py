"""Databases beside that of the tests, of the same engine: made, filled, asked, and gone afterwards."""

import lzma
import os
import re
import sqlite3
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.db import connection
from psycopg import sql

from tests.needed import POSTGRESQL

FILE = "sqlite:///"
CONSTRAINT = re.compile(r'CONSTRAINT "(\w+)" ')
INDEX_NAME = re.compile(r"INDEX \S+ ON")
CASTS = re.compile(r"::(character varying|text)(\[\])?|[()]")


@contextmanager
def other_database(folder: Path) -> Iterator[str]:
    """Yield the address of an empty database of the same engine, which is gone afterwards."""
    name = f"assay_other_{uuid.uuid4().hex[:8]}"
    if connection.vendor == "sqlite":
        yield f"{FILE}{folder / name}.sqlite3"
        return
    with psycopg.connect(POSTGRESQL, autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield f"{POSTGRESQL.rpartition('/')[0]}/{name}"
        finally:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def manage(database: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command on a database, as an administrator does."""
    command = [sys.executable, "manage.py", *words]
    own = os.environ | {"DATABASE_URL": database} | environment
    return subprocess.run(command, cwd=settings.BASE_DIR, env=own, capture_output=True, text=True, check=False)


@contextmanager
def opened(database: str) -> Iterator[Any]:
    """Open a database without Django; what is changed is kept unless something fails."""
    is_file = database.startswith(FILE)
    found: Any = sqlite3.connect(database.removeprefix(FILE)) if is_file else psycopg.connect(database)
    with closing(found), found:
        yield found


def fill(database: str, dump: Path) -> None:
    """Run the compressed statements of a dump."""
    statements = lzma.decompress(dump.read_bytes()).decode()
    with opened(database) as there:
        there.executescript(statements) if database.startswith(FILE) else there.execute(statements)


def ask(database: str, statement: str) -> list[tuple[Any, ...]]:
    """Run one statement and return its rows."""
    with opened(database) as there:
        done = there.execute(statement)
        return list(done.fetchall()) if done.description else []


def tables(database: str) -> list[str]:
    """Return the names of all tables."""
    if database.startswith(FILE):
        listed = ask(database, "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'sqlite_sequence'")
    else:
        listed = ask(database, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    return sorted(name for (name,) in listed)


def columns(database: str) -> set[tuple[Any, ...]]:
    """Return each column of each table, with its type and whether it may be empty."""
    if not database.startswith(FILE):
        query = "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns"
        return set(ask(database, f"{query} WHERE table_schema = 'public'"))
    return {
        (table, name, kind, empty)
        for table in tables(database)
        for _, name, kind, empty, *_ in ask(database, f"PRAGMA table_info({table})")
    }


def guards(database: str) -> set[tuple[str, ...]]:
    """Return what keeps the rows in order: triggers and constraints, with what they say.

    Keys, and checks that a column brings along, are compared without their names: these are made up from the name that
    a table had first.
    """
    if database.startswith(FILE):
        triggers = ask(database, "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        return {*triggers, *_sqlite_constraints(database)}
    constraints = ask(
        database,
        "SELECT conrelid::regclass::text, CASE WHEN contype = 'c' AND conname NOT LIKE '%\\_check' THEN conname "
        "ELSE '' END, pg_get_constraintdef(oid) "
        "FROM pg_constraint WHERE connamespace = 'public'::regnamespace",
    )
    triggers = ask(database, "SELECT tgname::text, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal")
    functions = ask(
        database, "SELECT proname::text, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
    )
    # A dump writes other casts into a list of words than the statement had that made it.
    return {*((table, name, CASTS.sub("", rule)) for table, name, rule in constraints), *triggers, *functions}


def _sqlite_constraints(database: str) -> Iterator[tuple[str, ...]]:
    for table in tables(database):
        for _, _, other, column, to, *_ in ask(database, f"PRAGMA foreign_key_list({table})"):
            yield table, column, other, to
        [(statement,)] = ask(database, f"SELECT sql FROM sqlite_master WHERE name = '{table}'")  # noqa: S608
        for found in CONSTRAINT.finditer(statement):
            yield table, found[1], _in_parentheses(statement[found.end() :])


def _in_parentheses(text: str) -> str:
    """Return the text up to the parenthesis that closes its first one."""
    depth = 0
    for place, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == ")" and not depth:
            return text[: place + 1]
    raise ValueError(text)


def indexes(database: str) -> Counter[tuple[Any, ...]]:
    """Return each table's indexes by their content, again without names that Django made up."""
    if not database.startswith(FILE):
        rows = ask(database, "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'")
        return Counter((table, CASTS.sub("", INDEX_NAME.sub("INDEX ON", statement))) for table, statement in rows)
    return Counter(_sqlite_indexes(database))


def _sqlite_indexes(database: str) -> Iterator[tuple[Any, ...]]:
    for table in tables(database):
        for _, name, unique, _, partial in ask(database, f"PRAGMA index_list({table})"):
            on = tuple(column for _, _, column, *_ in ask(database, f"PRAGMA index_info({name})"))
            yield table, unique, partial, on
