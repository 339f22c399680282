"""Leaderboard: runs by score under one condition, with intervals, support of citations, and tests of every two."""

from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from django.http import QueryDict
from django.utils import timezone

from evaluation.domain.conditions import CitationCondition, NuggetCondition, resolve_citations
from evaluation.errors import Refused
from evaluation.models import Campaign
from reports import charts
from reports.cache import cached_report
from reports.forms import LeaderboardForm
from reports.frames import assignment_sheet, rows_of, tagged_assignments, topics_by_tag
from reports.leaderboard.scores import Leaderboard, ScoreRow, leaderboard, scores_document
from reports.metrics.agreement import ScoreTable, score_table
from reports.metrics.arrays import column_means, defined
from reports.metrics.bootstrap import mean_intervals
from reports.metrics.policies import Policies, SupportPolicies, listed_policies
from reports.metrics.scores import LENGTH, SCORE_NAMES
from reports.metrics.significance import MOST_RUNS, PairTests, best_first, paired_tests
from reports.metrics.support import SUPPORT_NAMES
from reports.report import (
    WRONG_CHOICE,
    Chart,
    Column,
    ColumnKind,
    Report,
    ReportCell,
    Row,
    Section,
    chosen_condition,
)
from reports.support_scores import RunSupportScores, support_rows
from web.consistent_read import consistent_read
from web.templatetags.assay import words

TITLE = "Leaderboard"
SIGNIFICANT = 0.05
INTERVAL = "interval"
"""The column of the chosen score's interval."""
TEXTS = (("run_id", "Run"), ("group", "Group"), ("task", "Task"))
COUNTS = ("topics", "judged", "failed", "unjudged", "excluded", "missing")
SCORED = "scored"
SUPPORT_TOPICS = ("precision_topics", "recall_topics")
"""Keys of the numbers of topics behind a figure: pages grey it by them, files leave them out."""
SUPPORT_COLUMNS = (
    Column("weighted_precision", "Support precision", ColumnKind.FINE_SCORE, topics="precision_topics"),
    Column("weighted_recall", "Support recall", ColumnKind.FINE_SCORE, topics="recall_topics"),
    Column("sentences", "Sentences", ColumnKind.MEAN, topics="recall_topics"),
)
PAPER = {
    "run_id": "Run",
    "vital_strict": "Vital strict",
    "vital": "Vital",
    "weighted_strict": "Weighted strict",
    "weighted": "Weighted",
    "all_strict": "All strict",
    "all": "All",
    "length": "Words",
    "weighted_precision": "Precision",
    "weighted_recall": "Recall",
    "sentences": "Sentences",
}
"""The columns of a paper's table. Counts and the interval stay out: the table has to fit a page's width."""


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
class TagColumn:
    """The chosen score of every run over the `topics` scored topics of one tag; None where it is undefined."""

    tag: str
    topics: int
    by_run: dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Standings:
    """All runs under one condition, and when this was computed; `by_tag`: the chosen score, tag by tag."""

    board: Leaderboard
    rows: tuple[ScoreRow, ...]
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
        # By the corrected p alone: of a hundred uncorrected tests five say "differs" by chance.
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
        # Each test stands in the table twice, once from either run.
        return sum(comparison.p is not None for row in self.rows for comparison in row) // 2


