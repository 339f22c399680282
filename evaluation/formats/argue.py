"""ARGUE's nugget banks: a topic a line, questions with the answers that a report should give to them.

Read are the form of RAGTIME 2025 (`query_id`, questions and answers as objects keyed by their text, `claim_bank`) and
the form of 2026 (`metadata.topic_id`, both as lists); written is the latter. A question of which every answer must
appear (`AND`) makes a nugget of each answer; a question of which any answer will do (`OR`) is a single nugget with all
of them. `parse_lists` reads nugget lists of every form.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from pydantic import Field, field_validator

from evaluation.formats.kinds import of_kind
from evaluation.formats.lines import (
    Id,
    Line,
    Once,
    Weight,
    Wording,
    first_object,
    json_line,
    json_rows,
    over_lines,
    whole_text,
    with_extra,
)
from evaluation.formats.nuggets import (
    ARGUE_KEY,
    IMPORTANCE,
    NO_AVOID,
    NO_NOT,
    RUBRICS,
    Evidence,
    NuggetListLine,
    NuggetListRow,
    NuggetProvenance,
    NuggetRecord,
    importance_word,
    is_avoid,
    is_not,
    note_missing_weights,
    parse_nuggets,
)
from evaluation.formats.problems import Problems
from evaluation.formats.source import Source
from evaluation.terms import PROVENANCE_KEY, Importance, JudgeKind

BANKS: Final = ("nugget_bank", "claim_bank")
ALL, ANY = "AND", "OR"


class Reference(Line):
    """A document that an answer rests on, where it is more than an id."""

    doc_id: Id


class BankAnswer(Line):
    """An answer, or a claim: what a report should say, and the documents that say it."""

    answer: Wording
    references: list[Id | Reference] | None = None

    @property
    def docids(self) -> tuple[str, ...]:
        listed = [
            reference if isinstance(reference, str) else reference.doc_id for reference in self.references or ()
        ]
        return tuple(dict.fromkeys(listed))


class BankQuestion(Line):
    question: Wording
    aggregator_type: str | None = None
    importance: int | str | None = None
    weight: Weight | None = None
    answers: list[BankAnswer] = Field(default_factory=list)

    @property
    def operator(self) -> str:
        return (self.aggregator_type or ANY).strip().upper() or ANY

    @field_validator("answers", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return [] if value is None else _values(value)


class BankClaim(Line):
    claim: Wording
    importance: int | str | None = None
    weight: Weight | None = None
    references: list[Id | Reference] | None = None


class Metadata(Line):
    topic_id: Id | None = None


class Bank(Line):
    metadata: Metadata | None = None
    query_id: Id | None = None
    title_query: str | None = None
    nugget_bank: list[BankQuestion] = Field(default_factory=list)
    claim_bank: list[BankClaim] = Field(default_factory=list)

    @field_validator(*BANKS, mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return [] if value is None else _values(value)

    @property
    def topic_id(self) -> str | None:
        return self.query_id or (self.metadata.topic_id if self.metadata else None)


def _values(value: Any) -> Any:
    """Return the values of an object that is keyed by their texts."""
    return list(value.values()) if isinstance(value, Mapping) else value


def is_argue(source: Source) -> bool:
    text = "\n".join(line for _, line in source.lines) if _is_spread(source) else source.lines[0][1]
    return any(f'"{name}"' in text for name in BANKS)


def _is_spread(source: Source) -> bool:
    """Say whether the file is one object over many lines, as people print it."""
    return source.lines[0][1].lstrip().startswith("{") and bool(over_lines(source))


def parse_argue(source: Source) -> tuple[NuggetListRow, ...]:
    """All banks in file order. Raises `BadInput`: a topic twice, a bank without a topic, wrong types."""
    problems = Problems(source.name)
    once = Once(problems, "topic_id")
    rows = []
    for line, bank in json_rows(_in_lines(source), Bank.model_validate_json, problems):
        if bank.topic_id is None:
            problems.add(line, "metadata.topic_id", "a topic id (`query_id` or `metadata.topic_id`)")
        elif bank.metadata and bank.metadata.topic_id not in (None, bank.topic_id):
            expected = f"the topic that query_id says, {bank.topic_id}, found {bank.metadata.topic_id}"
            problems.add(line, "metadata.topic_id", expected)
        elif once.is_first(line, bank.topic_id, f"topic {bank.topic_id}"):
            for field, expected in _wrong_signs(bank):
                problems.add(line, field, expected)
            weights = {
                f"{name}.{place}": nugget.weight
                for name in BANKS
                for place, nugget in enumerate(getattr(bank, name))
            }
            note_missing_weights(problems, line, weights)
            rows.append(
                NuggetListRow(line, bank.topic_id, bank.title_query or "", tuple(_nuggets(bank)), _rest(bank))
            )
    problems.raise_if_any()
    return tuple(rows)


def _wrong_signs(bank: Bank) -> Iterator[tuple[str, str]]:
    """Yield the fields that say that an answer must not contain something, each with what is expected there."""
    for place, question in enumerate(bank.nugget_bank):
        field = f"nugget_bank.{place}.aggregator_type"
        if is_not(question.aggregator_type):
            yield field, f"{NO_NOT}, found {question.aggregator_type!r}"
        elif question.operator not in {ALL, ANY}:
            yield field, f"{ALL} or {ANY}, found {question.aggregator_type!r}"
    for name in BANKS:
        for place, nugget in enumerate(getattr(bank, name)):
            if is_avoid(nugget.importance) and (nugget.weight is None or nugget.weight >= 0):
                yield f"{name}.{place}.importance", f"{NO_AVOID}, found {nugget.importance!r}"


def _in_lines(source: Source) -> Source:
    if not _is_spread(source):
        return source
    return Source(source.name, source.sha256, ((source.lines[0][0], whole_text(source)),))


def _rest(bank: Bank) -> dict[str, Any]:
    extra = bank.extra
    if bank.metadata:
        extra["metadata"] = bank.metadata.extra
    return extra


def _nuggets(bank: Bank) -> Iterator[NuggetRecord]:
    for place, question in enumerate(bank.nugget_bank):
        for answers in _together(question):
            yield _nugget(question, place, answers)
    for claim in bank.claim_bank:
        answer = BankAnswer(answer=claim.claim, references=claim.references)
        yield _row(
            claim.claim,
            claim.importance,
            claim.weight,
            answer.docids,
            {ARGUE_KEY: claim.extra} if claim.extra else {},
        )


def _together(question: BankQuestion) -> list[list[BankAnswer]]:
    """Return the answers of each nugget that a question makes."""
    if question.operator == ALL and question.answers:
        return [[answer] for answer in question.answers]
    return [question.answers]


def _is_plain(question: BankQuestion) -> bool:
    """Say whether a question is the form in which a nugget without a question is written."""
    texts = [answer.answer for answer in question.answers]
    extras = [question.extra, *(answer.extra for answer in question.answers)]
    return texts == [question.question] and question.aggregator_type == ANY and not any(extras)


def _nugget(question: BankQuestion, place: int, answers: Sequence[BankAnswer]) -> NuggetRecord:
    docids = tuple(dict.fromkeys(docid for answer in answers for docid in answer.docids))
    if _is_plain(question):
        return _row(question.question, question.importance, question.weight, docids, {})
    source = {
        "place": place,
        "question": question.question,
        "aggregator_type": question.aggregator_type,
        "answers": [
            {"answer": answer.answer, "references": list(answer.docids), **answer.extra} for answer in answers
        ],
        **({"more": question.extra} if question.extra else {}),
    }
    text = " ".join([question.question, *([" / ".join(answer.answer for answer in answers)] if answers else [])])
    return _row(text, question.importance, question.weight, docids, {ARGUE_KEY: source})


def _row(
    text: str, importance: int | str | None, weight: float | None, docids: Sequence[str], extra: dict[str, Any]
) -> NuggetRecord:
    raw = "" if importance is None else str(importance)
    evidence = tuple(Evidence(docid=docid) for docid in docids)
    return NuggetRecord(
        text=text,
        importance=IMPORTANCE.get(raw, Importance.UNKNOWN),
        raw_importance=raw,
        extra=extra,
        weight=weight,
        provenance=NuggetProvenance(evidence=evidence),
    )


def argue_line(row: NuggetListRow) -> str:
    """The list as a bank of the form of 2026; a nugget without a question becomes its own question and answer."""
    bank = [_question(list(together)) for _, together in groupby(row.nuggets, key=_question_of)]
    extra = dict(row.extra)
    metadata = {**(extra.pop("metadata", None) or {}), "topic_id": row.topic_id}
    return json_line({"metadata": metadata, "title_query": row.query or None, "nugget_bank": bank}, extra)


def keyed_bank_line(row: NuggetListRow) -> str:
    """The list as a bank of AutoJudge, with objects by their texts; a nugget without a question is a claim."""
    questions, claims = [], []
    creator = _creator(row.extra.get(PROVENANCE_KEY, {}))
    for _, together in groupby(row.nuggets, key=_question_of):
        nuggets = list(together)
        question = {**_question(nuggets), "query_id": row.topic_id, "creator": creator}
        if _source_of(nuggets[0]):
            operator = question.get("aggregator_type") or ANY
            answers = _by_text([_with_documents(answer) for answer in question["answers"]], "answer")
            questions.append({**question, "aggregator_type": operator.strip().upper(), "answers": answers})
        else:
            [answer] = question.pop("answers")
            del question["aggregator_type"]
            references = {"references": answer["references"]}
            claims.append(_with_documents({"claim": question.pop("question"), **question, **references}))
    fields = {"query_id": row.topic_id, "title_query": row.query, "format_version": "v3", "creator": creator}
    banks = {"nugget_bank": _by_text(questions, "question"), "claim_bank": _by_text(claims, "claim")}
    return json_line({**fields, **banks}, row.extra)


def _creator(assay: Mapping[str, Any]) -> list[dict[str, Any]]:
    is_human = assay.get("by") == JudgeKind.HUMAN
    # Its reader would take a date that is missing for today.
    return [
        {
            "is_human": is_human,
            "assessor_id" if is_human else "llm_model": assay.get("judge"),
            "creation_date": None,
        }
    ]


def _with_documents(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {**entry, "references": [{"doc_id": docid} for docid in entry["references"]]}


def _by_text(entries: Sequence[dict[str, Any]], key: str) -> dict[str, Any]:
    """Return entries by their texts; of two with one text the later has its place behind it."""
    keyed: dict[str, Any] = {}
    for place, entry in enumerate(entries):
        text = entry[key]
        keyed[f"{text} ({place})" if text in keyed else text] = entry
    return keyed


def _source_of(nugget: NuggetRecord) -> Mapping[str, Any]:
    source = nugget.extra.get(ARGUE_KEY)
    return source if isinstance(source, dict) and {"place", "question", "answers"} <= source.keys() else {}


def _question_of(nugget: NuggetRecord) -> object:
    """Common identity of the nuggets of one question; a nugget without a question equals nothing else."""
    source = _source_of(nugget)
    return (source["place"], source["question"]) if source else id(nugget)


def _question(together: Sequence[NuggetRecord]) -> dict[str, Any]:
    nugget, source = together[0], _source_of(together[0])
    importance = importance_word(nugget.importance, nugget.raw_importance)
    rest = with_extra({"importance": importance or None, "weight": nugget.weight}, {})
    if not source:
        docids = dict.fromkeys(reference.docid for reference in nugget.provenance.evidence)
        answers: list[Any] = [{"answer": nugget.text, "references": list(docids)}]
        return {"question": nugget.text, "aggregator_type": ANY, "answers": answers, **rest}
    answers = [answer for member in together for answer in _source_of(member)["answers"]]
    kind = {"aggregator_type": source["aggregator_type"]} if source.get("aggregator_type") else {}
    return {"question": source["question"], **kind, "answers": answers, **rest, **source.get("more", {})}


@of_kind("nuggets", "nugget lists, a topic a line")
def parse_lists(source: Source) -> tuple[NuggetListRow, ...]:
    """Lists of nuggetizer, rubrics, or ARGUE's banks. Raises `BadInput`."""
    if is_argue(source):
        return parse_argue(source)
    keys = first_object(source).keys()
    return parse_nuggets(source, next((form for form in RUBRICS if form.items_key in keys), NuggetListLine))
