"""Rows between the database, the rules and the wire."""

from collections.abc import Iterable, Mapping
from typing import Any

from evaluation.models import Task, WorkingNugget
from evaluation.rules.desk import Changes, Row
from evaluation.terms import Decision, Importance, Making

CHANGING = ["version", "position", "text", "importance", "decision", "parents", "evidence"]


def row_of(stored: WorkingNugget) -> Row:
    """Return a stored row as the rules know it."""
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
    )


def row_json(row: Row | None) -> dict[str, Any] | None:
    """Return a row as the page's script and the log hold it; None: not there."""
    if row is None:
        return None
    return {
        "key": row.key,
        "version": row.version,
        "position": row.position,
        "text": row.text,
        "importance": int(row.importance),
        "decision": str(row.decision),
        "making": str(row.making),
        "parents": list(row.parents),
        "evidence": [list(pair) for pair in row.evidence],
        "draft": row.draft,
        "number": row.number,
        "draft_importance": int(row.draft_importance),
    }


def row_from_json(data: Mapping[str, Any] | None) -> Row | None:
    """Return what `row_json` wrote as a row again. A log from before numbers were kept has neither of the last two."""
    if data is None:
        return None
    return Row(
        key=data["key"],
        version=data["version"],
        position=data["position"],
        text=data["text"],
        importance=Importance(data["importance"]),
        decision=Decision(data["decision"]),
        making=Making(data["making"]),
        parents=tuple(data["parents"]),
        evidence=tuple((segment, sentence) for segment, sentence in data["evidence"]),
        draft=data["draft"],
        number=data.get("number", 0),
        draft_importance=Importance(data.get("draft_importance", 0)),
    )


def changes_json(rows: Mapping[str, Row | None]) -> dict[str, Any]:
    """Return several rows for the wire or the log, by key."""
    return {key: row_json(row) for key, row in rows.items()}


def stored_rows(task: Task | int, keys: Iterable[str] | None = None) -> dict[str, WorkingNugget]:
    """Return a task's rows by key; `keys`: only these."""
    rows = WorkingNugget.objects.filter(task=task).select_related("draft").order_by()
    if keys is not None:
        rows = rows.filter(key__in=list(keys))
    return {row.key: row for row in rows}


def write_changes(task: int, stored: Mapping[str, WorkingNugget], changes: Changes) -> None:
    """Write what the rules changed: one statement where one row changed."""
    made = [_new_row(task, row) for key, row in changes.items() if row and key not in stored]
    changed = [_set(stored[key], row) for key, row in changes.items() if row and key in stored]
    gone = [key for key, row in changes.items() if row is None]
    if made:
        WorkingNugget.objects.bulk_create(made)
    if len(changed) == 1:
        changed[0].save(update_fields=CHANGING)
    elif changed:
        WorkingNugget.objects.bulk_update(changed, CHANGING)
    if gone:
        WorkingNugget.objects.filter(task=task, key__in=gone).delete()


def _set(stored: WorkingNugget, row: Row) -> WorkingNugget:
    for field, value in _fields(row).items():
        setattr(stored, field, value)
    return stored


def _new_row(task: int, row: Row) -> WorkingNugget:
    return WorkingNugget(task_id=task, key=row.key, making=row.making, number=row.number, **_fields(row))


def _fields(row: Row) -> dict[str, Any]:
    return {
        "version": row.version,
        "position": row.position,
        "text": row.text,
        "importance": row.importance,
        "decision": row.decision,
        "parents": list(row.parents),
        "evidence": [list(pair) for pair in row.evidence],
    }
