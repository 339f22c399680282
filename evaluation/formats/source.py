"""Open an input file once, safely: sizes are bounded, gzip is read as is, text is clean UTF-8 or it is refused."""

import hashlib
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Protocol

from pydantic import TypeAdapter

from evaluation.errors import BadInput, InputProblem
from evaluation.formats.problems import Problems
from web.on_disk import OnDisk

MAX_BYTES = 2 * 1024**3
BYTES_AT_ONCE = 1_048_576
GZIP_MAGIC = b"\x1f\x8b"
GZIP_WINDOW = 31  # zlib's way to say: gzip header and trailer
# Text of our kinds compresses 5 to 30 times; only beyond this size is a higher ratio held against a file.
BOMB_FLOOR = 64 * 1024**2
BOMB_RATIO = 200


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


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
    raw = iter(lambda: stream.read(BYTES_AT_ONCE), b"")
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
    bytes_in = bytes_out = 0
    for data in chain([first], raw):
        bytes_in += len(data)
        rest = data
        while rest:
            if inflater.eof:
                inflater = zlib.decompressobj(GZIP_WINDOW)
            out = inflater.decompress(rest, BYTES_AT_ONCE)
            bytes_out += len(out)
            if bytes_out > max(BOMB_FLOOR, BOMB_RATIO * bytes_in):
                problems.add(0, "file", f"a gzip that grows at most {BOMB_RATIO} times, this one is bomb-like")
                return
            if out:
                yield out
            # Zero padding may follow a member, or else the next one.
            rest = inflater.unused_data.lstrip(b"\0") if inflater.eof else inflater.unconsumed_tail
    if not inflater.eof:
        problems.add(0, "file", "a whole gzip, this one is truncated")


MAX_LINE_BYTES = 1_048_576
MAX_TEXT_LINE_BYTES = 16 * 1_048_576
# A line takes some 150 bytes of memory beside its text, so that empty lines would fill it. Label files of the tracks
# have a line for an answer or a pair, at most a million of them.
MAX_LINES = 4_000_000

BOM = b"\xef\xbb\xbf"
NUMBERED_LINE = TypeAdapter(tuple[int, str])
BYTES_READ = 1000  # of a file, to tell its encoding
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
# C0 controls but tab and newline. Carriage returns are in it: a clean block has none of these.
CONTROLS = bytes(code for code in range(32) if code not in {9, 10})
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f]")

Keep = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Source:
    """A file's name, SHA-256 of its (decompressed) content, and its lines that are not blank: (number from 1, text)."""

    name: str
    sha256: str
    lines: Sequence[tuple[int, str]]


def read_source(
    path: str | Path | Readable,
    *,
    name: str = "",
    max_line_bytes: int = MAX_LINE_BYTES,
    max_bytes: int = MAX_BYTES,
    keep: Keep | None = None,
    of_sheets: bool = False,
    on_disk: bool = False,
    problems_to: list[InputProblem] | None = None,
) -> Source:
    """Read a text file, a `.gz` (known by its first bytes), an open stream, or, for `-`, standard input.

    `name` is what its problems call it, where that is not its path.
    `problems_to` takes the problems, and the good lines are returned.
    `of_sheets`: as spreadsheets write CSV, which have a byte order mark, and other line ends in cells than after rows.
    `on_disk`: its lines are not held in memory.
    `keep` drops lines as they are read, so that a large file can be filtered at bounded memory.
    Raises `BadInput` naming file, line and field: cannot be opened, empty, too large, broken or bomb-like gzip,
    byte order mark, not UTF-8, control characters, a line over `max_line_bytes`, LF and CRLF line ends mixed
    (a file with CRLF throughout is read as if with LF: the 2024 track's topics are one).
    """
    name = name or ("<stdin>" if str(path) == "-" else str(path))
    problems = Problems(name)
    digest = hashlib.sha256()
    reader = _LineReader(OnDisk(NUMBERED_LINE) if on_disk else [], problems, max_line_bytes, keep, of_sheets)
    for chunk in chunks(path, problems, max_bytes):
        # Of the content, so that a file and its .gz are the same file.
        digest.update(chunk)
        reader.feed(chunk)
        if reader.too_many:
            problems.add(0, "file", f"at most {MAX_LINES:,} lines; split it")
        if problems.full or reader.too_many or reader.is_over:
            break
    reader.close()
    try:
        problems.raise_if_any()
    except BadInput as wrong:
        if problems_to is None:
            raise
        problems_to += wrong.problems
    lines = reader.lines
    return Source(name, digest.hexdigest(), tuple(lines) if isinstance(lines, list) else lines)


