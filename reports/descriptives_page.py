"""Descriptives: the published table for every nugget set and condition, and the distributions behind its means."""

from functools import lru_cache
from typing import Any

from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from evaluation.domain.shared_topics import Topics
from evaluation.models import Campaign, NuggetList
from evaluation.models.campaigns import RevisionKey
from reports import charts_reports as charts
from reports.building import SPREAD_COLUMNS, WRONG_CHOICE, columns, histogram_rows, sentences, spread_row, tag_said
from reports.describing import DescriptiveRow, NuggetSizes, descriptives, sizes
from reports.report_forms import DescriptivesForm
from reports.showing import OVERVIEW, Figures, Found, Kind, Picture, ReportPage, Row, isolated
from web.phrases import Phrase, phrase, plural
from web.reading import consistent_read

TITLE = _("Descriptives")
LABELS = ("support", "partial support", "not support")
COLUMNS = columns(
    ("name", _("Condition or set")),
    ("nuggets", _("Nugget set")),
    ("judge", _("Labels by")),
    ("topics", _("Topics"), Kind.COUNT),
    ("nuggets_per_topic", _("Nuggets per topic"), Kind.MEAN),
    ("words_per_nugget", _("Words per nugget"), Kind.MEAN),
    ("vital", _("Vital"), Kind.SHARE),
    ("okay", _("Okay"), Kind.SHARE),
    ("unknown", _("Unknown"), Kind.SHARE),
    ("not_support", _("Not"), Kind.SHARE),
    ("partial_support", _("Partial"), Kind.SHARE),
    ("support", _("Support"), Kind.SHARE),
    ("labels", _("Labels"), Kind.COUNT),
    screen="nuggets judge unknown labels",
)


def descriptives_page(campaign: Campaign, query: QueryDict) -> ReportPage:
    """Return the descriptives of the topics that the query string names, or of all."""
    form = DescriptivesForm(query, campaign)
    if not form.is_valid():
        return ReportPage(form, TITLE, WRONG_CHOICE)
    found = _found(campaign, form.said["tag"], form.said["listed_in"], campaign.revision_key)
    return ReportPage(form, TITLE, found=found, query=query)


@lru_cache(maxsize=16)
def _found(campaign: Campaign, tag: str, listed_in: str, _state: RevisionKey) -> Found:
    with consistent_read():
        topics = chosen_topics(campaign, tag, listed_in)
        rows, measured = descriptives(campaign, topics), sizes(campaign, topics)
    all_topics = campaign.topics.count() if topics is None else len(topics)
    facts = sentences(
        phrase(plural("%(number)s topic.", "%(number)s topics.", all_topics), number=f"{all_topics:,}"),
        tag_said(tag),
        phrase(_("Only topics for which %(nuggets)s has a list."), nuggets=isolated(listed_in))
        if listed_in
        else "",
        _("Nuggets per topic count empty lists; words and importance are over nuggets, labels over those given."),
    )
    per_topic = _distribution("sizes", _("Nuggets per topic"), "topics", measured, "per_topic")
    words = _distribution("words", _("Words per nugget"), "nuggets", measured, "words")
    return Found(facts, (_overview(rows), per_topic, words), timezone.now())


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
        title=_("Nugget sets and conditions"),
        columns=COLUMNS,
        rows=shown,
        note=_("Every nugget set, then every condition in which somebody has judged."),
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


def labels_alt(conditions: int) -> Phrase:
    """Say what a picture of labels by condition shows."""
    said = plural(
        "Shares of the labels in %(number)s condition.",
        "Shares of the labels in %(number)s conditions.",
        conditions,
    )
    return phrase(said, number=f"{conditions:,}")


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
        note=_("Labels by condition."),
    )


def _distribution(name: str, title: str, of: str, measured: tuple[NuggetSizes, ...], values: str) -> Figures:
    series = [(one.nuggets, getattr(one, values)) for one in measured]
    bars = histogram_rows(series)
    picture = Picture(
        alt=phrase(
            plural(
                "%(title)s of %(number)s nugget set, as histograms.",
                "%(title)s of %(number)s nugget sets, as histograms.",
                len(series),
            ),
            title=phrase(title),
            number=f"{len(series):,}",
        ),
        draw=lambda dark: charts.histograms(bars, title.lower(), of, dark=dark),
    )
    return Figures(
        name=name,
        title=title,
        columns=columns(("nuggets", _("Nugget set")), *SPREAD_COLUMNS),
        rows=[spread_row({"nuggets": one}, counts) for one, counts in series],
        picture=picture if bars else None,
        topics="n" if of == "topics" else None,
    )
