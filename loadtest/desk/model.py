"""State of a desk after its operations, by the rules alone: no database, no server.

Each window shows such a model while it works; at the end another one is built from everything that was acknowledged.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from assessor.desk import nugget_ops, task_labels
from assessor.desk.desks import desk_of
from assessor.rules.label_ops import LabelRow, back_to, give_label, locate, mark_evidence
from assessor.rules.nugget_ops import Changes, Row, apply, put_back
from assessor.rules.op_schemas import PAYLOADS, GiveLabel, Locate, MarkEvidence
from assessor.rules.submit import listed
from assessor.rules.undo import NOTED, OP_WORDS
from evaluation.errors import Refused
from evaluation.stages import ASSIGN, stage_of
from evaluation.terms import Decision

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """Rows before and after a step that is undone at once. None: not there."""

    step: str
    label: str
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Model(ABC):
    """Rows, undo and redo stacks of one desk. `past`: rows as after operations, by number."""

    rows: dict[str, Any] = field(default_factory=dict)
    undo: list[Step] = field(default_factory=list)
    redo: list[Step] = field(default_factory=list)
    past: dict[int, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    @abstractmethod
    def of_state(cls, state: Json) -> Self:
        """Return the model of a state as the server sends it."""

    @abstractmethod
    def row_json(self, row: Any) -> Json | None:
        """Return a row as the wire and the log hold it; None: not there."""

    @staticmethod
    @abstractmethod
    def row_from_json(row: Mapping[str, Any] | None) -> Any:
        """Return what `row_json` wrote as a row again."""

    @abstractmethod
    def noted(self) -> Json:
        """Return what was noted beside the rows, by what it is."""

    @abstractmethod
    def frozen(self) -> list[Any]:
        """Return what a submission of this desk holds."""

    @abstractmethod
    def _note(self, kind: str, payload: Json) -> None:
        """Keep what is only noted."""

    @abstractmethod
    def _changes(self, kind: str, payload: Json) -> dict[str, Any]:
        """Return the rows that an operation changes. Raises `Refused`."""

    def untouched(self, rows: Mapping[str, Any]) -> Self:
        return type(self)(rows=dict(rows))

    def as_json(self, rows: Mapping[str, Any]) -> Json:
        return {key: self.row_json(row) for key, row in rows.items()}

    def step_json(self, step: Step) -> Json:
        before, after = self.as_json(step.before), self.as_json(step.after)
        return {"step": step.step, "label": step.label, "before": before, "after": after}

    def do(self, kind: str, payload: Json, step: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Do one operation; return the rows touched as they were and as they are. Raises `Refused`."""
        if kind in NOTED:
            self._note(kind, payload)
            return {}, {}
        after = self._changes(kind, payload)
        before: dict[str, Any] = {key: self.rows.get(key) for key in after}
        for key, row in after.items():
            if row is None:
                self.rows.pop(key, None)
            else:
                self.rows[key] = row
        self._remember(kind, step, before, after)
        return before, after

    def _newest(self, kind: str, target: str) -> dict[str, Any]:
        """Return the rows as an undo or redo wants them. Raises `Refused` where it is not about the newest step."""
        stack = self.undo if kind == "undo" else self.redo
        if not stack or stack[-1].step != target:
            raise Refused("not_newest", "There is something newer.")
        return stack[-1].before if kind == "undo" else stack[-1].after

    def _remember(self, kind: str, step: str, before: dict[str, Any], after: dict[str, Any]) -> None:
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
                self.undo.append(Step(step, OP_WORDS[kind], before, after))


@dataclass(slots=True)
class NuggetModel(Model):
    marks: dict[str, str] = field(default_factory=dict)
    composer: Json = field(default_factory=dict)

    @classmethod
    def of_state(cls, state: Json) -> Self:
        return cls(
            rows={row["key"]: nugget_ops.row_from_json(row) for row in state["rows"]},
            undo=[step_of(step, nugget_ops.row_from_json) for step in state["undo"]],
            redo=[step_of(step, nugget_ops.row_from_json) for step in state["redo"]],
            marks=dict(state["marks"]),
            composer=dict(state["composer"]),
        )

    def row_json(self, row: Row | None) -> Json | None:
        return nugget_ops.row_json(row)

    @staticmethod
    def row_from_json(row: Mapping[str, Any] | None) -> Row | None:
        return nugget_ops.row_from_json(row)

    def noted(self) -> Json:
        return {"marks": self.marks, "composer": self.composer}

    def frozen(self) -> list[Any]:
        return [(row.text, int(row.importance), set(row.evidence)) for row in listed(self.rows)]

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
            return put_back(self.rows, self._newest(kind, payload["target"]))
        if kind == "restore":
            return self._restored(payload["key"], payload["seq"])
        return apply(self.rows, PAYLOADS[kind].model_validate(payload))

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


