"""A campaign from a file: all of it or nothing, with new numbers, whatever is in the database already."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import DataError, IntegrityError
from django.db.models import ForeignKey
from django.utils.timezone import now

from accounts.models import User
from evaluation.errors import PROBLEMS_SHOWN, BadInput, Problem, Refused
from evaluation.formats.signs import wrong_sign
from evaluation.models import Campaign, Judge, ListedNugget, Membership
from evaluation.terms import Role
from exchange.snapshots.archive import PEOPLE, Archive
from exchange.snapshots.cells import Coder, decoder
from exchange.snapshots.keys import insert, reserve
from exchange.snapshots.newcomers import Arrival, match_judge, match_people
from exchange.snapshots.renaming import Renaming, names_taken
from exchange.snapshots.resting import at_rest
from exchange.snapshots.tables import JUDGES_BY_KEY, Field, Model, SnapshotTable, judges_changed, tables
from llmjobs.models import Text

BATCH = 2000


@dataclass(frozen=True, slots=True)
class Target:
    """Under which short name and name a campaign is loaded, and which roles its people get back."""

    slug: str
    name: str
    roles: frozenset[Role] = frozenset()


@dataclass
class Loaded:
    """What was loaded, who of its people was there already, and who got an account that nobody can use yet."""

    campaign: Campaign
    rows: int
    matched: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)


def load(archive: Archive, target: Target) -> Loaded:
    """Write a file's campaign. Inside a transaction: raises `Refused` or `BadInput` for the caller to undo."""
    try:
        return _Loading(archive, target).load()
    except (IntegrityError, DataError) as error:
        reason = str(error).splitlines()[0]
        raise Refused("bad_row", f"{archive.path}: a row breaks a rule of the database: {reason}.") from error


