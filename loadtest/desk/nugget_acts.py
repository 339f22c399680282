"""Random operations at a nugget desk, valid for what its window shows."""

import random
import uuid
from collections.abc import Callable

from assessor.rules.nugget_ops import Row, ordered
from evaluation.terms import Decision
from loadtest.desk.model import Json, NuggetModel
from loadtest.desk.window import Window, operation

WORDS = [
    "water",
    "bends",
    "stone",
    "because",
    "rivers",
    "carry",
    "sand",
    "äöü",
    "河川",
    "über",
    "“deltas”",
    "silt 🙂",
]
CROWDED = 40
"""Rows beyond which nothing is added or split."""

WEIGHTS = {
    "add": 10,
    "edit": 14,
    "decide": 14,
    "importance": 12,
    "merge": 6,
    "split": 4,
    "link": 8,
    "unlink": 5,
    "move": 7,
    "mark": 5,
    "compose": 5,
    "search": 2,
    "undo": 12,
    "redo": 9,
    "restore": 3,
}


class NuggetActs:
    """Operations by chance. `keeps_one`: a finished list has at least one nugget, which can be assigned then."""

    def __init__(self, draw: random.Random, sentences: dict[str, int], *, keeps_one: bool = False) -> None:
        self._draw, self._sentences, self._keeps_one = draw, sentences, keeps_one

    def act(self, window: Window[NuggetModel]) -> None:
        """Do one thing; an edit is a burst of autosaves with one step."""
        while True:
            kind = self._draw.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
            payload = self._payload(kind, window.model)
            if payload is None:
                continue
            step = self._uuid()
            window.do(kind, payload, step)
            for _ in range(self._draw.randrange(4) if kind == "edit" else 0):
                payload = {**payload, "text": f"{payload['text']} {self._draw.choice(WORDS)}"[:1900]}
                window.do(kind, payload, step)
            return

    def finish(self, window: Window[NuggetModel], limit: int | None) -> None:
        for row in list(window.model.rows.values()):
            if row.decision is Decision.UNDECIDED:
                decision = self._draw.choice(("kept", "rejected"))
                window.do("decide", {"key": row.key, "decision": decision})
        if self._keeps_one:
            self._keep_one(window)
        kept = [row for row in ordered(window.model.rows) if row.decision is Decision.KEPT]
        for row in kept[len(kept) if limit is None else limit :]:
            window.do("decide", {"key": row.key, "decision": "rejected"})
        for row in kept[:limit]:
            if not row.importance:
                window.do("importance", {"key": row.key, "importance": self._draw.choice((1, 2))})

    def _keep_one(self, window: Window[NuggetModel]) -> None:
        rows = [row for row in ordered(window.model.rows) if row.decision is not Decision.REPLACED]
        if not rows:
            window.do("add", {**self._new(), "importance": 2, "after": None})
        elif all(row.decision is not Decision.KEPT for row in rows):
            window.do("decide", {"key": rows[0].key, "decision": "kept"})

    def search(self) -> Json:
        """Return an operation that changes nothing, and that no window knows."""
        return operation("search", {"words": "late"}, self._uuid(), self._uuid(), source="text")

    def _payload(self, kind: str, model: NuggetModel) -> Json | None:
        """Return an operation's payload; None where it makes no sense now."""
        rows = [row for row in ordered(model.rows) if row.decision is not Decision.REPLACED]
        if kind in ("add", "mark", "compose", "search"):
            return self._payload_of_none(kind, rows)
        if kind in ("undo", "redo", "restore"):
            return self._payload_of_past(kind, model)
        if kind == "merge":
            return self._merge(rows)
        makers: dict[str, Callable[[Row, list[Row]], Json | None]] = {
            "decide": lambda row, _: {"decision": self._draw.choice(("kept", "rejected", "undecided"))},
            "importance": lambda row, _: {"importance": self._draw.randrange(3)},
            "edit": lambda row, _: {"text": self._text()},
            "split": self._split,
            "link": lambda row, _: self._pair_json(self._pair()),
            "unlink": lambda row, _: self._pair_json(self._draw.choice(row.evidence)) if row.evidence else None,
            "move": self._move,
        }
        if not rows:
            return None
        row = self._draw.choice(rows)
        payload = makers[kind](row, rows)
        if payload is None:
            return None
        return payload if kind == "split" else {"key": row.key, **payload}

    def _payload_of_none(self, kind: str, rows: list[Row]) -> Json | None:
        if kind == "add":
            after = self._draw.choice([None, *(row.key for row in rows)])
            return None if len(rows) > CROWDED else {**self._new(), "after": after}
        if kind == "mark":
            segment = self._draw.choice(list(self._sentences))
            return {"segment": segment, "mark": self._draw.choice(("read", "nothing new", ""))}
        if kind == "search":
            return {"words": self._draw.choice(WORDS)}
        slot = self._draw.choice(("new", "merge", "split"))
        return {"slot": slot, "draft": self._draw.choice((None, {"text": self._text()}))}

    def _payload_of_past(self, kind: str, model: NuggetModel) -> Json | None:
        if kind == "restore":
            return self._restore(model)
        stack = model.undo if kind == "undo" else model.redo
        return {"target": stack[-1].step} if stack else None

    def _merge(self, rows: list[Row]) -> Json | None:
        if len(rows) < 2:
            return None
        parents = self._draw.sample(rows, min(len(rows), self._draw.choice((2, 2, 3))))
        return {**self._new(), "from": [row.key for row in parents]}

    def _split(self, row: Row, rows: list[Row]) -> Json | None:
        if len(rows) > CROWDED:
            return None
        return {"from": row.key, "into": [self._new() for _ in range(self._draw.choice((2, 2, 3)))]}

    def _move(self, row: Row, rows: list[Row]) -> Json | None:
        others = [other.key for other in rows if other.key != row.key]
        return {"after": self._draw.choice([None, *others])}

    def _restore(self, model: NuggetModel) -> Json | None:
        """Return a wish for an older version of a row that can be set back."""
        for seq in self._draw.sample(list(model.past), min(len(model.past), 5)):
            for key, was in model.past[seq].items():
                now = model.rows.get(key)
                if was and now and Decision.REPLACED not in (was.decision, now.decision):
                    return {"key": key, "seq": seq}
        return None

    def _new(self) -> Json:
        evidence = [list(self._pair()) for _ in range(self._draw.randrange(3))]
        importance = self._draw.randrange(3)
        return {"key": self._uuid(), "text": self._text(), "importance": importance, "evidence": evidence}

    def _pair(self) -> tuple[str, int | None]:
        segment = self._draw.choice(list(self._sentences))
        return segment, self._draw.choice([None, *range(self._sentences[segment])])

    def _pair_json(self, pair: tuple[str, int | None]) -> Json:
        return {"segment": pair[0], "sentence": pair[1]}

    def _text(self) -> str:
        text = " ".join(self._draw.choices(WORDS, k=self._draw.randint(1, 25)))
        return self._draw.choice((text, text, f"  {text}\n"))

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self._draw.getrandbits(128), version=4))
