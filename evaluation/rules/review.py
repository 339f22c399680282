"""What an assessor is told before submitting: counts, and the nuggets that still stand in the way, by number."""

from dataclasses import dataclass

from evaluation.rules.desk import Row, Rows, ordered
from evaluation.rules.submitting import listed, undecided, without_importance
from evaluation.terms import Decision, Making


@dataclass(frozen=True, slots=True)
class Review:
    """A list as it stands. The tuples hold keys, in the order of the list."""

    kept: int
    rejected: int
    added: int
    merged: int
    split: int
    reworded: int
    over_limit: int
    undecided: tuple[str, ...]
    without_importance: tuple[str, ...]
    without_evidence: tuple[str, ...]
    numbers: dict[str, int]

    @property
    def is_complete(self) -> bool:
        """Whether nothing stands in the way of submitting."""
        return not (self.undecided or self.without_importance or self.over_limit)


def review_of(rows: Rows, limit: int | None) -> Review:
    """Return what there is to say about a list. `limit`: how many nuggets the campaign allows, None for any number."""
    kept = listed(rows)
    made = [row.making for row in kept]
    return Review(
        kept=len(kept),
        rejected=sum(row.decision is Decision.REJECTED for row in rows.values()),
        added=made.count(Making.ADDED),
        merged=made.count(Making.MERGED),
        split=made.count(Making.SPLIT),
        reworded=sum(row.draft is not None and row.text != row.draft for row in kept),
        over_limit=0 if limit is None else max(0, len(kept) - limit),
        undecided=_keys(undecided(rows)),
        without_importance=_keys(without_importance(rows)),
        without_evidence=_keys([row for row in kept if not row.evidence]),
        numbers=numbers_of(rows),
    )


def numbers_of(rows: Rows) -> dict[str, int]:
    """Return by key the number under which the screen shows each nugget ("N7").

    What was merged or split away is not shown.
    """
    return {row.key: row.number for row in ordered(rows) if row.decision is not Decision.REPLACED}


def _keys(rows: list[Row]) -> tuple[str, ...]:
    return tuple(row.key for row in rows)
