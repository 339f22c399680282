"""Ids that must be unique in a database: kept where they are free, made anew for a copy beside its origin."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

from django.db import models

from evaluation.models import Campaign, Judge, Operation
from exchange.snapshots.archive import Archive
from exchange.snapshots.people import replaced
from exchange.snapshots.tables import Field, SnapshotTable

PART = 500


@dataclass(frozen=True, slots=True)
class Renaming:
    """Which ids become which."""

    ids: Mapping[str, str]
    slug: str

    def applied(self, column: Field, value: Any) -> Any:
        if not self.ids or value is None:
            return value
        if isinstance(column, models.JSONField):
            return replaced(value, lambda text: self.ids.get(text, text))
        if isinstance(column, models.UUIDField):
            return UUID(self.ids.get(str(value), str(value)))
        return self.ids.get(value, value) if is_id(column) else value


def is_id(column: Field) -> bool:
    """Whether a column's value may occur once in the whole database."""
    if column.model is Operation and column.name == "op_id":
        return True
    plain = not column.primary_key and not column.is_relation
    return bool(column.unique and plain and column.model not in (Campaign, Judge))


def names_taken(archive: Archive, there: Sequence[SnapshotTable], slug: str) -> Renaming:
    """New ids for those of a file that are taken."""
    # Derived from the short name: loading the same file again gives the same ids.
    ids: dict[str, str] = {}
    for table in there:
        for column in filter(is_id, table.fields):
            for one in _taken(archive, table, column):
                ids[one] = _new_id(column, one, slug)
    return Renaming(ids, slug)


def _taken(archive: Archive, table: SnapshotTable, column: Field) -> Iterator[str]:
    columns = archive.manifest.tables[table.name].columns
    if column.name not in columns:
        return
    place = columns.index(column.name)
    values = [row[place] for _, row in archive.rows(table.name) if row and isinstance(row[place], str)]
    for start in range(0, len(values), PART):
        yield from _found(column, values[start : start + PART])


def _found(column: Field, values: Collection[str]) -> Iterator[str]:
    if isinstance(column, models.UUIDField):
        values = [one for one in values if _is_uuid(one)]
    rows = column.model._default_manager.filter(**{f"{column.name}__in": values})
    yield from (str(one) for one in rows.order_by().values_list(column.name, flat=True))


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def _new_id(column: Field, old: str, slug: str) -> str:
    if isinstance(column, models.UUIDField):
        return str(uuid5(NAMESPACE_OID, f"{slug}:{old}"))
    return hashlib.sha256(f"{slug}:{old}".encode()).hexdigest()[: column.max_length]
