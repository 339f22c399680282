"""Opening files: what is accepted, and that nothing unsafe gets past the door."""

import gzip
import hashlib
import io
import os
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.errors import BadInput, InputProblem
from evaluation.formats import source
from evaluation.formats.source import read_source

Write = Callable[[bytes | str], Path]


def problems_of(path: Path | str, **limits: int) -> list[InputProblem]:
    with pytest.raises(BadInput) as refused:
        read_source(path, **limits)  # type: ignore[arg-type]
    return list(refused.value.problems)


def test_lines_are_numbered_and_blank_ones_skipped(write: Write) -> None:
    assert read_source(write("a\n\n \t\nb\n")).lines == ((1, "a"), (4, "b"))


def test_the_last_line_needs_no_newline(write: Write) -> None:
    assert read_source(write("a\nb")).lines == ((1, "a"), (2, "b"))


def test_line_separators_of_unicode_end_no_line(write: Write) -> None:
    assert read_source(write("a\u2028b\u0085c\n")).lines == ((1, "a\u2028b\u0085c"),)


def test_gzip_is_read_whatever_its_name_and_hashed_by_content(write: Write) -> None:
    found = read_source(write(gzip.compress(b"a\nb\n")))
    assert found.lines == ((1, "a"), (2, "b"))
    assert found.sha256 == hashlib.sha256(b"a\nb\n").hexdigest()


def test_gzip_of_several_members_is_one_file(write: Write) -> None:
    assert read_source(write(gzip.compress(b"a\n") + gzip.compress(b"b\n") + b"\0\0")).lines == (
        (1, "a"),
        (2, "b"),
    )


def test_gzip_of_many_chunks_is_read_whole(write: Write) -> None:
    content = b"".join(b"%d %s\n" % (number, os.urandom(8).hex().encode()) for number in range(200_000))
    found = read_source(write(gzip.compress(content, 1)))
    assert found.sha256 == hashlib.sha256(content).hexdigest()
    assert len(found.lines) == 200_000