class _LineReader:
    """Cuts chunks into checked lines. Clean blocks are decoded whole; line by line is for those with a problem."""

    def __init__(
        self,
        lines: list[tuple[int, str]] | OnDisk[tuple[int, str]],
        problems: Problems,
        max_line_bytes: int,
        keep: Keep | None,
        of_sheets: bool,
    ) -> None:
        self.lines = lines
        self._problems = problems
        self._limit = max_line_bytes
        self._keep = keep
        self._of_sheets = of_sheets
        self._number = 0  # lines finished
        self._carry: list[bytes] = []  # pieces of the line that is not finished
        self._carried = 0
        self._overlong = False  # in the middle of a refused line: its bytes are not kept
        self._first = True
        self._any_text = False
        self._crlf: bool | None = None  # the line end of the first line, and so of all
        self._mixed_noted = False
        self.too_many = False
        self.is_over = False

    def feed(self, chunk: bytes) -> None:
        if self._first:
            if encoding := _utf16(chunk[:BYTES_READ]):
                # In a file of two bytes a character each line has a fault, and each the same.
                text = f"UTF-8 text, this looks like UTF-16 (convert it: iconv -f {encoding} -t UTF-8 FILE)"
                self._problems.add(1, "encoding", text)
                self.is_over = True
                return
            chunk = self._without_bom(chunk)
        cut = chunk.rfind(b"\n")
        if cut >= 0:
            self._finish(chunk[:cut])
        self._hold(chunk[cut + 1 :])

    def close(self) -> None:
        if self._carried or self._overlong:
            self._crlf = bool(self._crlf)
            self._finish(b"", last=True)
        if not self._any_text and not self._problems:
            expected = "only blank lines, expected data" if self._number else "the file is empty, expected data"
            self._problems.add(1, "file", expected)

    def _without_bom(self, chunk: bytes) -> bytes:
        self._first = False
        if chunk.startswith(BOM):
            if not self._of_sheets:
                self._problems.add(
                    1,
                    "encoding",
                    "UTF-8 without a byte order mark (remove it: sed -i '1s/^\\xEF\\xBB\\xBF//' FILE)",
                )
            return chunk[len(BOM) :]
        return chunk

    def _hold(self, rest: bytes) -> None:
        if not rest or self._overlong:
            return
        self._carry.append(rest)
        self._carried += len(rest)
        if self._carried > self._limit:
            self._too_long(self._number + 1)
            self._carry, self._carried, self._overlong = [], 0, True

    def _finish(self, block: bytes, *, last: bool = False) -> None:
        """Take whole lines: `block` starts inside the carried line and ends where its last line does."""
        if self._overlong:
            self._number += 1
            self._overlong = False
            _, newline, block = block.partition(b"\n")
            if not newline:
                return
        block = b"".join([*self._carry, block])
        self._carry, self._carried = [], 0
        if self._crlf is None:
            self._crlf = block.partition(b"\n")[0].endswith(b"\r")
        text = self._clean(self._unix(block, last))
        if text is None:
            # With its own line ends: they are not to blame for another fault.
            self._add_each(block, last)
        else:
            self._add_all(text)

    def _unix(self, block: bytes, last: bool) -> bytes:
        """The block with LF, if the file has CRLF and the block has it on every line; else as it is."""
        if not (self._crlf or self._of_sheets):
            return block
        ended = block if last else block + b"\n"
        converted = ended.replace(b"\r\n", b"\n")
        if len(ended) - len(converted) != ended.count(b"\n") and not self._of_sheets:
            return block
        return converted if last else converted[:-1]

    def _clean(self, block: bytes) -> str | None:
        """The text of a block without any problem, else None."""
        if len(block) != len(block.translate(None, CONTROLS)):
            return None
        if len(block) > self._limit and max(map(len, block.split(b"\n"))) > self._limit:
            return None
        try:
            return block.decode()
        except UnicodeDecodeError:
            return None

    def _add_all(self, text: str) -> None:
        if not text or text.isspace():
            self._number += text.count("\n") + 1
            return
        texts = text.split("\n")
        lines = [(n, t) for n, t in enumerate(texts, self._number + 1) if t and not t.isspace()]
        self._number += len(texts)
        self._any_text = self._any_text or bool(lines)
        keep = self._keep
        self.lines.extend(lines if keep is None else [pair for pair in lines if keep(pair[1])])
        self.too_many = len(self.lines) > MAX_LINES

    def _add_each(self, block: bytes, last: bool) -> None:
        raws = block.split(b"\n")
        unended = len(raws) if last else 0
        for index, raw in enumerate(raws, 1):
            line = raw if index == unended else self._without_end(raw)
            if self._sound(self._number + 1, line):
                self._add_all(line.decode())
            else:
                self._number += 1

    def _without_end(self, raw: bytes) -> bytes:
        """The line without the CR of a CRLF. A line end of the other kind is noted, once for the file."""
        crlf = raw.endswith(b"\r")
        if crlf != self._crlf and not (self._mixed_noted or self._of_sheets):
            self._mixed_noted = True
            ends = "found CRLF after LF" if crlf else "found LF after CRLF"
            expected = f"line ends all alike, {ends} (convert them: sed -i 's/\\r$//' FILE)"
            self._problems.add(self._number + 1, "line", expected)
        return raw[:-1] if crlf else raw

    def _sound(self, number: int, raw: bytes) -> bool:
        if len(raw) > self._limit:
            self._too_long(number)
            return False
        fault = next(_faults(raw), None)
        if fault:
            self._problems.add(number, *fault)
        return fault is None

    def _too_long(self, number: int) -> None:
        self._problems.add(number, "line", f"a line of at most {self._limit:,} bytes")


