"""Operations on a nugget list in the making."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter

from assessor.desk.context import Acted, DeskContext, Stale, wanted_rows
from assessor.models import Desk, MarkedPassage, Operation, WorkingNugget
from assessor.rules.nugget_ops import Changes, Evidence, Row, apply, put_back
from assessor.rules.op_schemas import (
    BIGGEST_DRAFT,
    Compose,
    Link,
    Mark,
    New,
    OfNugget,
    Op,
    Payload,
    Restore,
    Search,
    Split,
    Undo,
)
from evaluation.errors import Refused
from evaluation.models import Task
from evaluation.rules.protocol import searches_nuggets
from evaluation.rules.sentences import split
from evaluation.tasks.reading_load import readable
from evaluation.terms import Decision, Importance, Making

ROW = TypeAdapter(Row)
CHANGING = ["version", "position", "text", "importance", "weight", "group", "decision", "parents", "evidence"]


def row_of(stored: WorkingNugget) -> Row:
    return Row(
        key=stored.key,
        version=stored.version,
        position=stored.position,
        text=stored.text,
        importance=Importance(stored.importance),
        decision=Decision(stored.decision),
        making=Making(stored.making),
        parents=tuple(stored.parents),
        evidence=tuple((segment, sentence) for segment, sentence in stored.evidence),
        draft=stored.draft.text if stored.draft else None,
        number=stored.number,
        draft_importance=Importance(stored.draft_importance),
        weight=stored.weight,
        group=stored.group,
    )


def row_json(row: Row | None) -> dict[str, Any] | None:
    """Return a row as the page's script and the log hold it; None: not there."""
    return None if row is None else ROW.dump_python(row, mode="json")


def row_from_json(data: Mapping[str, Any] | None) -> Row | None:
    return None if data is None else ROW.validate_python(data)


def changes_json(rows: Mapping[str, Row | None]) -> dict[str, Any]:
    return {key: row_json(row) for key, row in rows.items()}


def stored_rows(task: Task | int, keys: Iterable[str] | None = None) -> dict[str, WorkingNugget]:
    rows = WorkingNugget.objects.filter(task=task).select_related("draft").order_by()
    if keys is not None:
        rows = rows.filter(key__in=list(keys))
    return {row.key: row for row in rows}


def write_changes(task: int, stored: Mapping[str, WorkingNugget], changes: Changes) -> None:
    new = [_new_row(task, row) for key, row in changes.items() if row and key not in stored]
    changed = [_changed(stored[key], row) for key, row in changes.items() if row and key in stored]
    gone = [key for key, row in changes.items() if row is None]
    if new:
        WorkingNugget.objects.bulk_create(new)
    # `bulk_update` writes a CASE for each column, and an assessor waits: most operations change one row.
    if len(changed) == 1:
        changed[0].save(update_fields=CHANGING)
    elif changed:
        WorkingNugget.objects.bulk_update(changed, CHANGING)
    if gone:
        WorkingNugget.objects.filter(task=task, key__in=gone).delete()


def _changed(stored: WorkingNugget, row: Row) -> WorkingNugget:
    for name, value in _changing(row).items():
        setattr(stored, name, value)
    return stored


def _new_row(task: int, row: Row) -> WorkingNugget:
    return WorkingNugget(task_id=task, key=row.key, making=row.making, number=row.number, **_changing(row))


def _changing(row: Row) -> dict[str, Any]:
    return {name: getattr(row, name) for name in CHANGING}


LIST_KINDS = frozenset({"add", "merge", "split", "move", "undo", "redo"})
"""Kinds for which the place of the other rows matters, so that the whole list is read."""


def act(context: DeskContext, op: Op, payload: Payload) -> Acted | Stale:
    """Apply one checked operation. Raises `Refused`."""
    match payload:
        case Mark():
            return _mark(context, payload)
        case Compose():
            return _compose(context, payload)
        case Search():
            return _search(context, op.source)
        case OfNugget() if op.kind not in LIST_KINDS:
            stored = stored_rows(context.task, [payload.key])
        case _:
            stored = stored_rows(context.task)
    rows = {key: row_of(row) for key, row in stored.items()}
    # Last write wins would lose a text without a word; the window shows both and asks.
    stale = [key for key, version in op.base.items() if key in rows and rows[key].version != version]
    if stale:
        return Stale(changes_json({key: rows[key] for key in stale}))
    changes = _changes(context, rows, op.kind, payload)
    before = changes_json({key: rows.get(key) for key in changes})
    after = changes_json(changes)
    write_changes(context.task, stored, changes)
    return Acted(before, after)


