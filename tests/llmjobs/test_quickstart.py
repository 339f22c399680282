"""docs/quickstart.md, followed to the letter: its commands in order, on an empty database, with the simulated LLM."""

import json
from pathlib import Path

import pytest

from tests.architecture.test_docs import blocks
from tests.llmjobs.pages import DOCS, follow

PAGE = DOCS / "quickstart.md"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("transactional_db", "simulator")
def test_the_quickstart_leads_to_a_leaderboard_of_both_systems(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    _, printed = follow(PAGE, tmp_path, monkeypatch, capsys)[-1]
    scores = [json.loads(record) for record in (tmp_path / "scores.jsonl").read_text("utf-8").splitlines()]
    assert {score["run_id"] for score in scores} == {"plain", "reranked"}
    assert [row.split()[0] for row in printed.splitlines()[1:3]] == ["reranked", "plain"]


def shown_files() -> list[tuple[str, str]]:
    """The pieces of files that the page shows: their kind and their lines."""
    return [
        (info[1], line)
        for info, body in blocks(PAGE)
        if len(info) == 2 and info[0] != "console"
        for line in body.splitlines()
    ]


def test_the_files_on_the_page_are_those_its_commands_load() -> None:
    folder = PAGE.parent / "example" / "quickstart"
    lines = {line for file in folder.iterdir() for line in file.read_text("utf-8").splitlines()}
    shown = shown_files()
    assert {kind for kind, _ in shown} == {"topics", "segments", "run", "nuggets"}
    assert [line for _, line in shown if line not in lines] == []
