"""The made rubrics of TREC RAG 2026: four runs, ten prompts, verdicts; where they are not at hand, tests skip."""

from pathlib import Path

import pytest

from tests.worlds.imported import load, run

DATA = Path(__file__).parents[3] / "shared" / "data" / "track-2026"
RUBRICS, GRADED = DATA / "research-rubrics-dev-rubrics.jsonl", DATA / "graded.jsonl"
SET = ("--origin", "manual", "--judge", "track", "--set", "rubric")
LABELS = ("--origin", "manual", "--judge", "grader", "--by", "llm")
needs_data = pytest.mark.skipif(not DATA.exists(), reason="the data of TREC RAG 2026 are not here")


def load_rubrics() -> None:
    assert run("create_campaign", "river", "--name", "Rubrics").code == 0
    load("import_topics", DATA / "research-rubrics-topics-dev.tsv")
    load("import_nuggets", *SET, RUBRICS)


def load_graded() -> None:
    load_rubrics()
    load("import_run", "--task", "RAG", *sorted((DATA / "rubric-runs").iterdir()))
    load("import_assignments", *LABELS, GRADED)
