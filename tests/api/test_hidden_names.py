"""No name of a person is in what leaves under pseudonyms, wherever somebody typed it and in whatever capitals."""

from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from api.collections import COLLECTIONS
from evaluation.domain.pseudonyms import Hiding
from evaluation.models import Event, Finding, Task
from exchange.exports.lines import lines_of
from exchange.snapshots.pack import SnapshotContents, pack
from reports.methods import methods_documents
from tests.api.conftest import hand_out_to, program_of
from tests.api.reading import with_form
from tests.crawl.canaries import body_of
from tests.worlds.campaign import World

NAMES = ("ann", "Antonia Archer", "antonia.archer@lab.example.org")
TYPED = "Ann is ill: ask ANTONIA ARCHER (ann) or write to Antonia.Archer@lab.example.org, says ann."


@pytest.fixture
def planted(world: World) -> World:
    """Ann's names stand in the log, in findings and in the reasons of her task."""
    ann = world.people["ann"]
    ann.first_name, ann.last_name, ann.email = "Antonia", "Archer", NAMES[2]
    ann.save()
    hand_out_to(world, "ann")
    Task.objects.filter(assessor=ann).update(blocked_reason=TYPED, reopened_reason=TYPED)
    payload = {"why": TYPED, "user": ann.pk, "actor": "ann", "all": [TYPED, {"note": TYPED}]}
    event = Event.objects.create(campaign=world.campaign, kind="note", actor=ann, payload=payload)
    Finding.objects.create(
        campaign=world.campaign, event=event, code="empty_answer", file="ann.jsonl", message=TYPED
    )
    return world


def outputs(world: World, folder: Path) -> Iterator[tuple[str, str]]:
    program = program_of(world, "rita")
    for collection in COLLECTIONS:
        if collection.name != "scores":
            yield f"API {collection.name}", body_of(program.get(with_form(collection.name, "jsonl"))).decode()
    for what in ("nuggets", "events", "time"):
        yield (
            f"export {what}",
            "\n".join(lines_of(what, world.campaign, {"nuggets": "auto-robot", "pseudonyms": True})),
        )
    pack(folder / "river.zip", world.campaign, SnapshotContents(names=False))
    with ZipFile(folder / "river.zip") as archive:
        yield from ((f"snapshot {name}", archive.read(name).decode()) for name in archive.namelist())
    yield from methods_documents(world.campaign).items()


def test_no_output_has_a_planted_name(planted: World, tmp_path: Path) -> None:
    seen = 0
    for place, text in outputs(planted, tmp_path):
        seen += "person-" in text
        told = [name for name in NAMES if Hiding({name: "x"}).text(text) != text]
        assert told == [], place
    assert seen > 5
