"""Support judgments as the track's organizers write them: a line an answer, with its sentences and their citations."""

import json
from collections.abc import Iterator
from typing import Annotated, Any, Final, TypedDict

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from evaluation.formats.kinds import of_kind
from evaluation.formats.lines import (
    Count,
    Id,
    Line,
    Once,
    Sample,
    first_object,
    json_line,
    json_rows,
    sample_field,
    sample_words,
)
from evaluation.formats.problems import Problems
from evaluation.formats.source import Source
from evaluation.formats.support import JudgedAnswer, JudgedSentence, SupportFile, SupportRecord, parse_pairs
from evaluation.labels import CITATION_LABELS, SupportLabel

UNJUDGED: Final = "-1"
NUMBERS: Final = {str(code): SupportLabel(code) for code in CITATION_LABELS.codes}


def _label(value: Any) -> SupportLabel | None:
    # By type, because true and false are integers to `isinstance`.
    number = str(value) if type(value) is int else value
    if not isinstance(number, str) or number not in (*NUMBERS, UNJUDGED):
        expected = f"{', '.join(NUMBERS)}, or {UNJUDGED} for unjudged, found {json.dumps(value)[:40]}"
        raise PydanticCustomError("support", "{expected}", {"expected": expected})
    return NUMBERS.get(number)


class JudgedCitation(Line):
    reference: Id
    support: Annotated[SupportLabel | None, BeforeValidator(_label)]


class AnswerSentence(Line):
    number: Count = Field(validation_alias="sentenceID")
    text: str | None = None
    citations: list[JudgedCitation]


class JudgedAnswerLine(Line):
    """An answer, whose topic is named by either of two fields."""

    topic_id: Id | None = None
    narrative_id: Id | None = None
    run_id: Id
    sample: Sample = 1
    sentences: list[AnswerSentence]


@of_kind("support", "citation labels, a sentence and a passage or an answer a line")
def parse_support(source: Source) -> SupportFile:
    """All judgments of a file of either form. Raises `BadInput`."""
    return parse_citation_judgments(source) if "sentences" in first_object(source) else parse_pairs(source)


def parse_citation_judgments(source: Source) -> SupportFile:
    """All judgments in file order, an unjudged citation with no label. Raises `BadInput`, for an answer twice too."""
    problems = Problems(source.name)
    once = Once(problems, "topic_id")
    rows: list[SupportRecord] = []
    answers: list[JudgedAnswer] = []
    sentences: list[JudgedSentence] = []
    for line, entry in json_rows(source, JudgedAnswerLine.model_validate_json, problems):
        topic_id = _topic_id(line, entry, problems)
        if topic_id is None:
            continue
        answer = JudgedAnswer(line, entry.run_id, topic_id, entry.sample)
        name = f"run {answer.run_id}, topic {topic_id}{sample_words(answer.sample)}"
        if not once.is_first(line, (answer.run_id, topic_id, answer.sample), f"the answer of {name}"):
            continue
        answers.append(answer)
        numbers, labels = Once(problems, "sentences"), Once(problems, "support")
        for sentence, judged in zip(entry.sentences, _sentences(answer, entry), strict=True):
            where = f"{name}, sentence {judged.sentence}"
            if not numbers.is_new(line, judged.sentence, sentence, where, f"{judged.field}.sentenceID"):
                continue
            sentences.append(judged)
            rows += [
                row
                for row in _rows(judged, sentence)
                if labels.is_new(
                    line, (row.sentence, row.docid), row.label, f"{where}, {row.docid}", row.docid_field
                )
            ]
    problems.raise_if_any()
    return SupportFile(tuple(rows), tuple(sentences), tuple(answers))


def _topic_id(line: int, entry: JudgedAnswerLine, problems: Problems) -> str | None:
    topic_id = entry.topic_id if entry.topic_id is not None else entry.narrative_id
    if topic_id is None:
        problems.add(line, "topic_id", "an id (`topic_id` or `narrative_id`), the field is missing")
    elif entry.narrative_id not in (None, topic_id):
        problems.add(line, "narrative_id", f"the topic that topic_id says, {topic_id}, found {entry.narrative_id}")
        return None
    return topic_id


def _sentences(answer: JudgedAnswer, entry: JudgedAnswerLine) -> Iterator[JudgedSentence]:
    for place, sentence in enumerate(entry.sentences):
        of_answer = (answer.line, answer.run_id, answer.topic_id, sentence.number)
        yield JudgedSentence(*of_answer, sentence.text or "", f"sentences.{place}", answer.sample)


def _rows(judged: JudgedSentence, sentence: AnswerSentence) -> Iterator[SupportRecord]:
    for place, citation in enumerate(sentence.citations):
        yield SupportRecord(
            line=judged.line,
            run_id=judged.run_id,
            topic_id=judged.topic_id,
            sentence=judged.sentence,
            docid=citation.reference,
            label=citation.support,
            sample=judged.sample,
            sentence_field=f"{judged.field}.sentenceID",
            docid_field=f"{judged.field}.citations.{place}.reference",
            label_field=f"{judged.field}.citations.{place}.support",
            is_numbered=True,
        )


class CitationLine(TypedDict):
    citationID: int
    reference: str
    support: str


class SentenceLine(TypedDict):
    sentenceID: int
    text: str
    citations: list[CitationLine]


def support_number(code: int) -> str:
    return str(code) if str(code) in NUMBERS else UNJUDGED


def answer_line(topic_id: str, run_id: str, sample: int, sentences: list[SentenceLine]) -> str:
    """An answer as a line that `parse_citation_judgments` reads back."""
    # The organizers' programs name a topic by either.
    names = {"topic_id": topic_id, "narrative_id": topic_id, "run_id": run_id, **sample_field(sample)}
    return json_line({**names, "sentences": sentences}, {})
