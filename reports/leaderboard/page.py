"""Leaderboard: runs by score under one condition, with intervals, citation support, doubts, and tests of every two."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any, cast

from django.http import QueryDict
from django.utils import timezone

from evaluation.domain.conditions import CitationCondition, NuggetCondition, resolve_citations
from evaluation.errors import Refused, on_side
from evaluation.models import Campaign
from evaluation.terms import Condition
from reports import charts, needs
from reports.battles.corrected import TARGETS, THESE
from reports.battles.page import document_of, run_sections
from reports.cache import cached_report
from reports.document import (
    PROFILE,
    Document,
    chosen_labels,
    condition_options,
    nugget_policies,
    policy_line,
    policy_options,
)
from reports.forms import Option, ways_out
from reports.frames import assignment_sheet, rows_of, tagged_assignments, topics_by_tag
from reports.leaderboard.form import LeaderboardForm
from reports.leaderboard.samples import THRESHOLD, SampleRow, sample_rows
from reports.leaderboard.scores import (
    Comparisons,
    Leaderboard,
    ScoreRow,
    compare_runs,
    comparison_rows,
    leaderboard,
    scores_document,
    scores_rows,
)
from reports.metrics.agreement import score_table
from reports.metrics.arrays import column_means, defined
from reports.metrics.intervals import FEWEST_TOPICS, Interval, documents_of, mean_intervals
from reports.metrics.policies import Policies, SupportPolicies, policies_document
from reports.metrics.registry import BY_NAME, LENGTH, VIOLATIONS
from reports.metrics.scores import DOUBTS, doubts
from reports.metrics.support import MEASURES, PRECISION, RECALL, SUPPORT_NAMES
from reports.random_checks.corrected import CORRECTED_SCORES
from reports.random_checks.page import BoardLine, CheckedReport, ScoreAxis, corrected_checks, score_axis
from reports.registry import Choices, document, report_page
from reports.report import (
    NOTHING,
    WRONG_CHOICE,
    Chart,
    Column,
    ColumnKind,
    HeadMenu,
    ReportCell,
    ReportContent,
    Row,
    Section,
    choice_text,
    column_kind,
    columns,
    counted,
    of_kind,
    policies_text,
    sentences,
    tag_text,
    topics_with_nuggets,
)
from reports.support import SupportRow, support_rows
from web.consistent_read import consistent_read

TITLE = "Leaderboard"
COUNTS = ("topics", "judged", "failed", "unjudged", "excluded", "missing")
ALWAYS_SHOWN = (LENGTH, PRECISION, RECALL)


def topics_key(score: str) -> str:
    return f"{score}_topics"


SUPPORT_TOPICS = ("precision_topics", "recall_topics")
"""Keys of the numbers of topics behind a figure: pages grey it by them, files leave them out."""
SUPPORT_COLUMNS = tuple(
    Column(name, BY_NAME[name].words, column_kind(name), topics=topics_key(BY_NAME[name].part or "recall"))
    for name in SUPPORT_NAMES
)
TagLine = tuple[str, list[tuple[float | None, Interval, int]]]


@dataclass(frozen=True, slots=True)
class LeaderboardRequest:
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
    """The chosen score of every run over the `topics` scored topics of one tag, None where it is undefined."""

    tag: str
    topics: int
    by_run: dict[str, float | None]
    intervals: dict[str, Interval]


@dataclass(frozen=True, slots=True)
class Standings:
    """All runs under one condition, and when this was computed; `by_tag`: the chosen score, tag by tag."""

    board: Leaderboard
    rows: tuple[ScoreRow, ...]
    score: str
    at: datetime
    by_tag: tuple[TagColumn, ...] = ()
    samples: tuple[SampleRow, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LeaderboardReport(CheckedReport):
    """`support_refused` says why support is not shown; `shown` are the runs of the chosen group and task."""

    form: LeaderboardForm
    support_refused: Refused | None = None
    standings: Standings | None = None
    rows: tuple[ScoreRow, ...] = ()
    support: CitationCondition | None = None
    compared: Comparisons | None = None

    @property
    def ways_to_support(self) -> list[Option]:
        return ways_out(self.form, self.support_refused)

    @property
    def measure_text(self) -> str:
        return MEASURES[self.form.chosen["measure"]].text

    @property
    def names(self) -> set[str]:
        return {row["run_id"] for row in self.rows}

    @property
    def is_unfolded(self) -> bool:
        return bool(self.refused or self.support_refused)

    @property
    def score_words(self) -> str:
        return BY_NAME[self.runs_score].words

    @property
    def chosen_columns(self) -> list[str]:
        return [column.key for column in self.optional if column.key in self.form.chosen["columns"].split(".")]

    @cached_property
    def optional(self) -> list[Column]:
        apart = (*ALWAYS_SHOWN, "run_id", self.runs_score)
        return [column for column in self.runs.columns if column.key not in apart]

    @property
    def beside_heading(self) -> str:
        if self.standings is None:
            return ""
        every = len(self.standings.rows)
        of = f" of {every:,}" if len(self.rows) != every else ""
        return f"{counted(len(self.rows), 'run')}{of}, {topics_with_nuggets(self.standings.board.topics)}".rstrip(
            "."
        )

    @property
    def menus(self) -> list[HeadMenu]:
        """Optional columns, each with the address that shows or hides it."""
        if not self.rows or self.is_corrected:
            return []
        keys = self.chosen_columns
        links = []
        for column in self.optional:
            address = self.address_with(columns=".".join(sorted({*keys} ^ {column.key})) or NOTHING)
            links.append((address, column.caption, column.key in keys))
        return [HeadMenu("Columns", links, has_boxes=True)]

    @property
    def runs_score(self) -> str:
        return str(self.form.chosen["score"])

    @cached_property
    def headings(self) -> list[tuple[Column, str, str]]:
        keys = {*ALWAYS_SHOWN, *self.chosen_columns} - {self.runs_score}
        return [heading for heading in self.runs.headings if heading[0].key in keys]

    @property
    def score_heading(self) -> tuple[Column, str, str]:
        return next(heading for heading in self.runs.headings if heading[0].key == self.runs_score)

    @cached_property
    def _page_runs(self) -> Section:
        """The runs with the columns of the page alone: to put the others in words takes longer than to draw these."""
        keys = {"run_id", self.runs_score, *(column.key for column, _, _ in self.headings)}
        return replace(self.runs, columns=tuple(column for column in self.runs.columns if column.key in keys))

    @property
    def lines(self) -> list[BoardLine]:
        cells = self._page_runs.cells(self.runs.rows)
        return [self._line(row, line) for row, line in zip(self.runs.rows, cells, strict=True)]

    @property
    def closing_lines(self) -> list[tuple[str, ReportCell, list[ReportCell]]]:
        """The maximum, median and minimum over runs: name, chosen score, the other columns."""
        lines = []
        for row in reversed(self.runs.closing):
            [cells] = self._page_runs.cells([row])
            by_key = {cell.column.key: cell for cell in cells}
            lines.append((row["run_id"], by_key[self.runs_score], self._beside(by_key)))
        return lines

    def _line(self, row: Row, cells: list[ReportCell]) -> BoardLine:
        by_key = {cell.column.key: cell for cell in cells}
        return BoardLine(
            row=row,
            rank=self._ranks.get(row["run_id"]),
            name=by_key["run_id"],
            score=replace(by_key[self.runs_score], interval=None),  # the bar beside it shows that
            cells=self._beside(by_key),
            bars=[row["run_id"] in group for group in self.groups],
            doubts=[(name, row[name]) for name in DOUBTS if row[name]],
            axis=self.axis,
        )

    def _beside(self, by_key: dict[str, ReportCell]) -> list[ReportCell]:
        # Of nugget scores the chosen one alone shows its interval: choosing another is a click, and files have all.
        cells = [by_key[column.key] for column, _, _ in self.headings]
        return [cell if cell.column in SUPPORT_COLUMNS else replace(cell, interval=None) for cell in cells]

    @property
    def groups(self) -> tuple[frozenset[str], ...]:
        return self.compared.groups if self.compared else ()

    @cached_property
    def _ranks(self) -> dict[str, int]:
        """The place of every run with a score, controls too; equal scores share one."""
        rows = self.standings.rows if self.standings else ()
        scores = {row["run_id"]: row[self.runs_score] for row in rows if row[self.runs_score] is not None}
        better = BY_NAME[self.runs_score].is_better
        return {run: 1 + sum(better(other, score) for other in scores.values()) for run, score in scores.items()}

    @cached_property
    def axis(self) -> ScoreAxis:
        values = (row[name] for row in self.runs.rows for name in (self.runs_score, "low", "high"))
        return score_axis(values, is_fraction=BY_NAME[self.runs_score].is_fraction)

    @property
    def tags(self) -> list[tuple[list[TagColumn], list[TagLine]]]:
        """Tags over enough topics and those over few, each with the runs shown: mean, interval, number of topics."""
        every = self.standings.by_tag if self.standings else ()
        apart = [[tag for tag in every if (tag.topics < FEWEST_TOPICS) is few] for few in (False, True)]
        runs = [row["run_id"] for row in self.runs.rows]
        return [
            (tags, [(run, [(tag.by_run[run], tag.intervals[run], tag.topics) for tag in tags]) for run in runs])
            for tags in apart
        ]

    @property
    def effects(self) -> list[str]:
        counts = {name: sum(row[name] for row in self.rows) for name in DOUBTS}
        missing = "scored 0" if self.form.chosen.get("missing") == "zero" else "left out"
        without = self.standings.board.unscored_topics if self.standings else (0, "")
        return [
            f"{counted(counts['missing'], 'missing answer')} {missing}.",
            f"{counted(counts['unjudged'] + counts['failed'], 'label')} unjudged or failed, "
            f"{counted(counts['excluded'], 'answer')} left out for it.",
            f"{counted(without[0], 'topic')} without {without[1]}.",
        ]

    @property
    def runs(self) -> Section:
        return self.section("runs")

    @cached_property
    def _sections(self) -> list[Section]:
        if self.standings is None:
            return []
        table, board = self.standings, self.standings.board
        runs = Section(
            name="runs",
            title="Runs",
            columns=_columns(table.score, board, with_support=self.support is not None),
            rows=self.rows,
            closing=[
                {"run_id": name} | {topics_key(score): board.topics for score in board.names} | ends
                for name, ends in board.summary.items()
            ],
            topics=topics_key(table.score),
            aside=(*map(topics_key, board.names), *SUPPORT_TOPICS),
            template="reports/board.html",
            document=lambda: self._document(table, board),
        ).ordered(self.form.chosen["sort"] or _best_first(table.score), ties="run_id")
        sections = [runs, *self._picture(runs.rows, table.score), *self.corrected_sections]
        if table.samples:
            sections.append(self._samples(table))
        if table.by_tag:
            sections.append(
                Section("tags", f"{self.score_words} by topic tag", (), (), template="reports/tag_tables.html")
            )
        if self.form.chosen["compare"]:
            sections.append(
                Section("tests", f"All pairs: {self.score_words}", (), (), template="reports/tests.html")
            )
        return sections

    def _picture(self, rows: Sequence[Row], score: str) -> Iterator[Section]:
        # A file only: on the page each run's row has its own bar.
        if any(row[score] is not None for row in rows):
            words = BY_NAME[score].spoken
            chart = Chart(
                alt=f"{len(rows)} runs by {words}, each with its interval.",
                draw=lambda palette: charts.ranking(palette, rows, score, words),
            )
            yield Section("ranking", "Picture", (), (), chart=chart, shown=False)

    def _samples(self, table: Standings) -> Section:
        shown = {row["run_id"] for row in self.rows}
        return Section(
            name="samples",
            title=f"{self.score_words}: several answers to a topic",
            columns=columns(
                ("run_id", "Run", ColumnKind.RUN),
                *of_kind(ColumnKind.COUNT, topics="Topics", samples="Samples"),
                *of_kind(column_kind(table.score), mean="Mean", sd="Standard deviation"),
                ("consistency", "Consistency", ColumnKind.SHARE),
                ("pass_all", "All pass", ColumnKind.SHARE),
            ),
            rows=[row for row in table.samples if row["run_id"] in shown],
            topics="topics",
            note="Over the topics that a run answered several times. Consistency: share of pairs of samples with the "
            f"same label of a nugget. All pass: share of topics whose samples all score {THRESHOLD} or better.",
        )

    def _document(self, table: Standings, board: Leaderboard) -> dict[str, Any]:
        compared = self.compared if self.form.chosen["compare"] else None
        return scores_document(board) | {
            "runs": self.runs.file_rows,
            "score": table.score,
            "tag": self.form.chosen["tag"] or None,
            "by_tag": {
                tag.tag: {"topics": tag.topics, "runs": tag.by_run, "intervals": documents_of(tag.intervals)}
                for tag in table.by_tag
            },
            "support": str(self.support) if self.support else None,
            "measure": self.form.chosen["measure"] if self.support else None,
            "comparisons": comparison_rows(compared) if compared else None,
        }

    @property
    def facts(self) -> tuple[str, ...]:
        if self.standings is None:
            return ()
        board = self.standings.board
        policies = policies_text(policies_document(board.policies), board.choice.campaign)
        return sentences(choice_text(board.choice), policies, tag_text(self.form.chosen["tag"]))


def doubtful_answers(page: CheckedReport, run_id: str, doubt: str) -> list[tuple[str, int]]:
    """Return topic and number of the doubts that a mark in a run's row counts. Raises `KeyError` for no doubt."""
    if not isinstance(page, LeaderboardReport) or page.standings is None:
        return []
    board = page.standings.board
    with consistent_read():
        sheet = tagged_assignments(board.choice, page.form.chosen["tag"], board.policies.profile)
    counts = doubts(sheet, board.policies)[doubt]
    if run_id not in sheet.run_ids:
        return []
    of_run = counts[:, sheet.run_ids.index(run_id)].tolist()
    return [(topic, count) for topic, count in zip(sheet.topic_ids, of_run, strict=True) if count]