def rows_now(context: DeskContext, keys: list[str]) -> dict[str, Any]:
    stored = stored_rows(context.task, keys)
    return changes_json({key: row_of(stored[key]) if key in stored else None for key in keys})


def _changes(context: DeskContext, rows: dict[str, Row], kind: str, payload: Payload) -> Changes:
    match payload:
        case Undo():
            past = wanted_rows(context, kind, str(payload.target))
            return put_back(rows, {key: row_from_json(row) for key, row in past.items()})
        case Restore():
            return _restored(context, rows, payload)
        case New():
            _check_evidence(context, payload.evidence)
        case Split():
            _check_evidence(context, [pair for part in payload.into for pair in part.evidence])
        case Link():
            _check_evidence(context, [(payload.segment, payload.sentence)])
    return apply(rows, payload)


def _restored(context: DeskContext, rows: dict[str, Row], payload: Restore) -> Changes:
    logged = Operation.objects.filter(task=context.task, seq=payload.seq).values_list("after", flat=True).first()
    was = row_from_json((logged or {}).get(payload.key))
    current = rows.get(payload.key)
    if was is None or current is None:
        raise Refused("no_such_version", "This version is not in the history.")
    # Its merge or parts would stay in the list beside it.
    if Decision.REPLACED in (was.decision, current.decision):
        raise Refused("replaced", "This nugget was merged or split; undo that first.")
    restored = replace(
        current,
        text=was.text,
        importance=was.importance,
        weight=was.weight,
        decision=was.decision,
        evidence=was.evidence,
    )
    return put_back(rows, {was.key: restored})


def _check_evidence(context: DeskContext, pairs: Iterable[Evidence]) -> None:
    """See that evidence names sentences that the assessor can read: others would be dead links for ever."""
    texts = _passages(context, {segment for segment, _ in pairs})
    for segment, sentence in pairs:
        if segment not in texts:
            raise Refused("no_such_passage", "This passage is not among those of the task.")
        if sentence is not None and sentence >= len(split(texts[segment][1].strip())):
            raise Refused("no_such_sentence", "This passage has no such sentence.")


def _passages(context: DeskContext, public_ids: set[str]) -> dict[str, tuple[int, str]]:
    """Return key and text of those of the task's passages that are named, by public id."""
    if not public_ids:
        return {}
    task = Task.objects.select_related("protocol").get(pk=context.task)
    graded = readable(task.qrels_id or 0, task.protocol.grade_threshold)
    rows = graded.filter(topic=task.topic_id, segment__public_id__in=public_ids)
    return {
        public_id: (pk, text)
        for public_id, pk, text in rows.values_list("segment__public_id", "segment_id", "segment__text")
    }


def _search(context: DeskContext, source: str) -> Acted:
    """Let the log have the words. A nugget's own words help where the protocol says so, and nowhere else."""
    if source == "nugget":
        allowed, stage = Task.objects.values_list("protocol__nugget_search", "stage").get(pk=context.task)
        if not searches_nuggets(allowed, stage):
            raise Refused(
                "no_nugget_search", "The protocol does not offer a search for a nugget's own words here."
            )
    return Acted()


def _mark(context: DeskContext, payload: Mark) -> Acted:
    passages = _passages(context, {payload.segment})
    if not passages:
        raise Refused("no_such_passage", "This passage is not among those of the task.")
    segment, _ = passages[payload.segment]
    if payload.mark:
        MarkedPassage.objects.update_or_create(
            task_id=context.task, segment_id=segment, defaults={"mark": payload.mark}
        )
    else:
        MarkedPassage.objects.filter(task=context.task, segment=segment).delete()
    return Acted()


def _compose(context: DeskContext, payload: Compose) -> Acted:
    if len(str(payload.draft)) > BIGGEST_DRAFT:
        raise Refused("long_text", "The text being written is too long to keep.")
    # The desk is locked by this transaction, so that no other slot's text is written back over a newer one.
    desk = Desk.objects.get(pk=context.task)
    desk.composer = {slot: draft for slot, draft in desk.composer.items() if slot != payload.slot}
    if payload.draft is not None:
        desk.composer[payload.slot] = payload.draft
    desk.save(update_fields=["composer"])
    return Acted()
