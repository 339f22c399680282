"""Operations on a nugget list in the making: rows in, changed rows out.

The page's script (static/js/desk/rules.js) applies the same effects before the server answers, and a test runs both
on the same operations.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, TypeAlias

from assessor.rules.op_schemas import (
    Add,
    Decide,
    Edit,
    Link,
    Merge,
    Move,
    New,
    Payload,
    SetImportance,
    SetWeight,
    Split,
    Unlink,
)
from evaluation.errors import Refused
from evaluation.terms import Decision, Importance, Making
from web.text import trimmed

FIRST_POSITION = 1.0
CLOSEST = 1e-9  # positions nearer than this are spread out anew
LONGEST_TEXT = 2000  # characters; a nugget is one fact

Evidence: TypeAlias = tuple[str, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One nugget of a list in the making, its fields in the order of the log and the wire.

    `draft` is the proposal's own text, None where nothing was proposed, `draft_importance` its importance.
    `number` is the N of the screen and never changes.
    """

    key: str
    version: int = 1
    position: float
    text: str
    importance: Importance = Importance.UNKNOWN
    decision: Decision = Decision.UNDECIDED
    making: Making
    parents: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    draft: str | None = None
    number: int
    draft_importance: Importance = Importance.UNKNOWN
    weight: float | None = None
    group: str = ""


Rows: TypeAlias = Mapping[str, Row]
Changes: TypeAlias = dict[str, Row | None]  # None: the row is taken away


def apply(rows: Rows, payload: Payload) -> Changes:
    """Changed rows, with raised versions. Raises `Refused` where a row is missing or the operation makes no sense."""
    changed = EFFECTS[type(payload)](rows, payload)
    return {key: row and _raised(rows.get(key), row) for key, row in changed.items()}


def put_back(rows: Rows, past: Mapping[str, Row | None]) -> Changes:
    """Undo or redo: a row that is made again goes on above its version, so that no version ever means two texts."""
    free = count(next_number(rows))
    taken = {row.number for row in rows.values()}

    def above_its_version(key: str, row: Row) -> Row:
        number = rows[key].number if key in rows else row.number
        if key not in rows and number in taken:
            number = next(free)
        return replace(row, version=rows.get(key, row).version + 1, number=number)

    return {key: row and above_its_version(key, row) for key, row in past.items()}


def next_number(rows: Rows) -> int:
    return max((row.number for row in rows.values()), default=0) + 1


def _raised(current: Row | None, row: Row) -> Row:
    return replace(row, version=current.version + 1 if current else 1)


def ordered(rows: Rows) -> list[Row]:
    return sorted(rows.values(), key=lambda row: (row.position, row.key))


def _row(rows: Rows, key: str) -> Row:
    row = rows.get(key)
    if row is None:
        raise Refused("no_such_nugget", "This nugget is not in the list any more.")
    return row


def _text(text: str) -> str:
    stripped = trimmed(text)
    if not stripped:
        raise Refused("empty_text", "A nugget needs a text.")
    if len(stripped) > LONGEST_TEXT:
        raise Refused(
            "long_text", f"A nugget has at most {LONGEST_TEXT} characters; this one has {len(stripped)}."
        )
    return stripped


def _decide(rows: Rows, payload: Decide) -> Changes:
    row = _row(rows, payload.key)
    decision: Decision = payload.decision
    if row.decision is Decision.REPLACED:
        raise Refused("replaced", "This nugget was merged or split; undo that first.")
    importance = payload.importance
    if decision is Decision.UNDECIDED:
        # An importance left behind would be kept unseen by the next decision.
        importance = row.draft_importance
        decision = decision if row.making is Making.PROPOSED else Decision.KEPT
    importance = row.importance if importance is None else importance
    return {row.key: replace(row, decision=decision, importance=importance)}


def _importance(rows: Rows, payload: SetImportance) -> Changes:
    row = _row(rows, payload.key)
    return {row.key: replace(row, importance=payload.importance)}


def _weight(rows: Rows, payload: SetWeight) -> Changes:
    row = _row(rows, payload.key)
    return {row.key: replace(row, weight=payload.weight)}


def _edit(rows: Rows, payload: Edit) -> Changes:
    row = _row(rows, payload.key)
    # Whoever rewords a proposal has accepted it; asking once more would cost a key for each nugget.
    decided = Decision.KEPT if row.decision is Decision.UNDECIDED else row.decision
    return {row.key: replace(row, text=_text(payload.text), decision=decided)}


def _add(rows: Rows, payload: Add) -> Changes:
    after = payload.after
    position = _place_after(rows, after) if after else _last_place(rows)
    row = _new_row(rows, payload, Making.ADDED, (), position, group=rows[after].group if after else "")
    return {row.key: row, **_spread(rows, row)}


