"""Support judgments in the organizers' form: an answer a line."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.models import Finding, SupportJudgment
from tests.reports.conftest import settle
from tests.worlds.imported import answer, load, load_world, refuse, report, run, sentence, write

BY_EVE = ("--judge", "Eve", "--by", "human", "--condition", "scratch")


@pytest.fixture
def folder(db: None, tmp_path: Path) -> Path:
    """The small campaign with a run gamma, of which every citation is judged: two, one and none in a sentence."""
    load_world(tmp_path, parts=2)
    lines = [
        answer("gamma", "t1", sentence("One.", 0, 1), sentence("Two.", 0), sentence("Three.")),
        answer("gamma", "t2", sentence("Nothing is cited.")),
    ]
    load("import_run", write(tmp_path, "gamma.jsonl", lines))
    settle(tmp_path, "[protocol]\nfirst_citations = 0\n")
    return tmp_path


def judged(*labels: list[Any], **more: Any) -> dict[str, Any]:
    """Gamma's answer to t1; each sentence a list of supports, of d1, d2 and so on."""
    sentences = [
        {
            "sentenceID": number,
            "citations": [
                {"citationID": place, "reference": f"d{place + 1}", "support": support}
                for place, support in enumerate(supports)
            ],
        }
        for number, supports in enumerate(labels)
    ]
    return {"narrative_id": "t1", "run_id": "gamma", "sentences": sentences} | more


EXAMPLE = judged([2, "0"], ["2"], [])


def figures(*options: str) -> tuple[float | None, float | None]:
    rows = report("support", "--condition", "scratch", "--judge", "Eve", *options)["runs"]
    row = next(row for row in rows if row["run_id"] == "gamma")
    return row["weighted_precision"], row["weighted_recall"]


@pytest.mark.parametrize(
    ("measure", "expected"), [("first", (1, 2 / 3)), ("sentence", (0.75, 0.5)), ("pooled", (2 / 3, 2 / 3))]
)
def test_three_sentences(folder: Path, measure: str, expected: tuple[float, float]) -> None:
    load("import_support", *BY_EVE, write(folder, "eve.jsonl", [EXAMPLE]))
    assert figures("--measure", measure) == pytest.approx(expected, abs=1e-12)


def test_an_answer_that_cites_nothing_is_left_out_or_0(folder: Path) -> None:
    other = {"topic_id": "t2", "run_id": "alpha", "sentence": 0, "docid": "d3", "label": "no_support"}
    load("import_support", *BY_EVE, write(folder, "eve.jsonl", [EXAMPLE]))
    load("import_support", *BY_EVE, write(folder, "other.jsonl", [other]))
    found = [figures("--measure", "sentence", "--no-cited", how) for how in ("skip", "zero")]
    assert found == [(0.75, 0.25), (0.375, 0.25)]


def test_unjudged_is_no_label(folder: Path) -> None:
    load("import_support", *BY_EVE, write(folder, "eve.jsonl", [judged([-1, "1"], ["-1"], [])]))
    assert SupportJudgment.objects.values_list("sentence__index", "segment__docid", "label").get() == (0, "d2", 1)


@pytest.mark.parametrize(("again", "stored"), [("2", [2]), (-1, [])])
def test_a_passage_that_a_sentence_cites_twice_is_one_pair(folder: Path, again: Any, stored: list[int]) -> None:
    line = judged([again], ["0"], [])
    line["sentences"][0]["citations"] *= 2
    load("import_support", *BY_EVE, write(folder, "eve.jsonl", [line]))
    assert [*SupportJudgment.objects.filter(sentence__index=0).values_list("label", flat=True)] == stored


