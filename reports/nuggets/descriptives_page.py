"""Descriptives: the published table for every nugget set and condition, and the distributions behind its means."""

from typing import Any

from django.http import QueryDict
from django.utils import timezone

from evaluation.domain.shared_topics import Topics
from evaluation.models import Campaign, NuggetList
from reports import charts
from reports.cache import cached_report
from reports.forms import DescriptivesForm
from reports.nuggets.descriptives import DescriptiveRow, NuggetSizes, descriptives, sizes
from reports.report import (
    OVERVIEW,
    SPREAD_COLUMNS,
    WRONG_CHOICE,
    ColumnKind,
    Figures,
    Picture,
    ReportContent,
    ReportPage,
    Row,
    columns,
    histogram_rows,
    isolated,
    sentences,
    spread_row,
    tag_text,
)
from web.consistent_read import consistent_read
from web.text import plural

TITLE = "Descriptives"
LABELS = ("support", "partial support", "not support")
COLUMNS = columns(
    ("name", "Condition or set"),
    ("nuggets", "Nugget set"),
    ("judge", "Labels by"),
    ("topics", "Topics", ColumnKind.COUNT),
    ("nuggets_per_topic", "Nuggets per topic", ColumnKind.MEAN),
    ("words_per_nugget", "Words per nugget", ColumnKind.MEAN),
    ("vital", "Vital", ColumnKind.SHARE),
    ("okay", "Okay", ColumnKind.SHARE),
    ("unknown", "Unknown", ColumnKind.SHARE),
    ("not_support", "Not", ColumnKind.SHARE),
    ("partial_support", "Partial", ColumnKind.SHARE),
    ("support", "Support", ColumnKind.SHARE),
    ("labels", "Labels", ColumnKind.COUNT),
    screen="nuggets judge unknown labels",
)


def descriptives_page(campaign: Campaign, query: QueryDict) -> ReportPage:
    form = DescriptivesForm(query, campaign)
    if not form.is_valid():
        return ReportPage(form, TITLE, WRONG_CHOICE)
    found = _found(campaign, form.chosen["tag"], form.chosen["listed_in"])
    return ReportPage(form, TITLE, found=found, query=query)


@cached_report(size=16)
def _found(campaign: Campaign, tag: str, listed_in: str) -> ReportContent:
    with consistent_read():
        topics = chosen_topics(campaign, tag, listed_in)
        rows, measured = descriptives(campaign, topics), sizes(campaign, topics)
    all_topics = campaign.topics.count() if topics is None else len(topics)
    facts = sentences(
        f"{all_topics:,} {plural(all_topics, 'topic')}.",
        tag_text(tag),
        f"Only topics for which {isolated(listed_in)} has a list." if listed_in else "",
        "Nuggets per topic count empty lists; words and importance are over nuggets, labels over those given.",
    )
    per_topic = _distribution("sizes", "Nuggets per topic", "topics", measured, "per_topic")
    words = _distribution("words", "Words per nugget", "nuggets", measured, "words")
    return ReportContent(facts, (_overview(rows), per_topic, words), timezone.now())


def chosen_topics(campaign: Campaign, tag: str, listed_in: str = "") -> Topics:
    """Return the primary keys of the topics with a tag that a set has a submitted list for; None for all."""
    if not tag and not listed_in:
        return None
    topics = campaign.topics.filter(tags__name=tag) if tag else campaign.topics.all()
    if listed_in:
        lists = NuggetList.objects.newest_submitted().filter(
            nugget_set__campaign=campaign, nugget_set__name=listed_in
        )
        topics = topics.filter(pk__in=lists.values("topic"))
    return frozenset(topics.values_list("pk", flat=True))


def _overview(rows: tuple[DescriptiveRow, ...]) -> Figures:
    shown = [_row(one) for one in rows]
    return Figures(
        name=OVERVIEW,
        title="Nugget sets and conditions",
        columns=COLUMNS,
        rows=shown,
        note="Every nugget set, then every condition in which somebody has judged.",
        picture=_label_picture([row for row in shown if row["labels"]]),
        topics="topics",
    )


def _row(one: DescriptiveRow) -> Row:
    stats, labels = one.statistics, one.labels
    row: dict[str, Any] = {"name": one.condition or one.nuggets, "nuggets": one.nuggets, "judge": one.judge}
    for name in ("topics", "nuggets_per_topic", "words_per_nugget", "vital", "okay", "unknown"):
        row[name] = getattr(stats, name)
    for name in ("not_support", "partial_support", "support", "labels"):
        row[name] = getattr(labels, name) if labels else None
    return row


def labels_alt(conditions: int) -> str:
    return f"Shares of the labels in {conditions:,} {plural(conditions, 'condition')}."


def _label_picture(rows: list[Row]) -> Picture | None:
    if not rows:
        return None
    bars = [
        {"name": f"{row['name']} by {row['judge']}", "part": part, "share": row[part.replace(" ", "_")]}
        for row in rows
        for part in LABELS
    ]
    return Picture(
        alt=labels_alt(len(rows)),
        draw=lambda dark: charts.stacked(bars, LABELS, "share of labels", dark=dark),
        note="Labels by condition.",
    )


def _distribution(name: str, title: str, of: str, measured: tuple[NuggetSizes, ...], values: str) -> Figures:
    series = [(one.nuggets, getattr(one, values)) for one in measured]
    bars = histogram_rows(series)
    picture = Picture(
        alt=f"{title} of {len(series):,} nugget {plural(len(series), 'set')}, as histograms.",
        draw=lambda dark: charts.histograms(bars, title.lower(), of, dark=dark),
    )
    return Figures(
        name=name,
        title=title,
        columns=columns(("nuggets", "Nugget set"), *SPREAD_COLUMNS),
        rows=[spread_row({"nuggets": one}, counts) for one, counts in series],
        picture=picture if bars else None,
        topics="n" if of == "topics" else None,
    )
