"""Files of campaigns from 0.1.0 on are read by every later version.

The demo is such a file: until the release `python -m loadtest.demo` makes it anew where a model changes. A later
version that makes it anew keeps that of 0.1.0 for this test.
"""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from evaluation.models import Campaign, Run
from exchange.demo_campaign import CAMPAIGN, FILES
from exchange.snapshots.archive import MANIFEST, SnapshotManifest, content_of, opened
from exchange.snapshots.upgrades import UPGRADES, StoredTable, upgraded
from tests.exchange.test_snapshots import written, zipped
from tests.golden.keeping import FILES as GOLDEN
from tests.golden.keeping import as_kept
from tests.worlds.campaign import make_world
from tests.worlds.imported import run

pytestmark = pytest.mark.django_db

OF_FORM_1 = Path(__file__).parent / "files"
SCORES = "scores --condition A/A --format csv"


@pytest.mark.slow
def test_a_file_of_form_1_gives_the_reports_and_exports_of_the_version_that_wrote_it() -> None:
    """Check X12. The documents are those of that version, letter by letter."""
    done = run("import_campaign", str(OF_FORM_1 / "river-study-form-1.zip"))
    assert done.code == 0, done.err
    kept = (OF_FORM_1 / "river-study-form-1.txt").read_text(encoding="utf-8").split("===== ")[1:]
    assert len(kept) == 21
    for command, document in (part.split("\n", maxsplit=1) for part in kept):
        made = run(*command.split(), "--campaign", "river-study")
        assert (made.code, made.out) == (0, document), command


@pytest.mark.slow
def test_its_other_exports_are_the_same_and_its_json_has_every_figure_of_before() -> None:
    """Check X12. Documents of that version, of citations too, and the SHA-256 of its exports."""
    assert run("import_campaign", str(OF_FORM_1 / "river-study-form-1.zip")).code == 0
    kept = (OF_FORM_1 / "river-study-form-1.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(kept) == 60
    for line in map(json.loads, kept):
        made = run(*line["command"].split(), "--campaign", "river-study")
        assert made.code == 0, line["command"]
        if "sha256" in line:
            assert hashlib.sha256(made.out.encode()).hexdigest() == line["sha256"], line["command"]
        else:
            assert part_of(json.loads(made.out), line["document"]) == line["document"], line["command"]


def part_of(document: Any, shape: Any) -> Any:
    """Return what of a document stands in a shape too: later versions say more beside it."""
    if isinstance(document, dict) and isinstance(shape, dict):
        return {key: part_of(document[key], shape[key]) for key in shape if key in document}
    if isinstance(document, list) and isinstance(shape, list) and len(document) == len(shape):
        return [part_of(*pair) for pair in zip(document, shape, strict=True)]
    return document


@pytest.mark.slow
def test_the_demo_of_0_1_0_has_its_rows_and_its_scores() -> None:
    done = run("import_campaign", str(FILES / CAMPAIGN))
    with opened(FILES / CAMPAIGN) as archive:
        assert f"Campaign river-study loaded: {archive.manifest.rows:,} rows." in done.err
    scores = as_kept(run("report", *SCORES.split(), "--campaign", "river-study").out.encode()).decode()
    assert f"===== {SCORES}\n{scores}" in (GOLDEN / "demo" / "report-scores.txt").read_text(encoding="utf-8")


def test_a_column_that_was_renamed_is_found_under_its_new_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_world(tmp_path)
    file = written(tmp_path / "river.zip")
    with ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    manifest = SnapshotManifest.model_validate_json(parts[MANIFEST])
    runs = manifest.tables["evaluation.Run"]
    columns = ["team" if name == "group" else name for name in runs.columns]
    assert columns != runs.columns
    known = {name: part for name, part in manifest.tables.items() if name != "evaluation.Run"}
    known["evaluation.OldRun"] = runs.model_copy(update={"columns": columns})
    changed = manifest.model_copy(update={"tables": known, "content": content_of(known)})
    parts[MANIFEST] = json.dumps(changed.model_dump()).encode()
    parts["tables/evaluation.OldRun.jsonl"] = parts.pop("tables/evaluation.Run.jsonl")
    older = zipped(tmp_path / "older.zip", parts)
    refused = run("import_campaign", str(older), "--slug", "copy")
    assert "newer version of Assay, which has the table evaluation.OldRun" in refused.err

    def runs_again(table: StoredTable) -> StoredTable:
        if table.name != "evaluation.OldRun":
            return table
        return replace(
            table, name="evaluation.Run", columns=["group" if name == "team" else name for name in table.columns]
        )

    monkeypatch.setattr("exchange.snapshots.upgrades.UPGRADES", (*UPGRADES, runs_again))
    done = run("import_campaign", str(older), "--slug", "copy")
    assert done.code == 0, done.err
    groups = {
        slug: list(Run.objects.filter(campaign__slug=slug).order_by("run_id").values_list("run_id", "group"))
        for slug in ("river", "copy")
    }
    assert groups["copy"] == groups["river"] != []
    assert Campaign.objects.get(slug="copy").family == Campaign.objects.get(slug="river").family


def test_a_nugget_that_was_held_out_by_a_mark_weighs_less_than_nothing() -> None:
    rows = [["sand", False, 3], ["gold", True, 4], []]
    table = upgraded(StoredTable("evaluation.ListedNugget", ["text", "avoid", "place"], rows), 1)
    assert table.columns == ["text", "weight", "place"]
    assert list(table.rows) == [["sand", None, 3], ["gold", -1.0, 4], []]
