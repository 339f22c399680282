"""Writing a campaign's state, of one moment, into a file."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from django.db import connection, models
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import ForeignKey

from accounts.models import User
from evaluation.campaigns.pseudonyms import Hiding, hide, pseudonym_of
from evaluation.errors import Refused
from evaluation.models import Campaign
from exchange.files import writing
from exchange.snapshots.archive import (
    MANIFEST,
    PEOPLE,
    SnapshotManifest,
    TablePart,
    content_of,
    file_of,
    member,
)
from exchange.snapshots.tables import (
    KEYS_IN_JSON,
    ROOMS,
    TEXTS,
    CampaignRows,
    Coder,
    Field,
    Model,
    SnapshotTable,
    encoder,
    referred_to,
)
from exchange.snapshots.upgrades import current_form
from web.consistent_read import consistent_read

Documents = Mapping[str, str]
Tell = Callable[[int, int], None]
"""Hears how much of how much is done."""


PEOPLE_COLUMNS = ("username", "first_name", "last_name")
PersonRow = tuple[str, str, str]

CODES = frozenset(
    {
        *(
            "public_id",
            "sha256",
            "key",
            "kind",
            "stage",
            "unit",
            "window",
            "holder",
            "item",
            "gap_answer",
            "source",
        ),
        *("slug", "salt", "family", "language", "languages", "condition", "given", "score", "task", "part"),
        *("price_table", "currency", "base_url", "model", "model_answered", "finish_reason", "error"),
    }
)
"""Columns of ids, of the program's own words and of LLMs, in any table."""

DATA = {
    "assessor.Desk": ("composer",),
    "assessor.PracticeItem": ("question", "text", "statement"),
    "assessor.WorkingNugget": ("text", "group", "parents", "evidence"),
    "evaluation.AnswerProvenance": ("references", "extra"),
    "evaluation.Campaign": ("name",),
    "evaluation.Citation": ("raw",),
    "evaluation.Finding": ("run_id", "topic_id"),
    "evaluation.ListedNugget": ("raw_importance", "group"),
    "evaluation.NuggetList": ("query",),
    "evaluation.NuggetVersion": ("text",),
    "evaluation.Run": ("run_id", "group"),
    "evaluation.Segment": ("docid", "document", "text", "title", "headings", "url"),
    "evaluation.Sentence": ("text",),
    "evaluation.Topic": ("topic_id", "text", "problem_statement", "background", "article", "extra"),
    "evaluation.TopicTag": ("name",),
    "llmjobs.Call": ("parameters", "messages", "template_sha256", "reply"),
    "llmjobs.Text": ("content",),
    "reports.Adjudication": ("labels",),
    "reports.ExternalScore": ("run_id", "group", "topic_id"),
}
"""Columns of material, of topics, passages, runs, nuggets and LLMs: no name in them is a person's of the campaign."""

OF_DESKS = {("assessor.Operation", column) for column in ("payload", "before", "after")}
"""Columns of work at desks: nuggets in them are left as they are, reasons are hidden."""


@dataclass(frozen=True, slots=True)
class People:
    rows: list[PersonRow]
    hiding: Hiding | None = None

    def hides(self, table: str, field: Field) -> Coder | None:
        """Return the writer of a column that may say somebody's name: any of text or JSON that is not listed above."""
        if self.hiding is None or not may_name(table, field):
            return None
        hidden = partial(self.hiding.row, typed=(table, field.name) not in OF_DESKS)
        # A pseudonym may be longer than the name.
        return hidden if field.max_length is None else lambda value: hidden(value)[: field.max_length]


def may_name(table: str, field: Field) -> bool:
    if not isinstance(field, models.CharField | models.TextField | models.JSONField) or field.choices:
        return False
    return field.name not in CODES and field.name not in DATA.get(table, ())


@dataclass(frozen=True, slots=True)
class SnapshotContents:
    """Choice of contents: passages and answers or not, people by their names or by pseudonyms."""

    texts: bool = True
    names: bool = True


def pack(
    path: Path,
    campaign: Campaign,
    contents: SnapshotContents,
    documents: Documents | None = None,
    tell: Tell | None = None,
) -> SnapshotManifest:
    """Write a campaign's state into a file; return what it holds. `documents` come along, and are not its state.

    `tell` hears after each table how many of how many are written.

    Raises `Refused` where the file cannot be written, or where a row rests on one of another campaign.
    """
    with (
        writing(path),
        consistent_read() as alias,
        ZipFile(path, "w", ZIP_DEFLATED, compresslevel=6) as archive,
    ):
        rows = CampaignRows(Campaign.objects.using(alias).get(pk=campaign.pk), alias, contents.texts)
        return _Packing(archive, rows, contents).write(documents or {}, tell)


