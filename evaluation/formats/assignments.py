"""Assignments as nuggetizer writes them: one line per topic and run, one label per nugget.

Of a rubric they are graded criteria: `{qid, run_id, criteria: [{text, verdict, ...}]}`.

The largest files of a campaign (835,000 labels): items are validated as typed dicts and turned into named tuples.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, NamedTuple, NotRequired, cast

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from evaluation.formats.kinds import of_kind
from evaluation.formats.lines import (
    CONFIG,
    Count,
    Id,
    Line,
    Once,
    Sample,
    Weight,
    Wording,
    first_object,
    json_line,
    json_rows,
    label_word,
    one_of,
    own_provenance,
    sample_field,
    sample_words,
    with_extra,
)
from evaluation.formats.nuggets import Tier, folded, tier_of, wrong_sign
from evaluation.formats.problems import Problems
from evaluation.formats.source import Source
from evaluation.labels import AssignmentLabel

NUGGETS, CRITERIA = "nuggets", "criteria"
LABELS_BY_WORD: Final = {label.name.lower(): label for label in AssignmentLabel if label != AssignmentLabel.FAILED}
FAILED: Final = AssignmentLabel.FAILED
VERDICTS: Final = {
    "satisfied": AssignmentLabel.SUPPORT,
    "partially satisfied": AssignmentLabel.PARTIAL_SUPPORT,
    "not satisfied": AssignmentLabel.NOT_SUPPORT,
    "cant judge": AssignmentLabel.CANT_JUDGE,
}
VERDICT_OF: Final = {label: verdict.replace(" ", "_") for verdict, label in VERDICTS.items()}


class LabelRecord(NamedTuple):
    """One label. Nuggets have no ids in these files: `occurrence` (from 0) tells equal texts of a row apart.

    `raw` is the file's word where that is no label (`label` is then FAILED), or why it cannot be judged.
    `sentence` (from 0): where the nugget was seen. `first_label`: the label before the nugget sweep.
    """

    text: str
    label: AssignmentLabel
    raw: str = ""
    importance: str = ""
    position: int = 0
    occurrence: int = 0
    extra: dict[str, Any] = {}
    sentence: int | None = None
    first_label: AssignmentLabel | None = None
    weight: float | None = None
    group: str = ""


class LabelProvenance(BaseModel):
    """Provenance of one label in an export of ours. Other keys are not read back."""

    model_config = ConfigDict(frozen=True)

    first_label: Annotated[str, one_of(LABELS_BY_WORD)] | None = None
    sentence: Count | None = None
    reason: str = ""


NOTHING_KNOWN: Final = LabelProvenance()


class UnjudgedRow(NamedTuple):
    """A nugget listed without a label (`null` or no `assignment`)."""

    text: str
    importance: str = ""
    position: int = 0
    occurrence: int = 0
    extra: dict[str, Any] = {}
    weight: float | None = None
    group: str = ""


@dataclass(frozen=True, slots=True)
class AssignmentRecord:
    """One answer's labels; `position` of labels and unjudged nuggets together counts 0, 1, 2, ..."""

    line: int
    topic_id: str
    run_id: str
    labels: tuple[LabelRecord, ...]
    unjudged: tuple[UnjudgedRow, ...] = ()
    answer_text: str | None = None
    response_length: int | None = None
    query: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    items_key: str = NUGGETS
    sample: int = 1


class LabelItem(TypedDict):
    __pydantic_config__ = CONFIG  # type: ignore[misc]
    text: Wording
    importance: NotRequired[str | None]
    weight: NotRequired[Weight | None]
    assignment: NotRequired[str | None]


class GradedItem(TypedDict):
    __pydantic_config__ = CONFIG  # type: ignore[misc]
    text: Wording
    type: NotRequired[str | None]
    tier: NotRequired[Tier | None]
    weight: NotRequired[Weight | None]
    verdict: NotRequired[str | None]


class AnswerLine(Line):
    query: str | None = None
    qid: Id
    run_id: Id
    sample: Sample = 1
    response_length: Count | None = None
    answer_text: str | None = None


class AssignmentLine(AnswerLine):
    nuggets: list[LabelItem]


class GradedLine(AnswerLine):
    criteria: list[GradedItem]


@dataclass(frozen=True, slots=True)
class LabelForm:
    """Keys of a form of file, and how a word of it is read; `group` is empty where it stays with the other keys."""

    items_key: str
    importance: str
    label: str
    group: str
    read: Callable[[str], AssignmentLabel]


NUGGETIZER: Final = LabelForm(
    NUGGETS, "importance", "assignment", "", lambda word: LABELS_BY_WORD.get(word, FAILED)
)
GRADED: Final = LabelForm(CRITERIA, "tier", "verdict", "type", lambda word: VERDICTS.get(folded(word), FAILED))
LABEL_KEYS: Final = (NUGGETIZER.label, GRADED.label, "label")
"""Names of a label in files: under that of another form it would be left aside, and the nugget unjudged."""


