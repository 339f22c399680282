"""Battles without topics, as arena-rank reads them: ratings of runs, loaded as scores by others, and no interval."""

import csv
import json
from pathlib import Path

import pytest

from reports.models import ExternalScore
from tests.reports.battles.worlds import load_runs
from tests.worlds.imported import load, refuse, report, run, write

pytestmark = pytest.mark.django_db
OUTCOMES = "model_a,model_b,winner\na,b,model_a\nb,c,tie\nc,a,model_a\na,b,both_bad\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    load_runs(tmp_path, "abc", ("t1", "t2"))
    return tmp_path


def ratings() -> dict[str, float]:
    rows = ExternalScore.objects.filter(condition__name="arena", score="rating", topic_id="")
    return dict(rows.values_list("run_id", "value"))


def test_made_battles_without_topics_have_the_ratings_that_must_come_out(folder: Path, shared_data: Path) -> None:
    battles = shared_data / "battles"
    assert "7 scores added" in load("import_scores", "--judge", "arena", battles / "people.arena.csv").err
    expected = json.loads((battles / "expected.json").read_text("utf-8"))["people"]["rating"]
    assert ratings() == pytest.approx({name: value for name, (value, *_) in expected.items()}, abs=1e-6)
    assert "Nothing changed" in load("import_scores", "--judge", "arena", battles / "people.arena.csv").err


def test_they_have_the_ratings_of_the_same_battles_with_topics_and_no_interval(folder: Path) -> None:
    load("import_scores", "--judge", "arena", write(folder, "outcomes.csv", OUTCOMES))
    rows = list(csv.reader(OUTCOMES.splitlines()))
    lines = [",".join(["topic_id", *rows[0]])]
    lines += [",".join([topic, *row]) for topic, row in zip(("t1", "t1", "t1", "t2"), rows[1:], strict=True)]
    load("import_battles", "--by", "human", "--judge", "ann", write(folder, "battles.csv", "\n".join(lines)))
    few = ("--condition", "B/M", "--least-topics", "1", "--least-battles", "1")
    by_topic = {row["run_id"]: row["rating"] for row in report("battles", *few)["runs"]}
    rated = ratings()
    assert rated["a"] == pytest.approx(by_topic["a"])
    assert sum(rated.values()) == pytest.approx(3000)


def test_a_run_that_won_all_is_said_to_have_no_rating(folder: Path) -> None:
    content = OUTCOMES + "d,a,model_a\n"
    assert "1 unrated run." in load("import_scores", "--judge", "arena", write(folder, "o.csv", content)).err
    assert ratings().keys() == set("abc")


def test_what_is_wrong_is_named_with_file_line_and_field(folder: Path) -> None:
    file = write(folder, "outcomes.csv", OUTCOMES + "a,b,left\na,a,tie\na b,c,tie\na,b\n")
    said = refuse("import_scores", "--judge", "arena", file)
    assert f"{file}:6: winner: model_a, model_b, tie, both_bad, found 'left'" in said
    assert f"{file}:7: right: another run than on the left, found a" in said
    assert f"{file}:8: model_a: " in said
    assert f"{file}:9: columns: 3 columns as in the header, found 2" in said
    topics = write(folder, "battles.csv", "topic_id,model_a,model_b,winner\nt1,a,b,tie\n")
    said = refuse("import_scores", "--judge", "arena", topics)
    assert f"{topics}:1: topic_id: no such column: battles with topics are loaded as verdicts of battles" in said
    said = refuse("import_battles", "--by", "human", "--judge", "ann", write(folder, "outcomes.csv", OUTCOMES))
    assert "outcomes.csv:1: topic_id: a column of this name once" in said
    assert "loaded as scores by others" in said
    assert run("report", "battles", "--campaign", "river", "--condition", "B/M").code == 1
