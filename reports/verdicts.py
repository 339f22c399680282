"""Where on the compared items the verdicts stand, and what they come to."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from evaluation.domain.conditions import CitationCondition, NuggetCondition
from evaluation.models import Campaign
from reports.adjudicating import newest_verdicts
from reports.comparing import Compared
from reports.frames import assignment_keys, support_keys
from reports.matched import Ints
from reports.models import Adjudication
from reports.terms import NO_CATEGORY, category_cell, category_text

WHO = ("rows", "columns", "neither", "undecided")
UNDECIDED = 8


@dataclass(frozen=True, slots=True)
class CategoryCount:
    """How many of the pairs with a verdict are of a category, whom the verdicts say to be right, and their address."""

    category: str
    pairs: int
    rows: int
    columns: int
    neither: int
    undecided: int
    cell: str


def verdicts_at(campaign: Campaign, compared: Compared) -> dict[int, Adjudication]:
    """Return the verdicts on the items that are looked at, by the item's place."""
    found = newest_verdicts(campaign, compared.matched.kind)
    if not found:
        return {}
    places = places_of(compared, np.array(list(found), dtype=np.int64).reshape(-1, 2))
    looked = compared.chosen & compared.matched.both
    return {
        place: verdict
        for place, verdict in zip(places.tolist(), found.values(), strict=True)
        if place >= 0 and looked[place]
    }


def category_counts(compared: Compared, verdicts: dict[int, Adjudication]) -> list[CategoryCount]:
    """Return the categories of the pairs on which the two sides differ, most frequent first."""
    left, right = compared.matched.left, compared.matched.right
    counted: Counter[tuple[str, str]] = Counter()
    for place, one in verdicts.items():
        if left[place] != right[place]:
            who = _who(one.verdict, int(left[place]), int(right[place]))
            counted[one.category, who] += 1
    names = {category for category, _ in counted}
    rows = [
        CategoryCount(
            category_text(name) or NO_CATEGORY,
            sum(counted[name, who] for who in WHO),
            **{who: counted[name, who] for who in WHO},
            cell=category_cell(name),
        )
        for name in names
    ]
    return sorted(rows, key=lambda row: (-row.pairs, row.category))


def _who(verdict: int, left: int, right: int) -> str:
    if verdict == UNDECIDED:
        return "undecided"
    return {left: "rows", right: "columns"}.get(verdict, "neither")


def places_of(compared: Compared, keys: Ints) -> Ints:
    """Return where pairs stand among the items, k; -1 for one that is not among them."""
    if isinstance(compared.rows, NuggetCondition) and compared.matched.comparable:
        wordings, answers = assignment_keys(compared.rows)
        nugget, answer = _find(wordings, keys[:, 1]), _find(answers.ravel(), keys[:, 0])
        runs = max(answers.shape[1], 1)
        return np.where((nugget >= 0) & (answer >= 0), nugget * runs + answer % runs, -1)
    if isinstance(compared.rows, CitationCondition):
        units = support_keys(compared.rows)
        width = int(max(units.max(initial=0), keys.max(initial=0))) + 1
        return _find(units[:, 0] * width + units[:, 1], keys[:, 0] * width + keys[:, 1])
    return np.full(len(keys), -1, dtype=np.int64)


def _find(among: Ints, wanted: Ints) -> Ints:
    """Return where each wanted number stands among others, -1 where it does not."""
    if not len(among):
        return np.full(len(wanted), -1, dtype=np.int64)
    order = np.argsort(among, kind="stable")
    place = order[np.minimum(np.searchsorted(among, wanted, sorter=order), len(among) - 1)]
    return np.where(among[place] == wanted, place, -1)
