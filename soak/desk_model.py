"""What a desk must look like after some operations, told by the rules alone: no database, no server.

Each window shows such a model while it works; at the end another one is built from everything that was acknowledged.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from evaluation.errors import Refused
from evaluation.rules.desk import LABELS, Changes, Row, Step, apply, put_back
from evaluation.rules.undoing import UNTOLD
from evaluation.services.desk.rows import row_from_json
from evaluation.terms import Decision

Json = dict[str, Any]


@dataclass(slots=True)
class DeskModel:
    """Rows, undo and redo stacks, marks and composer of one desk. `past`: rows as after operations, by number."""

    rows: dict[str, Row] = field(default_factory=dict)
    undo: list[Step] = field(default_factory=list)
    redo: list[Step] = field(default_factory=list)
    marks: dict[str, str] = field(default_factory=dict)
    composer: Json = field(default_factory=dict)
    past: dict[int, Changes] = field(default_factory=dict)

    @classmethod
    def of_state(cls, state: Json) -> "DeskModel":
        """Return the model of a state as the server tells it."""
        rows = {row["key"]: row_from_json(row) for row in state["rows"]}
        return cls(
            rows={key: row for key, row in rows.items() if row},
            undo=[_step(one) for one in state["undo"]],
            redo=[_step(one) for one in state["redo"]],
            marks=dict(state["marks"]),
            composer=dict(state["composer"]),
        )

    def do(self, kind: str, payload: Json, step: str) -> tuple[Changes, Changes]:
        """Do one operation; return the rows touched as they were and as they are. Raises `Refused`."""
        if kind in UNTOLD:
            self._note(kind, payload)
            return {}, {}
        after = self._changes(kind, payload)
        before: Changes = {key: self.rows.get(key) for key in after}
        for key, row in after.items():
            if row is None:
                self.rows.pop(key, None)
            else:
                self.rows[key] = row
        self._remember(kind, step, before, after)
        return before, after

    def _note(self, kind: str, payload: Json) -> None:
        if kind == "mark":
            self.marks[payload["segment"]] = payload["mark"]
            if not payload["mark"]:
                del self.marks[payload["segment"]]
        elif kind == "compose":
            self.composer[payload["slot"]] = payload["draft"]
            if payload["draft"] is None:
                del self.composer[payload["slot"]]

    def _changes(self, kind: str, payload: Json) -> Changes:
        if kind in ("undo", "redo"):
            stack = self.undo if kind == "undo" else self.redo
            if not stack or stack[-1].step != payload["target"]:
                raise Refused("not_newest", "There is something newer.")
            return put_back(self.rows, stack[-1].before if kind == "undo" else stack[-1].after)
        if kind == "restore":
            return self._restored(payload["key"], payload["seq"])
        return apply(self.rows, kind, payload)

    def _restored(self, key: str, seq: int) -> Changes:
        was, now = self.past.get(seq, {}).get(key), self.rows.get(key)
        if was is None or now is None:
            raise Refused("no_such_version", "This version is not in the history.")
        if Decision.REPLACED in (was.decision, now.decision):
            raise Refused("replaced", "This nugget was merged or split.")
        wanted = replace(
            now, text=was.text, importance=was.importance, decision=was.decision, evidence=was.evidence
        )
        return put_back(self.rows, {key: wanted})

    def _remember(self, kind: str, step: str, before: Changes, after: Changes) -> None:
        if kind == "undo":
            self.redo.append(_with_versions(self.undo.pop(), before, after))
        elif kind == "redo":
            self.undo.append(self.redo.pop())
        else:
            self.redo.clear()
            if self.undo and self.undo[-1].step == step:
                last = self.undo.pop()
                before, after = before | last.before, last.after | after
                self.undo.append(replace(last, before=before, after=after))
            else:
                self.undo.append(Step(step, LABELS[kind], before, after))


def _with_versions(step: Step, before: Changes, after: Changes) -> Step:
    """Return a step that remembers the versions of the rows that undoing it took away."""
    gone = {key: row for key, row in before.items() if row and after[key] is None}
    kept = {key: replace(row, version=gone[key].version) for key, row in step.after.items() if row and key in gone}
    return replace(step, after={**step.after, **kept})


def _step(said: Json) -> Step:
    before, after = ({key: row_from_json(row) for key, row in said[side].items()} for side in ("before", "after"))
    return Step(said["step"], said["label"], before, after)
