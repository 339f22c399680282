"""The same file twice changes nothing and says so; another one for the same thing is refused without --replace."""

from pathlib import Path

import pytest

from evaluation.models import Event
from tests.worlds.imported import (
    AUTO,
    BY_ANN,
    BY_LLM,
    LABELS,
    LISTS,
    SUPPORT,
    Rows,
    answer,
    everything,
    labels,
    load,
    nuggets,
    refuse,
    segment,
    sentence,
    write,
)

pytestmark = pytest.mark.postgresql

QRELS = ("import_qrels", "--source", "NIST")
NUGGETS, ASSIGN = ("import_nuggets", *AUTO), ("import_assignments", *BY_LLM)
SCORES = ("import_scores", "--condition", "Paper")
LOADED = [
    (("import_topics",), "topics.tsv", "2 topics"),
    (("import_segments",), "segments.jsonl", "3 passages"),
    (QRELS, "qrels.txt", "3 grades"),
    (("import_run",), "alpha.jsonl", "1 run"),
    (NUGGETS, "nuggets.jsonl", "2 nugget lists"),
    (ASSIGN, "labels.jsonl", "5 labels"),
    (("import_support", *BY_ANN), "support.jsonl", "2 labels"),
]


@pytest.mark.parametrize(("command", "name", "what"), LOADED, ids=[case[0][0] for case in LOADED])
@pytest.mark.parametrize("more", [(), ("--replace",)], ids=["", "with --replace"])
def test_the_same_file_again_changes_nothing(
    labelled: Path, command: tuple[str, ...], name: str, what: str, more: tuple[str, ...]
) -> None:
    before = everything()
    outcome = load(*command, *more, labelled / name)
    assert f"Nothing changed: {what} already loaded." in outcome.err
    assert everything() == before


def test_the_same_scores_again_change_nothing(corpus: Path) -> None:
    path = write(corpus, "scores.csv", "run_id,all\nalpha,0.5\n")
    load(*SCORES, path)
    before = everything()
    assert "Nothing changed" in load(*SCORES, path).err
    assert everything() == before


def test_a_form_without_reasons_changes_no_verdict(labelled: Path) -> None:
    verdict = {"topic_id": "t1", "left": "alpha", "right": "beta", "verdict": "left", "judge": "Ann"}
    by_ann = ("import_battles", "--by", "human", "--judge", "Ann")
    load(*by_ann, write(labelled, "verdicts", [verdict | {"reasons": ["point"], "place": 1, "stayed": "left"}]))
    before = everything()
    arena = write(labelled, "arena.csv", "topic_id,model_a,model_b,winner\nt1,alpha,beta,model_a\n")
    for more in ((), ("--replace",)):
        assert "Nothing changed: 1 verdict already loaded." in load(*by_ann, *more, arena).err
    assert everything() == before
    other = write(labelled, "other", [verdict | {"reasons": ["order"]}])
    assert ":1: verdict: what is already loaded for alpha and beta on topic t1" in refuse(*by_ann, other)


CHANGED: list[tuple[tuple[str, ...], str | list[Rows], list[tuple[int, str, str]]]] = [
    (("import_topics",), "t2\thow dams fail\nt1\tanother text\n", [(2, "text", "t1")]),
    (("import_segments",), [segment("d1"), segment("d2", "Other.")], [(2, "segment", "d2")]),
    (QRELS, "t1 0 d1 3\nt1 0 d2 0\nt2 0 d3 0\n", [(1, "grade", "t1 d1"), (3, "grade", "t2 d3")]),
    (("import_run",), [answer("alpha", "t1", sentence("Else."))], [(1, "run", "alpha")]),
    (NUGGETS, [LISTS[0], nuggets("t2", ("dams", "okay"))], [(2, "nuggets", "topic t2")]),
    (ASSIGN, [labels("alpha", "t2", ("dams", "support"))], [(1, "assignment", "'dams'")]),
    (("import_support", *BY_ANN), [SUPPORT[0] | {"label": "no_support"}], [(1, "label", "d1")]),
]


@pytest.mark.parametrize(("command", "content", "problems"), CHANGED, ids=[case[0][0] for case in CHANGED])
def test_a_changed_file_is_refused_line_by_line(
    labelled: Path, command: tuple[str, ...], content: str | list[Rows], problems: list[tuple[int, str, str]]
) -> None:
    path = write(labelled, "changed", content)
    lines = refuse(*command, path).splitlines()
    assert len(lines) == len(problems)
    for line, (number, field, what) in zip(lines, problems, strict=True):
        assert line.startswith(f"{path}:{number}: {field}: ")
        assert what in line
        assert "--replace" in line


def test_a_changed_table_of_scores_is_refused(corpus: Path) -> None:
    load(*SCORES, write(corpus, "scores.csv", "run_id,all\nalpha,0.5\n"))
    path = write(corpus, "other.csv", "run_id,all\nbeta,0.1\nalpha,0.6\n")
    assert refuse(*SCORES, path).startswith(f"{path}:3: scores: ")


def test_new_rows_beside_old_ones_are_added(labelled: Path) -> None:
    message = load("import_topics", write(labelled, "more.tsv", "t1\twhy rivers bend\nt3\tthree\n")).err
    assert "1 topic added, 1 already loaded." in message


def test_an_import_is_one_event_with_hash_and_counts(labelled: Path) -> None:
    event = Event.objects.filter(kind="import.assignments").get()
    assert event.payload["added"] == 5
    [file] = event.payload["files"]
    assert file["name"] == "labels.jsonl"
    assert len(file["sha256"]) == 64


def test_labels_given_again_by_another_judge_are_new(labelled: Path) -> None:
    other = ("--origin", "auto", "--judge", "n", "--by", "llm")
    assert "5 labels added" in load("import_assignments", *other, write(labelled, "n.jsonl", LABELS)).err