@of_kind("assignments", "nugget labels, an answer a line")
def parse_assignments(source: Source) -> tuple[AssignmentRecord, ...]:
    """All rows in file order. Raises `BadInput`; (topic, run, sample) twice is an error, an unknown label is FAILED."""
    problems = Problems(source.name)
    once = Once(problems, "run_id")
    line_form: type[AnswerLine] = GradedLine if CRITERIA in first_object(source) else AssignmentLine
    rows = tuple(
        _row(line, entry, problems)
        for line, entry in json_rows(source, line_form.model_validate_json, problems)
        if once.is_first(
            line,
            (entry.qid, entry.run_id, entry.sample),
            f"topic {entry.qid} of run {entry.run_id}{sample_words(entry.sample)}",
        )
    )
    problems.raise_if_any()
    return rows


def assignment_line(row: AssignmentRecord) -> str:
    """The row as `parse_assignments` and nuggetizer read it, unjudged nuggets as `null` in their places."""
    fields = {
        "query": row.query or None,
        "qid": row.topic_id,
        "run_id": row.run_id,
        **sample_field(row.sample),
        "response_length": row.response_length,
        "answer_text": row.answer_text,
        NUGGETS: [_item(item) for item in _in_order(row)],
    }
    return json_line(fields, row.extra)


def graded_line(row: AssignmentRecord) -> str:
    """The row as graded criteria, which `parse_assignments` reads too."""
    fields = {
        "qid": row.topic_id,
        "run_id": row.run_id,
        **sample_field(row.sample),
        "query": row.query or None,
        "response_length": row.response_length,
        CRITERIA: [_criterion(item) for item in _in_order(row)],
    }
    return json_line(fields, row.extra)


def _criterion(item: "LabelRecord | UnjudgedRow") -> dict[str, Any]:
    fields = {
        "text": item.text,
        "type": item.group or None,
        "tier": tier_of(item.importance),
        "weight": item.weight,
    }
    verdict = {"verdict": _verdict(item) if isinstance(item, LabelRecord) else None}
    return (
        with_extra(fields, {}) | verdict | {key: value for key, value in item.extra.items() if key not in fields}
    )


def _verdict(item: "LabelRecord") -> str:
    # Read back, a verdict's own name would be that verdict and no failure any more.
    failed = "failed" if folded(item.raw) in VERDICTS else item.raw
    return VERDICT_OF.get(item.label, failed)


def label_provenance(sentence: int | None, first_label: int | None, reason: str) -> dict[str, Any]:
    """Return the provenance of one label as an export has it under our key, empty fields left out."""
    first = AssignmentLabel(first_label).name.lower() if first_label is not None else None
    return with_extra({"sentence": sentence, "first_label": first, "reason": reason or None}, {})


def _in_order(row: AssignmentRecord) -> list["LabelRecord | UnjudgedRow"]:
    return sorted([*row.labels, *row.unjudged], key=lambda item: item.position)


def _row(line: int, entry: AnswerLine, problems: Problems) -> AssignmentRecord:
    # The items are this parse's own dicts: what is popped from them leaves the unknown keys.
    form = GRADED if isinstance(entry, GradedLine) else NUGGETIZER
    items = cast(list[dict[str, Any]], getattr(entry, form.items_key))
    labels, unjudged = _labels(items, form, line, problems)
    return AssignmentRecord(
        line=line,
        topic_id=entry.qid,
        run_id=entry.run_id,
        labels=tuple(labels),
        unjudged=tuple(unjudged),
        answer_text=entry.answer_text,
        response_length=entry.response_length,
        query=entry.query or "",
        extra=entry.extra,
        items_key=form.items_key,
        sample=entry.sample,
    )


def _labels(
    items: list[dict[str, Any]], form: LabelForm, line: int, problems: Problems
) -> tuple[list[LabelRecord], list[UnjudgedRow]]:
    labels: list[LabelRecord] = []
    unjudged: list[UnjudgedRow] = []
    seen: dict[str, int] = {}
    for position, item in enumerate(items):
        text = item.pop("text")
        importance, weight = item.pop(form.importance, None) or "", item.pop("weight", None)
        others = (key for key in LABEL_KEYS if item.get(key) is not None)
        if item.get(form.label) is None and (other := next(others, "")):
            expected = f"`{form.label}`, as labels are called among {form.items_key}"
            problems.add(line, f"{form.items_key}.{position}.{other}", expected)
        raw, group = item.pop(form.label, None), (form.group and item.pop(form.group, None)) or ""
        occurrence = seen.get(text, 0)
        seen[text] = occurrence + 1
        if wrong := wrong_sign(importance, weight, item, form.importance):
            problems.add(line, f"{form.items_key}.{position}.{wrong[0]}", wrong[1])
        if raw is None:
            unjudged.append(UnjudgedRow(text, importance, position, occurrence, dict(item), weight, group))
            continue
        label, ours = form.read(raw), own_provenance(item, NOTHING_KNOWN, line, problems)
        reason = raw if label is FAILED else ""
        if label is AssignmentLabel.CANT_JUDGE:
            reason = ours.reason
        first = LABELS_BY_WORD[ours.first_label] if ours.first_label else None
        labels.append(
            LabelRecord(
                *(text, label, reason, importance, position, occurrence, dict(item), ours.sentence, first, weight),
                group=group,
            )
        )
    return labels, unjudged


def _item(item: LabelRecord | UnjudgedRow) -> dict[str, Any]:
    fields = with_extra({"text": item.text, "importance": item.importance or None, "weight": item.weight}, {})
    fields["assignment"] = label_word(item.label, item.raw) if isinstance(item, LabelRecord) else None
    return fields | {
        key: value for key, value in item.extra.items() if key not in {"text", "importance", "weight"}
    }
