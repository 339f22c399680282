"""One window of a simulated assessor: what it shows, what it sent, and what it still has to send, in order.

It does in spirit what save.js and queue.js of static/js/saving and static/js/desk/store.js do: nothing leaves the
outbox without a receipt.
"""

import random
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from evaluation.errors import Refused
from loadtest.desk.model import Json, Model

M = TypeVar("M", bound=Model)

SENT_KEPT = 12
"""Requests of which a copy may turn up again."""


def operation(
    kind: str, payload: Json, op_id: str, step: str, base: Mapping[str, int] | None = None, source: str = "key"
) -> Json:
    """Return an operation as a page sends it. `base`: versions of the rows that it changes."""
    ids: Json = {"op_id": op_id, "step": step, "kind": kind, "payload": payload}
    return ids | {"base": dict(base or {}), "source": source, "client_at": datetime.now(UTC).isoformat()}


@dataclass(slots=True, eq=False)
class Act:
    """One operation as its window knows it. `outcome`: applied, refused, theirs, or dropped with one of those."""

    op: Json
    window: str
    number: int
    touched: frozenset[str]
    after: Json
    sure: bool
    outcome: str = ""
    seq: int = 0
    sends: int = 0

    @property
    def op_id(self) -> str:
        return str(self.op["op_id"])

    def made(self) -> list[str]:
        payload = self.op["payload"]
        if self.op["kind"] == "split":
            return [part["key"] for part in payload["into"]]
        return [payload["key"]] if self.op["kind"] in ("add", "merge") else []

    def touches(self) -> set[str]:
        return {*self.op["base"], *self.made(), *self.touched}

    def shift(self, by: dict[str, int], sign: int) -> None:
        """Raise or lower the versions that it names. A copy: what was sent before stays what it was."""
        base = {key: version + sign * by.get(key, 0) for key, version in self.op["base"].items()}
        self.op = {**self.op, "base": base}


@dataclass(slots=True)
class Ledger:
    """Everything that one assessor did at one task, in all windows, and the rows that it began with."""

    first: dict[str, Any] = field(default_factory=dict)
    opened: bool = False
    acts: dict[str, Act] = field(default_factory=dict)

    def applied(self) -> list[Act]:
        return sorted((act for act in self.acts.values() if act.outcome == "applied"), key=lambda act: act.seq)


