"""The items that two judges may both have labelled: their labels side by side, and which items they are.

An item is an (answer, nugget) pair, a (sentence, segment) pair, a (topic, segment) pair that two sources graded, or an
answer as a whole.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from evaluation.domain.conditions import CitationCondition, NuggetCondition, check_apart
from evaluation.domain.stage_labels import StageCondition
from evaluation.errors import Refused
from evaluation.labels import CITATION_LABELS, NO_LABELS, NUGGET_LABELS, LabelSet
from evaluation.models import (
    AnswerProvenance,
    Campaign,
    Judgment,
    ListedNugget,
    NuggetLineage,
    Qrel,
    QrelSource,
    Run,
    Topic,
)
from evaluation.terms import Importance, SupportMeasure
from reports.forms import ADDED, ConfusionForm
from reports.frames import (
    Ints,
    assignment_keys,
    assignment_sheet,
    cells_of,
    rows_of,
    support_keys,
    support_sheet,
    tagged,
)
from reports.metrics.arrays import Booleans, Bytes, Indices
from reports.metrics.confusion import Confusion, confusion, harsh_conflicts, label_intervals, topic_tables
from reports.metrics.intervals import Interval, documents_of
from reports.metrics.label_matrix import UNJUDGED, AssignmentSheet
from reports.metrics.support import MEASURES
from reports.sides import LabelSide
from web.consistent_read import consistent_read

Key = tuple[int, int]
"""Primary keys of an item: answer and wording, sentence and segment, topic and segment; or an answer and 0."""
HEAT_STEPS = 10
"""Shades of a cell. Each is a CSS class: the content policy allows no style in an attribute."""
MOST_GRADE = 20
"""A matrix has a row for each grade up to the highest: of a slip such as 32000 it would be no page."""


class ItemKind(StrEnum):
    NUGGETS = "nuggets"
    CITATIONS = "citations"
    GRADES = "grades"
    ANSWERS = "answers"


@dataclass(frozen=True, slots=True)
class Matched:
    """Labels of n items by two sides: `left` and `right` n (negative: none), `topic` and `run` n, indices.

    `run` is -1 where an item is of no run. `comparable`: both sides judge the same items at all. `label_set`: of the
    labels, but for grades.
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
    label_set: LabelSet = NO_LABELS

    @property
    def codes(self) -> list[int]:
        return [int(label.code) for label in self.label_set.ascending] or [*range(len(self.labels))]

    @property
    def both(self) -> Booleans:
        both: Booleans = (self.left >= 0) & (self.right >= 0)
        return both


def match(rows: LabelSide, columns: LabelSide) -> Matched:
    """Match the labels of the same items. Raises `Refused` for sides of two kinds, or where some are on both sides."""
    if isinstance(rows, NuggetCondition) and isinstance(columns, NuggetCondition):
        return _match_nuggets(rows, columns)
    if isinstance(rows, CitationCondition) and isinstance(columns, CitationCondition):
        return _match_citations(rows, columns)
    if isinstance(rows, QrelSource) and isinstance(columns, QrelSource):
        return _match_grades(rows, columns)
    if isinstance(rows, StageCondition) and isinstance(columns, StageCondition) and rows.stage == columns.stage:
        return _match_answers(rows, columns)
    raise Refused(
        "usage",
        "Choose both sides from one group: nugget labels, citation labels, relevance grades, or labels of one stage.",
    )


def _match_nuggets(rows: NuggetCondition, columns: NuggetCondition) -> Matched:
    check_apart(rows, columns)
    # Two lists on one topic have no nugget in common, however alike the wordings are: there is nothing to lay together.
    same = bool(rows.grounds) and rows.grounds == columns.grounds
    nothing = np.zeros(0, dtype=np.int8)
    with consistent_read():
        sheet = assignment_sheet(rows)
        left, right = (_judged_labels(assignment_sheet(side)) if same else nothing for side in (rows, columns))
    columns_of_answers = len(sheet.column_run)
    nuggets = len(sheet.nugget_topic) if same else 0
    return Matched(
        kind=ItemKind.NUGGETS,
        labels=NUGGET_LABELS.scale,
        label_set=NUGGET_LABELS,
        left=left,
        right=right,
        topic=np.repeat(sheet.nugget_topic[:nuggets], columns_of_answers),
        run=np.tile(sheet.column_run, nuggets),
        topic_ids=sheet.topic_ids,
        run_ids=sheet.run_ids,
        comparable=same,
    )