@pytest.mark.parametrize("size", [source.BYTES_AT_ONCE - 1, source.BYTES_AT_ONCE, source.BYTES_AT_ONCE + 1])
def test_lines_survive_the_edges_of_chunks(write: Write, size: int) -> None:
    found = read_source(write("é" * (size // 2) + "\n" + "z" * 10 + "\n"), max_line_bytes=2 * size)
    assert [len(text) for _, text in found.lines] == [size // 2, 10]


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input_is_a_dash(monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    content = gzip.compress(b"a\n") if packed else b"a\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    found = read_source("-")
    assert (found.name, found.lines) == ("<stdin>", ((1, "a"),))


@pytest.mark.parametrize("content", ["a\r\nb\r\n", "a\r\nb", "a\r\n\r\nb\r\n"])
def test_crlf_throughout_is_read_as_lf(write: Write, content: str) -> None:
    assert [text for _, text in read_source(write(content)).lines] == ["a", "b"]


def test_keep_filters_while_reading(write: Write) -> None:
    found = read_source(write("a\nb\na\n"), keep=lambda text: text == "a")
    assert found.lines == ((1, "a"), (3, "a"))


def test_a_file_of_which_nothing_is_kept_is_not_empty(write: Write) -> None:
    assert read_source(write("a\n"), keep=lambda text: False).lines == ()


@pytest.mark.parametrize(
    ("content", "line", "field", "words"),
    [
        pytest.param(b"", 1, "file", "empty", id="empty"),
        pytest.param(gzip.compress(b""), 1, "file", "empty", id="empty gz"),
        pytest.param(b"\n  \n\t\n", 1, "file", "blank", id="only blank lines"),
        pytest.param(b"\xef\xbb\xbfa\n", 1, "encoding", "byte order mark", id="BOM"),
        pytest.param(b"\xef\xbb\xbf", 1, "encoding", "byte order mark", id="BOM alone"),
        pytest.param(b"a\r\nb\nc\n", 2, "line", "LF after CRLF", id="LF after CRLF"),
        pytest.param(b"a\nb\r\nc\r\n", 2, "line", "CRLF after LF", id="CRLF after LF"),
        pytest.param(b"a\nb\rc\n", 2, "line", "0x0d", id="carriage return inside"),
        pytest.param(b"a\nb\r", 2, "line", "0x0d", id="carriage return at the end"),
        pytest.param(b"a\nb\0c\n", 2, "line", "NUL byte at byte 1", id="NUL"),
        pytest.param(b"a\nb\x1b[31m\n", 2, "line", "0x1b", id="escape"),
        pytest.param(b"a\nbc\xe9d\n", 2, "encoding", "0xe9 at byte 2", id="Latin-1"),
        pytest.param("a\nb\n".encode("utf-16"), 1, "encoding", "UTF-16", id="UTF-16"),
        pytest.param(b"a\n" + b"x" * 2_000_000 + b"\nb\n", 2, "line", "1,048,576 bytes", id="2 MB line"),
        pytest.param(b"a\n" + b"x" * 2_000_000, 2, "line", "1,048,576 bytes", id="2 MB line at the end"),
        pytest.param(gzip.compress(b"a\n" * 5000)[:-9], 0, "file", "truncated", id="truncated gz"),
        pytest.param(gzip.compress(b"a\n" * 5000)[:5], 0, "file", "truncated", id="gz cut in its header"),
        pytest.param(gzip.compress(b"a\n")[:10] + b"\xff" * 60, 0, "file", "corrupt", id="corrupt gz"),
        pytest.param(gzip.compress(b"a\n")[:-8] + b"\1" * 8, 0, "file", "corrupt", id="gz of wrong checksum"),
        pytest.param(gzip.compress(b"a\n") + b"rubbish", 0, "file", "corrupt", id="rubbish after gz"),
    ],
)
def test_what_is_refused(write: Write, content: bytes, line: int, field: str, words: str) -> None:
    path = write(content)
    first, *_ = problems_of(path)
    assert (first.file, first.line, first.field) == (str(path), line, field)
    assert words in first.expected


def test_lines_after_a_refused_one_keep_their_numbers(write: Write) -> None:
    content = b"a\n" + b"x" * 3_000_000 + b"\nb\nbad\xff\n" + b"y" * 1_500_000 + b"\nworse\0\n"
    assert [problem.line for problem in problems_of(write(content))] == [2, 4, 5, 6]


def test_a_longer_line_may_be_allowed(write: Write) -> None:
    found = read_source(write("x" * 2_000_000), max_line_bytes=3_000_000)
    assert len(found.lines[0][1]) == 2_000_000


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    [problem] = problems_of(tmp_path / "none")
    assert (problem.field, problem.expected) == ("file", "a file, not found")


def test_a_directory(tmp_path: Path) -> None:
    [problem] = problems_of(tmp_path)
    assert "directory" in problem.expected


def test_a_file_that_may_not_be_read(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = write("a")
    monkeypatch.setattr(Path, "open", refuse)
    [problem] = problems_of(path)
    assert "Permission denied" in problem.expected


def test_a_gzip_bomb_is_refused_at_bounded_memory(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    packer = zlib.compressobj(9, wbits=source.GZIP_WINDOW)
    bomb = b"".join(packer.compress(b"a" * 1023 * 1024 + b"\n") for _ in range(80)) + packer.flush()
    monkeypatch.setattr(source, "BOMB_FLOOR", 8 * 1024**2)
    [problem] = problems_of(write(bomb))
    assert "bomb" in problem.expected


def test_a_gzip_may_not_grow_over_the_limit(write: Write) -> None:
    [problem] = problems_of(write(gzip.compress(b"a\n" * 50_000)), max_bytes=50_000)
    assert "50,000 bytes" in problem.expected


def test_at_most_a_thousand_problems_are_collected(write: Write) -> None:
    assert len(problems_of(write(b"\xff\n" * 5000))) == 1000
