"""Operations at a desk: each is checked, applied and logged in one transaction, and answered by a receipt.

Sending an operation twice has one effect, and the second answer says so as the first did.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from pydantic import ValidationError

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Desk, MarkedPassage, Operation, Qrel, Task
from evaluation.rules.desk import Changes, Row, apply, put_back
from evaluation.rules.sentences import split
from evaluation.rules.undoing import UNTOLD, Logged, stacks
from evaluation.services.desk.asked import BIGGEST_DRAFT, Op
from evaluation.services.desk.finding import Place, holder_age, lock_place
from evaluation.services.desk.rows import changes_json, row_from_json, row_of, stored_rows, write_changes
from evaluation.terms import Decision

LIST_KINDS = frozenset({"add", "merge", "split", "move", "undo", "redo"})
"""Kinds for which the place of the other rows matters, so that the whole list is read."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of an operation: `applied`, `conflict`, `refused` or `moved`."""

    op_id: str
    status: str
    seq: int = 0
    rows: dict[str, Any] = field(default_factory=dict)
    code: str = ""
    message: str = ""
    holder_age_s: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the fields that this status has."""
        shown = {
            "applied": ("seq", "rows"),
            "conflict": ("rows",),
            "refused": ("code", "message"),
            "moved": ("holder_age_s",),
        }
        fields = ("op_id", "status", *shown[self.status])
        return {name: getattr(self, name) for name in fields}


def operate(*, task: str, user: User, window: str, op: Op) -> Receipt:
    """Apply one operation of a window. Raises `NoSuchTask` for a task that is not the user's."""
    try:
        return _operate(task, user, window, op)
    except IntegrityError:
        # It is in the log already, or another one took its number while it waited for the lock: now it sees either.
        with transaction.atomic():
            known = _first_receipt(lock_place(task, user), op)
        return known or _operate(task, user, window, op)


def _operate(task: str, user: User, window: str, op: Op) -> Receipt:
    with transaction.atomic():
        place = lock_place(task, user)
        receipt = _receipt(place, window, op)
        # Looked up only where something is amiss: what applies and can be logged is new.
        return receipt if receipt.status == "applied" else _first_receipt(place, op) or receipt


def _receipt(place: Place, window: str, op: Op) -> Receipt:
    if place.holder not in ("", window):
        held_at = Desk.objects.values_list("held_at", flat=True).get(pk=place.task)
        return Receipt(str(op.op_id), "moved", holder_age_s=holder_age(held_at))
    try:
        _check_open(place)
        return _applied(place, window, op)
    except (Refused, ValidationError, KeyError) as error:
        code, message = _reason(error)
        return Receipt(str(op.op_id), "refused", code=code, message=message)


def _reason(error: Exception) -> tuple[str, str]:
    if isinstance(error, Refused):
        return error.code, error.message
    return "bad_operation", "This operation is not one that a desk knows."


def _first_receipt(place: Place, op: Op) -> Receipt | None:
    """Return what an operation that was sent before was answered; None for one that is new."""
    logged = Operation.objects.filter(op_id=op.op_id).first()
    if logged is None:
        return None
    if logged.task_id != place.task:
        return Receipt(str(op.op_id), "refused", code="bad_operation", message="This operation belongs elsewhere.")
    stored = stored_rows(place.task, logged.after)
    rows = {key: row_of(stored[key]) if key in stored else None for key in logged.after}
    return Receipt(str(op.op_id), "applied", logged.seq, changes_json(rows))


def _check_open(place: Place) -> None:
    if not place.is_open:
        raise Refused("not_open", f"This task is {place.state}; nothing in it can be changed now.")


def _applied(place: Place, window: str, op: Op) -> Receipt:
    payload = op.checked()
    if op.kind not in UNTOLD:
        return _list_operation(place, window, op, payload)
    if op.kind == "mark":
        _mark(place, payload)
    elif op.kind == "compose":
        _compose(place, payload)
    _log(place, window, op, payload, {}, {})
    return Receipt(str(op.op_id), "applied", place.seq)


def _list_operation(place: Place, window: str, op: Op, payload: dict[str, Any]) -> Receipt:
    stored = stored_rows(place.task, None if op.kind in LIST_KINDS else [payload["key"]])
    rows = {key: row_of(row) for key, row in stored.items()}
    stale = [key for key, version in op.base.items() if key in rows and rows[key].version != version]
    if stale:
        return Receipt(str(op.op_id), "conflict", rows=changes_json({key: rows[key] for key in stale}))
    changes = _changes(place, rows, op.kind, payload)
    before = changes_json({key: rows.get(key) for key in changes})
    after = changes_json(changes)
    write_changes(place.task, stored, changes)
    _log(place, window, op, payload, before, after)
    return Receipt(str(op.op_id), "applied", place.seq, after)


