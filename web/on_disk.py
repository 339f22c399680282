"""A list and a map that are larger than memory may be."""

import sqlite3
import weakref
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")
Numbers = tuple[int, int]


class OnDisk(Sequence[T]):
    """Items of a kind in a temporary file, which goes with it. Each is read when it is its turn."""

    def __init__(self, kind: TypeAdapter[T]) -> None:
        self._kind = kind
        self._file = NamedTemporaryFile()  # noqa: SIM115 (it is open as long as this object is there)
        self._length = 0
        weakref.finalize(self, self._file.close)

    def extend(self, items: Iterable[T]) -> None:
        for item in items:
            self._file.write(self._kind.dump_json(item) + b"\n")
            self._length += 1

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        self._file.flush()
        # A handle of its own: two may read at once.
        with Path(self._file.name).open("rb") as file:
            for line in islice(file, self._length):
                yield self._kind.validate_json(line)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return tuple(islice(self, place.start, place.stop, place.step))
        for item in islice(self, place, None):
            return item
        raise IndexError(place)


class NumbersOnDisk:
    """Two numbers under each key, all of 64 bits with a sign, in a temporary file, which goes with it."""

    def __init__(self) -> None:
        # A database without a name is a file of its own, written where the cache of two megabytes is full. Whichever
        # thread collects it closes it.
        self._rows = sqlite3.connect("", check_same_thread=False)
        self._rows.execute("CREATE TABLE kept (key INTEGER PRIMARY KEY, first INTEGER, second INTEGER)")
        weakref.finalize(self, self._rows.close)

    def get(self, key: int) -> Numbers | None:
        row: Numbers | None = self._rows.execute("SELECT first, second FROM kept WHERE key = ?", [key]).fetchone()
        return row

    def count(self, key: int) -> int:
        statement = "INSERT INTO kept VALUES (?, 1, 0) ON CONFLICT (key) DO UPDATE SET first = first + 1 "
        number: int = self._rows.execute(f"{statement} RETURNING first", [key]).fetchone()[0]
        return number

    def put(self, key: int, numbers: Numbers) -> Numbers | None:
        """Keep numbers under a key that has none yet; else return those that it has."""
        there = self.get(key)
        if there is None:
            self._rows.execute("INSERT INTO kept VALUES (?, ?, ?)", [key, *numbers])
        return there
