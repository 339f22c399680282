"""Under a pinned clock the demo is the same wherever it is loaded, to the byte."""

from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.apps import apps
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import connection, transaction

from evaluation.models import Campaign
from exchange.demo_campaign import SLUG, load_demo
from exchange.snapshots.pack import SnapshotContents
from exchange.snapshots.service import write_campaign

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
EXPORTS = {
    "nuggets": ["--condition", "E/M"],
    "assignments": ["--condition", "E/M"],
    "support": ["--condition", "llm"],
    "scores": ["--condition", "E/M"],
    "qrels": ["--source", "NIST"],
    "time": ["--segments"],
    "events": [],
}
Rows = dict[str, list[dict[str, Any]]]


def _number_from_1() -> None:
    """Have PostgreSQL forget the keys of rows that were rolled back; SQLite does so by itself."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), apps.get_models()):
            cursor.execute(statement)


def _rows() -> Rows:
    models = apps.get_models(include_auto_created=True)
    return {model._meta.label: list(model._default_manager.order_by("pk").values()) for model in models}


def loaded(folder: Path) -> tuple[Rows, dict[str, str]]:
    """Load the demo into an empty database; return every row, and the checksums of what comes out of it."""
    folder.mkdir()
    with transaction.atomic():
        _number_from_1()
        assert load_demo()
        rows = _rows()
        for what, options in EXPORTS.items():
            call_command("export", what, "--campaign", SLUG, *options, "--output", str(folder / what))
        if connection.vendor == "sqlite":  # PostgreSQL numbers submitted support labels as it happens to read them
            campaign = Campaign.objects.get(slug=SLUG)
            for name, contents in {"named": SnapshotContents(), "numbered": SnapshotContents(names=False)}.items():
                write_campaign(folder / name, campaign, contents)
        transaction.set_rollback(True)
    return rows, {path.name: sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.mark.slow
@pytest.mark.django_db
def test_the_demo_is_the_same_to_the_byte_wherever_it_is_loaded(tmp_path: Path) -> None:
    with time_machine.travel(NOON, tick=False):
        first, first_sums = loaded(tmp_path / "one")
        second, second_sums = loaded(tmp_path / "two")
    assert first_sums.keys() >= EXPORTS.keys()
    assert first_sums == second_sums
    assert sum(map(len, first.values())) > 10_000
    assert [name for name in first if first[name] != second[name]] == []