@report_page(
    "scores",
    title=TITLE,
    form=LeaderboardForm,
    address="leaderboard/",
    template="reports/checked.html",
    menu="Results",
    order=10,
    below=("doubts",),
    needs=(needs.RUNS, needs.LABELS_OR_VERDICTS),
    example="compare=on",
    kept="columns",
)
def leaderboard_page(campaign: Campaign, query: QueryDict) -> CheckedReport:
    form = LeaderboardForm(query, campaign)
    if not form.is_valid():
        return LeaderboardReport(form=form, title=TITLE, refused=WRONG_CHOICE, query=query)
    if form.is_of_battles:
        return battle_board(campaign, form, query)
    try:
        choice = form.resolve()
    except Refused as refused:
        return LeaderboardReport(form=form, title=TITLE, refused=refused, query=query)
    support, support_refused = None, None
    if form.chosen_support is not None:
        try:
            with on_side("support"):
                support = resolve_citations(campaign, form.chosen_support, judge=form.chosen["support_judge"])
        except Refused as refused:
            # Support stands beside the nugget scores: that several of its judges fit must not hide the board.
            support_refused = refused
    request = LeaderboardRequest(
        choice, form.policies, support, form.support_policies, form.chosen["score"], form.chosen["tag"]
    )
    table = standings(request)
    group, task = form.chosen["group"], form.chosen["task"]
    rows = [row for row in table.rows if group in ("", row["group"]) and task in ("", row["task"])]
    compared = comparisons(request, tuple(row["run_id"] for row in rows))
    # A check is of all its topics, and nobody says how long an answer is.
    has_checks = not request.tag and request.score in CORRECTED_SCORES
    return LeaderboardReport(
        form=form,
        title=TITLE,
        query=query,
        support_refused=support_refused,
        standings=table,
        rows=tuple(rows),
        support=support,
        compared=compared,
        checks=corrected_checks(choice, form.policies, request.score, form.chosen["target"]) if has_checks else (),
    )


