"""A campaign from a file: all of it or nothing, with new numbers, whatever is in the database already."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

from django.db import DataError, IntegrityError, connection, models
from django.db.models import ForeignKey, QuerySet
from django.utils.timezone import now

from accounts.models import User
from accounts.names import canonical_name
from assessor.models import Operation
from evaluation.campaigns.people import copies_problem, lock_family
from evaluation.errors import PROBLEMS_SHOWN, BadInput, InputProblem, Refused
from evaluation.formats.nuggets import wrong_sign
from evaluation.judges import describe
from evaluation.models import Campaign, Judge, ListedNugget, Membership, Task
from evaluation.rules.tasks import UNBLINDED_ROLES
from evaluation.terms import Role
from exchange.snapshots.archive import PEOPLE, Archive
from exchange.snapshots.tables import (
    KEYS_IN_JSON,
    Coder,
    Field,
    Model,
    SnapshotTable,
    decoder,
    tables,
)
from jobs.models import Job, WorkItem
from llmjobs.models import Call, Text

SQLITE_LAST = """
    SELECT max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = %s), 0), coalesce(max({key}), 0)) FROM {table}
"""
POSTGRESQL_NEXT = "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)"
INSERT = "INSERT INTO {table} ({columns}) VALUES ({places})"
UNLESS_THERE = " ON CONFLICT DO NOTHING"


def reserve(model: Model, count: int) -> list[int]:
    """Reserve ascending keys, inside a transaction."""
    # On SQLite the transaction holds the only write lock, so no other process takes the same numbers.
    meta = model._meta
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            table, key = map(connection.ops.quote_name, (meta.db_table, str(meta.pk.column)))
            cursor.execute(SQLITE_LAST.format(table=table, key=key), [meta.db_table])
            last = cursor.fetchone()[0]
            return list(range(last + 1, last + 1 + count))
        cursor.execute(POSTGRESQL_NEXT, [meta.db_table, meta.pk.column, count])
        return sorted(key for (key,) in cursor.fetchall())


def insert(
    model: Model, fields: Sequence[Field], rows: Iterable[Sequence[Any]], *, unless_there: bool = False
) -> None:
    # Plain SQL: the ORM would fill in defaults and the time of now in place of the file's values.
    quoted = connection.ops.quote_name
    statement = INSERT.format(
        table=quoted(model._meta.db_table),
        columns=", ".join(quoted(str(column.column)) for column in fields),
        places=", ".join(["%s"] * len(fields)),
    )
    prepared = [
        [column.get_db_prep_save(value, connection) for column, value in zip(fields, row, strict=True)]
        for row in rows
    ]
    if prepared:
        with connection.cursor() as cursor:
            cursor.executemany(statement + (UNLESS_THERE if unless_there else ""), prepared)


LONGEST_NAME = 200


def match_judge(values: dict[str, Any], slug: str) -> int | None:
    """Return the judge of that name, if there is one; else see that the values can be written.

    A judge of a study belongs to that study: one of the same name gets another here. Raises `Refused` where the name is
    another judge's.
    """
    there = Judge.objects.filter(name=values["name"]).first()
    if there and values.get("study_id"):
        values["name"] = f"{values['name'][: LONGEST_NAME - len(slug) - 3]} ({slug})"
        return None
    if there:
        _check_same(there, values)
        return there.pk
    # An account is one judge. If it has one already, the file's judge keeps its labels and gets no account.
    account = None if values.get("aside") else values.get("user_id")
    if account and Judge.objects.filter(user=account, aside=False).exists():
        values["user_id"] = None
    return None


def _check_same(there: Judge, values: dict[str, Any]) -> None:
    fields = {name: values.get(name, "") for name in ("kind", "model", "base_url")}
    fields["prompt_versions"] = values.get("prompt_versions") or {}
    if any(getattr(there, name) != value for name, value in fields.items()):
        raise Refused("judge_differs", f"There is another judge named {there.name}: {describe(there)}.")


PART = 500
Renaming = Mapping[str, str]
"""New ids by the ids in the file that are taken."""


def renamed(ids: Renaming, column: Field, value: Any) -> Any:
    if not ids or value is None:
        return value
    if isinstance(column, models.JSONField):  # payloads of operations and events name rows by their ids
        return _renamed_within(ids, value)
    if isinstance(column, models.UUIDField):
        return UUID(ids.get(str(value), str(value)))
    return ids.get(value, value) if is_id(column) else value


def _renamed_within(ids: Renaming, value: Any) -> Any:
    if isinstance(value, str):
        return ids.get(value, value)
    if isinstance(value, list):
        return [_renamed_within(ids, item) for item in value]
    if isinstance(value, dict):
        return {ids.get(key, key): _renamed_within(ids, item) for key, item in value.items()}
    return value


def is_id(column: Field) -> bool:
    """Return true where a column's value may occur once in the whole database."""
    if column.model is Operation and column.name == "op_id":
        return True
    plain = not column.primary_key and not column.is_relation
    return bool(column.unique and plain and column.model not in (Campaign, Judge))


