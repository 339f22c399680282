"""Two sides whose labels are compared, the items that are looked at, and where each item stands."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from evaluation.domain.conditions import CitationCondition, NuggetCondition, resolve, resolve_citations
from evaluation.errors import Refused
from evaluation.models import Campaign, ListedNugget, NuggetLineage, QrelSource
from evaluation.terms import Condition, Importance, SupportCondition
from reports.confusion.paired_labels import (
    Ints,
    Matched,
    citation_keys,
    grade_keys,
    match_citations,
    match_grades,
    match_nuggets,
    nugget_keys,
    within_tag,
)
from reports.forms import ADDED, ConfusionForm
from reports.frames import assignment_keys, assignment_sheet
from reports.metrics.arrays import Booleans
from reports.sides import GRADES, side_text

LabelSide: TypeAlias = NuggetCondition | CitationCondition | QrelSource


@dataclass(frozen=True, slots=True)
class LabelComparison:
    """Two sides, their labels item by item, and which items are looked at (`chosen`, n)."""

    rows: LabelSide
    columns: LabelSide
    matched: Matched
    chosen: Booleans

    def keys(self, places: Ints) -> Ints:
        """Return by which two primary keys each item is known, k x 2."""
        rows, columns = self.rows, self.columns
        if isinstance(rows, NuggetCondition):
            return nugget_keys(rows, places)
        if isinstance(rows, CitationCondition):
            return citation_keys(rows, places)
        if isinstance(columns, QrelSource):
            return grade_keys(rows, columns, places)
        raise TypeError(f"{rows} and {columns} do not label the same items")


def compare(campaign: Campaign, form: ConfusionForm) -> LabelComparison:
    """Match the labels of the sides that a valid form names, and choose among the items.

    Raises `Refused` where a side is not clear, or the two sides label different things.
    """
    choices = form.chosen
    nuggets = choices["nuggets"]
    rows, columns = (
        _side(campaign, choices[name], choices[f"{name}_judge"], nuggets) for name in ("rows", "columns")
    )
    if isinstance(rows, NuggetCondition) and isinstance(columns, NuggetCondition):
        matched = match_nuggets(rows, columns)
    elif isinstance(rows, CitationCondition) and isinstance(columns, CitationCondition):
        matched = match_citations(rows, columns)
    elif isinstance(rows, QrelSource) and isinstance(columns, QrelSource):
        matched = match_grades(rows, columns)
    else:
        raise Refused(
            "usage", "Choose both sides from one group: nugget labels, support labels or relevance grades."
        )
    return LabelComparison(rows, columns, matched, _chosen(matched, rows, form))


def _side(campaign: Campaign, name: str, judge: str, nuggets: str) -> LabelSide:
    if name.startswith(GRADES):
        return campaign.qrel_sources.get(name=side_text(name))
    if name in list(SupportCondition):
        return resolve_citations(campaign, SupportCondition(name), judge=judge)
    return resolve(campaign, Condition(name), judge=judge, nuggets=nuggets)


def _chosen(matched: Matched, rows: LabelSide, form: ConfusionForm) -> Booleans:
    choices = form.chosen
    chosen = np.ones(len(matched.left), dtype=np.bool_)
    if choices["topic"]:
        chosen &= _is(matched.topic_ids, choices["topic"])[matched.topic]
    if choices["run"] and matched.run_ids:
        chosen &= _is(matched.run_ids, choices["run"])[matched.run]
    if choices["tag"]:
        chosen &= within_tag(matched, rows.campaign, choices["tag"])
    if isinstance(rows, NuggetCondition) and matched.comparable:
        chosen &= np.repeat(_nuggets(rows, choices["importance"], choices["made"]), len(matched.run_ids))
    return chosen


def _is(names: Sequence[str], wanted: str) -> Booleans:
    return np.array([name == wanted for name in names], dtype=np.bool_)


def _nuggets(choice: NuggetCondition, importance: str, made: str) -> Booleans:
    """Return the mask of nuggets of an importance and an origin, N; '' for any."""
    sheet = assignment_sheet(choice)
    chosen = np.ones(len(sheet.importance), dtype=np.bool_)
    if importance:
        chosen &= sheet.importance == Importance[importance.upper()]
    if made:
        chosen &= np.isin(assignment_keys(choice)[0], _made(choice, made))
    return chosen


def _made(choice: NuggetCondition, made: str) -> list[int]:
    """Return the wordings that came about in a way: added are those without a parent in a set that records parents."""
    lineage = NuggetLineage.objects.filter(child__nugget__nugget_set__in=choice.nugget_sets)
    if made != ADDED:
        return list(lineage.filter(relation=made).values_list("child", flat=True))
    recorded = ListedNugget.objects.filter(nugget_list__nugget_set__in=lineage.values("child__nugget__nugget_set"))
    return list(
        recorded.exclude(nugget_version__in=lineage.values("child")).values_list("nugget_version", flat=True)
    )
