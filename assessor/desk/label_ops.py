"""Operations at a judging desk: labels, places in the answer, and notes of what was opened or begun."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Q
from django.utils import timezone

from assessor.desk.context import Acted, DeskContext, Stale, wanted_rows
from assessor.desk.desks import desk_of
from assessor.desk.nugget_labels import SWEEP
from assessor.desk.task_labels import row_from_json
from assessor.rules.label_ops import LabelRow, back_to, give_label, locate, mark_evidence
from assessor.rules.op_schemas import GiveLabel, Locate, MarkEvidence, Op, OpenAnswer, Payload, Search, Sweep, Undo
from evaluation.errors import Refused
from evaluation.models import TaskAnswer
from web.text import plural


def act(context: DeskContext, op: Op, payload: Payload) -> Acted | Stale:
    """Apply one checked operation. Raises `Refused`."""
    past: Mapping[str, Any]
    match payload:
        case Search():
            return Acted()
        case OpenAnswer():
            return _open(context, payload.answer)
        case Sweep():
            return _begin_sweep(context)
        case Undo():
            past = wanted_rows(context, op.kind, str(payload.target))
        case GiveLabel() | Locate() | MarkEvidence():
            past = {payload.key: None}
    desk = desk_of(context.stage)
    labels = {key: desk.find(context, key) for key in past}
    rows = {key: label.row for key, label in labels.items()}
    # The window labelled what it saw: a row that another window changed since is shown, and not overwritten.
    stale = [key for key, version in op.base.items() if key in rows and rows[key].version != version]
    if stale:
        return Stale(_json(context, {key: rows[key] for key in stale}))
    changed = {key: _changed(context, row, op, payload, past[key]) for key, row in rows.items()}
    for key, row in changed.items():
        labels[key].write(row)
    return Acted(_json(context, rows), _json(context, changed))


def rows_now(context: DeskContext, keys: list[str]) -> dict[str, Any]:
    desk = desk_of(context.stage)
    return _json(context, {key: desk.find(context, key).row for key in keys})


def _changed(context: DeskContext, row: LabelRow, op: Op, payload: Payload, past: Any) -> LabelRow:
    match payload:
        case Locate():
            _check(desk_of(context.stage).places)
            return locate(row, payload)
        case MarkEvidence():
            _check(desk_of(context.stage).cites)
            return mark_evidence(row, payload)
        case GiveLabel():
            _check_label(context, op, payload)
            return give_label(row, payload, in_sweep=op.source == SWEEP)
    return back_to(row, row_from_json(past))


def _check_label(context: DeskContext, op: Op, payload: GiveLabel) -> None:
    # From scratch nothing of a machine is on the screen, so such a claim cannot be true.
    if payload.accepted or payload.shown_ms is not None:
        _check(context.stage.shows_label)
    if payload.sentence is not None:
        _check(desk_of(context.stage).places)
    if payload.extras:
        _check_extras(context, payload.extras)
    if op.source == SWEEP:
        _check_sweep(context)
    labels = context.stage.labels_in(context)
    if payload.label is not None and payload.label not in labels.by_word:
        raise Refused("no_such_label", f"{payload.label} is no label of this desk.")


def _check(is_able: bool) -> None:
    if not is_able:
        raise Refused("bad_operation", "This operation is not one that this desk knows.")


def _check_extras(context: DeskContext, extras: Mapping[str, Any]) -> None:
    schema = context.stage.extras
    _check(schema is not None)
    if schema:
        schema.model_validate(extras)
    desk_of(context.stage).check_extras(context.task, extras)


def _check_sweep(context: DeskContext) -> None:
    """A few nuggets of each answer make no row that one could look along."""
    _check(desk_of(context.stage).places)
    if context.study:
        raise Refused("bad_operation", "This desk has no sweep.")


def _begin_sweep(context: DeskContext) -> Acted:
    _check_sweep(context)
    # First labels are given answer by answer; a sweep before the last would mix both passes.
    if left := len(desk_of(context.stage).read(context).missing):
        raise Refused(
            "unfinished",
            f"{left} {plural(left, 'label is', 'labels are')} missing; the sweep comes after the last.",
        )
    return Acted()


def _open(context: DeskContext, answer: str) -> Acted:
    rows = TaskAnswer.objects.filter(task=context.task).filter(
        Q(answer__public_id=answer) | Q(segment__public_id=answer) | Q(battle__public_id=answer)
    )
    if not rows.exists():
        raise Refused("no_such_answer", "This answer is not among those of the task.")
    # The first time counts: an answer that is opened again was seen before.
    rows.filter(seen_at=None).update(seen_at=timezone.now())
    return Acted()


def _json(context: DeskContext, rows: Mapping[str, LabelRow]) -> dict[str, Any]:
    desk = desk_of(context.stage)
    return {key: desk.row_json(row) for key, row in rows.items()}
