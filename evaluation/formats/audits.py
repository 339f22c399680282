"""Labels of an audit's pairs: lines of one label, or an export of ours, which has everybody's."""

from dataclasses import dataclass
from typing import Final

from evaluation.formats.lines import Count, Id, Line, Once, Text, json_rows
from evaluation.formats.problems import Problems
from evaluation.formats.source import Source
from evaluation.terms import AssignmentLabel, StudyKind, SupportLabel

REFUSED: Final = "refused"
"""Word in these files for "can't judge"."""

DEGREES: Final = (0, 1, 2)

AuditKey = tuple[str, str, str | int, int | str]
"""Run, topic, and nugget with its occurrence or sentence with its docid."""


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One label of one pair, by its code; `shown` names the pair for people."""

    line: int
    key: AuditKey
    label: int
    shown: str


class _Labelled(Line):
    run_id: Id
    topic_id: Id
    label: str | None = None
    labels: dict[str, str] | None = None


class _NuggetLine(_Labelled):
    nugget: Text
    occurrence: Count = 0


class _CitationLine(_Labelled):
    sentence: Count
    docid: Id


def parse_audit(source: Source, kind: StudyKind, judges: tuple[str, ...]) -> tuple[AuditRecord, ...]:
    """All labels in file order; of an export's lines that of the first of these judges who has one there.

    Lines on which none of them has a label are left out. Raises `BadInput`: an unknown label, a line without any,
    and a pair that comes twice with different labels.
    """
    shape = _NuggetLine if kind is StudyKind.ASSIGNMENT else _CitationLine
    problems = Problems(source.name)
    once = Once(problems, "label")
    words = _words(kind)
    records = []
    for line, row in json_rows(source, shape.model_validate_json, problems):
        if row.label is None and row.labels is None:
            problems.add(line, "label", f"a label: {', '.join(words)}")
            continue
        given = row.labels or {}
        word = row.label or next((given[judge] for judge in judges if judge in given), None)
        if word is None:
            continue
        if word not in words:
            problems.add(line, "label", f"{', '.join(words)}, found {word[:40]!r}")
            continue
        record = _record(line, row, words[word])
        if once.is_new(line, record.key, word, record.shown):
            records.append(record)
    problems.raise_if_any()
    return tuple(records)


def _words(kind: StudyKind) -> dict[str, int]:
    labels = AssignmentLabel if kind is StudyKind.ASSIGNMENT else SupportLabel
    degrees = {label.name.lower(): int(label) for label in labels}
    return {word: code for word, code in degrees.items() if code in DEGREES} | {REFUSED: int(labels.CANT_JUDGE)}


def _record(line: int, row: _Labelled, label: int) -> AuditRecord:
    where = f"run {row.run_id}, topic {row.topic_id}"
    if isinstance(row, _NuggetLine):
        again = f", occurrence {row.occurrence}" if row.occurrence else ""
        shown = f"{where}, nugget {row.nugget[:80]!r}{again}"
        return AuditRecord(line, (row.run_id, row.topic_id, row.nugget, row.occurrence), label, shown)
    if isinstance(row, _CitationLine):
        key = (row.run_id, row.topic_id, row.sentence, row.docid)
        return AuditRecord(line, key, label, f"{where}, sentence {row.sentence}, {row.docid}")
    raise TypeError(f"a line of no kind: {type(row)}")
