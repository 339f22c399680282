"""Lists made at a desk, exported and imported elsewhere: the same lineage, and so the same edits."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from evaluation.campaigns.create import create_campaign
from evaluation.errors import BadInput, Refused
from evaluation.formats.source import read_source
from evaluation.imports.nuggets import import_nuggets
from evaluation.models import Campaign, NuggetEvidence, NuggetLineage
from evaluation.terms import Origin
from tests.assessor.desk_client import Window
from tests.worlds.desk import DeskWorld, load_corpus, load_drafts, make_desk_world

pytestmark = pytest.mark.postgresql

COPY = "copy"


@pytest.fixture
def world(db: None, tmp_path: Path) -> DeskWorld:
    """Ann's post-edit task, and a copy of the campaign without any work."""
    world = make_desk_world(tmp_path, drafts=6)
    copy = create_campaign(slug=COPY, name="Copy")[0]
    load_corpus(copy, tmp_path, 6, 3)
    load_drafts(copy, tmp_path, 6)
    return world


def work(world: DeskWorld) -> Window:
    """Merge two drafts, split one, reject one, edit one, add one word for word like the rejected one, with evidence."""
    window = Window(world.client(), world.post_edit).open()
    segment = world.segments()[0].public_id
    window.do(
        "merge", {"d1": 1, "d2": 1}, key="m", from_=["d1", "d2"], text="both facts", importance=2, evidence=[]
    )
    parts = [
        {"key": key, "text": f"part {key}", "importance": 1, "evidence": [[segment, 1]]} for key in ("s1", "s2")
    ]
    window.do("split", {"d3": 1}, from_="d3", into=parts)
    window.do("decide", {"d4": 1}, key="d4", decision="rejected")
    window.do("edit", {"d5": 1}, key="d5", text="quite another sentence")
    window.do("importance", {"d5": 2}, key="d5", importance=2)
    window.do("decide", {"d6": 1}, key="d6", decision="kept")
    window.do("importance", {"d6": 2}, key="d6", importance=1)
    window.do("add", key="a", text="draft fact number 4", importance=1, evidence=[[segment, None]], after=None)
    return window


def submit(window: Window) -> None:
    response = window.post("submit/", {"window": window.window, "seq": window.state()["seq"]})
    assert response.status_code == 200, response.content


def export(slug: str, folder: Path) -> Path:
    file = folder / f"{slug}.jsonl"
    names = Campaign.objects.get(slug=slug).nugget_sets.filter(origin=Origin.EDITED).values_list("name", flat=True)
    call_command(
        "export", "nuggets", "--campaign", slug, "--nuggets", names[0], "--output", str(file), stderr=StringIO()
    )
    return file


def load(file: Path, drafts: str = "drafts") -> None:
    import_nuggets(
        campaign=Campaign.objects.get(slug=COPY),
        source=read_source(file),
        origin=Origin.EDITED,
        judge="ann",
        name="edited-ann",
        drafts=drafts,
    )


def edits(slug: str) -> dict[str, Any]:
    out = StringIO()
    call_command("report", "edits", "--campaign", slug, "--format", "json", stdout=out, stderr=StringIO())
    report: dict[str, Any] = json.loads(out.getvalue())
    return report


def classes(slug: str) -> set[str]:
    return {row["edit"] for row in edits(slug)["rows"] if row["topics"]}


def lineage(slug: str) -> list[tuple[str, str, str]]:
    rows = NuggetLineage.objects.filter(child__nugget__nugget_set__campaign__slug=slug)
    return sorted(rows.values_list("child__text", "relation", "parent__text"))


def evidence(slug: str) -> list[tuple[str, str, int | None]]:
    rows = NuggetEvidence.objects.filter(nugget_version__nugget__nugget_set__campaign__slug=slug)
    return sorted(rows.values_list("nugget_version__text", "segment__docid", "sentence"), key=str)


def test_edits_are_told_from_what_was_done_and_not_from_the_wording(world: DeskWorld) -> None:
    submit(work(world))
    assert not edits("river")["inferred"]
    # By its wording the added nugget would be the rejected draft, kept.
    assert classes("river") == {"add_nugget", "remove_nugget", "major_edit"}


def test_an_imported_export_has_equal_lineage_evidence_and_edits(world: DeskWorld, tmp_path: Path) -> None:
    submit(work(world))
    load(export("river", tmp_path))
    assert lineage(COPY) == lineage("river")
    assert evidence(COPY) == evidence("river")
    assert edits(COPY) == edits("river")


def test_the_copy_s_export_says_the_same_again(world: DeskWorld, tmp_path: Path) -> None:
    submit(work(world))
    first = export("river", tmp_path)
    load(first)
    before, after = (json.loads(file.read_text()) for file in (first, export(COPY, tmp_path)))
    for line in (before, after):
        for nugget in line["nuggets"]:
            del nugget["assay"]["id"]
    assert before == after


def test_everything_rejected_and_written_anew_comes_back_as_that(world: DeskWorld, tmp_path: Path) -> None:
    window = Window(world.client(), world.post_edit).open()
    for number in range(1, 7):
        window.do("decide", {f"d{number}": 1}, key=f"d{number}", decision="rejected")
    window.do("add", key="a", text="draft fact number 4", importance=2, evidence=[], after=None)
    submit(window)
    load(export("river", tmp_path))
    assert edits(COPY) == edits("river")
    assert not edits(COPY)["inferred"]
    assert classes(COPY) == {"add_nugget", "remove_nugget"}


def test_a_second_submission_counts_in_its_stead(world: DeskWorld) -> None:
    window = work(world)
    submit(window)
    world.post_edit.refresh_from_db()
    world.post_edit.state, world.post_edit.version = "reopened", 2
    world.post_edit.save()
    row = next(row for row in window.state()["rows"] if row["key"] == "a")
    window.do("decide", {"a": row["version"]}, key="a", decision="rejected")
    submit(window)
    assert classes("river") == {"remove_nugget", "major_edit"}


def test_without_drafts_lineage_is_ignored_and_edits_inferred(world: DeskWorld, tmp_path: Path) -> None:
    submit(work(world))
    load(export("river", tmp_path), drafts="")
    assert lineage(COPY) == []
    assert edits(COPY)["inferred"]


def test_a_draft_that_is_not_there_is_named_with_its_line(world: DeskWorld, tmp_path: Path) -> None:
    submit(work(world))
    file = export("river", tmp_path)
    file.write_text(
        file.read_text().replace('"text": "draft fact number 6", "place"', '"text": "no such", "place"')
    )
    with pytest.raises(BadInput, match=r"river.jsonl:1: nuggets.\d.assay.lineage: a draft of drafts"):
        load(file)
    assert lineage(COPY) == []


def test_a_broken_lineage_is_named_too(world: DeskWorld, tmp_path: Path) -> None:
    submit(work(world))
    file = export("river", tmp_path)
    file.write_text(file.read_text().replace('"relation": "merged"', '"relation": "guessed"'))
    with pytest.raises(BadInput, match="relation"):
        load(file)


def test_drafts_in_use_at_a_desk_are_not_replaced(world: DeskWorld, tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    file.write_text(file.read_text().replace("draft fact number 1", "another fact"))
    with pytest.raises(Refused, match="in use at desks"):
        import_nuggets(
            campaign=world.campaign,
            source=read_source(file),
            origin=Origin.DRAFT,
            judge="drafting-machine",
            name="drafts",
            replace=True,
        )
