"""Findings of a run whose answers are longer than a track allows: by kind, with their number and five places."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from evaluation.models import Campaign, Finding
from exchange.models import ImportAttempt
from tests.worlds.cast import make_cast
from tests.worlds.imported import load, run, write

pytestmark = pytest.mark.django_db
TOPICS, LONG, WIDE = 103, 61, 28


def request(number: int) -> dict[str, object]:
    return {"request_id": f"r{number}", "title": f"request {number}", "limit": 5000}


def report(number: int) -> dict[str, object]:
    """A line in the form of RAGTIME: the first are over 400 words and under 5,000 characters."""
    references = [f"doc{place}" for place in range(21 if number < WIDE else 3)]
    sentence = {"text": " ".join(["rivers"] * (410 if number < LONG else 390)), "citations": {"doc0": 0.5}}
    metadata = {"team_id": "us", "run_id": "lake", "narrative_id": f"r{number}"}
    return {"metadata": metadata, "references": references, "responses": [sentence]}


def files(folder: Path, *, like: str) -> Path:
    """Make the campaign `river` with its topics; return the file of the run."""
    assert run("create_campaign", "river", "--like", like).code == 0
    load("import_topics", write(folder, "requests.jsonl", map(request, range(TOPICS))))
    return write(folder, "lake.jsonl", map(report, range(TOPICS)))


def test_a_page_names_each_kind_once_with_its_number_and_five_places(
    client: Client, settings: Any, tmp_path: Path
) -> None:
    settings.FILES_DIR = tmp_path / "files"
    file = files(tmp_path, like="trec-rag-2024")
    client.force_login(make_cast(Campaign.objects.get())["olga"])
    sent = SimpleUploadedFile("lake.jsonl", file.read_bytes())
    client.post("/campaigns/river/data/load/runs/", {"files": sent})
    attempt = ImportAttempt.objects.get()
    page = client.get(f"/campaigns/river/data/imports/{attempt.pk}/").content.decode()
    assert page.count('scope="rowgroup"') == 2
    assert ("answer too long: 61" in page, "too many references: 28" in page) == (True, True)
    assert page.count("410 words, the limit is 400") == page.count("21 references, the limit is 20") == 5


def test_a_command_names_each_kind_once_and_all_are_kept(tmp_path: Path) -> None:
    said = load("import_run", files(tmp_path, like="trec-rag-2024")).err
    kinds = [line for line in said.splitlines() if line.startswith("- ")]
    assert [line.split(" (")[0] for line in kinds if "segment" not in line] == [
        "- 61 answer too long",
        "- 28 too many references",
    ]
    assert all("and 56 more" in line or "and 23 more" in line for line in kinds if "segment" not in line)
    assert Finding.objects.filter(code="answer_too_long").count() == LONG


def test_the_track_s_own_limits_find_nothing_and_a_longer_report_is_found(tmp_path: Path) -> None:
    said = load("import_run", files(tmp_path, like="ragtime-2026")).err
    assert ("too long" in said, "references" in said) == (False, False)
    long = report(0) | {"metadata": {"team_id": "us", "run_id": "sea", "narrative_id": "r0"}}
    long["responses"] = [{"text": "x" * 2606}, {"text": "y" * 2607}]
    load("import_run", write(tmp_path, "sea.jsonl", [long]))
    [finding] = Finding.objects.filter(code="answer_too_long")
    assert finding.message == "5,214 of 5,000 characters"
