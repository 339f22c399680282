"""Support judgments as the track's organizers write them: a line an answer, with its sentences and their citations."""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, TypedDict

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from evaluation.formats.kinds import of_kind
from evaluation.formats.lines import (
    Count,
    Id,
    Line,
    Once,
    Sample,
    json_line,
    json_rows,
    sample_field,
    sample_words,
)
from evaluation.formats.problems import Problems
from evaluation.formats.source import Source
from evaluation.formats.support import JudgedSentence, SupportFile, SupportRecord, parse_pairs
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


class JudgedAnswer(Line):
    topic_id: Id
    run_id: Id
    sample: Sample = 1
    sentences: list[AnswerSentence]

    @model_validator(mode="before")
    @classmethod
    def _one_name(cls, value: Any) -> Any:
        if not isinstance(value, Mapping) or "narrative_id" not in value:
            return value
        topic_id = value.get("topic_id", value["narrative_id"])
        if str(topic_id) != str(value["narrative_id"]):
            expected = f"one topic: topic_id is {topic_id}, narrative_id {value['narrative_id']}"
            raise PydanticCustomError("topic", "{expected}", {"expected": expected[:120]})
        return {**value, "topic_id": topic_id}


def is_of_answers(source: Source) -> bool:
    """Tell the form from the first object."""
    try:
        entry = json.loads(source.lines[0][1])
    except (ValueError, RecursionError):
        return False
    return isinstance(entry, dict) and "sentences" in entry


@of_kind("support", "citation labels, a sentence and a passage or an answer a line")
def parse_support(source: Source) -> SupportFile:
    """All judgments of a file of either form. Raises `BadInput`."""
    return parse_citation_judgments(source) if is_of_answers(source) else parse_pairs(source)


def parse_citation_judgments(source: Source) -> SupportFile:
    """All judgments in file order, an unjudged citation with no label. Raises `BadInput`, for an answer twice too."""
    problems = Problems(source.name)
    answers, labels = Once(problems, "topic_id"), Once(problems, "support")
    rows: list[SupportRecord] = []
    sentences: list[JudgedSentence] = []
    for line, entry in json_rows(source, JudgedAnswer.model_validate_json, problems):
        name = f"run {entry.run_id}, topic {entry.topic_id}{sample_words(entry.sample)}"
        if not answers.is_first(line, (entry.run_id, entry.topic_id, entry.sample), f"the answer of {name}"):
            continue
        numbers = Once(problems, "sentences")
        for sentence, judged in zip(entry.sentences, _sentences(line, entry), strict=True):
            if not numbers.is_new(line, judged.sentence, sentence, f"{name}, sentence {judged.sentence}"):
                continue
            sentences.append(judged)
            rows += [
                row
                for row in _rows(judged, sentence)
                if labels.is_new(
                    line,
                    (row.run_id, row.topic_id, row.sample, row.sentence, row.docid),
                    row.label,
                    f"{name}, sentence {row.sentence}, {row.docid}",
                )
            ]
    problems.raise_if_any()
    return SupportFile(tuple(rows), tuple(sentences))


def _sentences(line: int, entry: JudgedAnswer) -> Iterator[JudgedSentence]:
    for place, sentence in enumerate(entry.sentences):
        field = f"sentences.{place}"
        of_answer = (entry.run_id, entry.topic_id, sentence.number)
        yield JudgedSentence(line, *of_answer, sentence.text or "", field, entry.sample)


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
