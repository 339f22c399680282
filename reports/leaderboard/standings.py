"""A leaderboard for people: scores, support of citations, intervals, and which runs differ from which."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from evaluation.domain.conditions import CitationCondition, NuggetCondition
from evaluation.models import Campaign
from reports.cache import cached_report
from reports.frames import assignment_sheet, rows_of, tagged_assignments, topics_by_tag
from reports.leaderboard.scores import Leaderboard, LeaderboardRow, leaderboard, number
from reports.metrics.agreement import ScoreTable, score_table
from reports.metrics.arrays import column_means
from reports.metrics.bootstrap import mean_intervals
from reports.metrics.policies import Policies, SupportPolicies
from reports.metrics.scores import LENGTH
from reports.metrics.significance import MOST_RUNS, best_first, paired_tests
from reports.metrics.significance import PairTests as Tests
from reports.metrics.support import SUPPORT_NAMES
from reports.support_scores import RunSupportScores, support_rows
from web.consistent_read import consistent_read

SIGNIFICANT = 0.05
INTERVAL = "interval"
"""The column of the chosen score's interval."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Request of a leaderboard; `score` is the one with intervals and tests. Equal ones give equal figures."""

    choice: NuggetCondition
    policies: Policies
    support: CitationCondition | None
    support_policies: SupportPolicies
    score: str
    tag: str = ""

    @property
    def campaign(self) -> Campaign:
        return self.choice.campaign


@dataclass(frozen=True, slots=True)
class Standing:
    """One run: its scores, the interval of the chosen one (None where undefined), and its support."""

    row: LeaderboardRow
    low: float | None
    high: float | None
    support: RunSupportScores | None


@dataclass(frozen=True, slots=True)
class TagColumn:
    """The chosen score of every run over the `topics` scored topics of one tag; None where it is undefined."""

    tag: str
    topics: int
    by_run: dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Standings:
    """All runs under one condition, and when this was computed; `by_tag`: the chosen score, tag by tag."""

    board: Leaderboard
    rows: tuple[Standing, ...]
    score: str
    at: datetime
    by_tag: tuple[TagColumn, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run against another: the difference of their means, on how many topics, and Holm's p; None where undefined."""

    other: str
    difference: float | None
    p: float | None
    adjusted: float | None
    topics: int

    @property
    def verdict(self) -> str:
        """`higher` or `lower` than the other where the test says so, else nothing."""
        if self.adjusted is None or self.difference is None or self.adjusted >= SIGNIFICANT:
            return ""
        return "higher" if self.difference > 0 else "lower"


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Every two of some runs, the best first; `left_out` counts runs beyond the most that are compared."""

    runs: tuple[str, ...]
    rows: tuple[tuple[Comparison, ...], ...]
    exact: bool
    left_out: int

    @property
    def by_run(self) -> list[tuple[str, tuple[Comparison, ...]]]:
        return list(zip(self.runs, self.rows, strict=True))

    @property
    def pairs(self) -> int:
        """Number of tests that Holm's correction is for."""
        return sum(one.p is not None for row in self.rows for one in row) // 2


def value_of(standing: Standing, name: str) -> Any:
    """Return a run's value in a column, None where it is undefined."""
    if name in standing.row.scores:
        return standing.row.scores[name]
    if name == INTERVAL:
        return None if standing.low is None else (standing.low, standing.high)
    if name in SUPPORT_NAMES:
        return getattr(standing.support, name, None)
    return getattr(standing.row, name)


def topics_behind(standing: Standing, name: str) -> int | None:
    """Return the number of topics behind a run's figure in a column; None where it does not rest on topics."""
    support = standing.support
    if name == "weighted_precision":
        return support.precision_topics if support else None
    if name in SUPPORT_NAMES:
        return support.recall_topics if support else None
    return standing.row.topics if name in (*standing.row.scores, LENGTH, INTERVAL) else None


@cached_report(size=64)
def standings(wanted: Wanted) -> Standings:
    with consistent_read():
        board = leaderboard(wanted.choice, wanted.policies, wanted.tag)
        table = _table(wanted)
        by_tag = _by_tag(wanted)
        support = _support_rows(wanted)
    ends = _ends(table)
    rows = (Standing(row, *ends[row.run_id], support.get(row.run_id)) for row in board.rows)
    return Standings(board, tuple(rows), wanted.score, timezone.now(), by_tag)


def _support_rows(wanted: Wanted) -> dict[str, RunSupportScores]:
    if wanted.support is None:
        return {}
    rows = support_rows(wanted.support, wanted.support_policies, wanted.tag)
    return {row.run_id: row for row in rows}


def _table(wanted: Wanted) -> ScoreTable:
    return score_table(tagged_assignments(wanted.choice, wanted.tag), wanted.score, wanted.policies)


def _by_tag(wanted: Wanted) -> tuple[TagColumn, ...]:
    """Return the mean of the chosen score over each tag's topics, whichever tag is chosen."""
    tags = topics_by_tag(wanted.choice.campaign)
    sheet = assignment_sheet(wanted.choice)
    table = score_table(sheet, wanted.score, wanted.policies)
    columns = []
    for tag, topics in tags.items():
        rows = table.topics & rows_of(table.topic_ids, topics)
        means = column_means(table.values, rows)
        by_run = {run: number(mean) for run, mean in zip(table.run_ids, means, strict=True)}
        columns.append(TagColumn(tag, int(rows.sum()), by_run))
    return tuple(columns)


def _ends(table: ScoreTable) -> dict[str, tuple[float | None, float | None]]:
    low, high = mean_intervals(table.values[table.topics])
    return {run: (number(low[place]), number(high[place])) for place, run in enumerate(table.run_ids)}


@cached_report(size=32)
def comparisons(wanted: Wanted, runs: tuple[str, ...]) -> Comparisons:
    """Test every two of the named runs, of more than `MOST_RUNS` the best."""
    with consistent_read():
        table = _table(wanted)
    columns = [place for place, run in enumerate(table.run_ids) if run in set(runs)]
    values = table.values[table.topics][:, columns]
    scored, best = len(best_first(values, len(columns))), best_first(values)
    names = tuple(table.run_ids[columns[place]] for place in best)
    tests = paired_tests(values[:, best])
    rows = tuple(_row(tests, names, place) for place in range(len(names)))
    return Comparisons(names, rows, tests.exact, max(0, scored - MOST_RUNS))


def _row(tests: Tests, names: tuple[str, ...], place: int) -> tuple[Comparison, ...]:
    return tuple(
        Comparison(
            other=other,
            difference=number(tests.difference[place, column]),
            p=number(tests.p[place, column]),
            adjusted=number(tests.adjusted[place, column]),
            topics=int(tests.topics[place, column]),
        )
        for column, other in enumerate(names)
    )
