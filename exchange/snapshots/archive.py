"""The file of a campaign: a ZIP of one JSONL per table and of a manifest that says what they hold."""

import hashlib
import json
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from evaluation.errors import InputProblem, Refused
from evaluation.formats.lines import unstorable
from exchange.snapshots.upgrades import StoredTable, current_form, upgraded

MANIFEST, PEOPLE = "manifest.json", "people"
LONGEST_MANIFEST, LONGEST_LINE = 4_000_000, 64_000_000
PIECE = 1 << 20


class TablePart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    columns: list[str]
    rows: int
    size: int
    sha256: str


class SnapshotManifest(BaseModel):
    """Contents of a file. `content` is the checksum of all tables: the same for the same state of a campaign."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    format: int = Field(ge=1)
    slug: str
    name: str
    revision: int
    made_at: str
    texts: bool
    people: Literal["names", "pseudonyms"]
    migrations: dict[str, str]
    content: str
    tables: dict[str, TablePart]
    documents: dict[str, str]

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.tables.values())


def content_of(tables: dict[str, TablePart]) -> str:
    listed = [[name, part.columns, part.sha256] for name, part in sorted(tables.items())]
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()


def member(name: str) -> ZipInfo:
    # A fixed date: the same campaign gives the same bytes, whenever it is packed.
    entry = ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = ZIP_DEFLATED
    entry.external_attr = 0o600 << 16
    return entry


def file_of(table: str) -> str:
    return f"tables/{table}.jsonl"


class Archive:
    """A file that is open for reading, its manifest read and its checksums compared."""

    def __init__(self, path: Path, archive: ZipFile) -> None:
        self.path, self._zip = path, archive
        self.manifest = self._read_manifest()
        for name, part in self.manifest.tables.items():
            self._check(name, part)
        if content_of(self.manifest.tables) != self.manifest.content:
            raise self.damaged("its manifest does not fit together")
        stored = (self._stored(name) for name in self.manifest.tables)
        self._names = {upgraded(table, self.manifest.format).name: table.name for table in stored}

    def damaged(self, why: str) -> Refused:
        return _damaged(self.path, why)

    def newer(self, what: str) -> Refused:
        return Refused(
            "newer", f"{self.path} was made by a newer version of Assay, which has {what}: upgrade Assay first."
        )

    def _read_manifest(self) -> SnapshotManifest:
        try:
            with self._zip.open(MANIFEST) as content:
                manifest = SnapshotManifest.model_validate_json(content.read(LONGEST_MANIFEST))
        except (KeyError, RuntimeError, ValidationError) as error:
            raise self.damaged("it has no whole manifest.json") from error
        if manifest.format > current_form():
            raise self.newer(f"form {manifest.format} of these files")
        return manifest

    def _check(self, name: str, part: TablePart) -> None:
        digest, size = hashlib.sha256(), 0
        with self._open(name) as content:
            while piece := content.read(PIECE):
                digest.update(piece)
                size += len(piece)
                if size > part.size:
                    break
        if (digest.hexdigest(), size) != (part.sha256, part.size):
            raise self.damaged(f"the checksum of {file_of(name)} is not the one of its content")

    def _open(self, name: str) -> IO[bytes]:
        try:
            return self._zip.open(file_of(name))
        except KeyError:
            raise self.damaged(f"it has no {file_of(name)}") from None
        except RuntimeError:  # as the library says that a password is wanted
            raise self.damaged(f"{file_of(name)} cannot be opened") from None

    def place(self, name: str, number: int, field: str, expected: str) -> InputProblem:
        return InputProblem(f"{self.path.name}/{file_of(self._names[name])}", number, field, expected)

    @property
    def tables(self) -> Collection[str]:
        """Names of the tables, as this version calls them."""
        return self._names.keys()

    def table(self, name: str) -> StoredTable:
        """Return a table as this version has it; its rows can be read once. Raises `Refused` where there is none."""
        if name not in self._names:
            raise self.damaged(f"it has no table {name}")
        return upgraded(self._stored(self._names[name]), self.manifest.format)

    def count(self, name: str) -> int:
        return self.manifest.tables[self._names[name]].rows

    def _stored(self, name: str) -> StoredTable:
        return StoredTable(name, self.manifest.tables[name].columns, self._lines(name))

    def _lines(self, name: str) -> Iterator[list[Any]]:
        part = self.manifest.tables[name]
        with self._open(name) as content:
            for _ in range(part.rows):
                yield _row(content.readline(LONGEST_LINE), len(part.columns))


def _row(line: bytes, width: int) -> list[Any]:
    with suppress(ValueError):
        # Of JSON that Python reads it refuses what no database takes: NaN, halves of characters, endless nesting.
        row = from_json(line, allow_inf_nan=False)
        if isinstance(row, list) and len(row) == width and not unstorable(line.decode(), row):
            return row
    return []


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """Open a file. Raises `Refused` where it is not whole, also in the middle of reading."""
    try:
        with ZipFile(path) as archive:
            yield Archive(path, archive)
    except (BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise _damaged(path, "it cannot be unpacked") from error
    except OSError as error:
        raise Refused("cannot_read", f"{path}: {error.strerror or error}") from error


def _damaged(path: Path, why: str) -> Refused:
    return Refused("not_a_campaign", f"{path} is not what export campaign wrote, or is damaged: {why}.")


def read_document(content: IO[bytes], name: str) -> bytes:
    """Return a document that the file of a snapshot brings along. Raises KeyError where it has none of that name."""
    with ZipFile(content) as archive:
        return archive.read(name)