def names_taken(archive: Archive, there: Sequence[SnapshotTable], slug: str) -> Renaming:
    # Derived from the short name: loading the same file again gives the same ids.
    ids: dict[str, str] = {}
    for table in there:
        for column in filter(is_id, table.fields):
            ids |= {taken: _new_id(column, taken, slug) for taken in _taken(archive, table, column)}
    return ids


def _taken(archive: Archive, table: SnapshotTable, column: Field) -> Iterator[str]:
    stored = archive.table(table.name)
    if column.name not in stored.columns:
        return
    place = stored.columns.index(column.name)
    values = [row[place] for row in stored.rows if row and isinstance(row[place], str)]
    for start in range(0, len(values), PART):
        yield from _in_database(column, values[start : start + PART])


def _in_database(column: Field, values: Collection[str]) -> Iterator[str]:
    if isinstance(column, models.UUIDField):
        values = [value for value in values if _is_uuid(value)]
    rows = column.model._default_manager.filter(**{f"{column.name}__in": values})
    yield from map(str, rows.order_by().values_list(column.name, flat=True))


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def _new_id(column: Field, old: str, slug: str) -> str:
    if isinstance(column, models.UUIDField):
        return str(uuid5(NAMESPACE_OID, f"{slug}:{old}"))
    return hashlib.sha256(f"{slug}:{old}".encode()).hexdigest()[: column.max_length]


def at_rest(model: Model, values: dict[str, Any]) -> dict[str, Any]:
    # Leases, waits and unanswered calls of another server mean nothing here, and nobody would end them.
    if model is Job and values["state"] in (Job.State.RUNNING, Job.State.PAUSED):
        return values | {"state": Job.State.CANCELLED, "waiting_for": ""}
    if model is WorkItem and values["state"] in (WorkItem.State.QUEUED, WorkItem.State.LEASED):
        return values | {"state": WorkItem.State.CANCELLED, "holder": "", "lease_until": None, "not_before": None}
    if model is Call and values["state"] == Call.State.SENT:
        return values | {"state": Call.State.FAILED, "holder": ""}
    return values


ROWS_AT_ONCE = 2000


@dataclass(frozen=True, slots=True)
class Target:
    """Under which short name and name a campaign is loaded, and which roles its people get back.

    `rests`: what waits or runs in the file is cancelled.
    """

    slug: str
    name: str
    roles: frozenset[Role] = frozenset()
    rests: bool = True


