"""Runs: one line per topic with the answer's sentences, references and citations.

Read are the 2024 form (`run_id, topic_id, topic, references, answer`), the 2025 and 2026 form (`metadata` with
`run_id, narrative_id`), and RAGTIME's (`responses`, citations as `{docid: score}`).
"""

from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

from pydantic import AliasChoices, Field, PlainValidator
from pydantic_core import PydanticCustomError

from evaluation.formats.ids import MAX_INT, Count, Id, id_problem
from evaluation.formats.lines import Line, Once, json_line, json_rows
from evaluation.formats.problems import Problems
from evaluation.formats.source import Source


class CitationRow(NamedTuple):
    """One citation in the order of the file; `docid` is None where an integer points past the references."""

    docid: str | None
    raw: str


class SentenceRow(NamedTuple):
    """One sentence of an answer."""

    text: str
    citations: tuple[CitationRow, ...]


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One topic's answer; `response_length` is the file's claim, if it makes one."""

    line: int
    topic_id: str
    topic_text: str
    references: tuple[str, ...]
    response_length: int | None
    sentences: tuple[SentenceRow, ...]
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The answer as one text."""
        return " ".join(sentence.text for sentence in self.sentences)

    @property
    def words(self) -> int:
        """Whitespace words of the answer."""
        return len(self.text.split())


@dataclass(frozen=True, slots=True)
class RunFile:
    """One run: `team` and `task_type` are empty where the form has none."""

    run_id: str
    team: str
    task_type: str
    answers: tuple[AnswerRow, ...]


def _citations(value: Any) -> tuple[int | str, ...]:
    """Citations as a list of integers and docids, or as an object whose keys are docids."""
    items = list(value) if isinstance(value, dict | list) else None
    if items is None or any(type(item) not in {int, str} for item in items):
        raise PydanticCustomError("citations", "a list of integers or docids")
    for item in items:
        problem = id_problem(item) if isinstance(item, str) else None
        if isinstance(item, int) and abs(item) > MAX_INT:
            problem = "an index into the references, this integer is out of all bounds"
        if problem:
            raise PydanticCustomError("citations", "{problem}", {"problem": problem})
    return tuple(items)


class SentenceItem(Line):
    """A sentence of a line."""

    text: str
    citations: Annotated[tuple[int | str, ...], PlainValidator(_citations)] = ()


class Head(Line):
    """What says whose answer this is and to what: at the top (2024) or in `metadata` (2025)."""

    run_id: Id | None = None
    topic_id: Id | None = Field(None, validation_alias=AliasChoices("topic_id", "narrative_id", "qid"))
    topic: str | None = Field(None, validation_alias=AliasChoices("topic", "narrative", "title", "query"))
    team_id: str | None = None
    type: str | None = None


class RunLine(Head):
    """A JSONL line of any form. What a form requires is checked by `_missing`, so that it can be said plainly."""

    metadata: Head | None = None
    references: list[Id] | None = None
    response_length: Count | None = None
    answer: list[SentenceItem] | None = None
    responses: list[SentenceItem] | None = None

    @property
    def head(self) -> Head:
        """Where run and topic are named."""
        return self.metadata if self.metadata and self.run_id is None else self


def parse_run(source: Source, topics: Container[str] | None = None) -> RunFile:
    """One run of any of the three forms, answers in file order; `topics` are those that it may answer, None is any.

    Raises `BadInput`: unknown structure, wrong types, a missing or second run id, a topic twice, one that is not among
    `topics`. Limits and other oddities are findings: see `run_findings`.
    """
    problems = Problems(source.name)
    once = Once(problems, "topic_id")
    heads: list[Head] = []
    answers: list[AnswerRow] = []
    for line, found in json_rows(source, RunLine.model_validate_json, problems):
        missing = list(_missing(found))
        for name, expected in missing:
            problems.add(line, name, f"{expected}, the field is missing")
        if missing or not _same_run(line, found.head, heads, problems):
            continue
        answer = _answer(line, found)
        if topics is not None and answer.topic_id not in topics:
            problems.add(line, "topic_id", f"a topic of the campaign, not {answer.topic_id}")
        if once.is_first(line, answer.topic_id, f"topic {answer.topic_id}"):
            answers.append(answer)
    problems.raise_if_any()
    first = heads[0]
    return RunFile(str(first.run_id), first.team_id or "", first.type or "", tuple(answers))


def run_line(run: RunFile, answer: AnswerRow) -> str:
    """One answer in the form of its year: with `metadata` if the run has a team or type, else as in 2024."""
    words = {"response_length": answer.response_length, "answer": [_sentence(s) for s in answer.sentences]}
    body = {"references": list(answer.references), **words}
    if not run.team and not run.task_type:
        head = {"run_id": run.run_id, "topic_id": answer.topic_id, "topic": answer.topic_text or None}
        return json_line(head | body, answer.extra)
    metadata = {
        "team_id": run.team,
        "run_id": run.run_id,
        "type": run.task_type,
        "narrative_id": answer.topic_id,
        "narrative": answer.topic_text,
        **answer.extra.get("metadata", {}),
    }
    return json_line({"metadata": metadata} | body, answer.extra)


def _missing(found: RunLine) -> Iterator[tuple[str, str]]:
    path = "" if found.head is found else "metadata."
    if found.head.run_id is None:
        yield f"{path}run_id", "a run id"
    if found.head.topic_id is None:
        yield f"{path}{'narrative_id' if path else 'topic_id'}", "a topic id"
    if found.answer is None and found.responses is None:
        yield "answer", "a list of sentences (`answer`, or `responses`)"
    if found.references is None and found.responses is None:
        yield "references", "a list of docids"


def _same_run(line: int, head: Head, heads: list[Head], problems: Problems) -> bool:
    heads.append(head)
    if head.run_id == heads[0].run_id:
        return True
    problems.add(line, "run_id", f"one run per file, found {head.run_id} after {heads[0].run_id}")
    return False


def _answer(line: int, found: RunLine) -> AnswerRow:
    references = tuple(found.references or ())
    items = found.answer if found.answer is not None else found.responses or []
    return AnswerRow(
        line=line,
        topic_id=str(found.head.topic_id),
        topic_text=found.head.topic or "",
        references=references,
        response_length=found.response_length,
        sentences=tuple(
            SentenceRow(item.text, tuple(_citation(c, references) for c in item.citations)) for item in items
        ),
        extra=_extra(found, items),
    )


def _citation(citation: int | str, references: tuple[str, ...]) -> CitationRow:
    if isinstance(citation, str):
        return CitationRow(citation, citation)
    # Without the lower bound -1 would be the last reference.
    inside = 0 <= citation < len(references)
    return CitationRow(references[citation] if inside else None, str(citation))


def _extra(found: RunLine, items: list[SentenceItem]) -> dict[str, Any]:
    """Unknown keys of the line, of its metadata, and of its sentences: an object each, if any has one."""
    extra = found.extra
    if found.metadata and found.metadata.extra:
        extra["metadata"] = found.metadata.extra
    sentences = [item.extra for item in items]
    if any(sentences):
        extra["sentences"] = sentences
    return extra


def _sentence(sentence: SentenceRow) -> dict[str, Any]:
    citations = [c.docid if c.raw == c.docid else int(c.raw) for c in sentence.citations]
    return {"text": sentence.text, "citations": citations}