@dataclass(frozen=True, kw_only=True)
class LeaderboardReport(Report):
    """`support_message` says why support is not shown; `shown` are the runs of the chosen group and task."""

    form: LeaderboardForm
    support_message: str = ""
    standings: Standings | None = None
    shown: tuple[ScoreRow, ...] = ()
    support: CitationCondition | None = None
    compared: Comparisons | None = None

    @property
    def is_unfolded(self) -> bool:
        return bool(self.message or self.support_message)

    @property
    def ranking(self) -> Chart | None:
        return self.section("ranking").chart

    @property
    def lines(self) -> list[tuple[Row, list[ReportCell]]]:
        return list(zip(self.runs.rows, self.runs.cells(self.runs.rows), strict=True))

    @property
    def by_tag(self) -> list[tuple[str, list[tuple[float | None, int]]]]:
        """The runs shown, each with its mean of the chosen score over each tag's topics, and how many these are."""
        tags = self.standings.by_tag if self.standings else ()
        return [
            (row["run_id"], [(tag.by_run.get(row["run_id"]), tag.topics) for tag in tags])
            for row in self.runs.rows
        ]

    @property
    def runs(self) -> Section:
        return self.section("runs")

    @cached_property
    def _sections(self) -> list[Section]:
        if self.standings is None:
            return []
        found, board = self.standings, self.standings.board
        document = scores_document(board)
        judged = f"nuggets {document['nuggets']}, labels by {document['judge']}"
        runs = Section(
            name="runs",
            title="Runs",
            columns=_columns(found.score, with_support=self.support is not None),
            rows=self.shown,
            closing=[{"run_id": name, SCORED: board.topics} | ends for name, ends in board.summary.items()],
            topics=SCORED,
            aside=(SCORED, INTERVAL, *SUPPORT_TOPICS),
            file_name="leaderboard",
            paper={name: PAPER[name] for name in PAPER if self.support or name not in SUPPORT_NAMES},
            comment=f"{document['condition']}, {judged}; policies {listed_policies(document['policies'])}",
        ).ordered(self.form.chosen["sort"] or f"-{found.score}", ties="run_id")
        document |= {
            "runs": runs.file_rows,
            "score": found.score,
            "tag": self.form.chosen["tag"] or None,
            "by_tag": {tag.tag: {"topics": tag.topics, "runs": tag.by_run} for tag in found.by_tag},
            "support": str(self.support) if self.support else None,
            "comparisons": _comparison_rows(self.compared) if self.compared else None,
        }
        chart = Chart(
            alt=f"{len(runs.rows)} runs by {words(found.score)}, each with its interval.",
            draw=lambda dark: charts.ranking(runs.rows, found.score, dark=dark),
            note="Points: the mean over topics, by task. Lines: 95 % intervals.",
        )
        return [replace(runs, document=document), Section("ranking", "", (), (), chart=chart)]


def leaderboard_page(campaign: Campaign, query: QueryDict) -> LeaderboardReport:
    """Return the leaderboard that the query string names, or that of the first condition that has labels."""
    form = LeaderboardForm(query, campaign)
    if not form.is_valid():
        return LeaderboardReport(form=form, title=TITLE, message=WRONG_CHOICE)
    try:
        choice = chosen_condition(campaign, form)
    except Refused as refused:
        return LeaderboardReport(form=form, title=TITLE, message=refused.message)
    support, support_message = None, ""
    if form.chosen_support is not None:
        try:
            support = resolve_citations(campaign, form.chosen_support, judge=form.chosen["support_judge"])
        except Refused as refused:
            # Support stands beside the nugget scores: that several of its judges fit must not hide the board.
            support_message = refused.message
    wanted = Wanted(
        choice, form.policies, support, form.support_policies, form.chosen["score"], form.chosen["tag"]
    )
    found = standings(wanted)
    group, task = form.chosen["group"], form.chosen["task"]
    shown = [row for row in found.rows if group in ("", row["group"]) and task in ("", row["task"])]
    compared = comparisons(wanted, tuple(row["run_id"] for row in shown)) if form.chosen["compare"] else None
    return LeaderboardReport(
        form=form,
        title=TITLE,
        support_message=support_message,
        standings=found,
        shown=tuple(shown),
        support=support,
        compared=compared,
    )


def _columns(score: str, *, with_support: bool) -> tuple[Column, ...]:
    found = [
        Column(key, caption, ColumnKind.RUN if key == "run_id" else ColumnKind.TEXT) for key, caption in TEXTS
    ]
    for name in SCORE_NAMES:
        caption = words(name).capitalize()
        found.append(Column(name, caption, ColumnKind.FINE_SCORE, primary=name == score))
        if name == score:
            found.append(Column(INTERVAL, "95 % interval", ColumnKind.INTERVAL))
    found.append(Column(LENGTH, "Words", ColumnKind.MEAN, primary=score == LENGTH))
    if score == LENGTH:
        found.append(Column(INTERVAL, "95 % interval", ColumnKind.INTERVAL))
    if with_support:
        found += SUPPORT_COLUMNS
    return (*found, *(Column(name, name.capitalize(), ColumnKind.COUNT) for name in COUNTS))