@document(
    "scores",
    "Runs by nugget score under one condition.",
    (*condition_options(Condition), PROFILE, *policy_options(Condition)),
)
def scores_report(campaign: Campaign, choices: Choices) -> Document:
    condition = cast(NuggetCondition, chosen_labels(campaign, choices))
    board = leaderboard(condition, nugget_policies(campaign, choices))
    content = scores_document(board)
    # A line of a terminal has no room for the columns that only programs need.
    return Document(content, board.rows, policy_line(content), scores_rows(board))


def _best_first(score: str) -> str:
    return score if BY_NAME[score].lower_is_better else f"-{score}"


def _columns(score: str, board: Leaderboard, *, with_support: bool) -> tuple[Column, ...]:
    columns = [Column("run_id", "Run", ColumnKind.RUN)]
    columns += [Column(name, name.capitalize(), paper=False) for name in ("group", "task")]
    columns += [_score_column(name, column_kind(name), score) for name in board.names if name != LENGTH]
    if board.avoid_nuggets:
        # Beside scores that hold out what an answer must not contain.
        columns.append(Column(VIOLATIONS, BY_NAME[VIOLATIONS].words, column_kind(VIOLATIONS)))
    if with_support:
        columns += SUPPORT_COLUMNS
    columns.append(_score_column(LENGTH, ColumnKind.MEAN, score))
    return (*columns, *(Column(name, name.capitalize(), ColumnKind.COUNT, paper=False) for name in COUNTS))


