"""Operations on the labels of a judging task: rows in, changed rows out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from assessor.rules.op_schemas import GiveLabel, Locate, MarkEvidence
from evaluation.errors import Refused
from evaluation.labels import CANT_JUDGE
from web.text import trimmed

LONGEST_REASON = 500
NO_MACHINE_LABEL = "failed"
"""Shown in place of a machine's label where the machine gave none."""


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One label in the making; version 0: never touched. `label`: its word, None where there is none.

    `sentence`, `first_label`: only where nuggets are assigned. `evidence`: only where support is judged, a sentence of
    the passage; it may be there before the label. `shown_label`, `shown_ms`, `accepted`: only where the
    machine's label is on the screen.
    """

    key: str
    version: int = 0
    label: str | None = None
    reason: str = ""
    sentence: int | None = None
    first_label: str | None = None
    shown_label: str | None = None
    shown_ms: int | None = None
    accepted: bool = False
    evidence: int | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)


def give_label(row: LabelRow, payload: GiveLabel, *, in_sweep: bool) -> LabelRow:
    """Raises `Refused` for "can't judge" without a reason, or for a label accepted as the machine's that is not."""
    label, reason = payload.label, trimmed(payload.reason)
    if label == CANT_JUDGE and not reason:
        raise Refused("no_reason", "Say why it cannot be judged.")
    if len(reason) > LONGEST_REASON:
        raise Refused("long_reason", f"A reason has at most {LONGEST_REASON} characters.")
    # Accepted labels measure how far people follow the machine; an own label must not pass for one.
    if payload.accepted and (label is None or label != row.shown_label):
        raise Refused("not_shown", "This is not the label that is shown.")
    first = row.first_label
    # Sweep labels are final, and the first pass is exported too.
    if in_sweep and first is None and label != row.label:
        first = row.label
    return replace(
        row,
        label=label,
        reason=reason if label == CANT_JUDGE else "",
        sentence=payload.sentence if label else None,
        first_label=first if label else None,
        accepted=payload.accepted,
        extras=payload.extras if label else {},
        # Only the first decision is timed from the moment that the label was on the screen.
        shown_ms=row.shown_ms if row.shown_ms is not None else payload.shown_ms,
        version=row.version + 1,
    )


def locate(row: LabelRow, place: Locate) -> LabelRow:
    """Return a row with the sentence in which the nugget is. Raises `Refused` where there is no label yet."""
    if row.label is None:
        raise Refused("no_label", "Give a label first, then say where it is.")
    return replace(row, sentence=place.sentence, version=row.version + 1)


def mark_evidence(row: LabelRow, mark: MarkEvidence) -> LabelRow:
    return replace(row, evidence=mark.sentence, version=row.version + 1)


def back_to(row: LabelRow, past: LabelRow | None) -> LabelRow:
    """Return a row as it was, for undo and redo; its version goes on."""
    return replace(past or LabelRow(row.key), shown_label=row.shown_label, version=row.version + 1)