@cached_report(size=64)
def standings(wanted: Wanted) -> Standings:
    with consistent_read():
        board = leaderboard(wanted.choice, wanted.policies, wanted.tag)
        table = _table(wanted)
        by_tag = _by_tag(wanted)
        support = _support_rows(wanted)
    # Over the condition's own topics, as the means beside them are.
    low, high = mean_intervals(table.values[table.topics])
    ends = {run: (defined(low[place]), defined(high[place])) for place, run in enumerate(table.run_ids)}
    rows = tuple(_standing(row, *ends[row["run_id"]], wanted, support.get(row["run_id"])) for row in board.rows)
    return Standings(board, rows, wanted.score, timezone.now(), by_tag)


def _standing(
    row: ScoreRow, low: float | None, high: float | None, wanted: Wanted, support: RunSupportScores | None
) -> ScoreRow:
    ends = {"low": low, "high": high, INTERVAL: None if low is None else (low, high), SCORED: row["topics"]}
    if wanted.support is None:
        return row | ends
    return row | ends | {name: getattr(support, name, None) for name in (*SUPPORT_NAMES, *SUPPORT_TOPICS)}


def _support_rows(wanted: Wanted) -> dict[str, RunSupportScores]:
    if wanted.support is None:
        return {}
    rows = support_rows(wanted.support, wanted.support_policies, wanted.tag)
    return {row.run_id: row for row in rows}


def _table(wanted: Wanted) -> ScoreTable:
    return score_table(tagged_assignments(wanted.choice, wanted.tag), wanted.score, wanted.policies)


def _by_tag(wanted: Wanted) -> tuple[TagColumn, ...]:
    """Return the mean of the chosen score over each tag's topics, whichever tag is chosen."""
    table = score_table(assignment_sheet(wanted.choice), wanted.score, wanted.policies)
    columns = []
    for tag, topics in topics_by_tag(wanted.campaign).items():
        rows = table.topics & rows_of(table.topic_ids, topics)
        means = column_means(table.values, rows)
        by_run = {run: defined(mean) for run, mean in zip(table.run_ids, means, strict=True)}
        columns.append(TagColumn(tag, int(rows.sum()), by_run))
    return tuple(columns)


@cached_report(size=32)
def comparisons(wanted: Wanted, runs: tuple[str, ...]) -> Comparisons:
    """Test every two of the named runs, of more than `MOST_RUNS` the best."""
    with consistent_read():
        table = _table(wanted)
    columns = [place for place, run in enumerate(table.run_ids) if run in set(runs)]
    values = table.values[table.topics][:, columns]
    # Tests grow with the square of the runs, and each makes Holm's correction harsher for all: only the best compete.
    scored, best = len(best_first(values, len(columns))), best_first(values)
    names = tuple(table.run_ids[columns[place]] for place in best)
    tests = paired_tests(values[:, best])
    rows = tuple(_compared(tests, names, place) for place in range(len(names)))
    return Comparisons(names, rows, tests.exact, max(0, scored - MOST_RUNS))


def _compared(tests: PairTests, names: tuple[str, ...], place: int) -> tuple[Comparison, ...]:
    return tuple(
        Comparison(
            other=other,
            difference=defined(tests.difference[place, column]),
            p=defined(tests.p[place, column]),
            adjusted=defined(tests.adjusted[place, column]),
            topics=int(tests.topics[place, column]),
        )
        for column, other in enumerate(names)
    )


def _comparison_rows(found: Comparisons) -> list[dict[str, Any]]:
    """Return every two runs once: the one with the higher mean first where they differ."""
    return [
        {"run_id": run} | asdict(comparison)
        for place, (run, row) in enumerate(found.by_run)
        for comparison in row[place + 1 :]
    ]