def _utf16(beginning: bytes) -> str | None:
    """Encoding of a file that begins as UTF-16 does: with its mark, or with NUL in each other byte."""
    if beginning.startswith(UTF16_BOMS):
        return "UTF-16"
    nuls = beginning[0::2].count(0), beginning[1::2].count(0)
    most, least = max(nuls), min(nuls)
    # Of a script far from Latin only blanks, digits and line ends have one, and its bytes are no UTF-8.
    if most < 2 or least * 4 > most or (most < len(beginning) // 4 and _is_utf8(beginning)):
        return None
    return "UTF-16BE" if nuls[0] else "UTF-16LE"


def _is_utf8(beginning: bytes) -> bool:
    try:
        beginning.decode()
    except UnicodeDecodeError as error:
        return error.start > BYTES_READ - 4  # a character that was cut
    return True


def _faults(raw: bytes) -> Iterator[tuple[str, str]]:
    """Return the faults of one line's bytes, as (field, expected); the first explains most."""
    if control := CONTROL.search(raw):
        code = raw[control.start()]
        kind = "a NUL byte" if code == 0 else f"control character 0x{code:02x}"
        yield "line", f"text without control characters, found {kind} at byte {control.start()}"
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        text = f"UTF-8, found byte 0x{raw[error.start]:02x} at byte {error.start} of the line"
        yield "encoding", f"{text} (of Windows-1252? iconv -f WINDOWS-1252 -t UTF-8 FILE)"
