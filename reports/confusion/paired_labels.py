"""The items that two judges may both have labelled: their labels side by side, and which items they are.

An item is an (answer, nugget) pair, a (sentence, segment) pair, or a (topic, segment) pair that two sources graded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaluation.domain.conditions import (
    CitationCondition,
    NuggetCondition,
    check_apart,
)
from evaluation.domain.labels import CITATION_LABELS, NUGGET_LABELS
from evaluation.errors import Refused
from evaluation.models import Campaign, ListedNugget, NuggetLineage, Qrel, QrelSource, Topic
from evaluation.terms import Importance
from reports.forms import ADDED, ConfusionForm
from reports.frames import assignment_keys, assignment_sheet, rows_of, support_keys, support_sheet, tagged
from reports.metrics.arrays import Booleans, Bytes, Indices
from reports.metrics.confusion import Confusion, confusion, harsh_conflicts
from reports.metrics.label_matrix import UNJUDGED, AssignmentSheet
from web.consistent_read import consistent_read

Ints: TypeAlias = NDArray[np.int64]


class ItemKind(StrEnum):
    """Kind of item that is labelled."""

    NUGGETS = "nuggets"
    CITATIONS = "citations"
    GRADES = "grades"


@dataclass(frozen=True, slots=True)
class Matched:
    """Labels of n items by two sides: `left` and `right` n (negative: none), `topic` and `run` n, indices.

    `run` is -1 where an item is of no run. `comparable`: both sides judge the same items at all.
    """

    kind: ItemKind
    labels: tuple[str, ...]
    left: Bytes
    right: Bytes
    topic: Indices
    run: Indices
    topic_ids: tuple[str, ...]
    run_ids: tuple[str, ...]
    comparable: bool = True

    @property
    def both(self) -> NDArray[np.bool_]:
        """Mask of items with a label on both sides, n."""
        found: NDArray[np.bool_] = (self.left >= 0) & (self.right >= 0)
        return found


def match_nuggets(rows: NuggetCondition, columns: NuggetCondition) -> Matched:
    """Match the labels of the same nuggets in the same answers. Raises `Refused` where some are on both sides."""
    check_apart(rows, columns)
    same = bool(rows.grounds) and rows.grounds == columns.grounds
    with consistent_read():
        sheet = assignment_sheet(rows)
        left, right = (
            (_given(assignment_sheet(choice)) for choice in (rows, columns)) if same else (_none(), _none())
        )
    runs = len(sheet.run_ids)
    nuggets = len(sheet.nugget_topic) if same else 0
    return Matched(
        kind=ItemKind.NUGGETS,
        labels=NUGGET_LABELS.scale,
        left=left,
        right=right,
        topic=np.repeat(sheet.nugget_topic[:nuggets], runs),
        run=np.tile(np.arange(runs, dtype=np.int32), nuggets),
        topic_ids=sheet.topic_ids,
        run_ids=sheet.run_ids,
        comparable=same,
    )


def match_citations(rows: CitationCondition, columns: CitationCondition) -> Matched:
    """Match the labels of the same cited segments. Raises `Refused` where some are on both sides."""
    check_apart(rows, columns)
    with consistent_read():
        sheet, other = support_sheet(rows), support_sheet(columns)
    answer = sheet.sentence_answer[sheet.unit_sentence]
    runs = max(len(sheet.run_ids), 1)
    return Matched(
        kind=ItemKind.CITATIONS,
        labels=CITATION_LABELS.scale,
        left=sheet.unit_label,
        right=other.unit_label,
        topic=answer // runs,
        run=answer % runs,
        topic_ids=sheet.topic_ids,
        run_ids=sheet.run_ids,
    )


def match_grades(rows: QrelSource, columns: QrelSource) -> Matched:
    """Match the grades of the same segments for the same topics; a grade below 0 is none."""
    with consistent_read() as alias:
        topics = Topic.objects.using(alias).filter(campaign=rows.campaign_id)
        names = dict(topics.values_list("pk", "topic_id"))
        keys, left, right = _grades(rows, columns, alias)
    place = {pk: index for index, pk in enumerate(names)}
    top = int(max(left.max(initial=0), right.max(initial=0)))
    return Matched(
        kind=ItemKind.GRADES,
        labels=tuple(str(grade) for grade in range(top + 1)),
        left=left,
        right=right,
        topic=np.array([place[topic] for topic in keys[:, 0].tolist()], dtype=np.int32),
        run=np.full(len(keys), -1, dtype=np.int32),
        topic_ids=tuple(names.values()),
        run_ids=(),
    )


def nugget_keys(choice: NuggetCondition, places: Ints) -> Ints:
    """Return answer and wording of some items, k x 2."""
    wordings, answers = assignment_keys(choice)
    sheet = assignment_sheet(choice)
    runs = len(sheet.run_ids)
    nugget, run = places // max(runs, 1), places % max(runs, 1)
    return np.stack([answers[sheet.nugget_topic[nugget], run], wordings[nugget]], axis=1)


def citation_keys(choice: CitationCondition, places: Ints) -> Ints:
    """Return sentence and segment of some items, k x 2."""
    found: Ints = support_keys(choice)[places]
    return found


def grade_keys(rows: QrelSource, columns: QrelSource, places: Ints) -> Ints:
    """Return topic and segment of some items, k x 2."""
    with consistent_read() as alias:
        found: Ints = _grades(rows, columns, alias)[0][places]
    return found


def _given(sheet: AssignmentSheet) -> Bytes:
    """Return the labels somebody gave, flat: those that the rule gives to empty answers are nobody's."""
    empty = (sheet.answered & (sheet.words == 0))[sheet.nugget_topic]
    return np.where(empty, np.int8(UNJUDGED), sheet.labels).ravel()