def _merge(rows: Rows, payload: Merge) -> Changes:
    parents = [_row(rows, key) for key in dict.fromkeys(payload.from_)]
    if len(parents) < 2:
        raise Refused("merge_one", "A merge takes two nuggets or more.")
    if any(row.decision is Decision.REPLACED for row in parents):
        raise Refused("replaced", "One of these nuggets was merged or split already.")
    first = min(parents, key=lambda row: row.position)
    keys = tuple(parent.key for parent in parents)
    row = _new_row(rows, payload, Making.MERGED, keys, first.position, group=first.group)
    # Parents stay beside the list: the lineage of what replaced them leads through them.
    return {row.key: row, **{parent.key: replace(parent, decision=Decision.REPLACED) for parent in parents}}


def _split(rows: Rows, payload: Split) -> Changes:
    parent = _row(rows, payload.from_)
    parts = payload.into
    if len(parts) < 2:
        raise Refused("split_one", "A split makes two nuggets or more.")
    if parent.decision is Decision.REPLACED:
        raise Refused("replaced", "This nugget was merged or split already.")
    # The parts take the place of their parent: nothing else moves on the screen.
    room = _next_position(rows, parent.position) - parent.position
    new_rows = [
        _new_row(
            *(rows, part, Making.SPLIT, (parent.key,), parent.position + room * index / len(parts)),
            index=index,
            group=parent.group,
        )
        for index, part in enumerate(parts)
    ]
    if len({row.key for row in new_rows}) < len(new_rows):
        raise Refused("key_taken", "Two parts have the same key.")
    return {**{row.key: row for row in new_rows}, parent.key: replace(parent, decision=Decision.REPLACED)}


def _new_row(
    rows: Rows,
    payload: New,
    making: Making,
    parents: tuple[str, ...],
    position: float,
    *,
    index: int = 0,
    group: str,
) -> Row:
    key = payload.key
    if key in rows:
        raise Refused("key_taken", "There is a nugget with this key already.")
    return Row(
        key=key,
        position=position,
        text=_text(payload.text),
        making=making,
        decision=Decision.KEPT,
        importance=payload.importance,
        parents=parents,
        evidence=_evidence(payload.evidence),
        number=next_number(rows) + index,
        weight=payload.weight,
        group=group,
    )


def _evidence(pairs: Iterable[Evidence]) -> tuple[Evidence, ...]:
    return tuple(dict.fromkeys(pairs))


def _link(rows: Rows, payload: Link) -> Changes:
    row = _row(rows, payload.key)
    return {row.key: replace(row, evidence=_evidence([*row.evidence, (payload.segment, payload.sentence)]))}


def _unlink(rows: Rows, payload: Unlink) -> Changes:
    row = _row(rows, payload.key)
    gone = (payload.segment, payload.sentence)
    return {row.key: replace(row, evidence=tuple(pair for pair in row.evidence if pair != gone))}


def _move(rows: Rows, payload: Move) -> Changes:
    row = _row(rows, payload.key)
    others = {key: other for key, other in rows.items() if key != row.key}
    after = payload.after
    moved = replace(row, position=_place_after(others, after) if after else _first_place(others))
    return {row.key: moved, **_spread(others, moved)}


def _first_place(rows: Rows) -> float:
    return min((row.position for row in rows.values()), default=FIRST_POSITION + 1) - 1


def _last_place(rows: Rows) -> float:
    return max((row.position for row in rows.values()), default=FIRST_POSITION - 1) + 1


def _place_after(rows: Rows, key: str) -> float:
    before = _row(rows, key)
    return (before.position + _next_position(rows, before.position)) / 2


def _next_position(rows: Rows, position: float) -> float:
    return min((row.position for row in rows.values() if row.position > position), default=position + 2)


def _spread(rows: Rows, placed: Row) -> Changes:
    """Number all rows anew where halving has left no room. `rows` does not hold the row that was placed."""
    if all(abs(row.position - placed.position) > CLOSEST for row in rows.values()):
        return {}
    every = ordered({**rows, placed.key: placed})
    return {row.key: replace(row, position=float(index)) for index, row in enumerate(every, start=1)}


EFFECTS: dict[type[Payload], Callable[[Rows, Any], Changes]] = {
    Decide: _decide,
    SetImportance: _importance,
    SetWeight: _weight,
    Edit: _edit,
    Add: _add,
    Merge: _merge,
    Split: _split,
    Link: _link,
    Unlink: _unlink,
    Move: _move,
}

NUGGET_OP_WORDS = {
    "decide": "Decision",
    "importance": "Importance",
    "weight": "Weight",
    "edit": "Wording",
    "add": "New nugget",
    "merge": "Merge",
    "split": "Split",
    "link": "Link",
    "unlink": "Unlink",
    "move": "Move",
    "restore": "Restore",
}
"""Names on the buttons of the kinds that can be undone."""
