"""What a list must be before it is frozen, and what its nuggets come from."""

from collections.abc import Iterator

from evaluation.errors import Refused
from evaluation.rules.desk import Row, Rows, ordered
from evaluation.terms import Decision, Importance, Making
from web.text import plural


def listed(rows: Rows) -> list[Row]:
    """Return the nuggets of the final list, in order."""
    return [row for row in ordered(rows) if row.decision is Decision.KEPT]


def undecided(rows: Rows) -> list[Row]:
    """Return the proposals that nobody decided about yet, in order."""
    return [row for row in ordered(rows) if row.decision is Decision.UNDECIDED]


def without_importance(rows: Rows) -> list[Row]:
    """Return the nuggets of the final list that are neither vital nor okay yet, in order."""
    return [row for row in listed(rows) if row.importance is Importance.UNKNOWN]


def check_complete(rows: Rows, limit: int | None) -> None:
    """Raise `Refused` where the list cannot be submitted yet (method, section 2: every draft needs a decision)."""
    if waiting := undecided(rows):
        raise Refused("undecided", f"{len(waiting)} {plural(len(waiting), 'nugget is', 'nuggets are')} undecided.")
    if waiting := without_importance(rows):
        raise Refused(
            "no_importance",
            f"{len(waiting)} {plural(len(waiting), 'nugget is', 'nuggets are')} neither vital nor okay.",
        )
    if limit is not None and len(listed(rows)) > limit:
        raise Refused("over_limit", f"The list has {len(listed(rows))} nuggets; this campaign allows {limit}.")


def can_submit(rows: Rows, limit: int | None) -> bool:
    """Say whether `check_complete` lets the list pass."""
    try:
        check_complete(rows, limit)
    except Refused:
        return False
    return True


def proposals_behind(rows: Rows, row: Row) -> list[str]:
    """Return the keys of the proposals that a row was made from, through any merges and splits, in order."""
    return list(dict.fromkeys(_proposals(rows, row)))


def _proposals(rows: Rows, row: Row) -> Iterator[str]:
    if row.making is Making.PROPOSED:
        yield row.key
    for parent in row.parents:
        if parent in rows:
            yield from _proposals(rows, rows[parent])


def relation_of(row: Row) -> str:
    """Return how a nugget relates to the drafts it comes from: kept, edited, merged or split."""
    if row.making is Making.PROPOSED:
        return "kept" if row.text == row.draft else "edited"
    return "merged" if row.making is Making.MERGED else "split"