def _match_citations(rows: CitationCondition, columns: CitationCondition) -> Matched:
    check_apart(rows, columns)
    with consistent_read():
        sheet, other = support_sheet(rows), support_sheet(columns)
    answer = sheet.sentence_answer[sheet.unit_sentence]
    topic, column = np.divmod(answer, max(len(sheet.column_run), 1))
    return Matched(
        kind=ItemKind.CITATIONS,
        labels=CITATION_LABELS.scale,
        label_set=CITATION_LABELS,
        left=sheet.unit_label,
        right=other.unit_label,
        topic=topic,
        run=sheet.column_run[column],
        topic_ids=sheet.topic_ids,
        run_ids=sheet.run_ids,
    )


def _match_grades(rows: QrelSource, columns: QrelSource) -> Matched:
    with consistent_read() as alias:
        _check_scale(rows, columns, alias)
        topics = dict(Topic.objects.using(alias).filter(campaign=rows.campaign_id).values_list("pk", "topic_id"))
        keys, left, right = _side_by_side(rows, columns, alias)
    scale = rows.campaign.protocol.relevance_max
    top = int(max(left.max(initial=scale), right.max(initial=scale)))
    return Matched(
        kind=ItemKind.GRADES,
        labels=tuple(str(grade) for grade in range(top + 1)),
        left=left,
        right=right,
        topic=_places_of(topics, keys[:, 0].tolist()),
        run=np.full(len(keys), -1, dtype=np.int32),
        topic_ids=tuple(topics.values()),
        run_ids=(),
    )


def _check_scale(rows: QrelSource, columns: QrelSource, alias: str) -> None:
    off = Qrel.objects.using(alias).filter(source__in=(rows, columns), grade__gt=MOST_GRADE)
    for name, grade in off.order_by("pk").values_list("source__name", "grade")[:1]:
        raise Refused("usage", f"{name} has the grade {grade:,}: grades are compared up to {MOST_GRADE}.")


def _match_answers(rows: StageCondition, columns: StageCondition) -> Matched:
    check_apart(rows, columns)
    with consistent_read() as alias:
        topics = dict(Topic.objects.using(alias).filter(campaign=rows.campaign).values_list("pk", "topic_id"))
        runs = dict(Run.objects.using(alias).filter(campaign=rows.campaign).values_list("pk", "run_id"))
        keys, left, right = _side_by_side(rows, columns, alias)
        provenance = AnswerProvenance.objects.using(alias).filter(run__campaign=rows.campaign)
        of_answer = {pk: (topic, run) for pk, topic, run in provenance.values_list("pk", "topic__pk", "run__pk")}
    answers = [of_answer[answer] for answer in keys[:, 0].tolist()]
    return Matched(
        kind=ItemKind.ANSWERS,
        labels=rows.stage.labels.scale,
        label_set=rows.stage.labels,
        left=left,
        right=right,
        topic=_places_of(topics, [topic for topic, _ in answers]),
        run=_places_of(runs, [run for _, run in answers]),
        topic_ids=tuple(topics.values()),
        run_ids=tuple(runs.values()),
    )


def _places_of(names: Mapping[int, str], keys: Iterable[int]) -> Indices:
    place = {pk: index for index, pk in enumerate(names)}
    return np.array([place[key] for key in keys], dtype=np.int32)


def _judged_labels(sheet: AssignmentSheet) -> Bytes:
    """Return the labels somebody gave, flat: those that the rule gives to empty answers are nobody's."""
    empty = (sheet.answered & (sheet.words == 0))[sheet.nugget_topic]
    return np.where(empty, np.int8(UNJUDGED), sheet.labels).ravel()


def _side_by_side(rows: LabelSide, columns: LabelSide, alias: str) -> tuple[Ints, Bytes, Bytes]:
    """Return the keys of all that either side labelled, k x 2, and both labels, UNJUDGED where none."""
    sides = [_labels_by_key(side, alias) for side in (rows, columns)]
    keys = sorted(sides[0].keys() | sides[1].keys())
    left, right = (np.array([side.get(key, UNJUDGED) for key in keys], dtype=np.int8) for side in sides)
    return np.array(keys, dtype=np.int64).reshape(-1, 2), left, right


def _labels_by_key(side: LabelSide, alias: str) -> dict[Key, int]:
    if isinstance(side, QrelSource):
        # TREC's qrels mark junk by grades below 0, which are on no scale: such a passage counts as not graded.
        grades = Qrel.objects.using(alias).filter(source=side).values_list("topic__pk", "segment__pk", "grade")
        return {(topic, segment): grade if grade >= 0 else UNJUDGED for topic, segment, grade in grades}
    if not isinstance(side, StageCondition):
        raise TypeError(f"labels of {side} are in sheets")
    cells = cells_of(side.stage.labels)
    rows = Judgment.objects.using(alias).current().filter(stage=side.stage, topic__campaign=side.campaign)
    labels: dict[Key, int] = {}
    for _, judge, topics in side.keys:
        within = {} if topics is None else {"topic__in": topics}
        own = rows.filter(judge=judge, **within).order_by("submission").values_list("answer__pk", "label")
        labels |= {(answer, 0): int(cells[label]) for answer, label in own}
    return labels


