"""Conditions of a submission, and the drafts that each nugget comes from."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assessor.rules.nugget_ops import Row, Rows, ordered
from evaluation.errors import Refused
from evaluation.terms import Decision, Importance, Making
from web.text import plural


def listed(rows: Rows) -> list[Row]:
    return [row for row in ordered(rows) if row.decision is Decision.KEPT]


def undecided(rows: Rows) -> list[Row]:
    return [row for row in ordered(rows) if row.decision is Decision.UNDECIDED]


def without_importance(rows: Rows) -> list[Row]:
    """Return what is neither vital nor okay; in a rubric it is the weight that counts."""
    kept = listed(rows)
    if any(row.weight is not None for row in kept):
        return []
    return [row for row in kept if row.importance is Importance.UNKNOWN]


def without_weight(rows: Rows) -> list[Row]:
    """Return what has no weight in a list in which others have one."""
    kept = listed(rows)
    lacking = [row for row in kept if row.weight is None]
    return lacking if len(lacking) < len(kept) else []


def check_complete(rows: Rows, limit: int | None) -> None:
    """Raise `Refused` where the list cannot be submitted yet: every draft needs a decision."""
    if waiting := undecided(rows):
        raise Refused("undecided", f"{len(waiting)} {plural(len(waiting), 'nugget is', 'nuggets are')} undecided.")
    if waiting := without_weight(rows):
        others = len(listed(rows)) - len(waiting)
        raise Refused(
            "no_weight",
            f"{len(waiting)} {plural(len(waiting), 'nugget has', 'nuggets have')} no weight; the {others} "
            f"{plural(others, 'other')} of the list {plural(others, 'has', 'have')} one.",
        )
    if waiting := without_importance(rows):
        raise Refused(
            "no_importance",
            f"{len(waiting)} {plural(len(waiting), 'nugget is', 'nuggets are')} neither vital nor okay.",
        )
    if limit is not None and len(listed(rows)) > limit:
        raise Refused("over_limit", f"The list has {len(listed(rows))} nuggets; this campaign allows {limit}.")


def proposals_behind(rows: Rows, row: Row) -> list[str]:
    """Return the keys of the proposals that a row was made from, through any merges and splits, in order."""
    return list(dict.fromkeys(_proposals(rows, row)))


def _proposals(rows: Rows, row: Row) -> Iterator[str]:
    if row.making is Making.PROPOSED:
        yield row.key
    # A merge of a split of a draft rests on the draft too.
    for parent in row.parents:
        if parent in rows:
            yield from _proposals(rows, rows[parent])


def relation_of(row: Row) -> str:
    if row.making is Making.PROPOSED:
        return "kept" if row.text == row.draft else "edited"
    return "merged" if row.making is Making.MERGED else "split"


@dataclass(frozen=True, slots=True)
class Review:
    """State of a list before it is submitted. The tuples hold keys, in the order of the list.

    `weights`: sum of those above 0; None where no nugget has one.
    """

    kept: int
    rejected: int
    added: int
    merged: int
    split: int
    reworded: int
    over_limit: int
    weights: float | None
    undecided: tuple[str, ...]
    without_importance: tuple[str, ...]
    without_weight: tuple[str, ...]
    without_evidence: tuple[str, ...]

    @property
    def is_complete(self) -> bool:
        return not (self.undecided or self.without_importance or self.without_weight or self.over_limit)


def review_of(rows: Rows, limit: int | None) -> Review:
    """Return the review of a list. `limit`: the most nuggets that the campaign allows, None for any number."""
    kept = listed(rows)
    makings = [row.making for row in kept]
    return Review(
        kept=len(kept),
        rejected=sum(row.decision is Decision.REJECTED for row in rows.values()),
        added=makings.count(Making.ADDED),
        merged=makings.count(Making.MERGED),
        split=makings.count(Making.SPLIT),
        reworded=sum(row.draft is not None and row.text != row.draft for row in kept),
        weights=_weights(kept),
        over_limit=0 if limit is None else max(0, len(kept) - limit),
        undecided=tuple(row.key for row in undecided(rows)),
        without_importance=tuple(row.key for row in without_importance(rows)),
        without_weight=tuple(row.key for row in without_weight(rows)),
        without_evidence=tuple(row.key for row in kept if not row.evidence),
    )


def _weights(kept: Sequence[Row]) -> float | None:
    weights = [row.weight for row in kept if row.weight is not None]
    return round(sum(weight for weight in weights if weight > 0), 3) if weights else None


def numbers_of(rows: Rows) -> dict[str, int]:
    """Return by key the number under which the screen shows each nugget ("N7"); merged and split ones have none."""
    return {row.key: row.number for row in ordered(rows) if row.decision is not Decision.REPLACED}