@dataclass(frozen=True, slots=True)
class Loaded:
    """Loaded campaign, its people who were there already, and those whose new account nobody can use yet."""

    campaign: Campaign
    rows: int
    matched: list[str]
    made: list[str]


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
        self.renaming: Renaming = {}
        self.keys: dict[Model, list[int]] = {}
        self.problems: list[InputProblem] = []
        if unknown := {*archive.tables} - {PEOPLE, *(table.name for table in tables())}:
            raise archive.newer(f"the table {min(unknown)}")
        self.columns = {table: _columns(archive, table) for table in tables() if table.name in archive.tables}

    def load(self) -> Loaded:
        self.renaming = names_taken(self.archive, list(self.columns), self.target.slug)
        matched, new = self._people()
        # In the order of the file: whatever is ordered by key has the same order again (decision 22).
        for table in self.columns:
            if table.numbered:
                self.keys[table.model] = reserve(table.model, self.archive.count(table.name))
        for table in sorted(self.columns, key=lambda column: column.model is not Judge):  # others take their keys
            self._write(table)
        campaign = Campaign.objects.get(pk=self.keys[Campaign][0])
        return Loaded(campaign, self.archive.manifest.rows, matched, new)

    def _people(self) -> tuple[list[str], list[str]]:
        """Find each person's account by user name in any case; return who was there, and who was made.

        An account that is made is closed and without a password.
        """
        rows = list(self.archive.table(PEOPLE).rows)
        if not all(len(row) == 3 and all(isinstance(cell, str) for cell in row) for row in rows):
            raise self.archive.damaged("a row of its people is none")
        there = {canonical_name(name): pk for name, pk in User.objects.values_list("username", "pk")}
        keys, matched, new = self.keys.setdefault(User, []), list[str](), list[str]()
        for username, first, last in rows:
            pk = there.get(canonical_name(username))
            (new if pk is None else matched).append(username)
            if pk is None:
                user = User(username=username, first_name=first, last_name=last, is_active=False)
                user.set_unusable_password()
                user.save()
                pk = user.pk
            keys.append(pk)
        return matched, new

    def _write(self, table: SnapshotTable) -> None:
        key = [table.model._meta.pk] if table.numbered else []
        fields = [*key, *table.fields]
        batch: list[list[Any]] = []
        for number, values in self._rows(table):
            row = self._placed(table, number, values)
            if row is not None:
                batch.append(row)
            if len(batch) == ROWS_AT_ONCE:
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
        for number, cells in enumerate(self.archive.table(table.name).rows, start=1):
            if not cells:
                self._problem(table, number, "row", f"a list of {len(columns)} values that a database takes")
                continue
            values: dict[str, Any] = {}
            for (column, read), cell in zip(columns, cells, strict=True):
                try:
                    values[column.attname] = self._referred(column, cell, read)
                except ValueError as error:
                    self._problem(table, number, column.name, str(error))
            if len(values) == len(columns):
                self._check_sign(table, number, values)
                yield number, values

    def _check_sign(self, table: SnapshotTable, number: int, values: dict[str, Any]) -> None:
        """Refuse a nugget that an answer must not contain, unless its weight says so."""
        if table.model is not ListedNugget:
            return
        if wrong := wrong_sign(values["raw_importance"], values.get("weight"), values["extra"] or {}):
            self._problem(table, number, *wrong)

    def _referred(self, column: Field, cell: Any, read: Coder) -> Any:
        value = read(cell)
        if isinstance(column, ForeignKey):
            return self._key(column.related_model, value)
        if keyed := KEYS_IN_JSON.get((column.model._meta.label, column.name)):
            model, changed = keyed
            try:
                value = changed(value, partial(self._key, model))
            except (AttributeError, KeyError, TypeError, ValueError):
                raise ValueError(f"JSON that names rows of {model._meta.label}") from None
        return renamed(self.renaming, column, value)

    def _key(self, model: Model, place: int | None) -> int | None:
        if place is None:
            return None
        there = self.keys.get(model, [])
        if not 1 <= place <= len(there):
            raise ValueError(f"the number of a row of {model._meta.label}, 1 to {len(there)}")
        return there[place - 1]

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
        if self.target.rests:
            values = at_rest(table.model, values)
        filled = [values.get(column.attname, _default(column)) for column in table.fields]
        if table.numbered:
            return [self.keys[table.model][number - 1], *filled]
        if isinstance(table.model._meta.pk, ForeignKey):
            self.keys.setdefault(table.model, []).append(values[table.model._meta.pk.attname])
        return filled


def _columns(archive: Archive, table: SnapshotTable) -> list[tuple[Field, Coder]]:
    field_of = {column.name: column for column in table.fields}
    names = archive.table(table.name).columns
    if unknown := [name for name in names if name not in field_of]:
        raise archive.newer(f"the column {unknown[0]} of {table.name}")
    return [(field_of[name], decoder(field_of[name])) for name in names]


def _default(column: Field) -> Any:
    # A file lacks columns that came after its version.
    return now() if getattr(column, "auto_now_add", False) else column.get_default()


def keep_blind(campaign: Campaign) -> tuple[Membership, ...]:
    """Take back and return the roles that would unblind somebody in a campaign that was loaded.

    Inside the transaction of the loading. Raises `Refused` where somebody would lose sight of what they see now.
    """
    lock_family(campaign.pk)  # nobody is given a role in the original meanwhile
    _check_sight(campaign)
    loaded = Membership.objects.filter(campaign=campaign).select_related("user").order_by("user__username")
    unblinding = [role for role in loaded if copies_problem(campaign, role.user, Role(role.role))]
    Membership.objects.filter(pk__in=[role.pk for role in unblinding]).delete()
    return tuple(unblinding)


def _check_sight(campaign: Campaign) -> None:
    # Whoever sees the original unblinded and has tasks in the copy would lose both.
    holders = _holding(Campaign.objects.filter(pk=campaign.pk))
    others = Campaign.objects.filter(family=campaign.family).exclude(pk=campaign.pk)
    seeing = Membership.objects.filter(campaign__in=others, role__in=UNBLINDED_ROLES).values("user")
    judging = Membership.objects.of_assessors().filter(campaign__in=others).values("user")
    lost = User.objects.filter(pk__in=holders).filter(pk__in=seeing).exclude(pk__in=judging)
    names = lost.exclude(pk__in=_holding(others)).order_by("username").values_list("username", flat=True)
    if names:
        raise Refused(
            "holds_tasks",
            "Nothing was loaded. Each of these people sees a copy of this campaign unblinded and has tasks "
            f"in it here, so both would be closed to them: {', '.join(names)}. Take their roles away first.",
        )


def _holding(campaigns: QuerySet[Campaign]) -> set[int]:
    tasks = Task.objects.filter(campaign__in=campaigns).not_withdrawn()
    return set(tasks.values_list("assessor", flat=True))
