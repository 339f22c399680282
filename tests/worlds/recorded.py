"""Worlds built once per process: the first test that wants a world builds it, and every later one gets its rows back.

Each test gets rows, files and objects of its own, so nothing that it changes reaches another; this holds for tests that
commit, and on both database engines. Keys and times are those of the first building; only a campaign is made anew, for
that is how a process tells what it remembers of it from what it remembers of another.
"""

import functools
import io
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import time_machine
from django.apps import apps
from django.core.management.color import no_style
from django.db import connection, transaction
from django.db.models import Model
from django.utils import timezone

from accounts.models import User
from evaluation.models import Campaign
from tests.speed import uncounted

MIGRATED = {"django_content_type", "auth_permission"}
"""Tables that migrations fill and no test writes to. Filling them anew took most of the time after a browser test."""

Built = TypeVar("Built")
Options = ParamSpec("Options")
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Recording:
    """What a builder left: rows by the statement that inserts them, files by name, and what it returned, pickled."""

    rows: dict[str, Rows]
    filled: list[type[Model]]
    files: dict[str, bytes]
    returned: bytes


def built_once(build: Callable[Options, Built]) -> Callable[Options, Built]:
    """Decorate a builder, which is then called once for each set of options. An option that is a path is its folder.

    On a database that already holds people or campaigns, and while a test travels in time, it builds each time.
    """
    recordings: dict[str, Recording] = {}

    @functools.wraps(build)
    def restored(*args: Options.args, **kwargs: Options.kwargs) -> Built:
        if time_machine.escape_hatch.is_travelling() or User.objects.exists() or Campaign.objects.exists():
            return build(*args, **kwargs)
        folder = next((value for value in (*args, *kwargs.values()) if isinstance(value, Path)), None)
        key = repr([value for value in (*args, *sorted(kwargs.items())) if value != folder])
        if key in recordings:
            return cast(Built, _restore(recordings[key], folder))
        with uncounted():
            there = _files(folder)
            built = build(*args, **kwargs)
            new = {path.name: path.read_bytes() for path in _files(folder) - there}
            recordings[key] = _record(built, folder, new)
        return built

    return restored


def _files(folder: Path | None) -> set[Path]:
    return {path for path in folder.iterdir() if path.is_file()} if folder else set()


def _record(built: object, folder: Path | None, files: dict[str, bytes]) -> Recording:
    models = [model for model in apps.get_models(include_auto_created=True) if _has_own_table(model)]
    rows = {model: _rows(model) for model in models}
    filled = [model for model in models if rows[model]]
    return Recording({_insert(model): rows[model] for model in filled}, filled, files, _pickled(built, folder))


def _has_own_table(model: type[Model]) -> bool:
    return model._meta.managed and not model._meta.proxy and model._meta.db_table not in MIGRATED


def _rows(model: type[Model]) -> Rows:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(_columns(model))} FROM {_quoted(model._meta.db_table)}")  # noqa: S608
        return list(cursor.fetchall())


def _insert(model: type[Model]) -> str:
    columns = _columns(model)
    places = ", ".join(["%s"] * len(columns))
    return f"INSERT INTO {_quoted(model._meta.db_table)} ({', '.join(columns)}) VALUES ({places})"  # noqa: S608


def _columns(model: type[Model]) -> list[str]:
    return [_quoted(field.column) for field in model._meta.local_concrete_fields if field.column]


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)


def _restore(recording: Recording, folder: Path | None) -> Any:
    made = timezone.now()
    with transaction.atomic(), connection.cursor() as cursor:
        for insert, rows in recording.rows.items():
            cursor.executemany(insert, rows)
        for statement in connection.ops.sequence_reset_sql(no_style(), recording.filled):
            cursor.execute(statement)
        Campaign.objects.update(created_at=made)
    if folder:
        for name, content in recording.files.items():
            (folder / name).write_bytes(content)
    return _unpickled(recording.returned, {"folder": folder, "made": made})


def _pickled(built: object, folder: Path | None) -> bytes:
    made = set(Campaign.objects.values_list("created_at", flat=True))

    class Pickler(pickle.Pickler):
        def persistent_id(self, thing: object) -> str | None:
            if isinstance(thing, Path) and thing == folder:
                return "folder"
            return "made" if isinstance(thing, datetime) and thing in made else None

    out = io.BytesIO()
    Pickler(out).dump(built)
    return out.getvalue()


def _unpickled(pickled: bytes, places: dict[str, object]) -> Any:
    class Unpickler(pickle.Unpickler):
        def persistent_load(self, name: str) -> object:
            return places[name]

    return Unpickler(io.BytesIO(pickled)).load()