@dataclass(frozen=True, slots=True)
class ConfusionReport:
    """A confusion of two conditions, `harsh` conflicts counted. `comparable`: they judge the same pairs at all.

    `topics`: those that the compared pairs are of; None where that is not known. `intervals`: of figures over topics.
    """

    rows: str
    columns: str
    labels: tuple[str, ...]
    confusion: Confusion
    harsh: int
    comparable: bool
    topics: int | None = None
    intervals: dict[str, Interval] = field(default_factory=dict)

    @property
    def shows_quadratic(self) -> bool:
        """Whether quadratic weights say more than linear ones: with three labels they hardly do."""
        return len(self.labels) > 3


def confuse_conditions(
    rows: LabelSide, columns: LabelSide, tag: str = "", measure: SupportMeasure | None = None
) -> ConfusionReport:
    """Compare the labels of the same items, of all topics or those with a tag. Raises `Refused` as `match` does.

    `measure`: only citations that count in this measure of support.
    """
    matched = match(rows, columns)
    mask = _within_tag(matched, rows.campaign, tag) if tag else np.ones(len(matched.left), dtype=np.bool_)
    if measure and isinstance(rows, CitationCondition):
        mask &= MEASURES[measure].shares(support_sheet(rows), np.ones_like(mask)) > 0
    return confuse(matched, str(rows), str(columns), mask)


def _within_tag(matched: Matched, campaign: Campaign, tag: str) -> Booleans:
    return rows_of(matched.topic_ids, tagged(campaign, tag))[matched.topic]


def confuse(matched: Matched, rows: str, columns: str, mask: Booleans | None = None) -> ConfusionReport:
    """Compare the labels of matched items, all or those of `mask` (n)."""
    looked = slice(None) if mask is None else mask
    left, right, topic = matched.left[looked], matched.right[looked], matched.topic[looked]
    size = len(matched.labels)
    tables = topic_tables(left, right, topic, size)
    return ConfusionReport(
        rows=rows,
        columns=columns,
        labels=matched.labels,
        confusion=confusion(left, right, size),
        harsh=int(harsh_conflicts(left, right, size).sum()),
        comparable=matched.comparable,
        # Of the counted pairs alone: a page greys the figures by what they rest on, not by what was looked at.
        topics=int(tables.any(axis=(1, 2)).sum()),
        intervals=label_intervals(tables),
    )


FIGURE_NAMES = ("pairs", "agreement", "kappa", "kappa_linear", "kappa_quadratic", "alpha")


def confusion_document(report: ConfusionReport) -> dict[str, Any]:
    matrix = report.confusion
    return {
        "rows": report.rows,
        "columns": report.columns,
        "labels": list(report.labels),
        "counts": matrix.counts.tolist(),
        **{name: getattr(matrix, name) for name in FIGURE_NAMES},
        "ordinal_strictness": matrix.strictness,
        "row_rates": list(matrix.row_rates),
        "column_rates": list(matrix.column_rates),
        "harsh_conflicts": report.harsh,
        "intervals": documents_of(report.intervals),
    }


def confusion_rows(report: ConfusionReport) -> list[dict[str, Any]]:
    return [
        {"rows": label} | dict(zip(report.labels, counts, strict=True))
        for label, counts in zip(report.labels, report.confusion.counts.tolist(), strict=True)
    ]


