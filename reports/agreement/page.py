"""Agreement page of a query string, or the reason why it is empty."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from evaluation.domain.conditions import Choice, CitationCondition, NuggetCondition
from evaluation.errors import Refused
from evaluation.models import Campaign
from evaluation.terms import Condition, SupportCondition
from reports import charts
from reports.agreement.figures import (
    AgreementRequest,
    Correlation,
    Side,
    agreement_by_tag,
    confusion_of,
    correlate,
    correlation_document,
    correlation_rows,
    curve_of,
    is_binned,
    shown_correlation,
)
from reports.confusion.paired_labels import ConfusionReport, HeatRow, heat_rows, side_label, without_nuggets
from reports.document import (
    TOPICS,
    Conditions,
    Document,
    Option,
    chosen_labels,
    policies_of,
    policy_line,
    policy_options,
    side_options,
)
from reports.forms import AgreementForm, external_names
from reports.leaderboard.scores import ALL_SCORES
from reports.metrics.agreement import ALL_TOPIC_RUN, LEVELS, RUN_LEVEL, TOPIC_AVERAGE
from reports.metrics.bootstrap import RESAMPLES, CurvePoint
from reports.metrics.intervals import Interval
from reports.metrics.kendall import Ties
from reports.metrics.policies import listed_policies, policies_document
from reports.metrics.scores import SCORE_NAMES
from reports.metrics.support import SUPPORT_NAMES
from reports.registry import Choices, document, report
from reports.report import WRONG_CHOICE, Chart, Report, Section, TakeOut, columns, has_tau, why_no_tau
from web.templatetags.assay import words

LEVEL_NAMES = {
    "run_level": "Over run means",
    "topic_average": "Mean over topics",
    "all_topic_run": "Over all topic-run pairs",
}
COUNTED = {RUN_LEVEL: "runs", TOPIC_AVERAGE: "topics", ALL_TOPIC_RUN: "pairs"}
TAU_COLUMNS = columns(
    ("level", "Level"),
    ("tau_b", "Tau-b"),
    ("n", "n"),
    ("low", "Low"),
    ("high", "High"),
    ("discordant", "Discordant"),
    ("note", "Note"),
)
BY_TOPICS = "Rank agreement by number of topics"
CURVE_COLUMNS = columns(
    ("topics", "Topics"), ("mean", "Mean tau-b"), ("low", "Low"), ("high", "High"), ("samples", "Subsets")
)
RESAMPLED = Option(
    "resamples",
    f"resamples of topics for the intervals of two levels, seeded (default {RESAMPLES})",
    default=RESAMPLES,
    is_count=True,
    in_api=False,
)
WHOLE = "whole"
"""Asks in a query string for the interval that a page with very many answers leaves pending."""


@dataclass(frozen=True, slots=True)
class Tau:
    """One of the three taus with what it rests on. `is_pending`: its interval is not computed yet.

    `topics`: None where one side is a published table. `hidden`: why the page does not show it.
    """

    name: str
    value: float | None
    n: str
    ties: Ties
    discordant: int
    interval: Interval | None
    topics: int | None
    hidden: str | None
    is_pending: bool = False
    undefined_topics: int = 0
    is_pooled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementReport(Report):
    """Agreement of the two sides of a request; without a correlation, `refused` says why."""

    form: AgreementForm
    title: str = "Rank agreement"
    requested: AgreementRequest | None = None
    correlation: Correlation | None = None
    confusion: ConfusionReport | None = None

    @property
    def taus(self) -> list[Tau]:
        correlation = self.correlation
        return [_tau(correlation, level) for level in LEVELS] if correlation else []

    @property
    def side_words(self) -> str:
        x, y = (side if isinstance(side, str) else side.condition.words for side in self._sides)
        # A published table has a name, and a name keeps its case.
        return f"{x} against {y if isinstance(self._sides[1], str) else y[:1].lower() + y[1:]}"

    @property
    def label_kind(self) -> str:
        is_of_citations = any(isinstance(side, CitationCondition) for side in self._sides)
        return "citation label" if is_of_citations else "nugget label"

    @property
    def take_out(self) -> list[TakeOut]:
        correlation = self.correlation
        if correlation is None:
            return []
        parts = [TakeOut("taus", "Figures", is_table=True)]
        if correlation.points:
            parts.append(TakeOut("answers", "Single answers", is_table=True))
        if correlation.has_picture:
            parts.append(TakeOut("scatter", "Scatter", is_picture=True))
        if self.curve:
            parts.append(TakeOut("topics", BY_TOPICS, is_table=True, is_picture=bool(self.shown_curve)))
        return parts

    @property
    def sides(self) -> list[tuple[str, str]]:
        texts = (
            f"the published table {side}" if isinstance(side, str) else side_label(side) for side in self._sides
        )
        return list(zip("xy", texts, strict=False))

    @property
    def is_binned(self) -> bool:
        return self.correlation is not None and is_binned(self.correlation.points)

    @property
    def curve(self) -> tuple[CurvePoint, ...]:
        return curve_of(self.requested) if self.requested and self.form.chosen["curve"] else ()

    @property
    def shown_curve(self) -> tuple[CurvePoint, ...]:
        return self._enough(self.curve)

    def _enough(self, points: Sequence[CurvePoint]) -> tuple[CurvePoint, ...]:
        runs = self.correlation.agreement.runs if self.correlation else 0
        return tuple(point for point in points if has_tau(runs, point.topics))

    @property
    def topics(self) -> int | None:
        correlation = self.correlation
        return None if correlation is None or correlation.published else correlation.agreement.topics

    @property
    def by_tag(self) -> tuple[tuple[str, Correlation], ...]:
        """The three taus tag by tag; nothing where only one tag's topics are looked at."""
        return agreement_by_tag(self.requested) if self.requested and not self.requested.tag else ()

    @property
    def heat(self) -> list[HeatRow]:
        return heat_rows(self.confusion) if self.confusion else []

    @property
    def bare(self) -> list[str]:
        return without_nuggets(*self._sides)

    @property
    def judged_by(self) -> tuple[str, str]:
        x, y = ((side.judges_text or "") if isinstance(side, Choice) else "" for side in self._sides or ("", ""))
        return x, y

    @property
    def _sides(self) -> tuple[Side, ...]:
        return (self.requested.x, self.requested.y) if self.requested else ()

    @property
    def labels_link(self) -> str:
        """The query string of the confusion page for the same two sides and judges."""
        data = self.form.data
        sides = dict(zip(("rows", "columns"), map(str, self._sides), strict=False))
        # A confusion takes one nugget set for both sides, because both label the same nuggets.
        same = {"rows_judge": "x_judge", "columns_judge": "y_judge", "nuggets": "x_nuggets", "tag": "tag"}
        return urlencode(sides | {name: data[field] for name, field in same.items() if data.get(field)})

    @property
    def pairings(self) -> list[tuple[str, str, str, bool]]:
        """Published pairings, one click away: two sides, the score they are shown for first, and whether they are."""
        here = (self.form.data.get("x"), self.form.data.get("y"))
        return [(x, y, _first_score(x), (x, y) == here) for x, y in self.form.offered.pairings()]

    @property
    def scatter(self) -> Chart | None:
        return self.section("scatter").chart

    @property
    def topics_chart(self) -> Chart | None:
        return self.section("topics").chart

    def section(self, name: str) -> Section:
        """Return the taus, the single answers, tau by topics or the scatter. Raises `Refused` without a correlation.

        Each is computed when it is asked for: subsets of topics and the pooled interval take seconds.
        """
        correlation, requested = self.correlation, self.requested
        if correlation is None or requested is None:
            raise self.without_figures
        policies = policies_document(correlation.policies)
        comment = (
            f"{correlation.x} against {correlation.y}, {correlation.score}; policies {listed_policies(policies)}"
        )
        head = {"x": correlation.x, "y": correlation.y, "score": correlation.score, "policies": policies}
        if name == "taus":
            whole = shown_correlation(requested, whole=True)
            document = correlation_document(whole) | {"by_run": [asdict(run) for run in correlation.runs]}
            rows = correlation_rows(whole)
            return Section(name, "", TAU_COLUMNS, rows, document=document, comment=comment, file_name="agreement")
        if name == "answers":
            answer_columns = columns(
                ("run_id", "Run"), ("topic_id", "Topic"), ("x", correlation.x), ("y", correlation.y)
            )
            rows = [asdict(point) for point in correlation.points]
            document = head | {"answers": rows}
            return Section(name, "", answer_columns, rows, document=document, comment=comment, file_name="answers")
        if name == "topics":
            return self._by_topics(curve_of(requested), head, comment)
        answers = "Small: single answers."
        if self.is_binned:
            answers = f"Shaded: {len(correlation.points):,} single answers, counted in cells."
        chart = Chart(
            alt=f"Scatter of {correlation.x} against {correlation.y}, {words(correlation.score)}: "
            f"{len(correlation.runs)} runs, {len(correlation.points):,} single answers behind them.",
            draw=lambda dark: charts.scatter(correlation, dark=dark),
            note=f"Large: runs, by task. {answers} On the dashed line both conditions score the same.",
        )
        return Section("scatter", "", (), (), chart=chart if correlation.has_picture else None)

    def _by_topics(self, points: tuple[CurvePoint, ...], head: dict[str, Any], comment: str) -> Section:
        rows = [asdict(point) for point in points]
        # A file has every number of topics; the picture on the page begins where a tau is evidence.
        drawn = self._enough(points) if "enough" in self.query else points
        chart = Chart(
            alt=f"Tau of {head['x']} against {head['y']} by number of topics.",
            draw=lambda dark: charts.curve(drawn, dark=dark),
            note="Line: mean. Band: the central 95\N{NO-BREAK SPACE}% of the subsets.",
        )
        return Section(
            name="topics",
            title=BY_TOPICS,
            columns=CURVE_COLUMNS,
            rows=rows,
            chart=chart,
            document=head | {"points": rows},
            comment=comment,
            file_name="tau-by-topics",
        )


