"""A campaign with the topics of the tool's score files, and no run."""

from pathlib import Path

import pytest

from tests.worlds.imported import load, run, write

SIX_TOPICS = "".join(f"t0{number}\tquestion {number}\n" for number in range(1, 7))


@pytest.fixture
def score_files(shared_data: Path) -> Path:
    """Scores of a truth and a judge, and the figures that the field's own tool gives for them."""
    return shared_data / "autojudge-scores"


@pytest.fixture
def judged(db: None, tmp_path: Path) -> Path:
    run("create_campaign", "river", "--name", "River study")
    load("import_topics", write(tmp_path, "topics.tsv", SIX_TOPICS))
    return tmp_path


@pytest.fixture
def autojudge(judged: Path, score_files: Path) -> Path:
    """The tool's truth, its judge A, and a judge B whose scores are the truth's backwards in three topics."""
    load("import_scores", "--condition", "truth", score_files / "truth.eval.jsonl")
    options = ("--judge", "A", "--method", "pointwise", "--model", "gpt-4o")
    load("import_scores", *options, score_files / "judgeA.eval.txt")
    rows = [line.split() for line in (score_files / "judgeA.eval.txt").read_text("utf-8").splitlines()]
    other = [(run_id, topic, 1 - float(value) if topic < "t04" else value) for run_id, _, topic, value in rows]
    text = "".join(f"{run_id} GRADE {topic} {value}\n" for run_id, topic, value in other if topic != "all")
    load("import_scores", "--judge", "B", write(judged, "b.txt", text))
    return judged