class _Loading:
    """One file being loaded. `keys`: of each table, the new key of the row at each place."""

    def __init__(self, archive: Archive, target: Target) -> None:
        self.archive, self.target = archive, target
        self.renaming = Renaming({}, target.slug)
        self.keys: dict[Model, list[int]] = {}
        self.problems: list[Problem] = []
        self.columns = {one: _columns(archive, one) for one in self._tables()}

    def _tables(self) -> list[SnapshotTable]:
        known = {one.name: one for one in tables()}
        if unknown := self.archive.manifest.tables.keys() - {*known, PEOPLE}:
            raise _newer(self.archive, f"the table {min(unknown)}")
        return [one for name, one in known.items() if name in self.archive.manifest.tables]

    def load(self) -> Loaded:
        self.renaming = names_taken(self.archive, list(self.columns), self.target.slug)
        arrival = self._people()
        for table in self.columns:
            if table.numbered:
                self.keys[table.model] = reserve(table.model, self.archive.manifest.tables[table.name].rows)
        for table in sorted(self.columns, key=lambda one: one.model is not Judge):  # others take their keys
            self._write(table)
        campaign = Campaign.objects.get(pk=self.keys[Campaign][0])
        return Loaded(campaign, self.archive.manifest.rows, arrival.matched, arrival.made)

    def _people(self) -> Arrival:
        rows = [row for _, row in self.archive.rows(PEOPLE)]
        if not all(len(row) == 3 and all(isinstance(one, str) for one in row) for row in rows):
            raise self.archive.damaged("a row of its people is none")
        arrival = match_people(rows)
        self.keys[User] = arrival.keys
        return arrival

    def _write(self, table: SnapshotTable) -> None:
        fields = _written(table)
        batch: list[list[Any]] = []
        for number, values in self._rows(table):
            row = self._placed(table, number, values)
            if row is not None:
                batch.append(row)
            if len(batch) == BATCH:
                self._flush(table, fields, batch)
        self._flush(table, fields, batch)

    def _flush(self, table: SnapshotTable, fields: list[Field], batch: list[list[Any]]) -> None:
        if self.problems:
            raise BadInput(self.problems)
        insert(table.model, fields, batch, unless_there=table.model is Text)
        batch.clear()

    def _rows(self, table: SnapshotTable) -> Iterator[tuple[int, dict[str, Any]]]:
        """Rows with their line and values by column; every wrong cell becomes a problem."""
        columns = self.columns[table]
        for number, cells in self.archive.rows(table.name):
            if not cells:
                self._problem(table, number, "row", f"a list of {len(columns)} values")
                continue
            values: dict[str, Any] = {}
            for (one, read), cell in zip(columns, cells, strict=True):
                try:
                    values[one.attname] = self._referred(one, cell, read)
                except ValueError as error:
                    self._problem(table, number, one.name, str(error))
            if len(values) == len(columns):
                self._check_sign(table, number, values)
                yield number, values

    def _check_sign(self, table: SnapshotTable, number: int, values: dict[str, Any]) -> None:
        """Refuse a nugget that an answer must not contain, unless the file's campaign held it out of its scores."""
        if table.model is not ListedNugget or values.get("avoid"):
            return
        if wrong := wrong_sign(values.get("raw_importance", ""), values.get("extra") or {}):
            self._problem(table, number, *wrong)

    def _referred(self, column: Field, cell: Any, read: Coder) -> Any:
        value = read(cell)
        if (column.model._meta.label, column.name) == JUDGES_BY_KEY:
            return self._judges(value)
        if not isinstance(column, ForeignKey) or value is None:
            return self.renaming.applied(column, value)
        there = self.keys.get(column.related_model, [])
        if not 1 <= value <= len(there):
            raise ValueError(f"the number of a row of {column.related_model._meta.label}, 1 to {len(there)}")
        return there[value - 1]

    def _judges(self, labels: Any) -> Any:
        try:
            return judges_changed(labels, lambda place: self.keys[Judge][place - 1] if place else None)
        except (TypeError, KeyError, IndexError):
            raise ValueError("a list of labels with their judges") from None

    def _problem(self, table: SnapshotTable, number: int, column: str, expected: str) -> None:
        self.problems.append(self.archive.place(table.name, number, column, expected))
        if len(self.problems) >= PROBLEMS_SHOWN:
            raise BadInput(self.problems)

    def _placed(self, table: SnapshotTable, number: int, values: dict[str, Any]) -> list[Any] | None:
        """Row to write under its new key; None where it exists already or is left out."""
        if table.model is Campaign:
            values |= {"slug": self.target.slug, "name": self.target.name}
        if table.model is Membership and values["role"] not in self.target.roles:
            return None
        if table.model is Judge and (there := match_judge(values, self.target.slug)):
            self.keys[Judge][number - 1] = there
            return None
        values = at_rest(table.model, values)
        filled = [values.get(one.attname, _default(one)) for one in table.fields]
        if table.numbered:
            return [self.keys[table.model][number - 1], *filled]
        if isinstance(table.model._meta.pk, ForeignKey):
            self.keys.setdefault(table.model, []).append(values[table.model._meta.pk.attname])
        return filled


def _columns(archive: Archive, table: SnapshotTable) -> list[tuple[Field, Coder]]:
    known = {one.name: one for one in table.fields}
    named = archive.manifest.tables[table.name].columns
    if unknown := [name for name in named if name not in known]:
        raise _newer(archive, f"the column {unknown[0]} of {table.name}")
    return [(known[name], decoder(known[name])) for name in named]


def _newer(archive: Archive, what: str) -> Refused:
    return Refused(
        "newer", f"{archive.path} was made by another version of Assay, which has {what}: upgrade Assay first."
    )


def _written(table: SnapshotTable) -> list[Field]:
    key = [table.model._meta.pk] if table.numbered else []
    return [*key, *table.fields]


def _default(column: Field) -> Any:
    # A file of an older version lacks columns that came later.
    return now() if getattr(column, "auto_now_add", False) else column.get_default()