def _score_column(name: str, kind: ColumnKind, primary: str) -> Column:
    return Column(name, BY_NAME[name].words, kind, primary=name == primary, topics=topics_key(name))


@cached_report(size=64)
def standings(request: LeaderboardRequest) -> Standings:
    with consistent_read():
        board = leaderboard(request.choice, request.policies, request.tag)
        by_tag = _by_tag(request)
        is_size = BY_NAME[request.score].is_size
        samples = () if is_size else sample_rows(request.choice, request.policies, request.score, request.tag)
        cited = support_rows(request.support, request.support_policies, request.tag) if request.support else ()
    support = {row["run_id"]: row for row in cited}
    rows = tuple(
        _standing(row, request, board.counted[row["run_id"]], support.get(row["run_id"], {})) for row in board.rows
    )
    return Standings(board, rows, request.score, timezone.now(), by_tag, tuple(samples))


def _standing(
    row: ScoreRow, request: LeaderboardRequest, counted: dict[str, int], support: SupportRow
) -> ScoreRow:
    ends = row["intervals"][request.score]
    standing = row | {"low": ends["low"], "high": ends["high"]}
    standing |= {topics_key(name): topics for name, topics in counted.items()}
    if request.support is None:
        return standing
    standing |= {name: support.get(name) for name in (*SUPPORT_NAMES, *SUPPORT_TOPICS)}
    return standing | {"intervals": row["intervals"] | support.get("intervals", {})}


