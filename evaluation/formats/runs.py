"""Runs: one line per topic with the answer's sentences, references and citations.

Read are the 2024 form (`run_id, topic_id, topic, references, answer`), the 2025 and 2026 form (`metadata` with
`run_id, narrative_id`), and RAGTIME's (`responses`, citations as `{docid: score}`). Each may bring the texts of what it
cites: `documents`, by docid.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, NamedTuple
from unicodedata import normalize

from pydantic import AliasChoices, BeforeValidator, Field, PlainValidator
from pydantic_core import PydanticCustomError

from evaluation.formats.addressing import addressing_in_answer, signs_in_answer
from evaluation.formats.kinds import of_kind
from evaluation.formats.lines import (
    MAX_INT,
    Count,
    Id,
    Line,
    Once,
    OptionalName,
    Sample,
    id_problem,
    json_rows,
    sample_words,
)
from evaluation.formats.problems import Problems
from evaluation.formats.segments import DocLine, SegmentRecord, as_segment, note_other_docid, segment_record
from evaluation.formats.source import Source
from evaluation.terms import FindingCode
from web.text import trimmed


class CitationRecord(NamedTuple):
    """One citation in the order of the file; `docid` is None where an integer points past the references."""

    docid: str | None
    raw: str


class SentenceRecord(NamedTuple):
    text: str
    citations: tuple[CitationRecord, ...]


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """One topic's answer; `response_length` is the file's claim, if it makes one. `documents`: those with a text.

    `first_reference`: the number by which citations call the first reference. `sample`: which of several answers it is.
    """

    line: int
    topic_id: str
    topic_text: str
    references: tuple[str, ...]
    response_length: int | None
    sentences: tuple[SentenceRecord, ...]
    documents: tuple[SegmentRecord, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)
    first_reference: int = 0
    sample: int = 1

    @property
    def text(self) -> str:
        return " ".join(sentence.text for sentence in self.sentences)

    @property
    def words(self) -> int:
        text = self.text
        return len(text.split()) if trimmed(text) else 0

    @property
    def characters(self) -> int:
        # As RAGTIME counts: one character that is written as two code points is no longer for it.
        return len(normalize("NFKC", self.text))


@dataclass(frozen=True, slots=True)
class RunFile:
    """One run: `team` and `task_type` are empty where the form has none."""

    run_id: str
    team: str
    task_type: str
    answers: tuple[AnswerRecord, ...]


def _citations(value: Any) -> tuple[int | str, ...]:
    """Citations as a list of integers and docids, or as an object whose keys are docids; null is none."""
    items = list(value or ()) if isinstance(value, dict | list | None) else None
    # By type, because true and false are integers to `isinstance`.
    if items is None or any(type(item) not in {int, str} for item in items):
        raise PydanticCustomError("citations", "a list of integers or docids")
    for item in items:
        problem = id_problem(item) if isinstance(item, str) else None
        if isinstance(item, int) and abs(item) > MAX_INT:
            problem = "an index into the references, this integer is out of all bounds"
        if problem:
            raise PydanticCustomError("citations", "{problem}", {"problem": problem})
    return tuple(items)


def _document(value: Any) -> Any:
    """Leave out blank fields: of a page that could not be read a run has an empty text, which is none."""
    fields = as_segment(value)
    if not isinstance(fields, dict):
        return fields
    return {name: field for name, field in fields.items() if not isinstance(field, str) or trimmed(field)}


class SentenceItem(Line):
    text: str
    citations: Annotated[tuple[int | str, ...], PlainValidator(_citations)] = ()


class Head(Line):
    """Fields that name run and topic: at the top (2024) or in `metadata` (2025)."""

    run_id: Id | None = None
    topic_id: Id | None = Field(None, validation_alias=AliasChoices("topic_id", "narrative_id", "qid"))
    topic: str | None = Field(None, validation_alias=AliasChoices("topic", "narrative", "title", "query"))
    team_id: OptionalName | None = None
    type: str | None = None
    sample: Sample = 1


class RunLine(Head):
    """A JSONL line of any form. `_missing` checks the fields that a form requires, to say plainly what lacks."""

    metadata: Head | None = None
    references: list[Id] | None = None
    response_length: Count | None = None
    answer: list[SentenceItem] | None = None
    responses: list[SentenceItem] | None = None
    documents: dict[Id, Annotated[DocLine, BeforeValidator(_document)]] | None = None

    @property
    def head(self) -> Head:
        return self.metadata if self.metadata and self.run_id is None else self


@of_kind("runs", "the answers of a run, a topic a line")
def parse_run(source: Source, topics: Container[str] | None = None) -> RunFile:
    """One run of any of the three forms, answers in file order; `topics` are those that it may answer, None is any.

    Raises `BadInput`: unknown structure, wrong types, a missing or second run id, a sample of a topic twice, a topic
    that is not among `topics`. Limits and other oddities are findings: see `run_findings`.
    """
    problems = Problems(source.name)
    once = Once(problems, "topic_id")
    heads: list[Head] = []
    answers: list[AnswerRecord] = []
    for line, entry in json_rows(source, RunLine.model_validate_json, problems):
        missing = list(_missing(entry))
        for name, expected in missing:
            problems.add(line, name, f"{expected}, the field is missing")
        for name, expected in _contradictions(entry):
            problems.add(line, name, expected)
        for docid, document in (entry.documents or {}).items():
            note_other_docid(line, f"documents.{docid}.", docid, document.values_of("docid"), problems)
        if missing or not _same_run(line, entry.head, heads, problems):
            continue
        answer = _answer(line, entry)
        if topics is not None and answer.topic_id not in topics:
            problems.add(line, "topic_id", f"a topic of the campaign, not {answer.topic_id}")
        name = f"topic {answer.topic_id}{sample_words(answer.sample)}"
        if once.is_first(line, (answer.topic_id, answer.sample), name):
            answers.append(answer)
    problems.raise_if_any()
    first = heads[0]
    return RunFile(str(first.run_id), first.team_id or "", first.type or "", tuple(answers))


def _missing(entry: RunLine) -> Iterator[tuple[str, str]]:
    path = "" if entry.head is entry else "metadata."
    if entry.head.run_id is None:
        yield f"{path}run_id", "a run id"
    if entry.head.topic_id is None:
        yield f"{path}{'narrative_id' if path else 'topic_id'}", "a topic id"
    if entry.answer is None and entry.responses is None:
        yield "answer", "a list of sentences (`answer`, or `responses`)"
    if entry.references is None and entry.responses is None:
        yield "references", "a list of docids"


def _contradictions(entry: RunLine) -> Iterator[tuple[str, str]]:
    """Yield the fields that say another run, topic, sample or sentence than those that count."""
    head = entry.head
    counts = {name: getattr(head, name) for name in ("run_id", "topic_id", "sample")}
    counts["narrative_id"] = head.topic_id
    for path, level in (("", entry), ("metadata.", entry.metadata or Head())):
        values = {name: getattr(level, name, None) for name in level.model_fields_set} | level.extra
        for name, value in counts.items():
            if None not in (value, values.get(name)) and str(values[name]) != str(value):
                yield f"{path}{name}", f"{value}, as the line says elsewhere, found {values[name]}"
    if None not in (entry.answer, entry.responses) and entry.answer != entry.responses:
        yield "responses", "the sentences of answer, found others"


def _same_run(line: int, head: Head, heads: list[Head], problems: Problems) -> bool:
    heads.append(head)
    if head.run_id == heads[0].run_id:
        return True
    problems.add(line, "run_id", f"one run per file, found {head.run_id} after {heads[0].run_id}")
    return False


def _answer(line: int, entry: RunLine) -> AnswerRecord:
    references = tuple(entry.references or ())
    items = entry.answer if entry.answer is not None else entry.responses or []
    documents = (segment_record(line, docid, document) for docid, document in (entry.documents or {}).items())
    return AnswerRecord(
        line=line,
        topic_id=str(entry.head.topic_id),
        topic_text=entry.head.topic or "",
        references=references,
        response_length=entry.response_length,
        sentences=tuple(
            SentenceRecord(item.text, tuple(_citation(c, references) for c in item.citations)) for item in items
        ),
        documents=tuple(filter(None, documents)),
        sample=entry.head.sample,
        extra=_extra(entry, items),
    )


def _citation(citation: int | str, references: tuple[str, ...]) -> CitationRecord:
    if isinstance(citation, str):
        return CitationRecord(citation, citation)
    # Without the lower bound -1 would be the last reference.
    inside = 0 <= citation < len(references)
    return CitationRecord(references[citation] if inside else None, str(citation))


def _extra(entry: RunLine, items: list[SentenceItem]) -> dict[str, Any]:
    """Unknown keys of the line, of its metadata, and of its sentences: an object each, if any has one."""
    extra = entry.extra
    if entry.metadata and entry.metadata.extra:
        extra["metadata"] = entry.metadata.extra
    sentences = [item.extra for item in items]
    if any(sentences):
        extra["sentences"] = sentences
    return extra


MSMARCO: Final = re.compile(r"msmarco_v2\.1_doc_[0-9]+_[0-9]+#[0-9]+_[0-9]+")
NAMED: Final = 10  # ids shown in a message
SHORTEST_NAME: Final = 4
"""Shorter names of runs and groups stand in answers by chance."""


@dataclass(frozen=True, slots=True)
class RunFinding:
    """One finding. Line 0 and no topic: about the run as a whole."""

    code: FindingCode
    line: int
    topic_id: str | None
    message: str


def run_findings(
    run: RunFile,
    *,
    word_limit: int | None,
    reference_limit: int | None,
    citation_limit: int | None,
    topics: Mapping[str, str],
    topic_limits: Mapping[str, int],
    names: Iterable[str],
) -> list[RunFinding]:
    """All findings in file order; None is no limit.

    `topics` maps the campaign's topic ids to their texts, `topic_limits` to the most characters of an answer. `names`:
    those of the run and its group, which no answer should have.
    """
    # Other collections have docids of their own: only a stranger among MS MARCO's is odd.
    looks_odd = _is_mostly_msmarco(run)
    patterns = {name: _whole(name) for name in names if len(name) >= SHORTEST_NAME}
    findings: list[RunFinding] = []
    for answer in run.answers:
        noted = [
            *_length(answer, word_limit, topic_limits.get(answer.topic_id)),
            *_references(answer, reference_limit),
            *_citation_findings(answer, citation_limit),
            *_topic_text(answer, topics),
            *_addressing(answer),
            *_own_names(answer, patterns, topics),
            *(_odd_docids(answer) if looks_odd else ()),
        ]
        findings += [RunFinding(code, answer.line, answer.topic_id, message) for code, message in noted]
    return findings + list(_missing_topics(run, topics))


Noted = Iterator[tuple[FindingCode, str]]


def _length(answer: AnswerRecord, word_limit: int | None, character_limit: int | None) -> Noted:
    words = answer.words
    if not words:
        yield FindingCode.EMPTY_ANSWER, "the answer has no words"
    if answer.response_length is not None and answer.response_length != words:
        message = f"response_length is {answer.response_length}, the answer has {words} words"
        yield FindingCode.RESPONSE_LENGTH, message
    if word_limit is not None and words > word_limit:
        yield FindingCode.ANSWER_TOO_LONG, f"{words} words, the limit is {word_limit}"
    if character_limit is not None and answer.characters > character_limit:
        yield FindingCode.ANSWER_TOO_LONG, f"{answer.characters:,} of {character_limit:,} characters"


def _references(answer: AnswerRecord, limit: int | None) -> Noted:
    count = len(answer.references)
    if limit is not None and count > limit:
        yield FindingCode.TOO_MANY_REFERENCES, f"{count} references, the limit is {limit}"
    repeated = _repeated(answer.references)
    if repeated:
        yield FindingCode.DUPLICATE_REFERENCE, f"references given more than once: {first_ids(repeated)}"


def _citation_findings(answer: AnswerRecord, limit: int | None) -> Noted:
    references = len(answer.references)
    for number, sentence in enumerate(answer.sentences):
        count = len(sentence.citations)
        if limit is not None and count > limit:
            yield FindingCode.TOO_MANY_CITATIONS, f"sentence {number} cites {count} times, the limit is {limit}"
        repeated = _repeated(citation.docid or citation.raw for citation in sentence.citations)
        if repeated:
            yield FindingCode.DUPLICATE_CITATION, f"sentence {number} cites more than once: {first_ids(repeated)}"
        outside = [citation.raw for citation in sentence.citations if citation.docid is None]
        if outside:
            message = (
                f"sentence {number} cites {first_ids(outside)}, "
                f"the answer has {references} references (from {answer.first_reference})"
            )
            yield FindingCode.CITATION_OUT_OF_RANGE, message


def strangers(answer: AnswerRecord) -> list[str]:
    """Return what an answer cites by docid that its references lack; nothing where it has no references."""
    listed = set(answer.references)
    cited = (c.docid for sentence in answer.sentences for c in sentence.citations if c.docid == c.raw)
    return list(dict.fromkeys(docid for docid in cited if docid and docid not in listed)) if listed else []


def strangers_message(docids: list[str], references: int) -> str:
    where = f"which are not among its {references:,} references"
    hint = " (integers count from 0 without quotes)" if any(docid.isdecimal() for docid in docids) else ""
    return f"cites {first_ids(docids)}, {where}{hint}, and no passage has them"


def _topic_text(answer: AnswerRecord, topics: Mapping[str, str]) -> Noted:
    ours, theirs = topics.get(answer.topic_id, "").split(), answer.topic_text.split()
    if ours and theirs and ours != theirs:
        yield FindingCode.TOPIC_TEXT_DIFFERS, f"the run's topic reads: {' '.join(theirs)[:200]}"


def _addressing(answer: AnswerRecord) -> Noted:
    for number, sign in signs_in_answer([sentence.text for sentence in answer.sentences]):
        yield FindingCode.ADDRESSES_JUDGE, addressing_in_answer(number, sign)


def _whole(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)


def _own_names(answer: AnswerRecord, patterns: Mapping[str, re.Pattern[str]], topics: Mapping[str, str]) -> Noted:
    for name, pattern in patterns.items():
        # Of a topic about otters all answers name the group Otter.
        if pattern.search(topics.get(answer.topic_id, "")):
            continue
        places = [number for number, sentence in enumerate(answer.sentences) if pattern.search(sentence.text)]
        if places:
            yield FindingCode.NAMES_ITS_RUN, f"sentence {places[0]} names {name}, which tells whose answer it is"


def _is_mostly_msmarco(run: RunFile) -> bool:
    docids = {docid for answer in run.answers for docid in _docids(answer)}
    return 2 * sum(1 for docid in docids if MSMARCO.fullmatch(docid)) > len(docids)


def _odd_docids(answer: AnswerRecord) -> Noted:
    odd = [docid for docid in _docids(answer) if not MSMARCO.fullmatch(docid)]
    if odd:
        yield FindingCode.DOCID_FORM, f"not the form of an MS MARCO V2.1 segment: {first_ids(odd)}"


def _docids(answer: AnswerRecord) -> list[str]:
    cited = [c.docid for sentence in answer.sentences for c in sentence.citations if c.docid is not None]
    return list(dict.fromkeys([*answer.references, *cited]))


def _missing_topics(run: RunFile, topics: Mapping[str, str]) -> Iterator[RunFinding]:
    answered = {answer.topic_id for answer in run.answers}
    missing = [topic_id for topic_id in topics if topic_id not in answered]
    if missing:
        yield RunFinding(FindingCode.MISSING_TOPICS, 0, None, missing_topics_message(missing, len(topics)))


def missing_topics_message(missing: list[str], topics: int) -> str:
    return f"{len(missing)} of {topics} topics have no answer: {first_ids(missing)}"


def _repeated(values: Iterable[str]) -> list[str]:
    return [value for value, times in Counter(values).items() if times > 1]


def first_ids(ids: list[str]) -> str:
    more = len(ids) - NAMED
    return ", ".join(ids[:NAMED]) + (f" and {more} more" if more > 0 else "")
