"""Nothing in a golden document is drawn by chance: clock, random ids, keys of rows and the secret are pinned here.

Everything that a document rests on is made inside `pinned()`, in transactions that are rolled back at its end.
"""

import gc
import random
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import _lru_cache_wrapper
from typing import Any

import pytest
import time_machine
import vl_convert
from django.apps import apps
from django.conf import settings
from django.core.cache import cache
from django.core.management.color import no_style
from django.db import connection, transaction
from django.db.models import AutoField, JSONField

from evaluation.models import fields
from reports.judges import page as judges
from tests.worlds.recorded import MIGRATED

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
SEED = 20260504
ROOMS = {"api", "assessor", "evaluation", "exchange", "jobs", "llmjobs", "organizer", "reports"}
FEW = 200
SECRET = "golden-files-only"


@contextmanager
def pinned() -> Iterator[pytest.MonkeyPatch]:
    """Stop the clock, draw every id from a seed, and forget all that the block writes."""
    with ExitStack() as stack:
        stack.enter_context(time_machine.travel(NOW, tick=False))
        stack.enter_context(_rolled_back())
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        _pin_ids(patch)
        _forget()
        stack.callback(_forget)
        _order_json(patch)
        _keep_specifications(patch)
        patch.setattr(judges, "RESAMPLES", FEW)  # by nine methods 4,000 take two minutes
        patch.setattr(settings, "SECRET_KEY", SECRET)  # cursors of the API are sealed with it
        patch.setattr(settings, "ALLOWED_HOSTS", ["testserver"])
        yield patch


@contextmanager
def _rolled_back() -> Iterator[None]:
    with transaction.atomic():
        _restart_keys()
        yield
        transaction.set_rollback(True)


def _pin_ids(patch: pytest.MonkeyPatch) -> None:
    """Draw public ids, salts, families and the ids of operations from one seed, those of the demo and of tests too."""
    drawn_from = random.Random(SEED)  # noqa: S311
    patch.setattr(fields, "_random_bytes", drawn_from.randbytes)
    patch.setattr(uuid, "uuid4", lambda: uuid.UUID(bytes=drawn_from.randbytes(16), version=4))


def _order_json(patch: pytest.MonkeyPatch) -> None:
    """Write JSON columns with their keys in PostgreSQL's order, by length first: SQLite keeps the order it is given."""
    write = JSONField.get_db_prep_value

    def in_order(self: Any, value: Any, connection: Any, prepared: bool = False) -> Any:
        return write(self, _ordered(value), connection, prepared)

    patch.setattr(JSONField, "get_db_prep_value", in_order)


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: (len(str(key).encode()), str(key).encode()))
        return {key: _ordered(value[key]) for key in keys}
    return [_ordered(element) for element in value] if isinstance(value, list) else value


def _restart_keys() -> None:
    """Number the rows of each table from 1: PostgreSQL goes on counting after a rollback."""
    sequences = [
        {"table": model._meta.db_table, "column": model._meta.pk.column}
        for model in apps.get_models(include_auto_created=True)
        if isinstance(model._meta.pk, AutoField) and model._meta.db_table not in MIGRATED
    ]
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_by_name_sql(no_style(), sequences):
            cursor.execute(statement)


def _keep_specifications(patch: pytest.MonkeyPatch) -> None:
    """Let a picture be its specification: what is drawn of it depends on the fonts of the machine."""
    patch.setattr(vl_convert, "vegalite_to_svg", lambda specification: specification)


def _forget() -> None:
    """Forget all that was remembered of other rows with the same keys and times, and what throttles counted."""
    for obj in gc.get_objects():
        if type(obj) is _lru_cache_wrapper and obj.__module__.partition(".")[0] in ROOMS:
            obj.cache_clear()
    cache.clear()
