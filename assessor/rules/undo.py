"""Steps to undo and redo, computed from the log of operations alone, so that a reload changes nothing."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from assessor.rules.nugget_ops import NUGGET_OP_WORDS

OP_WORDS = NUGGET_OP_WORDS | {"label": "Label", "locate": "Place in the answer", "evidence": "Evidence"}
"""Names of steps on the buttons, by the kind of their operations."""

NOTED = ("mark", "compose", "search", "open", "sweep")
"""Kinds that change neither nugget nor label, so that there is nothing to undo."""

KEPT_STEPS = 50
"""Steps a page carries for undo; older ones can still be restored from the history."""


@dataclass(frozen=True, slots=True)
class UndoEntry:
    """One operation of the log; `target` is the step that an undo or redo is about."""

    step: str
    kind: str
    target: str
    before: dict[str, Any]
    after: dict[str, Any]


@dataclass(slots=True)
class Undoable:
    """One step: what its operations found and what they left, by key."""

    step: str
    label: str
    before: dict[str, Any]
    after: dict[str, Any]

    def grow(self, logged: UndoEntry) -> None:
        """Take in a further operation of the same step: what came first stays what was before."""
        self.before = logged.before | self.before
        self.after |= logged.after


def stacks(log: Iterable[UndoEntry]) -> tuple[list[Undoable], list[Undoable]]:
    """Return the steps to undo and to redo, the newest last. A new step empties what could be redone."""
    undo: list[Undoable] = []
    redo: list[Undoable] = []
    for logged in log:
        if logged.kind == "undo":
            _pass_on(undo, redo, logged.target)
            _keep_versions(redo, logged)
        elif logged.kind == "redo":
            _pass_on(redo, undo, logged.target)
        elif logged.kind in OP_WORDS:
            # As in every editor: redo after a new step would bring back rows that know nothing of it.
            redo.clear()
            if undo and undo[-1].step == logged.step:
                undo[-1].grow(logged)
            else:
                undo.append(Undoable(logged.step, OP_WORDS[logged.kind], dict(logged.before), dict(logged.after)))
    return undo, redo


def _pass_on(source: list[Undoable], target: list[Undoable], step: str) -> None:
    if source and source[-1].step == step:
        target.append(source.pop())


def _keep_versions(redo: list[Undoable], logged: UndoEntry) -> None:
    if redo and redo[-1].step == logged.target:
        for key, row in logged.after.items():
            if row is None and redo[-1].after.get(key):
                # Else a redone row would have a version that already meant another text.
                redo[-1].after[key] = redo[-1].after[key] | {"version": logged.before[key]["version"]}
