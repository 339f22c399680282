"""Databases beside that of the tests, of the same engine: made, asked, and gone afterwards."""

import os
import sqlite3
import subprocess
import sys
import uuid
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


def ask(database: str, statement: str) -> list[tuple[Any, ...]]:
    with opened(database) as there:
        done = there.execute(statement)
        return list(done.fetchall()) if done.description else []


def tables(database: str) -> list[str]:
    if database.startswith(FILE):
        listed = ask(database, "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'sqlite_sequence'")
    else:
        listed = ask(database, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    return sorted(name for (name,) in listed)