def _none() -> Bytes:
    return np.zeros(0, dtype=np.int8)


def _grades(rows: QrelSource, columns: QrelSource, alias: str) -> tuple[Ints, Bytes, Bytes]:
    """Return topic and segment of all that either source graded, k x 2, and both grades, UNJUDGED where none."""
    sides = [
        {
            (topic, segment): grade if grade >= 0 else UNJUDGED
            for topic, segment, grade in Qrel.objects.using(alias)
            .filter(source=source)
            .values_list("topic", "segment", "grade")
        }
        for source in (rows, columns)
    ]
    keys = sorted(sides[0].keys() | sides[1].keys())
    left, right = (np.array([side.get(key, UNJUDGED) for key in keys], dtype=np.int8) for side in sides)
    return np.array(keys, dtype=np.int64).reshape(-1, 2), left, right


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
    """Return the mask of items of topics with a tag, n."""
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


def confusion_document(report: ConfusionReport) -> dict[str, Any]:
    found = report.confusion
    return {
        "rows": report.rows,
        "columns": report.columns,
        "labels": list(report.labels),
        "counts": found.counts.tolist(),
        "pairs": found.pairs,
        "agreement": found.agreement,
        "kappa": found.kappa,
        "kappa_linear": found.kappa_linear,
        "alpha": found.alpha,
        "ordinal_strictness": found.strictness,
        "row_rates": list(found.row_rates),
        "column_rates": list(found.column_rates),
        "harsh_conflicts": report.harsh,
    }


def confusion_rows(report: ConfusionReport) -> list[dict[str, Any]]:
    return [
        {"rows": label} | dict(zip(report.labels, counts, strict=True))
        for label, counts in zip(report.labels, report.confusion.counts.tolist(), strict=True)
    ]


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


def compare(form: ConfusionForm) -> LabelComparison:
    """Match the labels of the sides that a valid form names, and choose among the items.

    Raises `Refused` where a side is not clear, or the two sides label different things.
    """
    rows, columns = form.side("rows"), form.side("columns")
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


HEAT_STEPS = 10


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A cell of the confusion matrix; `heat` is its share of all pairs in tenths, `code` its address."""

    count: int
    share: float
    heat: int
    column: str
    code: str


@dataclass(frozen=True, slots=True)
class HeatRow:
    """A row of the confusion matrix; `rate` is its share of all pairs."""

    label: str
    cells: tuple[HeatCell, ...]
    total: int
    rate: float | None


def heat_rows(report: ConfusionReport) -> list[HeatRow]:
    found = report.confusion
    if not found.pairs:
        return []
    rows: list[list[int]] = found.counts.tolist()
    return [
        HeatRow(label, _cells(place, counts, report), sum(counts), found.row_rates[place])
        for place, (label, counts) in enumerate(zip(report.labels, rows, strict=True))
    ]


def without_nuggets(*sides: object) -> list[str]:
    return [str(side) for side in sides if isinstance(side, NuggetCondition) and not side.nugget_sets]


def side_label(side: LabelSide) -> str:
    if isinstance(side, QrelSource):
        return f"{side.name}, grades of relevance"
    labels = f"labels by {side.judges_text}" if side.judges else "no labels yet"
    if isinstance(side, NuggetCondition):
        sets = side.sets_text or "no nugget set yet"
        return f"{side!s}, {sets}, {labels}"
    return f"{side!s}, {labels}"


def _cells(place: int, counts: list[int], report: ConfusionReport) -> tuple[HeatCell, ...]:
    pairs = report.confusion.pairs
    return tuple(
        HeatCell(count, count / pairs, round(HEAT_STEPS * count / pairs), label, f"{place}-{column}")
        for column, (count, label) in enumerate(zip(counts, report.labels, strict=True))
    )
