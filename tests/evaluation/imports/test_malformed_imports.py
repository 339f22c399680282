"""A malformed file is refused with its name, line and field, and changes nothing at all."""

import gzip
from pathlib import Path

import pytest

from tests.evaluation.imports.malformed import CASES, SUPPORT, TOPICS, Case
from tests.worlds.imported import load, load_world, refuse, run, write


@pytest.fixture(autouse=True)
def _loaded(db: None, tmp_path: Path) -> None:
    load_world(tmp_path)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_bad_file_is_refused(tmp_path: Path, case: Case) -> None:
    path = write(tmp_path, "bad", case.content)
    first, *_ = refuse(*case.command, path).splitlines()
    assert first.startswith(f"{path}:{case.line}: {case.field}: ")
    assert case.words in first


def test_a_gz_of_a_bad_file_names_the_line_inside(tmp_path: Path) -> None:
    path = write(tmp_path, "topics.tsv.gz", gzip.compress(b"t3\tthree\nt4\n"))
    assert refuse(*TOPICS, path).startswith(f"{path}:2: columns: ")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "nowhere"
    assert refuse(*SUPPORT, path) == f"{path}:0: file: a file, not found\n"


def test_five_problems_of_a_kind_are_listed_and_the_rest_counted(tmp_path: Path) -> None:
    path = write(tmp_path, "topics.tsv", "nonsense\n" * 25)
    lines = refuse(*TOPICS, path).splitlines()
    assert [line.split(": ")[0] for line in lines[:5]] == [f"{path}:{number}" for number in range(1, 6)]
    assert lines[5:] == [f"and 20 more like {path}:1"]


def test_crlf_throughout_is_read(tmp_path: Path) -> None:
    path = write(tmp_path, "topics.tsv", b"t3\tthree\r\nt4\tfour\r\n")
    assert "2 topics added" in load(*TOPICS, path).err


def test_replace_forces_no_bad_file_in(tmp_path: Path) -> None:
    path = write(tmp_path, "bad", "t1\n")
    assert ":1: columns: " in refuse("import_topics", "--replace", path)


TOML = [
    ("not TOML", "name = \n", 1, "file"),
    ("a bad third line", 'name = "River"\n\n[protocol\n', 3, "file"),
    ("an unknown key", "colour = 1\n", 1, "colour"),
    ("a word for a number", '[protocol]\nnugget_cap = "many"\n', 2, "protocol.nugget_cap"),
    ("a number too small", "[protocol]\nwindow_size = 0\n", 2, "protocol.window_size"),
    ("an unknown condition", '\n[defaults."X/Y"]\njudge = "Ann"\n', 2, "defaults.X/Y"),
    ("nothing at all", "", 1, "file"),
]


@pytest.mark.parametrize(("content", "line", "field"), [case[1:] for case in TOML], ids=[case[0] for case in TOML])
def test_a_bad_campaign_file_is_refused(tmp_path: Path, content: str, line: int, field: str) -> None:
    path = write(tmp_path, "campaign.toml", content)
    outcome = run("create_campaign", "lake", "--name", "Lake", "--from", path)
    assert outcome.code == 1
    assert outcome.err.startswith(f"{path}:{line}: {field}")
