"""Corrected scores on a page of LLM scores: the switch to them, their table, bars, and what would tell runs apart."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import floor
from typing import Any

from django.urls import reverse

from accounts.models import User
from evaluation.campaigns.access import may_organize
from evaluation.domain.conditions import CitationCondition, NuggetCondition
from evaluation.models import Campaign, Study
from evaluation.terms import StudyKind, SupportCondition
from reports.metrics.intervals import Interval
from reports.metrics.policies import Policies, SupportPolicies
from reports.profiles import profile_of
from reports.random_checks.corrected import (
    NEW,
    THESE,
    TOO_FEW,
    CorrectedDifference,
    CorrectedReport,
    corrected_by,
    primary_score,
)
from reports.random_checks.documents import corrected_document, corrected_note, corrected_rows
from reports.random_checks.frame import check_counts, checks_of, random_checks_of
from reports.random_checks.population import condition_of, drawn_profile, is_drawn_for, measure_of
from reports.report import Column, ColumnKind, Report, ReportCell, Row, Section
from web.templatetags.assay import DASH

CORRECTED = "corrected"
CORRECTED_COLUMNS = (
    Column("run_id", "Run", ColumnKind.RUN),
    Column("llm", "LLM", ColumnKind.SCORE),
    Column("people", "People only", ColumnKind.SCORE),
    Column("corrected", "Corrected", ColumnKind.SCORE, primary=True),
    Column("low", "Low", ColumnKind.SCORE),
    Column("high", "High", ColumnKind.SCORE),
)
ON_PAGE = 4
"""Columns of the page, where the interval is drawn."""

TENTHS = 10


@dataclass(frozen=True, slots=True)
class ScoreAxis:
    """From `low`, below 0 where a score is, to `high`. `ends`: as its heading says them."""

    low: float
    high: float
    ends: str

    def place(self, value: float) -> float:
        """Return where a value lies, in percent of the axis."""
        return 100 * (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)


def score_axis(values: Iterable[float | None], *, is_fraction: bool = True) -> ScoreAxis:
    """Return the axis of a table with these scores and ends of intervals: 0 to 1, to most where none is a share.

    Scores by weights may be below 0: the axis then begins at the tenth below all of them.
    """
    numbers = [value for value in values if value is not None]
    low = floor(min([0.0, *numbers]) * TENTHS) / TENTHS
    if not is_fraction:
        return ScoreAxis(low, max(numbers, default=0.0) or 1.0, "0 to most")
    return ScoreAxis(low, 1.0, f"\N{MINUS SIGN}{-low:.1f} to 1" if low else "0 to 1")


@dataclass(frozen=True, slots=True)
class BoardLine:
    """A run as the page shows it: its place by the chosen score, and per group of `Comparisons` whether it is in it."""

    row: Row
    rank: int | str | None
    name: ReportCell
    score: ReportCell
    cells: list[ReportCell]
    bars: list[bool]
    doubts: list[tuple[str, int]]
    axis: ScoreAxis
    """The axis that all runs share."""

    @property
    def zero(self) -> str:
        return self._percent(0)

    @property
    def bar_start(self) -> str:
        return self._percent(min(0, self.score.value))

    @property
    def bar_length(self) -> str:
        return f"{abs(self.axis.place(self.score.value) - self.axis.place(0)):.4f}%"

    @property
    def refused(self) -> str:
        return str(self.row["intervals"][self.score.column.key].get("reason", ""))

    @property
    def low(self) -> str:
        return self._percent(self.row["low"])

    @property
    def high(self) -> str:
        return self._percent(self.row["high"])

    def _percent(self, value: float) -> str:
        return f"{self.axis.place(value):.4f}%"


@dataclass(frozen=True, kw_only=True)
class CheckedReport(Report):
    """`checks`: random checks of the labels, the newest first."""

    checks: tuple[CorrectedReport, ...] = ()
    kind_of_labels: StudyKind = StudyKind.ASSIGNMENT

    def more(self, viewer: User, campaign: Campaign) -> dict[str, Any]:
        elsewhere = [] if self.checks else complete_checks(campaign, self.kind_of_labels)
        return {"may_organize": may_organize(viewer, campaign), "elsewhere": elsewhere}

    @property
    def names(self) -> set[str]:
        return {run.run_id for run in self.corrected.runs} if self.corrected else set()

    @cached_property
    def corrected(self) -> CorrectedReport | None:
        """The named check if it is complete; where none is named, the newest complete one."""
        checks = [check for check in self.checks if check.study.name == self.form.chosen["check"]]
        return next((check for check in checks or self.checks if check.complete), None)

    @property
    def complete_checks(self) -> list[CorrectedReport]:
        return [check for check in self.checks if check.complete]

    @property
    def open_checks(self) -> list[CorrectedReport]:
        return [check for check in self.checks if not check.complete]

    @property
    def is_corrected(self) -> bool:
        return self.corrected is not None and self.form.chosen["view"] == CORRECTED

    @property
    def corrected_lines(self) -> list[BoardLine]:
        section = self.section(CORRECTED)
        groups = self.corrected.groups if self.corrected else ()
        lines = zip(section.rows, section.cells(section.rows), strict=True)
        axis = self.corrected_axis
        return [_corrected_line(row, cells, groups, axis) for row, cells in lines if row["run_id"] in self.names]

    @cached_property
    def corrected_axis(self) -> ScoreAxis:
        rows = [row for row in self.section(CORRECTED).rows if row["run_id"] in self.names]
        return score_axis(row[name] for row in rows for name in (CORRECTED, "low", "high"))

    @property
    def neighbours(self) -> list[tuple[CorrectedDifference, list[tuple[str, int]]]]:
        if not (report := self.corrected):
            return []
        return [(gap, report.numbers_with(gap)) for gap in report.neighbours if {gap.a, gap.b} <= self.names]

    @property
    def corrected_sections(self) -> list[Section]:
        """The corrected table, where there is one: its files have what `report corrected` prints."""
        if not self.corrected:
            return []
        sort = (self.is_corrected and self.form.chosen["sort"]) or f"-{CORRECTED}"
        return [_corrected_section(self.corrected).ordered(sort, ties="run_id")]

    @property
    def corrected_headings(self) -> list[tuple[Column, str, str]]:
        return self.section(CORRECTED).headings[:ON_PAGE]


def board_address(study: Study) -> str:
    query = {"judge": study.judge.name, "view": CORRECTED, "check": study.name}
    if study.nugget_set is None:
        query |= {"condition": SupportCondition.LLM, "measure": measure_of(study)}
        return reverse("reports:support", args=[study.campaign.slug], query=query)
    query |= {"condition": condition_of(study.nugget_set), "nuggets": study.nugget_set.name}
    if drawn_profile(study) is not profile_of(study.campaign):
        # The page opens with the scores of the protocol, which may have changed since the draw.
        query |= {"score": primary_score(study)}
    return reverse("reports:scores", args=[study.campaign.slug], query=query)


def complete_checks(campaign: Campaign, kind: StudyKind) -> list[tuple[str, str]]:
    studies = list(random_checks_of(campaign).filter(kind=kind).select_related("nugget_set"))
    counts = check_counts(studies)
    return [(_name_and_measure(study), board_address(study)) for study in studies if not counts[study.pk].left]


def _name_and_measure(study: Study) -> str:
    return study.name if study.nugget_set else f"{study.name}, drawn for {measure_of(study)}"


def corrected_checks(
    choice: NuggetCondition | CitationCondition, policies: Policies | SupportPolicies, score: str, target: str
) -> tuple[CorrectedReport, ...]:
    return tuple(
        corrected_by(study, policies, score, NEW if target == NEW else THESE)
        for study in checks_of(choice)
        if is_drawn_for(study, policies)
    )


def _corrected_section(report: CorrectedReport) -> Section:
    rows = [
        row
        | {
            "few": run.few,
            "doubts": run.doubts,
            "intervals": {"people": _ends(row, "people_"), CORRECTED: _ends(row)},
        }
        for run, row in zip(report.ordered, corrected_rows(report), strict=True)
    ]
    return Section(
        name=CORRECTED,
        title="Corrected",
        columns=CORRECTED_COLUMNS,
        rows=rows,
        aside=("few", "doubts", "intervals"),
        note=corrected_note(report),
        shown=False,
        document=lambda: corrected_document(report),
    )


def _ends(row: Row, prefix: str = "") -> Row:
    low = row[f"{prefix}low"]
    return Interval(low, row[f"{prefix}high"], TOO_FEW if low is None else "").document


def _corrected_line(
    row: Row, cells: list[ReportCell], groups: Sequence[frozenset[str]], axis: ScoreAxis
) -> BoardLine:
    name, llm, people, corrected = cells[:ON_PAGE]
    ranks = dict.fromkeys(rank for rank in (row["best_rank"], row["worst_rank"]) if rank)
    return BoardLine(
        row=row,
        rank=DASH.join(map(str, ranks)),
        name=name,
        score=corrected,
        cells=[llm, people],
        bars=[row["run_id"] in group for group in groups],
        doubts=[],
        axis=axis,
    )
