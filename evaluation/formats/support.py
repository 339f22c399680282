"""Support judgments: one line per (answer sentence, cited segment), sentences counted from 0."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict

from evaluation.formats.lines import (
    Count,
    Id,
    Line,
    Name,
    Once,
    Sample,
    json_line,
    json_rows,
    label_word,
    one_of,
    own_provenance,
    sample_field,
    sample_words,
    with_extra,
)
from evaluation.formats.problems import Problems
from evaluation.formats.source import Source
from evaluation.labels import SupportLabel
from evaluation.terms import SupportCondition

LABELS_BY_WORD: Final = {label.name.lower(): label for label in SupportLabel if label != SupportLabel.FAILED}
CONDITIONS: Final = " or ".join(SupportCondition)


class SupportProvenance(BaseModel):
    """Marked sentence and LLM label that was shown, in an export of ours. Other keys are not read back."""

    model_config = ConfigDict(frozen=True)

    shown_label: Annotated[str, one_of(LABELS_BY_WORD)] | None = None
    shown_ms: Count | None = None
    accepted: bool | None = None
    evidence: Count | None = None

    @property
    def code(self) -> SupportLabel | None:
        return LABELS_BY_WORD[self.shown_label] if self.shown_label else None


NOTHING_KNOWN: Final = SupportProvenance()


@dataclass(frozen=True, slots=True)
class SupportRecord:
    """One judgment. `condition` and `judge` are None where they come from the command's options.

    `sentence_field`, `docid_field` and `label_field` say where in its line it stands. `is_numbered`: labels are numbers
    there, of which -1 is a failed label, one that nobody could judge, or none.
    `label` is None where the file has `null`. `raw` is the file's word where that is no label (`label` is then FAILED),
    else empty. `reason` is read back only for "can't judge". `beside`: what is kept with the label.
    """

    line: int
    run_id: str
    topic_id: str
    sentence: int
    docid: str
    label: SupportLabel | None
    raw: str = ""
    condition: SupportCondition | None = None
    judge: str | None = None
    reason: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    beside: SupportProvenance = NOTHING_KNOWN
    sentence_field: str = "sentence"
    docid_field: str = "docid"
    label_field: str = "label"
    is_numbered: bool = False
    sample: int = 1


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """An answer of a file that has answers whole."""

    line: int
    run_id: str
    topic_id: str
    sample: int = 1


@dataclass(frozen=True, slots=True)
class JudgedSentence:
    """A sentence of a file that has answers whole; `text` as the file has it, '' for none, `field` where it stands."""

    line: int
    run_id: str
    topic_id: str
    sentence: int
    text: str
    field: str
    sample: int = 1


@dataclass(frozen=True, slots=True)
class SupportFile:
    """Judgments of a file; `sentences` and `answers` only where it has answers whole."""

    rows: tuple[SupportRecord, ...]
    sentences: tuple[JudgedSentence, ...] = ()
    answers: tuple[JudgedAnswer, ...] = ()


class SupportLine(Line):
    run_id: Id
    topic_id: Id
    sentence: Count
    docid: Id
    label: str | None
    condition: str | None = None
    judge: Name | None = None
    reason: str | None = None
    sample: Sample = 1


def parse_pairs(source: Source) -> SupportFile:
    """All judgments in file order; equal repetitions are dropped, conflicting repetitions refuse the file.

    Raises `BadInput`; an unknown label is FAILED with its text in `raw`, an unknown condition is an error.
    """
    problems = Problems(source.name)
    once = Once(problems, "label")
    rows: list[SupportRecord] = []
    for line, entry in json_rows(source, SupportLine.model_validate_json, problems):
        if entry.condition is not None and entry.condition not in list(SupportCondition):
            problems.add(line, "condition", f"{CONDITIONS}, found {entry.condition[:40]!r}")
            continue
        row = _row(line, entry, problems)
        key = (row.run_id, row.topic_id, row.sample, row.sentence, row.docid, row.condition, row.judge)
        name = f"run {row.run_id}, topic {row.topic_id}{sample_words(row.sample)}, sentence {row.sentence}, {row.docid}"
        if once.is_new(line, key, (row.label, row.raw, row.reason), name):
            rows.append(row)
    problems.raise_if_any()
    return SupportFile(tuple(rows))


def support_line(row: SupportRecord) -> str:
    """The judgment as a line that `parse_pairs` reads back."""
    fields = {
        "run_id": row.run_id,
        "topic_id": row.topic_id,
        **sample_field(row.sample),
        "sentence": row.sentence,
        "docid": row.docid,
        "label": None if row.label is None else label_word(row.label, row.raw),
        "condition": row.condition,
        "judge": row.judge,
        "reason": row.reason,
    }
    return json_line(fields, row.extra)


def support_provenance(
    evidence: int | None, shown_label: int | None, shown_ms: int | None, accepted: bool | None
) -> dict[str, Any]:
    """Return what is kept with a label as an export has it under our key, empty fields left out."""
    word = SupportLabel(shown_label).name.lower() if shown_label is not None else None
    payload = {"evidence": evidence, "shown_label": word, "shown_ms": shown_ms, "accepted": accepted}
    return with_extra(payload, {})


def _row(line: int, entry: SupportLine, problems: Problems) -> SupportRecord:
    label = None if entry.label is None else LABELS_BY_WORD.get(entry.label, SupportLabel.FAILED)
    return SupportRecord(
        line=line,
        run_id=entry.run_id,
        topic_id=entry.topic_id,
        sentence=entry.sentence,
        docid=entry.docid,
        label=label,
        raw=entry.label or "" if label is SupportLabel.FAILED else "",
        condition=SupportCondition(entry.condition) if entry.condition else None,
        judge=entry.judge,
        reason=entry.reason,
        extra=entry.extra,
        sample=entry.sample,
        beside=own_provenance(entry.extra, NOTHING_KNOWN, line, problems),
    )
