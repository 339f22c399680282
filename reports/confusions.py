"""Two judges' labels of the same pairs, as a confusion matrix."""

from dataclasses import dataclass

import numpy as np

from evaluation.domain.conditions import CitationCondition, NuggetCondition
from evaluation.models import Campaign
from reports.matched import Matched, match_citations, match_nuggets
from reports.metrics.arrays import Booleans
from reports.metrics.confusion import Confusion, confusion, harsh_conflicts
from reports.tags import rows_of, tagged


@dataclass(frozen=True, slots=True)
class ConfusionReport:
    """A confusion of two conditions, `harsh` conflicts counted. `comparable`: they judge the same pairs at all.

    `topics`: those that the compared pairs are of; None where that is not known.
    """

    rows: str
    columns: str
    labels: tuple[str, ...]
    confusion: Confusion
    harsh: int
    comparable: bool
    topics: int | None = None


def confuse_assignments(rows: NuggetCondition, columns: NuggetCondition, tag: str = "") -> ConfusionReport:
    """Compare labels of the same (answer, nugget) pairs: both conditions must use the same lists.

    Raises `Refused` where some labels are on both sides.
    """
    matched = match_nuggets(rows, columns)
    return confuse(matched, str(rows), str(columns), within_tag(matched, rows.campaign, tag) if tag else None)


def confuse_support(rows: CitationCondition, columns: CitationCondition, tag: str = "") -> ConfusionReport:
    """Compare labels of the same (sentence, segment) pairs. Raises `Refused` where some are on both sides."""
    matched = match_citations(rows, columns)
    return confuse(matched, str(rows), str(columns), within_tag(matched, rows.campaign, tag) if tag else None)


def within_tag(matched: Matched, campaign: Campaign, tag: str) -> Booleans:
    """Return which items are of topics with a tag, n."""
    return rows_of(matched.topic_ids, tagged(campaign, tag))[matched.topic]


def confuse(matched: Matched, rows: str, columns: str, chosen: Booleans | None = None) -> ConfusionReport:
    """Compare the labels of matched items, all or the `chosen` ones (n)."""
    left, right = (side if chosen is None else side[chosen] for side in (matched.left, matched.right))
    topic = matched.topic if chosen is None else matched.topic[chosen]
    size = len(matched.labels)
    usable = (left >= 0) & (right >= 0)
    return ConfusionReport(
        rows=rows,
        columns=columns,
        labels=matched.labels,
        confusion=confusion(left, right, size),
        harsh=int(harsh_conflicts(left, right, size - 1).sum()),
        comparable=matched.comparable,
        topics=len(np.unique(topic[usable])),
    )
