"""What an operation came to, whatever it is about; and the log from which undo reads."""

from dataclasses import dataclass, field
from typing import Any

from evaluation.errors import Refused
from evaluation.models import Operation
from evaluation.rules.undoing import UNTOLD, Logged, Undoable, stacks
from evaluation.services.desk.finding import Place


@dataclass(frozen=True, slots=True)
class Acted:
    """The rows that an operation changed, by key, as they were and as they are. Empty: it changed none."""

    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stale:
    """Rows that are not as the window saw them, as they are."""

    rows: dict[str, Any]


def log_of(task: int, submission: int) -> list[Logged]:
    """Return the operations of one submission of a task, as undo reads them."""
    rows = Operation.objects.filter(task=task, submission=submission).exclude(kind__in=UNTOLD)
    return [
        Logged(str(step), kind, payload.get("target", ""), before, after)
        for step, kind, payload, before, after in rows.values_list("step", "kind", "payload", "before", "after")
    ]


def wanted_rows(place: Place, kind: str, target: str) -> dict[str, Any]:
    """Return the rows as an undo or redo wants them. Raises `Refused` unless it is about the newest step."""
    undo, redo = stacks(log_of(place.task, place.version))
    stack: list[Undoable] = undo if kind == "undo" else redo
    if not stack or stack[-1].step != target:
        newer = "There is something newer to undo." if kind == "undo" else "There is something newer to redo."
        raise Refused("not_newest", newer)
    return stack[-1].before if kind == "undo" else stack[-1].after