class _Packing:
    def __init__(self, archive: ZipFile, rows: CampaignRows, contents: SnapshotContents) -> None:
        self.archive, self.rows, self.contents = archive, rows, contents
        self.people, places = self._people()
        self.places: dict[Model, dict[int, int]] = {User: places}
        for table in rows.tables:
            if table.model in referred_to():
                self.places[table.model] = _places(rows.keys(table))

    def _people(self) -> tuple[People, dict[int, int]]:
        users = self.rows.people()
        if self.contents.names:
            people = People([(user.username, user.first_name, user.last_name) for user in users])
        else:
            # The order of names would tell of names.
            users.sort(key=lambda user: pseudonym_of(self.rows.campaign, user.pk))
            rows = [(pseudonym_of(self.rows.campaign, user.pk), "", "") for user in users]
            people = People(rows, hide(self.rows.campaign, users, self.rows.judges()))
        return people, _places([user.pk for user in users])

    def write(self, documents: Documents, tell: Tell | None) -> SnapshotManifest:
        tables = {PEOPLE: self._write(PEOPLE, PEOPLE_COLUMNS, self.people.rows)}
        for number, table in enumerate(self.rows.tables):
            if tell:
                tell(number, len(self.rows.tables))
            columns = [field.name for field in table.fields]
            tables[table.name] = self._write(table.name, columns, self._rows(table))
        for name, text in documents.items():
            self.archive.writestr(member(name), text)
        manifest = self._manifest(tables, documents)
        self.archive.writestr(member(MANIFEST), manifest.model_dump_json(indent=1))
        return manifest

    def _write(self, name: str, columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> TablePart:
        digest, count, size = hashlib.sha256(), 0, 0
        dumped = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
        with self.archive.open(member(file_of(name)), "w") as out:
            for row in rows:
                line = dumped(list(row)).encode() + b"\n"
                digest.update(line)
                out.write(line)
                size += len(line)
                count += 1
        return TablePart(columns=list(columns), rows=count, size=size, sha256=digest.hexdigest())

    def _rows(self, table: SnapshotTable) -> Iterator[list[Any]]:
        coders = [self._coder(table, field) for field in table.fields]
        for row in self.rows.rows(table):
            yield [code(value) if code else value for code, value in zip(coders, row, strict=True)]

    def _coder(self, table: SnapshotTable, field: Field) -> Coder | None:
        blank = {} if isinstance(field, models.JSONField) else ""
        if not self.contents.texts and field.name in TEXTS.get(table.name, ()):
            return lambda _value: blank
        if not self.contents.names and (table.model, field.name) == (Campaign, "salt"):
            return lambda _value: blank
        if isinstance(field, ForeignKey):
            return partial(self._place, table, field)
        coder = self.people.hides(table.name, field) or encoder(field)
        if (table.name, field.name) not in KEYS_IN_JSON:
            return coder
        model, changed = KEYS_IN_JSON[table.name, field.name]
        place_of = self.places[model].get
        return lambda value: coder(changed(value, place_of)) if coder else changed(value, place_of)

    def _place(self, table: SnapshotTable, field: Any, key: int | None) -> int | None:
        # A row of another campaign is left out where the column allows null; else the file would be wrong.
        place = None if key is None else self.places[field.related_model].get(key)
        if place is None and key is not None and not field.null:
            raise Refused(
                "outside",
                f"A row of {table.name} names a {field.name} of another campaign, so it cannot stand in a file.",
            )
        return place

    def _manifest(self, tables: dict[str, TablePart], documents: Documents) -> SnapshotManifest:
        campaign = self.rows.campaign
        return SnapshotManifest(
            format=current_form(),
            slug=campaign.slug,
            name=campaign.name,
            revision=campaign.revision,
            made_at=datetime.now(UTC).isoformat(timespec="seconds"),
            texts=self.contents.texts,
            people="names" if self.contents.names else "pseudonyms",
            migrations=schema_of(),
            content=content_of(tables),
            tables=tables,
            documents={name: hashlib.sha256(text.encode()).hexdigest() for name, text in documents.items()},
        )


def _places(keys: Sequence[int]) -> dict[int, int]:
    return {key: place for place, key in enumerate(keys, start=1)}


def schema_of() -> dict[str, str]:
    """Newest applied migration of each room: the version of the data."""
    applied = MigrationRecorder(connection).applied_migrations()
    return {room: max(name for app, name in applied if app == room) for room in ROOMS}
