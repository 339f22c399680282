"""A database of the benchmark's own, gone when it is over."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

NAME = "assay_bench"
ENGINES = ("SQLite", "PostgreSQL")


@contextmanager
def scratch_database() -> Iterator[str]:
    """Yield the URL of a new, empty database: on the PostgreSQL server of DATABASE_URL, else a SQLite file."""
    url = os.environ.get("DATABASE_URL", "")
    if not url.startswith("postgres"):
        with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
            yield f"sqlite:///{Path(folder) / 'bench.sqlite3'}"
        return
    _on_server(url, "CREATE DATABASE {}")
    try:
        yield urlsplit(url)._replace(path=f"/{NAME}").geturl()
    finally:
        _on_server(url, "DROP DATABASE {} WITH (FORCE)")


def _on_server(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        try:
            connection.execute(sql.SQL(statement).format(sql.Identifier(NAME)))
        except psycopg.errors.DuplicateDatabase:
            raise SystemExit(f"There is a database {NAME}: another benchmark runs, or one was killed.") from None


def engine() -> str:
    return ENGINES[os.environ.get("DATABASE_URL", "").startswith("postgres")]
