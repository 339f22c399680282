"""The log of a list in the making in words: "N7 reworded", with the old text and the new, newest first."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from evaluation.terms import Decision, Importance, PassageMark
from web.phrases import noted, phrase, word

IMPORTANCE = {
    Importance.UNKNOWN: noted("neither vital nor okay"),
    Importance.OKAY: noted("okay"),
    Importance.VITAL: noted("vital"),
}

DECIDED = {
    Decision.UNDECIDED: noted("%(nugget)s undecided"),
    Decision.KEPT: noted("%(nugget)s kept"),
    Decision.REJECTED: noted("%(nugget)s rejected"),
    Decision.REPLACED: noted("%(nugget)s replaced"),
}
DONE = {
    "decide": noted("decision"),
    "importance": noted("importance"),
    "edit": noted("wording"),
    "add": noted("new nugget"),
    "merge": noted("merge"),
    "split": noted("split"),
    "link": noted("link"),
    "unlink": noted("unlink"),
    "move": noted("move"),
    "restore": noted("restore"),
}
"""What was undone or redone."""

States = Mapping[str, Mapping[str, Any] | None]
"""Rows as the log holds them, by key; None: not there."""


@dataclass(frozen=True, slots=True)
class Logged:
    """One operation as logged. `target_kind`: of an undo or redo, the kind of what it took back."""

    kind: str
    payload: Mapping[str, Any]
    before: States
    after: States
    target_kind: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """An operation in words. `old` and `new` are texts where one became the other."""

    said: str
    old: str = ""
    new: str = ""


def tell_backwards(now: States, log: Iterable[Logged], places: Mapping[str, str], by_hand: bool) -> Iterator[Told]:
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


def _tell(logged: Logged, names: Mapping[str, str], places: Mapping[str, str], by_hand: bool) -> Told:
    tellers: dict[str, Callable[[], Told]] = {
        "decide": lambda: Told(_decision(logged, names, by_hand)),
        "importance": lambda: Told(
            phrase(
                "%(nugget)s is %(importance)s",
                nugget=_name(logged, names),
                importance=word(_importance(logged.payload["importance"])),
            )
        ),
        "edit": lambda: _reworded(logged, names),
        "add": lambda: Told(
            phrase("%(nugget)s added", nugget=_name(logged, names)), new=_text(logged.after, logged.payload["key"])
        ),
        "merge": lambda: _merged(logged, names),
        "split": lambda: _split(logged, names),
        "link": lambda: Told(
            phrase(
                "%(nugget)s linked to %(place)s", nugget=_name(logged, names), place=_place(logged.payload, places)
            )
        ),
        "unlink": lambda: Told(
            phrase(
                "Link of %(nugget)s to %(place)s removed",
                nugget=_name(logged, names),
                place=_place(logged.payload, places),
            )
        ),
        "move": lambda: Told(phrase("%(nugget)s moved", nugget=_name(logged, names))),
        "mark": lambda: Told(_marked(logged.payload, places)),
        "search": lambda: Told(phrase("Searched for “%(words)s”", words=logged.payload.get("words", ""))),
        "undo": lambda: Told(phrase("Undone: %(what)s", what=_label(logged))),
        "redo": lambda: Told(phrase("Redone: %(what)s", what=_label(logged))),
        "restore": lambda: _restored(logged, names),
    }
    return tellers[logged.kind]() if logged.kind in tellers else Told(logged.kind.capitalize())


def _name(logged: Logged, names: Mapping[str, str]) -> str:
    return names.get(logged.payload["key"], phrase("A nugget"))


def _text(states: States, key: str) -> str:
    return str((states.get(key) or {}).get("text", ""))


def _decision(logged: Logged, names: Mapping[str, str], by_hand: bool) -> str:
    importance = logged.payload.get("importance")
    if not importance:
        return phrase(_decided(logged, by_hand), nugget=_name(logged, names))
    return phrase(
        "%(nugget)s kept as %(importance)s",
        nugget=_name(logged, names),
        importance=word(_importance(importance)),
    )


def _decided(logged: Logged, by_hand: bool) -> str:
    decision = (logged.after.get(logged.payload["key"]) or {}).get("decision", logged.payload["decision"])
    before = (logged.before.get(logged.payload["key"]) or {}).get("decision")
    if before == Decision.REJECTED:
        return noted("%(nugget)s restored")
    if by_hand and decision == Decision.REJECTED:
        return noted("%(nugget)s deleted")
    return DECIDED[Decision(decision)]


def _importance(value: int) -> str:
    return IMPORTANCE[Importance(value)]


def _reworded(logged: Logged, names: Mapping[str, str]) -> Told:
    key = logged.payload["key"]
    return Told(
        phrase("%(nugget)s reworded", nugget=_name(logged, names)),
        _text(logged.before, key),
        _text(logged.after, key),
    )


def _merged(logged: Logged, names: Mapping[str, str]) -> Told:
    parents = [names.get(key, phrase("a nugget")) for key in logged.payload["from"]]
    said = reduce(lambda before, one: phrase("%(before)s and %(nugget)s", before=before, nugget=one), parents)
    return Told(phrase("%(nuggets)s merged", nuggets=said), new=_text(logged.after, logged.payload["key"]))


def _split(logged: Logged, names: Mapping[str, str]) -> Told:
    texts = [_text(logged.after, part["key"]) for part in logged.payload["into"]]
    parent = logged.payload["from"]
    return Told(
        phrase("%(nugget)s split", nugget=names.get(parent, phrase("A nugget"))),
        _text(logged.before, parent),
        " / ".join(texts),
    )


def _place(payload: Mapping[str, Any], places: Mapping[str, str]) -> str:
    passage = places.get(payload["segment"], phrase("a passage"))
    return (
        passage
        if payload["sentence"] is None
        else phrase("%(passage)s S%(sentence)s", passage=passage, sentence=payload["sentence"] + 1)
    )


def _marked(payload: Mapping[str, Any], places: Mapping[str, str]) -> str:
    said = {
        PassageMark.READ: noted("%(passage)s read"),
        PassageMark.NOTHING_NEW: noted("%(passage)s read, nothing new"),
    }
    place = places.get(payload["segment"], phrase("A passage"))
    return phrase(said.get(payload["mark"], noted("%(passage)s not read after all")), passage=place)


def _label(logged: Logged) -> str:
    return phrase(DONE.get(logged.target_kind, noted("a step")))


def _restored(logged: Logged, names: Mapping[str, str]) -> Told:
    key = logged.payload["key"]
    old, new = _text(logged.before, key), _text(logged.after, key)
    changed = old != new
    return Told(
        phrase("%(nugget)s set back to an earlier version", nugget=_name(logged, names)),
        old if changed else "",
        new if changed else "",
    )
