"""docs/track-2026.md, followed to the letter: from narratives to figures of a rubric, with the simulated LLM."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.models import Campaign
from tests.architecture.test_docs import blocks
from tests.llmjobs.pages import DOCS, follow

PAGE, FILES = DOCS / "track-2026.md", DOCS / "example" / "track-2026"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("transactional_db", "simulator")
def test_the_page_leads_from_narratives_to_figures_and_back_to_files(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    printed = dict(follow(PAGE, tmp_path, monkeypatch, capsys))
    scores = table(next(out for line, out in printed.items() if "report scores" in line))
    shown = table(next(body for info, body in blocks(PAGE) if info == ["text", "figures"]))
    assert len(shown) == 2
    assert all(row.items() <= scores[run].items() for run, row in shown.items())
    assert all(printed[line] for line in printed if "report " in line)
    assert Campaign.objects.get(slug="peat").protocol.relevance_max == 4
    for name in ("rubric", "graded", "judgments"):
        assert told(tmp_path / f"{name}.jsonl") == told(FILES / f"{name}.jsonl")
    assert len((tmp_path / "qrels.txt").read_text("utf-8").splitlines()) == 4


def table(text: str) -> dict[str, dict[str, str]]:
    """Return rows by their first cell, each by column."""
    columns, *rows = (line.split() for line in text.splitlines() if not line.startswith("Policies"))
    return {row[0]: dict(zip(columns, row, strict=False)) for row in rows}


def told(path: Path) -> Any:
    """What a file says of weights, verdicts and support; whatever else stands there is left aside."""
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return sorted(
        [
            str(row.get("qid") or row.get("narrative_id") or row.get("topic_id")),
            row.get("run_id", ""),
            *_items(row),
        ]
        for row in rows
    )


def _items(row: dict[str, Any]) -> list[str]:
    criteria = [
        f"{criterion['text']} {float(criterion['weight'])} {criterion.get('verdict') or criterion.get('tier')}"
        for criterion in row.get("criteria", [])
    ]
    support = [
        f"{sentence['sentenceID']} {citation['reference']} {int(citation['support'])}"
        for sentence in row.get("sentences", [])
        for citation in sentence["citations"]
    ]
    return criteria + support
