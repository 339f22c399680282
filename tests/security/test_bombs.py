"""Small inputs that would grow large: refused in words, at bounded memory, with nothing written."""

import gzip
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client

from assessor.models import WorkingNugget
from evaluation.errors import BadInput
from evaluation.formats import source as reading
from evaluation.formats.source import read_source
from evaluation.models import Campaign, Topic
from tests.assessor.desk_client import Window
from tests.worlds.desk import DeskWorld
from tests.worlds.imported import refuse, run, write

MEGABYTE = 1_048_576


@pytest.fixture
def peak() -> Iterator[None]:
    """Fail a test in which Python held more than 64 MB at once."""
    tracemalloc.start()
    yield
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert held < 64 * MEGABYTE


def packed(path: Path, block: bytes, times: int) -> Path:
    with gzip.open(path, "wb", compresslevel=6) as out:
        for _ in range(times):
            out.write(block)
    return path


@pytest.mark.usefixtures("peak")
def test_a_gzip_of_zeros_is_refused_while_it_is_read(tmp_path: Path) -> None:
    bomb = packed(tmp_path / "bomb.gz", b"\n" * MEGABYTE, 80)
    assert bomb.stat().st_size < MEGABYTE
    with pytest.raises(BadInput, match="bomb-like"):
        read_source(bomb)


@pytest.mark.usefixtures("peak")
def test_a_gzip_in_a_gzip_is_no_text(tmp_path: Path) -> None:
    inner = packed(tmp_path / "inner.gz", b"a" * MEGABYTE, 20)
    outer = tmp_path / "outer.gz"
    outer.write_bytes(gzip.compress(inner.read_bytes()))
    with pytest.raises(BadInput, match=r"text without control characters|UTF-8"):
        read_source(outer)


@pytest.mark.usefixtures("peak")
def test_one_endless_line_is_refused(tmp_path: Path) -> None:
    bomb = packed(tmp_path / "line.gz", b"a" * MEGABYTE, 4)
    with pytest.raises(BadInput, match="a line of at most 1,048,576 bytes"):
        read_source(bomb)


@pytest.mark.usefixtures("peak")
def test_millions_of_tiny_lines_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_LINES", 100_000)
    bomb = packed(tmp_path / "lines.gz", b"a\n" * 100_000, 20)
    with pytest.raises(BadInput, match="at most 100,000 lines; split it"):
        read_source(bomb)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("1e999", "numbers of ordinary size"),
        ('{"deep": [{"x": -1e400}]}', "numbers of ordinary size"),
        ("9" * 5000, "number out of range"),
        ("[" * 5000 + "]" * 5000, "nested too deep"),
        ('"\\ud800"', "valid JSON"),
        ('"\\u0000"', "NUL"),
        ("NaN", "NaN and Infinity"),
    ],
    ids=["infinite", "infinite inside", "digits", "depth", "half a character", "nul", "nan"],
)
def test_values_that_no_database_takes_are_refused(value: str, message: str, tmp_path: Path) -> None:
    run("create_campaign", "river", "--name", "River study")
    path = write(tmp_path, "t.jsonl", f'{{"id": "t1", "title": "a", "odd": {value}}}\n')
    assert message in refuse("import_topics", "--campaign", "river", path)
    assert not Topic.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = " + "[" * 5000 + "]" * 5000, "not nested so deep"),
        ("a = " + "9" * 5000, "numbers of ordinary size"),
        ("# " + "x" * 2_000_000, "at most 1,0"),
    ],
    ids=["depth", "digits", "size"],
)
def test_a_campaign_file_that_is_a_bomb_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, "c.toml", f"{text}\n")
    outcome = run("create_campaign", "river", "--name", "x", "--from", path)
    assert (outcome.code, outcome.out) == (1, "")
    assert message in outcome.err
    assert not Campaign.objects.exists()


@pytest.mark.parametrize(
    "value",
    ["1e999", "9" * 5000, "[" * 5000 + "]" * 5000, '"\\ud800"'],
    ids=["infinite", "digits", "depth", "half a character"],
)
def test_a_desk_refuses_what_could_not_be_kept(value: str, desk_world: DeskWorld) -> None:
    window = Window(desk_world.client(), desk_world.post_edit).open()
    operation = window.op("compose", slot="new", draft={"text": "BOMB"})
    body = json.dumps({"window": window.window, "ops": [operation]}).replace('"BOMB"', value)
    response = window.client.post(window.url("ops/"), body, content_type="application/json")
    refused = response.status_code == 400 or response.json()["receipts"][0]["status"] != "applied"
    assert refused, response.content
    assert window.state()


def test_a_nul_is_dropped_and_the_work_is_kept(desk_world: DeskWorld) -> None:
    window = Window(desk_world.client(), desk_world.post_edit).open()
    key = window.state()["rows"][0]["key"]
    assert window.do("edit", key=key, base={}, text="banks\0 erode \\u0000")["status"] == "applied"
    assert WorkingNugget.objects.get(task=desk_world.post_edit, key=key).text == "banks erode \\u0000"


def test_a_request_that_is_too_large_is_refused(desk_world: DeskWorld) -> None:
    window = Window(desk_world.client(), desk_world.post_edit).open()
    assert window.post("ops/", {"window": window.window, "x": "x" * 3_000_000}).status_code == 400


@pytest.mark.parametrize("address", ["/desk/%00/", "/campaigns/river/topics/a%00b/"])
def test_an_address_with_a_nul_is_refused(address: str) -> None:
    assert Client().get(address).status_code == 400
