"""Bytes of a file, of standard input or of a gzip, in chunks and never more than allowed."""

import sys
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Protocol

from evaluation.formats.problems import Problems

MAX_BYTES = 2 * 1024**3
CHUNK = 1_048_576
GZIP_MAGIC = b"\x1f\x8b"
GZIP_WINDOW = 31  # zlib's way to say: gzip header and trailer
# Text of our kinds compresses 5 to 30 times; only beyond this size is a higher ratio held against a file.
BOMB_FLOOR = 64 * 1024**2
BOMB_RATIO = 200


class Readable(Protocol):
    """Bytes that are open already, such as an upload."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes; none at the end."""
        ...


def chunks(path: str | Path | Readable, problems: Problems, max_bytes: int = MAX_BYTES) -> Iterator[bytes]:
    """Yield decompressed chunks. Whatever is wrong goes to `problems` and ends the reading; nothing is raised."""
    try:
        if not isinstance(path, str | Path):
            yield from _bounded(path, problems, max_bytes)
            return
        if str(path) == "-":
            yield from _bounded(sys.stdin.buffer, problems, max_bytes)
            return
        with Path(path).open("rb") as stream:
            yield from _bounded(stream, problems, max_bytes)
    except FileNotFoundError:
        problems.add(0, "file", "a file, not found")
    except IsADirectoryError:
        problems.add(0, "file", "a file, this is a directory")
    except OSError as error:
        problems.add(0, "file", f"a readable file: {error.strerror or error}")


def _bounded(stream: Readable, problems: Problems, max_bytes: int) -> Iterator[bytes]:
    size = 0
    for chunk in _unpacked(stream, problems):
        size += len(chunk)
        if size > max_bytes:
            problems.add(0, "file", f"at most {max_bytes:,} bytes of (decompressed) content")
            return
        yield chunk


def _unpacked(stream: Readable, problems: Problems) -> Iterator[bytes]:
    raw = iter(lambda: stream.read(CHUNK), b"")
    first = next(raw, b"")
    if not first.startswith(GZIP_MAGIC):
        if first:
            yield first
        yield from raw
        return
    try:
        yield from _gunzip(first, raw, problems)
    except zlib.error as error:
        problems.add(0, "file", f"an intact gzip, this one is corrupt ({error})")


def _gunzip(first: bytes, raw: Iterator[bytes], problems: Problems) -> Iterator[bytes]:
    """Decompress one or more gzip members, at most a chunk at a time."""
    inflater = zlib.decompressobj(GZIP_WINDOW)
    taken = given = 0
    for data in chain([first], raw):
        taken += len(data)
        rest = data
        while rest:
            if inflater.eof:
                inflater = zlib.decompressobj(GZIP_WINDOW)
            out = inflater.decompress(rest, CHUNK)
            given += len(out)
            if given > max(BOMB_FLOOR, BOMB_RATIO * taken):
                problems.add(0, "file", f"a gzip that grows at most {BOMB_RATIO} times, this one is bomb-like")
                return
            if out:
                yield out
            # Zero padding may follow a member, or else the next one.
            rest = inflater.unused_data.lstrip(b"\0") if inflater.eof else inflater.unconsumed_tail
    if not inflater.eof:
        problems.add(0, "file", "a whole gzip, this one is truncated")