@pytest.mark.parametrize("word", ["cant_judge", "maybe"])
def test_what_leaves_as_unjudged_and_comes_back_changes_nothing(folder: Path, word: str) -> None:
    pairs = [(0, "d1", "full_support"), (1, "d1", word)]
    load(
        "import_support",
        *BY_EVE,
        write(
            folder,
            "pairs.jsonl",
            [
                {"run_id": "gamma", "topic_id": "t1", "sentence": sentence, "docid": docid, "label": label}
                for sentence, docid, label in pairs
            ],
        ),
    )
    words = ("support", "--campaign", "river", "--condition", "scratch", "--judge", "Eve", "--form", "citations")
    lines = [json.loads(line) for line in run("export", *words).out.splitlines()]
    for option in ((), ("--replace",)):
        outcome = load("import_support", *BY_EVE, *option, write(folder, "back.jsonl", lines))
        assert "Nothing changed: 1 label already loaded." in outcome.err
    lines[0]["sentences"][0]["citations"][0]["support"] = "-1"
    told = refuse("import_support", *BY_EVE, write(folder, "less.jsonl", lines))
    assert "less.jsonl:1: sentences.0.citations.0.support: what is already loaded for d1" in told


def test_another_text_is_a_finding(folder: Path) -> None:
    line = judged([2, 0], [2], [])
    for item, text in zip(line["sentences"], ("One.", " Two. ", "Another."), strict=True):
        item["text"] = text
    load("import_support", *BY_EVE, write(folder, "eve.jsonl", [line]))
    finding = Finding.objects.get(code="answer_text_differs")
    assert (finding.line, finding.message) == (1, "sentence 2 reads otherwise than in the run that is loaded")


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([judged([3])], "1: sentences.0.citations.0.support: 2, 1, 0, or -1 for unjudged, found 3"),
        ([judged([2, True])], "1: sentences.0.citations.1.support: 2, 1, 0, or -1 for unjudged, found true"),
        ([judged([], ["2", 1])], "1: sentences.1.citations.1.reference: a docid that sentence 1 cites, not d2"),
        ([judged([], [], [], [])], "1: sentences.3.sentenceID: the number, from 0, of a sentence the answer has"),
        (
            [judged([2], run_id="omega")],
            "1: run_id: an answer that is loaded; there is none of omega for topic t1",
        ),
        ([judged([2], topic_id="t2")], "1: narrative_id: the topic that topic_id says, t2, found t1"),
        (
            [EXAMPLE, EXAMPLE],
            "2: topic_id: the answer of run gamma, topic t1 once, it is on line 1 too (duplicate)",
        ),
    ],
)
def test_what_is_refused(folder: Path, lines: list[dict[str, Any]], problem: str) -> None:
    assert f"eve.jsonl:{problem}" in refuse("import_support", *BY_EVE, write(folder, "eve.jsonl", lines))


def test_the_export_reads_back_and_has_what_cites_nothing(folder: Path) -> None:
    load("import_support", *BY_EVE, write(folder, "eve.jsonl", [judged([2, -1], [1], [])]))
    load(
        "import_support",
        *BY_EVE,
        "--replace",
        write(
            folder,
            "other.jsonl",
            [{"topic_id": "t2", "run_id": "alpha", "sentence": 0, "docid": "d3", "label": "no_support"}],
        ),
    )
    words = ("support", "--campaign", "river", "--condition", "scratch", "--judge", "Eve", "--form", "citations")
    lines = [json.loads(line) for line in run("export", *words).out.splitlines()]
    assert [(line["run_id"], line["topic_id"]) for line in lines] == [
        ("alpha", "t2"),
        ("gamma", "t1"),
        ("gamma", "t2"),
    ]
    assert lines[1] == {
        "topic_id": "t1",
        "narrative_id": "t1",
        "run_id": "gamma",
        "sentences": [
            {
                "sentenceID": 0,
                "text": "One.",
                "citations": [
                    {"citationID": 0, "reference": "d1", "support": "2"},
                    {"citationID": 1, "reference": "d2", "support": "-1"},
                ],
            },
            {"sentenceID": 1, "text": "Two.", "citations": [{"citationID": 0, "reference": "d1", "support": "1"}]},
            {"sentenceID": 2, "text": "Three.", "citations": []},
        ],
    }
    outcome = load("import_support", *BY_EVE, write(folder, "back.jsonl", lines))
    assert "Nothing changed: 3 labels already loaded." in outcome.err
