"""The examples of the client's documents run as they stand, on a server with an LLM that judges."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from assay_client import Campaign
from assay_client.cli import main
from evaluation.models import Campaign as Stored
from evaluation.models import Event, Run
from tests.architecture.test_docs import blocks
from tests.client.conftest import Library
from tests.worlds.imported import run as run_command
from tests.worlds.llm import in_thread, work_on

CLIENT = settings.BASE_DIR / "client"
FILES = settings.BASE_DIR / "docs" / "example" / "quickstart"
PAGE = settings.BASE_DIR / "docs" / "pipeline.md"
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("simulator")]

Follow = Callable[[Path], str]


def cells_of(page: Path) -> Iterator[str]:
    if page.suffix != ".ipynb":
        yield from (body for info, body in blocks(page) if info == ["python"])
        return
    for cell in json.loads(page.read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
            yield "".join(cell["source"])


@pytest.fixture
def follow(library: Library, tmp_path: Path) -> Follow:
    """Run the Python of a page or notebook beside its files, while a worker works; return what it printed."""
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    shutil.copytree(FILES.parent, tmp_path / "example")
    own = os.environ | library.environment | {"PYTHONPATH": str(CLIENT)}

    def run(page: Path) -> str:
        folder = tmp_path / "example" / "pipeline" if page.suffix == ".ipynb" else tmp_path
        there: dict[str, Any] = {"cwd": folder, "capture_output": True, "text": True}
        program = "\n".join(cells_of(page))
        done: list[subprocess.CompletedProcess[str]] = []
        command = [sys.executable, "-W", "error", "-c", program]
        started = Event.objects.filter(kind="job.started")
        with in_thread(lambda: done.append(subprocess.run(command, check=False, env=own, **there))) as thread:
            while thread.is_alive() and not started.exists():
                thread.join(0.05)
            work_on()
        assert done[0].returncode == 0, done[0].stderr
        return done[0].stdout

    return run


def test_the_example_of_the_readme_runs(follow: Follow, lib: Campaign, tmp_path: Path) -> None:
    lib.imports.topics(FILES / "topics.tsv")
    lib.imports.nuggets(FILES / "nuggets.jsonl", origin="manual", judge="mara", by="human")
    (tmp_path / "broken.jsonl").write_text('{"run_id": "v43"}\n', "utf-8")
    loaded, scores, *labels, problem = follow(CLIENT / "README.md").splitlines()
    assert loaded.split()[:2] == ["1", "True"]
    score, policies = scores.split(" ", 1)
    assert float(score) == lib.scores("M/A", profile="trec-rag")["v42"].vital_strict
    assert policies == str(lib.scores("M/A").policies)
    assert {label.split()[0] for label in labels} <= {"q1", "q2", "q3", "q4", "q5"}
    assert problem.startswith("broken.jsonl:1: ")
    assert Run.objects.get().group == "ours"


def test_the_page_about_pipelines_runs(
    follow: Follow, library: Library, lib: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = follow(PAGE)
    assert "wrong.jsonl 1 topic_id" in printed
    assert "broken 5 topics have a score all_strict in both, at least 10 are needed" in printed
    assert {run.run_id for run in lib.runs()} == {"plain", "reranked", "canned", "bot"}
    board = {row.run_id: row.vital_strict for row in lib.scores("M/A")}
    assert board["canned"] == 0
    for run, score in board.items():
        assert f"{run} " in printed
        assert str(round(score or 0, 3)) in printed
    labels = (tmp_path / "labels.jsonl").read_text("utf-8").splitlines()
    assert len(labels) == lib.assignments(condition="M/A").count() > 0
    assert Stored.objects.get().slug == "library"
    monkeypatch.chdir(tmp_path)
    for name, value in library.environment.items():
        monkeypatch.setenv(name, value)
    texts = "".join(body for _, body in blocks(PAGE))
    commands = [shlex.split(line[2:]) for line in texts.splitlines() if line.startswith("$ ")]
    assert [command[0] for command in commands] == ["assay-client", *["manage.py"] * 2]
    for program, *words in commands:
        code = main(words) if program == "assay-client" else run_command(*words).code
        assert code in ((0, 1, 2) if program == "assay-client" else (0,)), words
    assert (tmp_path / "gate.md").read_text("utf-8").startswith("**")
    leaderboard = (tmp_path / "library/assay.eval.txt").read_text("utf-8").splitlines()
    assert {*(tmp_path / "library.eval.txt").read_text("utf-8").splitlines()} >= {*leaderboard}
    assert {*(tmp_path / "scores.eval.txt").read_text("utf-8").splitlines()} <= {*leaderboard}


def test_the_notebook_runs(follow: Follow, lib: Campaign, tmp_path: Path) -> None:
    printed = follow(settings.BASE_DIR / "docs/example/pipeline/traces.ipynb")
    assert {run.run_id for run in lib.runs()} == {"v1", "v2", "v2-short"}
    for row in lib.scores("M/A"):
        assert f"{row.run_id} {round(row.vital_strict or 0, 3)} {round(row.all_strict or 0, 3)}" in printed
    verdict = lib.gate("M/A", baseline="v1", candidate="v2", score="all_strict", least=0.05, min_topics=5)
    assert verdict.verdict in ("pass", "fail", "undecided")
    assert f"{verdict.verdict}\n{verdict.reason}" in printed
    assert "M/A" in printed.splitlines()[-1]
    files = (tmp_path / "example/pipeline/library.eval.txt").read_text("utf-8").splitlines()
    assert len(files) == 15
