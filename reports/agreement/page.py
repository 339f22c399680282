"""Agreement page of a query string, or the reason why it is empty."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.html import format_html

from evaluation.domain.conditions import Choice, CitationCondition, NuggetCondition
from evaluation.errors import Refused
from evaluation.models import Campaign
from evaluation.terms import BattleCondition, Condition, SupportCondition
from reports import charts, needs
from reports.agreement.figures import (
    AgreementRequest,
    Correlation,
    Side,
    agreement_by_tag,
    coefficients_of,
    confusion_of,
    correlate,
    correlation_document,
    correlation_rows,
    curve_of,
    is_binned,
    shown_correlation,
)
from reports.confusion.paired_labels import ConfusionReport, heat_rows, side_label, without_nuggets
from reports.correlations import METHOD, OF_RBO, methods_of
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
from reports.metrics.agreement import ALL_TOPIC_RUN, LEVELS, RUN_LEVEL, TOPIC_AVERAGE
from reports.metrics.bootstrap import RESAMPLES
from reports.metrics.intervals import documents_of
from reports.metrics.policies import listed_policies, policies_document
from reports.metrics.registry import BY_NAME, SCORES, Profile, primary_of
from reports.metrics.sample_size import has_tau, why_no_tau
from reports.metrics.support import SUPPORT_NAMES
from reports.profiles import profile_of, usual_score
from reports.registry import Choices, document, report_page
from reports.report import (
    WRONG_CHOICE,
    Chart,
    ColumnKind,
    HeadMenu,
    Report,
    Rows,
    Section,
    columns,
    of_kind,
    sentences,
    tag_text,
)
from reports.terms import condition_words

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
TAG_COLUMNS = columns(
    ("tag", "Tag", ColumnKind.TAG),
    ("topics", "Topics", ColumnKind.COUNT),
    ("run_level", LEVEL_NAMES[RUN_LEVEL], ColumnKind.TAU),
    ("topic_average", LEVEL_NAMES[TOPIC_AVERAGE], ColumnKind.SCORE),
    ("all_topic_run", LEVEL_NAMES[ALL_TOPIC_RUN], ColumnKind.SCORE),
    ("pairs", "Pairs", ColumnKind.COUNT),
)
CURVE_COLUMNS = columns(
    ("topics", "Topics", ColumnKind.COUNT),
    *of_kind(ColumnKind.SCORE, mean="Mean", low="Low", high="High"),
    ("samples", "Subsets", ColumnKind.COUNT),
)
RESAMPLED = Option(
    "resamples",
    f"resamples of topics for the intervals of two levels, seeded (default {RESAMPLES})",
    default=RESAMPLES,
    is_count=True,
    in_api=False,
)
NUGGET_SCORES = tuple(score.name for score in SCORES if score.profile is not Profile.CITATIONS)
WHOLE = "whole"
"""Asks in a query string for the interval that a page with very many answers leaves pending."""


@dataclass(frozen=True, kw_only=True)
class AgreementReport(Report):
    """Agreement of the two sides of a request; without a correlation, `refused` says why."""

    form: AgreementForm
    title: str = "Rank agreement"
    intro: str = "reports/sides.html"
    requested: AgreementRequest | None = None
    correlation: Correlation | None = None
    confusion: ConfusionReport | None = None

    @property
    def heading(self) -> str:
        if not self._sides:
            return self.title
        x, y = (side if isinstance(side, str) else side.condition.words for side in self._sides)
        # A published table has a name, and a name keeps its case.
        second = y if isinstance(self._sides[1], str) else y[:1].lower() + y[1:]
        return format_html("<bdi>{} against {}</bdi>", x, second)

    @property
    def beside_heading(self) -> str:
        if not self.correlation:
            return ""
        codes = f" ({self.correlation.x}, {self.correlation.y})" if self.label_kind == "Nugget label" else ""
        return f"{self.title}, {BY_NAME[self.correlation.score].spoken}{codes}"

    @property
    def menus(self) -> list[HeadMenu]:
        """Published pairings, one click away, each with the score that it is shown by first."""
        here, links = (self.form.data.get("x"), self.form.data.get("y")), []
        unsaid = dict.fromkeys(f"{side}_{name}" for side in "xy" for name in ("judge", "nuggets"))
        for x, y in self.form.offered.pairings():
            address = self.address_with(x=x, y=y, score=usual_score(self.form.campaign, x), topics="all", **unsaid)
            links.append((address, f"{condition_words(x)} against {condition_words(y)}", (x, y) == here))
        # The papers' own choice: each condition over all of its topics.
        note = "As in the papers, run means are over all topics of each condition."
        return [HeadMenu("Published pairings", links, note)] if links else []

    @property
    def taus(self) -> list[dict[str, Any]]:
        correlation = self.correlation
        return [_tau(correlation, level) for level in LEVELS] if correlation else []

    @property
    def term(self) -> tuple[str, str]:
        return "rank-agreement", self.title

    @property
    def label_kind(self) -> str:
        is_of_citations = any(isinstance(side, CitationCondition) for side in self._sides)
        return "Citation label" if is_of_citations else "Nugget label"

    @property
    def sides(self) -> list[tuple[str, str]]:
        texts = (
            f"the published table {side}" if isinstance(side, str) else side_label(side) for side in self._sides
        )
        return list(zip(("x is", "y is"), texts, strict=False))

    @property
    def restrictions(self) -> str:
        common = self.correlation.agreement.topics if self.correlation else 0
        published = self.correlation is not None and self.correlation.published
        in_common = (
            ""
            if published and not common
            else f"{common:,} topics in common."
            if common
            else "No topic in common."
        )
        return " ".join(sentences(tag_text(self.requested.tag if self.requested else ""), in_common))

    @property
    def facts(self) -> tuple[str, ...]:
        return (*(f"{name} {side}." for name, side in self.sides), self.restrictions, self._policies)

    @property
    def _policies(self) -> str:
        if self.correlation is None:
            return ""
        return f"By {self.correlation.score}; policies {listed_policies(self._head['policies'])}."

    @property
    def topics(self) -> int | None:
        return self.correlation.topics if self.correlation else None

    @property
    def heat(self) -> list[dict[str, Any]]:
        return heat_rows(self.confusion) if self.confusion else []

    @property
    def bare(self) -> list[str]:
        return without_nuggets(*self._sides)

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

    def section(self, name: str) -> Section:
        # The file has the curve whether the page shows it or not.
        if name == "topics" and self.requested and self.correlation:
            return self._by_topics(self.requested, self.correlation)
        return super().section(name)

    @cached_property
    def _sections(self) -> list[Section]:
        correlation, requested = self.correlation, self.requested
        if correlation is None or requested is None:
            return []
        answers = columns(("run_id", "Run"), ("topic_id", "Topic"), ("x", correlation.x), ("y", correlation.y))
        points = correlation.points
        of_runs = [asdict(run) | {"difference": run.difference} for run in correlation.runs]
        sections = [
            Section(
                "taus",
                "Figures",
                TAU_COLUMNS,
                # Files have the interval of the pooled tau, for which a page with very many answers does not wait.
                Rows(len(LEVELS), lambda place: correlation_rows(shown_correlation(requested, whole=True))[place]),
                template="reports/taus.html",
                document=lambda: (
                    correlation_document(shown_correlation(requested, whole=True))
                    | {"by_run": [asdict(run) for run in correlation.runs]}
                ),
            ),
            Section(
                "answers",
                "Single answers",
                answers,
                Rows(len(points), lambda place: asdict(points[place])),
                shown=False,
                document=lambda: self._head | {"answers": [asdict(point) for point in points]},
            ),
            Section("scatter", "Scatter", (), (), chart=self._scatter, template="reports/scatter.html"),
        ]
        if not requested.tag and (by_tag := agreement_by_tag(requested)):
            sections.append(_tags(by_tag))
        if self.form.chosen["curve"]:
            sections.append(self._by_topics(requested, correlation))
        captions = {side: condition_words(getattr(correlation, side)) for side in "xy"}
        run_columns = columns(
            ("run_id", "Run", ColumnKind.RUN),
            ("task", "Task"),
            *of_kind(ColumnKind.SCORE, **captions),
            ("difference", "Difference", ColumnKind.SIGNED),
        )
        return [
            *sections,
            Section("runs", "Runs", run_columns, of_runs, topics=self.topics, empty="No run is in both."),
        ]

    @property
    def _head(self) -> dict[str, Any]:
        correlation = self.correlation
        if correlation is None:
            return {}
        policies = policies_document(correlation.policies)
        return {"x": correlation.x, "y": correlation.y, "score": correlation.score, "policies": policies}

    @property
    def _scatter(self) -> Chart | None:
        correlation = self.correlation
        if not correlation or all(run.difference is None for run in correlation.runs):
            return None
        answers = "Small: single answers."
        if is_binned(correlation.points):
            answers = f"Shaded: {len(correlation.points):,} single answers, counted in cells."
        return Chart(
            alt=f"Scatter of {correlation.x} against {correlation.y}, {BY_NAME[correlation.score].spoken}: "
            f"{len(correlation.runs)} runs, {len(correlation.points):,} single answers behind them.",
            draw=lambda palette: charts.scatter(palette, correlation),
            note=f"Large: runs, by task. {answers} On the dashed line both conditions score the same.",
        )

    def _by_topics(self, requested: AgreementRequest, correlation: Correlation) -> Section:
        points, runs = curve_of(requested), correlation.agreement.runs
        enough = [point for point in points if has_tau(runs, point.topics)]
        rows = [asdict(point) for point in points]
        chart = Chart(
            alt=f"Tau of {correlation.x} against {correlation.y} by number of topics.",
            # A file has every number of topics; the picture on the page begins where a tau is evidence.
            draw=lambda palette: charts.curve(palette, points if palette.fits else enough),
            note="Line: mean. Band: the central 95\N{NO-BREAK SPACE}% of the subsets.",
        )
        return Section(
            name="topics",
            title="Rank agreement by number of topics",
            columns=CURVE_COLUMNS,
            rows=rows,
            note="Over run means. From each number of topics 100 random subsets, drawn with a fixed seed: mean and "
            "central 95\N{NO-BREAK SPACE}%. Fewer than 5 topics are in the files only.",
            chart=replace(chart, shown=bool(enough)),
            on_page=lambda row: has_tau(runs, row["topics"]),
            empty="Shown from 5 runs and 5 topics on."
            if points
            else "This needs scores per topic on both sides, of two topics at least.",
            document=lambda: self._head | {"points": rows},
        )


def _tags(by_tag: Sequence[tuple[str, Correlation]]) -> Section:
    rows = [
        {"tag": tag, "topics": of_tag.topics, "runs": of_tag.agreement.runs}
        | {level: getattr(of_tag.agreement, level) for level in LEVELS}
        | {"pairs": of_tag.agreement.pairs, "intervals": documents_of(of_tag.intervals)}
        for tag, of_tag in by_tag
    ]
    note = (
        "Below a figure: 95\N{NO-BREAK SPACE}% interval for as many topics like these. With more topics, tau over run "
        "means and over all pairs would be higher."
    )
    return Section("tags", "Rank agreement by topic tag", TAG_COLUMNS, rows, note=note, topics="topics")


@report_page(
    "correlation",
    title="Rank agreement",
    form=AgreementForm,
    address="agreement/",
    menu="Results",
    order=20,
    needs=(needs.LABELS_OR_SCORES,),
    example="x=E/A&y=E/M&curve=on",
)
def agreement_page(campaign: Campaign, query: QueryDict) -> AgreementReport:
    """Return the agreement of the two conditions that the query string names, or the first two that have labels.

    Of very many answers, the interval of the pooled tau takes longest: its work grows with their square. The page
    leaves it pending and asks for it when it is shown.
    """
    form = AgreementForm(query, campaign)
    if not form.is_valid():
        return AgreementReport(form=form, refused=WRONG_CHOICE, query=query)
    try:
        x, y = form.side("x"), form.side("y")
        _check_score(x, y, form.chosen["score"])
        requested = AgreementRequest(
            campaign, x, y, form.chosen["score"], form.chosen_policies, form.chosen["tag"]
        )
        correlation = shown_correlation(requested, whole=WHOLE in query)
        confusion = confusion_of(requested)
    except Refused as refused:
        return AgreementReport(form=form, refused=refused, query=query)
    return AgreementReport(
        form=form, query=query, requested=requested, correlation=correlation, confusion=confusion
    )


def _correlation_options(conditions: Conditions, scores: tuple[str, ...]) -> tuple[Option, ...]:
    return (
        *side_options(conditions, "xy", others="or the name of a published table"),
        Option("score", "which score; the primary one where none is named", scores),
        *policy_options(conditions),
        TOPICS,
        RESAMPLED,
        replace(METHOD, text=f"of run means, x as the truth: {METHOD.text}"),
        OF_RBO,
    )


@document(
    "correlation", "Kendall's tau-b of two conditions, three ways.", _correlation_options(Condition, NUGGET_SCORES)
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
    policies = policies_of(campaign, choices, conditions)
    usual = primary_of(Profile.CITATIONS if conditions is SupportCondition else profile_of(campaign))
    score, methods = choices["score"] or usual, methods_of(choices)
    request = AgreementRequest(campaign, x, y, score, policies)
    correlation = correlate(request, resamples=choices["resamples"])
    content, topics = correlation_document(correlation), correlation.agreement.topics
    pairs = f"{correlation.x} against {correlation.y}, {correlation.score}: {topics} common topics"
    # A published table has means only: that it shares no topic says nothing.
    if not correlation.published and not topics:
        pairs += "; no topic in common"
    rows = correlation_rows(correlation)
    notes = [f"{row['level']}: {row['note']}." for row in rows if row["note"]]
    if figures := coefficients_of(correlation, methods):
        content["methods"] = {name: asdict(figure) for name, figure in figures.items()}
        for row in rows:
            is_of_runs = row["level"] == RUN_LEVEL
            row.update({name: figure.value if is_of_runs else None for name, figure in figures.items()})
        notes += [f"{name}: {figure.reason}." for name, figure in figures.items() if figure.reason]
    lines = [{name: value for name, value in row.items() if name != "note"} for row in rows]
    return Document(content, rows, "\n".join([f"{pairs}. {policy_line(content)}", *notes]), lines)


def _side(campaign: Campaign, choices: Choices, side: str, conditions: Conditions) -> Side:
    name: str = choices[side]
    if name in list(conditions):
        return chosen_labels(campaign, choices, side)
    published = external_names(campaign)
    if name in list(BattleCondition) and name not in published:
        text = f"{name} is of battles: their report has the tau with another condition."
        raise Refused("usage", text, field=side)
    if name not in published:
        there = ", ".join([*conditions, *published])
        raise Refused("usage", f"No condition or published table {name}; there are: {there}.", field=side)
    return name


def _check_score(x: Side, y: Side, score: str) -> None:
    """Raise `Refused` where the two sides are of two kinds, or have no such score."""
    kinds = {type(side) for side in (x, y) if isinstance(side, Choice)}
    if len(kinds) > 1:
        raise Refused("usage", "One side is of nuggets, the other of citations: choose both from one group.")
    if CitationCondition in kinds and score not in SUPPORT_NAMES:
        raise Refused("usage", "Citations have no nugget scores: choose precision, recall or sentences.")
    if NuggetCondition in kinds and score in SUPPORT_NAMES:
        raise Refused("usage", f"{score.replace('_', ' ').capitalize()} is of citations: choose a nugget score.")


def _tau(correlation: Correlation, level: str) -> dict[str, Any]:
    """Return one of the three taus with what it rests on.

    `hidden`: why the page does not show it; `is_pending`: the interval is not computed yet.
    """
    agreed = correlation.agreement
    n = f"{agreed.counted(level):,} {COUNTED[level]}"
    if level == RUN_LEVEL and correlation.own_topics:
        n += ", over all topics of each condition: {:,} and {:,}".format(*correlation.own_topics)
    # Only the run level is hidden: the other two taus rest on answers, and are grey where their topics are few.
    return {
        "topics": correlation.topics,
        "hidden": why_no_tau(agreed.runs, correlation.topics) if level == "run_level" else None,
        "name": LEVEL_NAMES[level],
        "value": getattr(agreed, level),
        "n": n,
        "ties": agreed.ties[level],
        "discordant": agreed.discordant[level],
        "interval": correlation.intervals.get(level),
        "is_pending": level not in correlation.intervals,
        "undefined_topics": agreed.undefined_topics if level == "topic_average" else 0,
        "is_pooled": level == ALL_TOPIC_RUN,
    }