@dataclass(slots=True)
class LabelModel(Model):
    """The labels of a judging desk, untouched ones too. `seen`: answers that were on the screen.

    `places`: what each key stands for where it is frozen; of an assignment that is the key itself.
    """

    stage: str = ASSIGN
    seen: set[str] = field(default_factory=set)
    places: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_state(cls, state: Json) -> Self:
        rows, places = {}, {}
        if state["stage"] == ASSIGN:
            keys = [
                f"{answer['id']}/{nugget['key']}" for answer in state["answers"] for nugget in state["nuggets"]
            ]
            rows, places = {key: LabelRow(key) for key in keys}, {key: key for key in keys}
        for pair in state.get("pairs", []):
            if pair["judgeable"]:
                rows[pair["key"]] = LabelRow(pair["key"], shown_label=pair.get("machine"))
                places[pair["key"]] = f"{pair['answer']}/{pair['sentence']}/{pair['passage']}"
        given = {row["key"]: LabelRow(**row) for row in state["rows"]}
        return cls(
            rows=rows | given,
            undo=[step_of(step, task_labels.row_from_json) for step in state["undo"]],
            redo=[step_of(step, task_labels.row_from_json) for step in state["redo"]],
            stage=state["stage"],
            seen={answer["id"] for answer in state["answers"] if answer["seen"]},
            places=places,
        )

    def untouched(self, rows: Mapping[str, Any]) -> Self:
        return type(self)(rows=dict(rows), stage=self.stage, places=self.places)

    def row_json(self, row: LabelRow | None) -> Json | None:
        return None if row is None else desk_of(stage_of(self.stage)).row_json(row)

    @staticmethod
    def row_from_json(row: Mapping[str, Any] | None) -> LabelRow | None:
        return task_labels.row_from_json(row)

    def noted(self) -> Json:
        return {"seen": self.seen}

    def frozen(self) -> list[Any]:
        """Return the labels by what they are about, with the reason, and with what else their stage has."""
        return sorted(
            (self.places[key], row.label, row.reason, self._more(row))
            for key, row in self.rows.items()
            if row.label
        )

    def _more(self, row: LabelRow) -> object:
        return row.sentence if self.stage == ASSIGN else (row.accepted, row.evidence)

    def _note(self, kind: str, payload: Json) -> None:
        if kind == "open":
            self.seen.add(payload["answer"])

    def _changes(self, kind: str, payload: Json) -> dict[str, Any]:
        if kind in ("undo", "redo"):
            wanted = self._newest(kind, payload["target"])
            return {key: back_to(self.rows[key], row) for key, row in wanted.items()}
        row = self.rows[payload["key"]]
        if kind == "locate":
            return {row.key: locate(row, Locate.model_validate(payload))}
        if kind == "evidence":
            return {row.key: mark_evidence(row, MarkEvidence.model_validate(payload))}
        return {row.key: give_label(row, GiveLabel.model_validate(payload), in_sweep=False)}


def _with_versions(step: Step, before: Mapping[str, Any], after: Mapping[str, Any]) -> Step:
    """Return a step that remembers the versions of the rows that undoing it took away."""
    gone = {key: row for key, row in before.items() if row and after[key] is None}
    kept = {key: replace(row, version=gone[key].version) for key, row in step.after.items() if row and key in gone}
    return replace(step, after={**step.after, **kept})


def step_of(step: Json, row_of: Callable[[Any], Any]) -> Step:
    before, after = ({key: row_of(row) for key, row in step[side].items()} for side in ("before", "after"))
    return Step(step["step"], step["label"], before, after)
