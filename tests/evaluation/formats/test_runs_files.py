"""Runs of three years' forms, and what the track's rules would say about them."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluation.errors import BadInput
from evaluation.formats.runs import (
    CitationRecord,
    RunFile,
    RunFinding,
    SentenceRecord,
    parse_run,
    run_findings,
)
from evaluation.formats.source import Source, read_source
from evaluation.formats.topics import parse_topics
from evaluation.terms import FindingCode
from tests.evaluation.formats.writing import run_line

Read = Callable[[str], Source]

HEAD = {"run_id": "r", "topic_id": "1", "topic": "t"}
HEAD25 = {"metadata": {"team_id": "us", "run_id": "r", "type": "automatic", "narrative_id": 1, "narrative": "t"}}
MSMARCO = "msmarco_v2.1_doc_00_1#{}_2"


def run_of(source: Read, *lines: dict[str, Any]) -> RunFile:
    return parse_run(source("\n".join(json.dumps(line) for line in lines)))


def found(run: RunFile, **options: Any) -> list[RunFinding]:
    usual: dict[str, Any] = {
        "word_limit": 400,
        "reference_limit": 20,
        "citation_limit": None,
        "topics": {"1": "t"},
        "topic_limits": {},
        "names": (),
    }
    return run_findings(run, **usual | options)


def codes(run: RunFile, **options: Any) -> list[FindingCode]:
    return [finding.code for finding in found(run, **options)]


def answer(*citations: Any, references: list[str] | None = None, **more: Any) -> dict[str, Any]:
    refs = ["a", "b"] if references is None else references
    return {**HEAD, "references": refs, "answer": [{"text": "One two.", "citations": list(citations)}], **more}


def test_a_run_of_2024(source: Read) -> None:
    run = run_of(source, answer(1, 0, response_length=2, note="kept"))
    [row] = run.answers
    assert (run.run_id, run.team, run.task_type) == ("r", "", "")
    assert (row.topic_id, row.topic_text, row.references, row.response_length) == ("1", "t", ("a", "b"), 2)
    assert row.sentences == (SentenceRecord("One two.", (CitationRecord("b", "1"), CitationRecord("a", "0"))),)
    assert (row.extra, row.words) == ({"note": "kept"}, 2)


def test_a_run_of_2025(source: Read) -> None:
    run = run_of(source, {**HEAD25, "references": ["a"], "answer": [{"text": "A.", "citations": ["a", 0, "z"]}]})
    [row] = run.answers
    assert (run.team, run.task_type, row.topic_id, row.response_length) == ("us", "automatic", "1", None)
    assert [citation.docid for citation in row.sentences[0].citations] == ["a", "a", "z"]


def test_a_run_in_the_style_of_ragtime(source: Read) -> None:
    run = run_of(source, {**HEAD25, "responses": [{"text": "A.", "citations": {"b": 0.9, "a": 0.1}}]})
    [row] = run.answers
    assert row.references == ()
    assert row.sentences[0].citations == (CitationRecord("b", "b"), CitationRecord("a", "a"))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({**HEAD, "narrative_id": 2}, ("narrative_id", "1, as the line says elsewhere, found 2")),
        ({**HEAD, "metadata": {"run_id": "s"}}, ("metadata.run_id", "r, as the line says elsewhere, found s")),
        ({**HEAD, "metadata": {"topic_id": 2}}, ("metadata.topic_id", "1, as the line says elsewhere, found 2")),
        ({**HEAD25, "topic_id": "2"}, ("topic_id", "1, as the line says elsewhere, found 2")),
        ({**HEAD25, "sample": 2}, ("sample", "1, as the line says elsewhere, found 2")),
    ],
)
def test_a_line_that_names_two_runs_or_topics_is_refused(
    source: Read, line: dict[str, Any], problem: tuple[str, str]
) -> None:
    with pytest.raises(BadInput) as refused:
        run_of(source, answer(0), {**line, "references": ["a"], "answer": []})
    first, *_ = refused.value.problems
    assert (first.line, first.field, first.expected) == (2, *problem)


def test_a_line_may_say_its_run_and_topic_twice(source: Read) -> None:
    line = {**HEAD, "narrative_id": 1, "qid": 7, "metadata": {"run_id": "r", "narrative_id": 1, "sample": 1}}
    [row] = run_of(source, {**line, "references": [], "answer": []}).answers
    assert row.topic_id == "1"


def test_a_line_with_two_lists_of_sentences_is_refused_where_they_differ(source: Read) -> None:
    both = answer(0, responses=[{"text": "One two.", "citations": [0]}])
    assert run_of(source, both) == run_of(source, answer(0))
    both["responses"][0]["citations"] = [1]
    with pytest.raises(BadInput) as refused:
        run_of(source, both)
    assert "1: responses: the sentences of answer, found others" in str(refused.value)


def test_null_is_no_citation_and_no_text(source: Read) -> None:
    line = answer(documents={"a": {"text": None}, "b": {"doc": None}})
    line["answer"][0]["citations"] = None
    [row] = run_of(source, line).answers
    assert (row.sentences[0].citations, row.documents) == ((), ())


@pytest.mark.parametrize("outside", [2, -1])
def test_a_citation_out_of_range_is_kept_unresolved(source: Read, outside: int) -> None:
    run = run_of(source, answer(0, outside))
    assert run.answers[0].sentences[0].citations[1] == CitationRecord(None, str(outside))
    assert codes(run) == [FindingCode.CITATION_OUT_OF_RANGE]


@pytest.mark.parametrize(
    ("line", "options", "code"),
    [
        (answer(response_length=3), {}, FindingCode.RESPONSE_LENGTH),
        (answer(), {"word_limit": 1}, FindingCode.ANSWER_TOO_LONG),
        (answer(), {"topic_limits": {"1": 7}}, FindingCode.ANSWER_TOO_LONG),
        (answer(), {"reference_limit": 1}, FindingCode.TOO_MANY_REFERENCES),
        (answer(0, 1), {"citation_limit": 1}, FindingCode.TOO_MANY_CITATIONS),
        (answer(references=["a", "a"]), {}, FindingCode.DUPLICATE_REFERENCE),
        (answer(0, "a"), {}, FindingCode.DUPLICATE_CITATION),
        (answer(0, 9), {}, FindingCode.CITATION_OUT_OF_RANGE),
        (answer(), {"topics": {"1": "another text"}}, FindingCode.TOPIC_TEXT_DIFFERS),
        (answer(), {"topics": {"1": "t", "2": "u"}}, FindingCode.MISSING_TOPICS),
        (answer() | {"answer": []}, {}, FindingCode.EMPTY_ANSWER),
        (answer() | {"answer": [{"text": "Ask MY-rag."}]}, {"names": ("my-rag",)}, FindingCode.NAMES_ITS_RUN),
        (answer() | {"answer": [{"text": " "}]}, {}, FindingCode.EMPTY_ANSWER),
        (answer() | {"answer": [{"text": "\u200b\u2060"}, {"text": "\u3164"}]}, {}, FindingCode.EMPTY_ANSWER),
        (answer(references=[*map(MSMARCO.format, "12"), "odd"]), {}, FindingCode.DOCID_FORM),
    ],
)
def test_each_finding(source: Read, line: dict[str, Any], options: dict[str, Any], code: FindingCode) -> None:
    assert codes(run_of(source, line), **options) == [code]


@pytest.mark.parametrize(
    ("text", "name"), [("Ask my-rags.", "my-rag"), ("An otter swims.", "Otter"), ("Of the CIA.", "cia")]
)
def test_a_name_that_says_nothing_is_no_finding(source: Read, text: str, name: str) -> None:
    run = run_of(source, answer() | {"answer": [{"text": text}], "topic": "where is an otter"})
    assert codes(run, names=(name,), topics={"1": "where is an otter"}) == []


def test_a_run_within_the_rules_has_no_finding(source: Read) -> None:
    assert codes(run_of(source, answer(0, 1, response_length=2)), word_limit=2, reference_limit=2) == []


def test_no_limit_is_no_finding(source: Read) -> None:
    line = answer(references=list("abcdefghijklmnopqrstuvwxyz"))
    assert codes(run_of(source, line), word_limit=None, reference_limit=None) == []


def test_characters_are_counted_composed(source: Read) -> None:
    run = run_of(source, answer() | {"answer": [{"text": "Cafe\u0301"}, {"text": "x" * 5209}]})
    assert [finding.message for finding in found(run, topic_limits={"1": 5213})] == ["5,214 of 5,213 characters"]
    assert codes(run, topic_limits={"1": 5214, "2": 1}) == []


def test_white_space_in_a_topic_makes_no_difference(source: Read) -> None:
    assert codes(run_of(source, answer(topic=" a  b ")), topics={"1": "a b"}) == []


def test_every_sentence_with_a_repeated_citation_is_told(source: Read) -> None:
    line = answer() | {"answer": [{"text": "A.", "citations": [0, 0, 0]}, {"text": "B.", "citations": [1, 1]}]}
    messages = [finding.message for finding in found(run_of(source, line))]
    assert messages == ["sentence 0 cites more than once: a", "sentence 1 cites more than once: b"]


def test_missing_topics_are_counted_and_named(source: Read) -> None:
    topics = {str(number): "t" for number in range(1, 14)}
    [finding] = found(run_of(source, answer()), topics=topics)
    assert (finding.line, finding.topic_id) == (0, None)
    assert finding.message.startswith("12 of 13 topics have no answer: 2, 3")
    assert finding.message.endswith("and 2 more")


@pytest.mark.parametrize(
    "line",
    [
        answer(0, 9, "z", response_length=2, note="kept"),
        {**HEAD25, "references": ["a"], "answer": [{"text": "A.", "citations": ["a", 0], "sure": True}]},
        {"metadata": HEAD25["metadata"] | {"seed": 5}, "references": [], "answer": []},
    ],
)
def test_a_run_comes_back_as_written(source: Read, line: dict[str, Any]) -> None:
    run = run_of(source, line)
    assert parse_run(source(run_line(run, run.answers[0]))) == run


@pytest.mark.parametrize(
    ("name", "length", "sentences", "uncited"),
    [
        ("baseline_rag24.test_gpt-4o_top20", 300.93, 3975, 1662),
        ("baseline_rag24.test_command-r-plus_top20", 251.75, 3690, 329),
    ],
)
def test_the_track_s_baselines(data: Path, name: str, length: float, sentences: int, uncited: int) -> None:
    folder = data / "trec-rag-2024"
    run = parse_run(read_source(folder / "runs" / f"{name}.jsonl"))
    topics = {row.topic_id: row.text for row in parse_topics(read_source(folder / "topics.rag24.test.tsv"))}
    cited = [bool(sentence.citations) for row in run.answers for sentence in row.sentences]
    assert round(sum(row.words for row in run.answers) / len(run.answers), 2) == length
    assert (len(cited), cited.count(False)) == (sentences, uncited)
    assert codes(run, topics=topics) == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "baseline_rag24.test_gpt-4o_top20",
            {
                FindingCode.RESPONSE_LENGTH: 53,
                FindingCode.ANSWER_TOO_LONG: 30,
                FindingCode.DUPLICATE_CITATION: 5,
            },
        ),
        (
            "baseline_rag24.test_command-r-plus_top20",
            {FindingCode.RESPONSE_LENGTH: 44, FindingCode.ANSWER_TOO_LONG: 10},
        ),
    ],
)
def test_the_baselines_as_their_systems_wrote_them(
    data: Path, name: str, expected: dict[FindingCode, int]
) -> None:
    run = parse_run(read_source(data / "trec-rag-2024" / "runs-as-submitted" / f"{name}.jsonl"))
    assert Counter(codes(run, topics={})) == expected