def _changes(place: Place, rows: dict[str, Row], kind: str, payload: dict[str, Any]) -> Changes:
    if kind in ("undo", "redo"):
        return _step_back(place, rows, kind, payload["target"])
    if kind == "restore":
        return _restored(place, rows, payload)
    _check_evidence(place, kind, payload)
    return apply(rows, kind, payload)


def _step_back(place: Place, rows: dict[str, Row], kind: str, target: str) -> Changes:
    undo, redo = stacks(log_of(place.task, place.version))
    stack = undo if kind == "undo" else redo
    if not stack or stack[-1].step != target:
        raise Refused("not_newest", f"There is something newer to {kind}.")
    wanted = stack[-1].before if kind == "undo" else stack[-1].after
    return put_back(rows, {key: row_from_json(row) for key, row in wanted.items()})


def log_of(task: int, submission: int) -> list[Logged]:
    """Return the operations of one submission of a task, as undo reads them."""
    rows = Operation.objects.filter(task=task, submission=submission).exclude(kind__in=UNTOLD)
    return [
        Logged(str(step), kind, payload.get("target", ""), before, after)
        for step, kind, payload, before, after in rows.values_list("step", "kind", "payload", "before", "after")
    ]


def _restored(place: Place, rows: dict[str, Row], payload: dict[str, Any]) -> Changes:
    logged = Operation.objects.filter(task=place.task, seq=payload["seq"]).values_list("after", flat=True).first()
    was = row_from_json((logged or {}).get(payload["key"]))
    current = rows.get(payload["key"])
    if was is None or current is None:
        raise Refused("no_such_version", "This version is not in the history.")
    if Decision.REPLACED in (was.decision, current.decision):
        raise Refused("replaced", "This nugget was merged or split; undo that first.")
    restored = replace(
        current, text=was.text, importance=was.importance, decision=was.decision, evidence=was.evidence
    )
    return put_back(rows, {was.key: restored})


def _check_evidence(place: Place, kind: str, payload: dict[str, Any]) -> None:
    """See that evidence names sentences that the assessor can read: others would be dead links for ever."""
    pairs = [pair for part in [payload, *payload.get("into", [])] for pair in part.get("evidence", [])]
    if kind == "link":
        pairs.append([payload["segment"], payload["sentence"]])
    texts = _passages(place, {segment for segment, _ in pairs})
    for segment, sentence in pairs:
        if segment not in texts:
            raise Refused("no_such_passage", "This passage is not among those of the task.")
        if sentence is not None and sentence >= len(split(texts[segment][1].strip())):
            raise Refused("no_such_sentence", "This passage has no such sentence.")


def _passages(place: Place, named: set[str]) -> dict[str, tuple[int, str]]:
    """Return key and text of those of the task's passages that are named, by public id."""
    if not named:
        return {}
    task = Task.objects.select_related("protocol").get(pk=place.task)
    graded = Qrel.objects.filter(source=task.qrels_id, topic=task.topic_id, segment__public_id__in=named)
    found = graded.filter(grade__gte=task.protocol.grade_threshold, segment__has_text=True)
    return {
        public_id: (pk, text)
        for public_id, pk, text in found.values_list("segment__public_id", "segment_id", "segment__text")
    }


def _mark(place: Place, payload: dict[str, Any]) -> None:
    found = _passages(place, {payload["segment"]})
    if not found:
        raise Refused("no_such_passage", "This passage is not among those of the task.")
    segment, _ = found[payload["segment"]]
    if payload["mark"]:
        MarkedPassage.objects.update_or_create(
            task_id=place.task, segment_id=segment, defaults={"mark": payload["mark"]}
        )
    else:
        MarkedPassage.objects.filter(task=place.task, segment=segment).delete()


def _compose(place: Place, payload: dict[str, Any]) -> None:
    if len(str(payload["draft"])) > BIGGEST_DRAFT:
        raise Refused("long_text", "The text being written is too long to keep.")
    desk = Desk.objects.get(pk=place.task)
    desk.composer = {slot: draft for slot, draft in desk.composer.items() if slot != payload["slot"]}
    if payload["draft"] is not None:
        desk.composer[payload["slot"]] = payload["draft"]
    desk.save(update_fields=["composer"])


def _log(
    place: Place, window: str, op: Op, payload: dict[str, Any], before: dict[str, Any], after: dict[str, Any]
) -> None:
    """Add the operation to the log. A window that writes where nobody does holds the desk from then on."""
    if place.holder != window:
        Desk.objects.filter(pk=place.task).update(holder=window, held_at=timezone.now())
    place.seq += 1
    Operation.objects.create(
        task_id=place.task,
        seq=place.seq,
        op_id=op.op_id,
        step=op.step,
        submission=place.version,
        kind=op.kind,
        payload=payload,
        before=before,
        after=after,
        source=op.source,
        window=window,
        client_at=op.client_at,
    )