class Window(Generic[M]):
    """One window, with a model of its kind of desk. `violation` takes what must not happen, in words."""

    def __init__(
        self, ledger: Ledger, violation: Callable[[str], None], draw: random.Random, model: type[M]
    ) -> None:
        self.id = str(uuid.UUID(int=draw.getrandbits(128), version=4))
        self.model = model()
        self.queue: list[Act] = []
        self.sent: deque[tuple[Json, list[Act]]] = deque(maxlen=SENT_KEPT)
        self.seq = 0
        self.moved = False
        self.stale = True  # a reload is needed before anything else is done
        self.troubled = False  # what waits was made before another window wrote, or hangs on such a thing
        self.conflict: tuple[Act, Json, list[str]] | None = None
        self._ledger, self._violation, self._draw = ledger, violation, draw
        self._number = 0

    def do(self, kind: str, payload: Json, step: str = "") -> Act:
        step = step or self._uuid()
        before, after = self.model.do(kind, payload, step)
        self._number += 1
        base = {key: row.version for key, row in before.items() if row}
        op = operation(kind, payload, self._uuid(), step, base, self._draw.choice(("key", "mouse", "text")))
        act = Act(op, self.id, self._number, frozenset(after), self.model.as_json(after), not self.troubled)
        self._ledger.acts[act.op_id] = act
        self.queue.append(act)
        return act

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self._draw.getrandbits(128), version=4))

    def can_send(self) -> bool:
        return bool(self.queue) and not self.stale and not self.moved

    def request(self, most: int, copies: int = 1) -> Json:
        acts = self.queue[:most]
        for act in acts:
            act.sends += copies
        body = {"window": self.id, "ops": [act.op for act in acts]}
        self.sent.append((body, acts))
        return body

    def old_copy(self) -> Json | None:
        """Return an earlier request as it was, where sending it again is only a repetition."""
        body, acts = self._draw.choice(self.sent) if self.sent else ({}, [])
        if not acts or any(act.outcome not in ("", "applied") for act in acts):
            return None
        for act in acts:
            act.sends += 1
        return body

    def load(self, state: Json) -> None:
        """Take over the server's state, and do again what still waits."""
        past = self.model.past
        self.model = self.model.of_state(state)
        self.model.past = past
        self.seq, self.stale = state["seq"], False
        self.troubled = self.troubled or bool(self.queue)
        for act in self.queue:
            act.sure = False
            try:
                self.model.do(act.op["kind"], act.op["payload"], act.op["step"])
            except Refused:
                continue  # it is about a row that is gone; the receipt says what becomes of it

    def take(self, receipts: Iterable[Json]) -> None:
        for receipt in receipts:
            act = self._ledger.acts.get(receipt["op_id"])
            if act is None:
                self._violation(f"a receipt of an operation that was never sent: {receipt}")
            elif act not in self.queue:
                self._take_repeated(act, receipt)
            else:
                self._take_first(act, receipt)
        if self.troubled and not self.queue:
            self.troubled, self.stale = False, True

    def _take_repeated(self, act: Act, receipt: Json) -> None:
        if act.outcome == "applied" and (receipt["status"], receipt.get("seq")) != ("applied", act.seq):
            self._violation(f"{act.op['kind']} {act.op_id} had number {act.seq}, sent again: {receipt}")

    def _take_first(self, act: Act, receipt: Json) -> None:
        status = receipt["status"]
        if status in ("refused", "conflict") and not self.troubled:
            self._violation(f"a valid {act.op} was answered {receipt}")
        if status == "applied":
            self._applied(act, receipt)
        elif status == "refused":
            self._give_up([act], "refused")
            self.stale = True
        elif status == "conflict":
            base = act.op["base"]
            keys = [key for key, row in receipt["rows"].items() if row and base.get(key) != row["version"]]
            self.conflict = (act, receipt["rows"], keys)
        else:
            self.moved = True

    def _applied(self, act: Act, receipt: Json) -> None:
        self.queue.remove(act)
        act.outcome, act.seq = "applied", receipt["seq"]
        self.seq = max(self.seq, act.seq)
        if act.sure and act.sends == 1:
            if receipt["rows"] != act.after:
                self._violation(f"{act.op} left {receipt['rows']}, not {act.after}")
            self.model.past[act.seq] = {key: self.model.row_from_json(row) for key, row in receipt["rows"].items()}

    def resolve(self, choice: str) -> None:
        """Answer a conflict: "mine" goes on top of theirs, "theirs" stays, "both" stand side by side."""
        if self.conflict is None:
            return
        act, rows, keys = self.conflict
        self.conflict, self.stale = None, True
        if act not in self.queue:
            return
        if choice == "mine":
            higher = {key: rows[key]["version"] - act.op["base"][key] for key in keys}
            for waiting in self.queue:
                waiting.shift(higher, 1)
            return
        words = [row.text for key in keys if (row := self.model.rows.get(key))] if choice == "both" else []
        self._give_up([waiting for waiting in self.queue if waiting.touches() & set(keys)], "theirs")
        self.troubled = True
        for text in words:
            added = {"key": self._uuid(), "text": text, "importance": 1, "evidence": [], "after": None}
            self.do("add", added)

    def _give_up(self, unwanted: Sequence[Act], outcome: str) -> None:
        """Take operations out of the outbox, with those that make no sense without them."""
        lost_keys, lost_steps = set[str](), set[str]()
        lower: dict[str, int] = {}
        kept: list[Act] = []
        for act in self.queue:
            hangs = act.touches() & lost_keys or act.op["payload"].get("target") in lost_steps
            if not hangs and act not in unwanted:
                act.shift(lower, -1)
                kept.append(act)
                continue
            act.outcome = outcome if act in unwanted else "dropped"
            lost_keys.update(act.made())
            lost_steps.add(act.op["step"])
            for key in act.op["base"]:
                lower[key] = lower.get(key, 0) + 1
        self.queue = kept
