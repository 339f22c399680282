"""The log of a list in the making in words: "N7 reworded", with the old text and the new, newest first."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from evaluation.terms import Decision, Importance, PassageMark

IMPORTANCE = {
    Importance.UNKNOWN: "neither vital nor okay",
    Importance.OKAY: "okay",
    Importance.VITAL: "vital",
}

DECIDED = {
    Decision.UNDECIDED: "undecided",
    Decision.KEPT: "kept",
    Decision.REJECTED: "rejected",
    Decision.REPLACED: "replaced",
}
DONE = {
    "decide": "decision",
    "importance": "importance",
    "edit": "wording",
    "add": "new nugget",
    "merge": "merge",
    "split": "split",
    "link": "link",
    "unlink": "unlink",
    "move": "move",
    "restore": "restore",
}
"""What was undone or redone."""

States = Mapping[str, Mapping[str, Any] | None]
"""Rows as the log holds them, by key; None: not there."""


@dataclass(frozen=True, slots=True)
class LoggedOperation:
    """One operation as logged. `target_kind`: of an undo or redo, the kind of what it took back."""

    kind: str
    payload: Mapping[str, Any]
    before: States
    after: States
    target_kind: str = ""


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """An operation in words. `old` and `new` are texts where one became the other."""

    text: str
    old: str = ""
    new: str = ""


def tell_backwards(
    now: States, log: Iterable[LoggedOperation], places: Mapping[str, str], by_hand: bool
) -> Iterator[HistoryLine]:
    """Yield what each operation did, newest first. `now`: the rows after the first of `log`.

    `places`: what the screen calls each passage ("P12"), by its public id.
    """
    names = _names(now)
    for logged in log:
        # What an undo took away for good is only in the log.
        names = _names(logged.before) | _names(logged.after) | names
        yield _tell(logged, names, places, by_hand)


def rolled_back(now: States, befores: Iterable[States]) -> dict[str, Mapping[str, Any] | None]:
    """Return the rows as they were before some operations, given what each found, newest first."""
    states = dict(now)
    for before in befores:
        states |= before
    return states


def _names(states: States) -> dict[str, str]:
    return {key: f"N{row['number']}" for key, row in states.items() if row and row.get("number")}


def _tell(
    logged: LoggedOperation, names: Mapping[str, str], places: Mapping[str, str], by_hand: bool
) -> HistoryLine:
    tellers: dict[str, Callable[[], HistoryLine]] = {
        "decide": lambda: HistoryLine(_decision(logged, names, by_hand)),
        "importance": lambda: HistoryLine(
            f"{_name(logged, names)} is {_importance(logged.payload['importance'])}"
        ),
        "edit": lambda: _reworded(logged, names),
        "add": lambda: HistoryLine(
            f"{_name(logged, names)} added", new=_text(logged.after, logged.payload["key"])
        ),
        "merge": lambda: _merged(logged, names),
        "split": lambda: _split(logged, names),
        "link": lambda: HistoryLine(f"{_name(logged, names)} linked to {_place(logged.payload, places)}"),
        "unlink": lambda: HistoryLine(
            f"Link of {_name(logged, names)} to {_place(logged.payload, places)} removed"
        ),
        "move": lambda: HistoryLine(f"{_name(logged, names)} moved"),
        "mark": lambda: HistoryLine(_marked(logged.payload, places)),
        "search": lambda: HistoryLine(f"Searched for “{logged.payload.get('words', '')}”"),
        "undo": lambda: HistoryLine(f"Undone: {_label(logged)}"),
        "redo": lambda: HistoryLine(f"Redone: {_label(logged)}"),
        "restore": lambda: _restored(logged, names),
    }
    return tellers[logged.kind]() if logged.kind in tellers else HistoryLine(logged.kind.capitalize())


def _name(logged: LoggedOperation, names: Mapping[str, str]) -> str:
    return names.get(logged.payload["key"], "A nugget")


def _text(states: States, key: str) -> str:
    return str((states.get(key) or {}).get("text", ""))


def _decision(logged: LoggedOperation, names: Mapping[str, str], by_hand: bool) -> str:
    importance = logged.payload.get("importance")
    if not importance:
        return f"{_name(logged, names)} {_decided(logged, by_hand)}"
    return f"{_name(logged, names)} kept as {_importance(importance)}"


def _decided(logged: LoggedOperation, by_hand: bool) -> str:
    decision = (logged.after.get(logged.payload["key"]) or {}).get("decision", logged.payload["decision"])
    before = (logged.before.get(logged.payload["key"]) or {}).get("decision")
    if before == Decision.REJECTED:
        return "restored"
    if by_hand and decision == Decision.REJECTED:
        return "deleted"
    return DECIDED[Decision(decision)]


def _importance(value: int) -> str:
    return IMPORTANCE[Importance(value)]


def _reworded(logged: LoggedOperation, names: Mapping[str, str]) -> HistoryLine:
    key = logged.payload["key"]
    return HistoryLine(
        f"{_name(logged, names)} reworded",
        _text(logged.before, key),
        _text(logged.after, key),
    )


def _merged(logged: LoggedOperation, names: Mapping[str, str]) -> HistoryLine:
    parents = [names.get(key, "a nugget") for key in logged.payload["from"]]
    listed = reduce(lambda before, parent: f"{before} and {parent}", parents)
    return HistoryLine(f"{listed} merged", new=_text(logged.after, logged.payload["key"]))


def _split(logged: LoggedOperation, names: Mapping[str, str]) -> HistoryLine:
    texts = [_text(logged.after, part["key"]) for part in logged.payload["into"]]
    parent = logged.payload["from"]
    return HistoryLine(
        f"{names.get(parent, 'A nugget')} split",
        _text(logged.before, parent),
        " / ".join(texts),
    )


def _place(payload: Mapping[str, Any], places: Mapping[str, str]) -> str:
    passage = places.get(payload["segment"], "a passage")
    return passage if payload["sentence"] is None else f"{passage} S{payload['sentence'] + 1}"


def _marked(payload: Mapping[str, Any], places: Mapping[str, str]) -> str:
    words = {
        PassageMark.READ: "read",
        PassageMark.NOTHING_NEW: "read, nothing new",
    }
    place = places.get(payload["segment"], "A passage")
    return f"{place} {words.get(payload['mark'], 'not read after all')}"


def _label(logged: LoggedOperation) -> str:
    return DONE.get(logged.target_kind, "a step")


def _restored(logged: LoggedOperation, names: Mapping[str, str]) -> HistoryLine:
    key = logged.payload["key"]
    old, new = _text(logged.before, key), _text(logged.after, key)
    changed = old != new
    return HistoryLine(
        f"{_name(logged, names)} set back to an earlier version",
        old if changed else "",
        new if changed else "",
    )
