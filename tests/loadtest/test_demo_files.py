"""The demo's files hold what makes them, table for table."""

from pathlib import Path

import pytest
from django.db import connection

from exchange.demo_campaign import BEFORE, CAMPAIGN, FILES, HARBOUR
from exchange.snapshots.archive import TablePart, opened
from loadtest.demo.campaign import make


def tables(path: Path) -> dict[str, TablePart]:
    with opened(path) as archive:
        return archive.manifest.tables


@pytest.mark.slow
@pytest.mark.usefixtures("transactional_db", "django_db_reset_sequences")
def test_the_demo_s_files_are_as_they_are_made_now(tmp_path: Path) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL numbers submitted labels as it happens to read them")
    make(tmp_path)
    for name in (BEFORE, CAMPAIGN, HARBOUR):
        there, made = tables(FILES / name), tables(tmp_path / name)
        differing = [table for table in {*there, *made} if there.get(table) != made.get(table)]
        assert differing == [], "if that is meant: python -m loadtest.demo"
