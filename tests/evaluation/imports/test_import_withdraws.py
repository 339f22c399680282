"""What a file no longer says is taken out with --replace: a label that is null, a grade or run whose row is gone."""

from pathlib import Path

import pytest

from evaluation.models import Assignment, Qrel, SupportJudgment
from reports.models import ExternalScore
from tests.worlds.imported import BY_ANN, BY_LLM, SUPPORT, labels, load, refuse, write

SAND_GONE = [labels("alpha", "t1", ("bends", "support"), ("sand", None))]


def test_null_says_something_else_than_a_label_that_is_loaded(labelled: Path) -> None:
    message = refuse("import_assignments", *BY_LLM, write(labelled, "null.jsonl", SAND_GONE))
    assert "'sand'" in message
    assert "--replace" in message


def test_null_takes_the_label_out_and_it_may_come_again(labelled: Path) -> None:
    before = Assignment.objects.current().count()
    file = write(labelled, "null.jsonl", SAND_GONE)
    assert "1 taken out" in load("import_assignments", *BY_LLM, "--replace", file).err
    assert Assignment.objects.current().count() == before - 1
    assert Assignment.objects.count() == before  # no judgment is lost
    assert "Nothing changed" in load("import_assignments", *BY_LLM, "--replace", file).err
    again = [labels("alpha", "t1", ("bends", "support"), ("sand", "partial_support"))]
    load("import_assignments", *BY_LLM, write(labelled, "again.jsonl", again))
    assert Assignment.objects.current().count() == before


def test_null_takes_a_citation_label_out(labelled: Path) -> None:
    file = write(labelled, "null.jsonl", [SUPPORT[0] | {"label": None}, SUPPORT[1]])
    assert "--replace" in refuse("import_support", *BY_ANN, file)
    assert "1 taken out" in load("import_support", *BY_ANN, "--replace", file).err
    assert SupportJudgment.objects.current().count() == len(SUPPORT) - 1
    assert SupportJudgment.objects.count() == len(SUPPORT)


def test_grades_missing_in_a_file_are_counted_and_go_with_replace(labelled: Path) -> None:
    there = Qrel.objects.count()
    file = write(labelled, "one.txt", "t1 0 d1 3\n")
    first = load("import_qrels", "--source", "NIST", "--replace", file).err
    assert f"{there - 1} taken out" in first
    assert Qrel.objects.count() == 1
    more = write(labelled, "two.txt", "t2 0 d3 1\n")
    assert "1 loaded and not in the file" in load("import_qrels", "--source", "NIST", more).err
    assert Qrel.objects.count() == 2


@pytest.mark.parametrize("name", ["median", "Mean", "max", "all", "AVERAGE"])
def test_rows_that_close_a_published_table_are_no_runs(labelled: Path, name: str) -> None:
    table = write(labelled, "table.csv", f"run_id,vital\nalpha,0.5\nbeta,0.4\n{name},0.45\n")
    message = load("import_scores", "--condition", "published", table).err
    assert "2 runs' scores added" in message
    assert f"`{name}` closes the table" in message
    assert set(ExternalScore.objects.values_list("run_id", flat=True)) == {"alpha", "beta"}