@report(
    "correlation",
    title="Rank agreement",
    form=AgreementForm,
    address="agreement/",
    template="reports/agreement.html",
    menu="Results",
    order=20,
    example="x=E/A&y=E/M&curve=on",
)
def agreement_page(campaign: Campaign, query: QueryDict) -> AgreementReport:
    """Return the agreement of the two conditions that the query string names, or the first two that have labels.

    Of very many answers, the interval of the pooled tau takes longest: its work grows with their square. The page
    leaves it pending and asks for it when it is shown.
    """
    form = AgreementForm(query, campaign)
    if not form.is_valid():
        return AgreementReport(form=form, refused=WRONG_CHOICE)
    try:
        x, y = form.side("x"), form.side("y")
        _check_score(x, y, form.chosen["score"])
        requested = AgreementRequest(
            campaign, x, y, form.chosen["score"], form.chosen_policies, form.chosen["tag"]
        )
        correlation = shown_correlation(requested, whole=WHOLE in query)
        confusion = confusion_of(requested)
    except Refused as refused:
        return AgreementReport(form=form, refused=refused)
    return AgreementReport(
        form=form, query=query, requested=requested, correlation=correlation, confusion=confusion
    )


def _correlation_options(conditions: Conditions, scores: tuple[str, ...]) -> tuple[Option, ...]:
    return (
        *side_options(conditions, "xy", published=True),
        Option("score", f"which score; default: {scores[0]}", scores, scores[0]),
        *policy_options(conditions),
        TOPICS,
        RESAMPLED,
    )