def _by_tag(request: LeaderboardRequest) -> tuple[TagColumn, ...]:
    """Return the mean of the chosen score over each tag's topics, whichever tag is chosen."""
    table = score_table(
        assignment_sheet(request.choice, request.policies.profile), request.score, request.policies
    )
    columns = []
    for tag, topics in topics_by_tag(request.campaign).items():
        rows = table.topics & rows_of(table.topic_ids, topics)
        means = column_means(table.values, rows)
        by_run = {run: defined(mean) for run, mean in zip(table.run_ids, means, strict=True)}
        ends = mean_intervals(table.values[rows], BY_NAME[request.score].bounds)
        columns.append(TagColumn(tag, int(rows.sum()), by_run, dict(zip(table.run_ids, ends, strict=True))))
    return tuple(columns)


@cached_report(size=32)
def comparisons(request: LeaderboardRequest, runs: tuple[str, ...]) -> Comparisons:
    with consistent_read():
        sheet = tagged_assignments(request.choice, request.tag, request.policies.profile)
        table = score_table(sheet, request.score, request.policies)
    return compare_runs(table, runs, BY_NAME[request.score])


def battle_board(campaign: Campaign, form: LeaderboardForm, query: QueryDict) -> CheckedReport:
    chosen, condition = form.chosen, form.battle_condition
    target = chosen["target"] if chosen["target"] in TARGETS else THESE
    choices = {"set": chosen["set"], "condition": condition.value, "judge": chosen["judge"]}
    choices |= {"by": chosen["score"], "target": target}
    try:
        document = document_of(campaign, tuple(choices.items()))
    except Refused as refused:
        return CheckedReport(form=form, title=TITLE, refused=refused, query=query)
    runs = campaign.runs.all()
    for name in ("group", "task"):
        if chosen[name]:
            runs = runs.filter(**{name: chosen[name]})
    names = set(runs.values_list("run_id", flat=True))
    content = {**document.content, "runs": [row for row in document.content["runs"] if row["run_id"] in names]}
    facts = (f"{condition.words} ({condition}): {content['set']}.", *document.text.split("\n")[1:])
    sections = run_sections(campaign, content, "runs")[:1]
    return CheckedReport(form=form, title=TITLE, query=query, content=ReportContent(facts, sections))
