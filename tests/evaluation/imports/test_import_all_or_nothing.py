"""One bad file among several refuses them all."""

from pathlib import Path

import pytest

from evaluation.models import Assignment, Run
from tests.worlds.imported import (
    ALPHA,
    AUTO,
    BETA,
    BY_ANN,
    BY_LLM,
    LABELS,
    SUPPORT,
    Rows,
    answer,
    judged,
    labels,
    load,
    nuggets,
    refuse,
    segment,
    sentence,
    write,
)


def test_of_two_runs_one_bad(corpus: Path) -> None:
    good, bad = write(corpus, "a", ALPHA), write(corpus, "b", [answer("beta", "t9")])
    assert refuse("import_run", good, bad).startswith(f"{bad}:1: topic_id: ")


def test_two_runs_at_once(corpus: Path) -> None:
    message = load("import_run", write(corpus, "a", ALPHA), write(corpus, "b", BETA)).err
    assert "2 runs added. 3 answers" in message
    assert Run.objects.count() == 2


def test_one_run_in_two_files(corpus: Path) -> None:
    first, second = write(corpus, "a", ALPHA[:1]), write(corpus, "b", ALPHA[1:])
    assert refuse("import_run", first, second).startswith(
        f"{second}:1: run_id: one file per run; alpha is also in"
    )


def test_one_run_of_two_changed(runs: Path) -> None:
    gamma, beta = (
        write(runs, "g", [answer("gamma", "t1")]),
        write(runs, "b", [answer("beta", "t1", sentence("X."))]),
    )
    assert refuse("import_run", gamma, beta).startswith(f"{beta}:1: run: ")


def test_of_two_files_of_labels_one_bad(lists: Path) -> None:
    good, bad = (
        write(lists, "a", LABELS[:1]),
        write(lists, "b", [LABELS[1], labels("beta", "t1", ("x", "support"))]),
    )
    assert refuse("import_assignments", *BY_LLM, good, bad).startswith(f"{bad}:2: nuggets.0.text: ")


def test_labels_of_one_answer_in_two_files(lists: Path) -> None:
    first, second = write(lists, "a", LABELS), write(lists, "b", LABELS[:1])
    message = refuse("import_assignments", *BY_LLM, first, second)
    assert message.startswith(f"{second}:1: run_id: each answer once; it is also at {first}:1")


def test_labels_in_two_files(lists: Path) -> None:
    first, second = write(lists, "a", LABELS[:1]), write(lists, "b", LABELS[1:])
    load("import_assignments", *BY_LLM, first, second)
    assert Assignment.objects.count() == 5


def test_of_two_files_of_support_one_bad(lists: Path) -> None:
    good, bad = write(lists, "a", SUPPORT), write(lists, "b", [judged("alpha", "t2", 0, "d1", "no_support")])
    assert refuse("import_support", *BY_ANN, good, bad).startswith(f"{bad}:1: docid: ")


def test_a_pair_in_two_files_of_support(lists: Path) -> None:
    first, second = write(lists, "a", SUPPORT), write(lists, "b", SUPPORT[1:])
    message = refuse("import_support", *BY_ANN, first, second)
    assert message.startswith(f"{second}:1: docid: each pair once; it is also at {first}:2")


@pytest.mark.parametrize(
    ("command", "rows"),
    [
        (("import_assignments", *BY_LLM), LABELS),
        (("import_support", *BY_ANN), SUPPORT),
        (("import_run",), [answer("gamma", "t1")]),
        (("import_scores", "--judge", "Z"), [{"run_id": "a", "topic_id": "t1", "measure": "m", "value": 1}]),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_file_that_is_there_twice(lists: Path, command: tuple[str, ...], rows: list[Rows]) -> None:
    path = write(lists, "a", rows)
    assert refuse(*command, path, path).startswith(f"{path}:1: ")


def test_two_files_of_segments_that_disagree(corpus: Path) -> None:
    first, second = write(corpus, "a", [segment("d8", "one")]), write(corpus, "b", [segment("d8", "two")])
    message = refuse("import_segments", first, second)
    assert message.startswith(f"{second}:1: segment: the same text as at {first}:1 for d8")


def test_a_refused_list_makes_neither_set_nor_judge(runs: Path) -> None:
    bad = write(runs, "bad", [nuggets("t9")])
    assert ":1: qid: " in refuse("import_nuggets", *AUTO, bad)