@dataclass(frozen=True, slots=True)
class LabelComparison:
    """Two sides, their labels item by item, and which items are looked at (`chosen`, n).

    Arrays have items by place; addresses and verdicts have their `Key`, which stays when labels come and go.
    """

    rows: LabelSide
    columns: LabelSide
    matched: Matched
    mask: Booleans

    def keys(self, places: Ints) -> Ints:
        if isinstance(self.rows, NuggetCondition):
            wordings, answers = assignment_keys(self.rows)
            nugget, column = np.divmod(places, max(answers.shape[1], 1))
            return np.stack([answers[self.matched.topic[places], column], wordings[nugget]], axis=1)
        keys: Ints
        if isinstance(self.rows, CitationCondition):
            keys = support_keys(self.rows)[places]
            return keys
        with consistent_read() as alias:
            keys = _side_by_side(self.rows, self.columns, alias)[0][places]
        return keys

    def places(self, keys: Ints) -> Ints:
        """Return the places of items by their keys, k; -1 for one that is not among them."""
        if isinstance(self.rows, NuggetCondition) and self.matched.comparable:
            wordings, answers = assignment_keys(self.rows)
            nugget, answer = _find(wordings, keys[:, 1]), _find(answers.ravel(), keys[:, 0])
            columns = max(answers.shape[1], 1)
            return np.where((nugget >= 0) & (answer >= 0), nugget * columns + answer % columns, -1)
        if isinstance(self.rows, CitationCondition):
            units = support_keys(self.rows)
            # Both keys as one number, so that one search finds the pair.
            width = int(max(units.max(initial=0), keys.max(initial=0))) + 1
            return _find(units[:, 0] * width + units[:, 1], keys[:, 0] * width + keys[:, 1])
        return np.full(len(keys), -1, dtype=np.int64)


def _find(among: Ints, numbers: Ints) -> Ints:
    """Return the place of each number among others, -1 where it has none."""
    if not len(among):
        return np.full(len(numbers), -1, dtype=np.int64)
    order = np.argsort(among, kind="stable")
    place = order[np.minimum(np.searchsorted(among, numbers, sorter=order), len(among) - 1)]
    return np.where(among[place] == numbers, place, -1)


def compare(form: ConfusionForm) -> LabelComparison:
    """Match the labels of the sides that a valid form names, and choose among the items.

    Raises `Refused` where a side is not clear, or the two sides label different things.
    """
    rows, columns = form.side("rows"), form.side("columns")
    matched = match(rows, columns)
    return LabelComparison(rows, columns, matched, _mask(matched, rows, form))


def _mask(matched: Matched, rows: LabelSide, form: ConfusionForm) -> Booleans:
    choices = form.chosen
    mask = np.ones(len(matched.left), dtype=np.bool_)
    if choices["topic"]:
        mask &= rows_of(matched.topic_ids, frozenset([choices["topic"]]))[matched.topic]
    if choices["run"] and matched.run_ids:
        mask &= rows_of(matched.run_ids, frozenset([choices["run"]]))[matched.run]
    if choices["tag"]:
        mask &= _within_tag(matched, rows.campaign, choices["tag"])
    if isinstance(rows, NuggetCondition) and matched.comparable:
        # A nugget's choice holds for it in every answer: items are nugget by nugget, answer by answer.
        nuggets = _nuggets(rows, choices["importance"], choices["made"])
        mask &= np.repeat(nuggets, len(mask) // max(len(nuggets), 1))
    return mask


def _nuggets(choice: NuggetCondition, importance: str, origin: str) -> Booleans:
    """Return the mask of nuggets of an importance and an origin, N; '' for any."""
    sheet = assignment_sheet(choice)
    mask = np.ones(len(sheet.importance), dtype=np.bool_)
    if importance:
        mask &= sheet.importance == Importance[importance.upper()]
    if origin:
        mask &= np.isin(assignment_keys(choice)[0], _of_origin(choice, origin))
    return mask


def _of_origin(choice: NuggetCondition, origin: str) -> list[int]:
    """Return the wordings that came about in a way: added are those without a parent in a set that records parents."""
    lineage = NuggetLineage.objects.filter(child__nugget__nugget_set__in=choice.nugget_sets)
    if origin != ADDED:
        return list(lineage.filter(relation=origin).values_list("child", flat=True))
    # Other sets say nothing of parents, so in them every nugget would seem to be added.
    recorded = ListedNugget.objects.filter(nugget_list__nugget_set__in=lineage.values("child__nugget__nugget_set"))
    added = recorded.exclude(nugget_version__in=lineage.values("child"))
    return list(added.values_list("nugget_version", flat=True))


def heat_rows(report: ConfusionReport) -> list[dict[str, Any]]:
    """Return the rows of the matrix with their cells; `heat`: the share of all pairs in tenths, `code`: the address."""
    matrix = report.confusion
    if not matrix.pairs:
        return []
    rows = []
    for place, (label, counts) in enumerate(zip(report.labels, matrix.counts.tolist(), strict=True)):
        cells = [
            {"count": count, "share": count / matrix.pairs, "heat": round(HEAT_STEPS * count / matrix.pairs)}
            | {"column": other, "code": f"{place}-{column}"}
            for column, (count, other) in enumerate(zip(counts, report.labels, strict=True))
        ]
        rows.append({"label": label, "cells": cells, "total": sum(counts), "rate": matrix.row_rates[place]})
    return rows


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