@document(
    "correlation", "Kendall's tau-b of two conditions, three ways.", _correlation_options(Condition, ALL_SCORES)
)
def correlation_report(campaign: Campaign, choices: Choices) -> Document:
    return _correlation(campaign, choices, Condition)


@document(
    "support-correlation",
    "Kendall's tau-b of two support conditions, three ways.",
    _correlation_options(SupportCondition, SUPPORT_NAMES),
)
def support_correlation_report(campaign: Campaign, choices: Choices) -> Document:
    return _correlation(campaign, choices, SupportCondition)


def _correlation(campaign: Campaign, choices: Choices, conditions: Conditions) -> Document:
    x, y = (_side(campaign, choices, side, conditions) for side in "xy")
    policies = policies_of(choices, conditions)
    correlation = correlate(campaign, x, y, choices["score"], policies, resamples=choices["resamples"])
    content, topics = correlation_document(correlation), correlation.agreement.topics
    pairs = f"{correlation.x} against {correlation.y}, {correlation.score}: {topics} common topics"
    # A published table has means only: that it shares no topic says nothing.
    if not correlation.published and not topics:
        pairs += "; no topic in common"
    rows = correlation_rows(correlation)
    notes = [f"{row['level']}: {row['note']}." for row in rows if row["note"]]
    lines = [{name: value for name, value in row.items() if name != "note"} for row in rows]
    return Document(content, rows, "\n".join([f"{pairs}. {policy_line(content)}", *notes]), lines)


def _side(campaign: Campaign, choices: Choices, side: str, conditions: Conditions) -> Side:
    name: str = choices[side]
    if name in list(conditions):
        return chosen_labels(campaign, choices, conditions, side)
    published = external_names(campaign)
    if name not in published:
        there = ", ".join([*conditions, *published])
        raise Refused("usage", f"No condition or published table {name}; there are: {there}.", field=side)
    return name


def _first_score(side: str) -> str:
    return SUPPORT_NAMES[0] if side in list(SupportCondition) else SCORE_NAMES[0]


def _check_score(x: Side, y: Side, score: str) -> None:
    """Raise `Refused` where the two sides are of two kinds, or have no such score."""
    kinds = {type(side) for side in (x, y) if isinstance(side, Choice)}
    if len(kinds) > 1:
        raise Refused("usage", "One side is of nuggets, the other of citations: choose both from one group.")
    if CitationCondition in kinds and score not in SUPPORT_NAMES:
        raise Refused("usage", "Citations have no nugget scores: choose weighted precision, recall or sentences.")
    if NuggetCondition in kinds and score in SUPPORT_NAMES:
        raise Refused("usage", f"{score.replace('_', ' ').capitalize()} is of citations: choose a nugget score.")


def _tau(correlation: Correlation, level: str) -> Tau:
    agreed = correlation.agreement
    n = f"{agreed.counted(level):,} {COUNTED[level]}"
    if level == RUN_LEVEL and correlation.own_topics:
        n += ", over all topics of each condition: {:,} and {:,}".format(*correlation.own_topics)
    topics = None if correlation.published else agreed.topics
    # Only the run level is hidden: the other two taus rest on answers, and are grey where their topics are few.
    return Tau(
        topics=topics,
        hidden=why_no_tau(agreed.runs, topics) if level == "run_level" else None,
        name=LEVEL_NAMES[level],
        value=getattr(agreed, level),
        n=n,
        ties=agreed.ties[level],
        discordant=agreed.discordant[level],
        interval=correlation.intervals.get(level),
        is_pending=level not in correlation.intervals,
        undefined_topics=agreed.undefined_topics if level == "topic_average" else 0,
        is_pooled=level == ALL_TOPIC_RUN,
    )
