"""A list that is larger than memory may be."""

import weakref
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")


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
