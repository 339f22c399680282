"""What a judging desk must look like after some operations, told by the rules alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from assessor.desk.task_labels import row_from_json, row_json
from assessor.rules.label_ops import LabelRow, back_to, give_label, locate
from assessor.rules.op_schemas import GiveLabel, Locate
from evaluation.terms import Stage
from loadtest.desk.model import Json, Model, step_of


@dataclass(slots=True)
class LabelModel(Model):
    """The labels of a judging desk, untouched ones too. `seen`: answers that were on the screen.

    `places`: what each key stands for where it is frozen; of an assignment that is the key itself.
    """

    stage: str = Stage.ASSIGN
    seen: set[str] = field(default_factory=set)
    places: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_state(cls, state: Json) -> Self:
        """Return the model of a state as the server tells it."""
        rows, places = {}, {}
        if state["stage"] == Stage.ASSIGN:
            asked = [f"{answer['id']}/{one['key']}" for answer in state["answers"] for one in state["nuggets"]]
            rows, places = {key: LabelRow(key) for key in asked}, {key: key for key in asked}
        for pair in state.get("pairs", []):
            if pair["judgeable"]:
                rows[pair["key"]] = LabelRow(pair["key"], shown_label=pair.get("machine"))
                places[pair["key"]] = f"{pair['answer']}/{pair['sentence']}/{pair['passage']}"
        given = {row["key"]: LabelRow(**row) for row in state["rows"]}
        return cls(
            rows=rows | given,
            undo=[step_of(one, row_from_json) for one in state["undo"]],
            redo=[step_of(one, row_from_json) for one in state["redo"]],
            stage=state["stage"],
            seen={answer["id"] for answer in state["answers"] if answer["seen"]},
            places=places,
        )

    def untouched(self, rows: Mapping[str, Any]) -> Self:
        """Return a desk of the same stage where nothing was done yet."""
        return type(self)(rows=dict(rows), stage=self.stage, places=self.places)

    def row_json(self, row: LabelRow | None) -> Json | None:
        """Return a row as the wire and the log hold it."""
        return None if row is None else row_json(row, self.stage)

    @staticmethod
    def row_from_json(said: Mapping[str, Any] | None) -> LabelRow | None:
        """Return what `row_json` wrote as a row again."""
        return row_from_json(said)

    def noted(self) -> Json:
        """Return which answers were on the screen."""
        return {"seen": self.seen}

    def frozen(self) -> list[Any]:
        """Return the labels by what they are about, with the reason, and with what else their stage has."""
        return sorted(
            (self.places[key], row.label, row.reason, self._more(row))
            for key, row in self.rows.items()
            if row.label
        )

    def _more(self, row: LabelRow) -> int | bool | None:
        return row.sentence if self.stage == Stage.ASSIGN else row.accepted

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
        return {row.key: give_label(row, GiveLabel.model_validate(payload), in_sweep=False)}
