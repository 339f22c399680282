"""Time: how long topics took by stage, topic and assessor, against what the studies published."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from django import forms

from assessor.rules.clock import RULE_VERSION, SECOND, SHORTEST_LIMIT
from assessor.timing.times import TopicTime
from evaluation.models import Campaign
from evaluation.stages import STAGES, Stage
from reports import charts, needs
from reports.document import Document, Option
from reports.forms import ChoicesForm, tag_field
from reports.frames import tagged, topics_by_tag
from reports.registry import Choices, document, report
from reports.report import (
    OVERVIEW,
    Chart,
    ColumnKind,
    ReportContent,
    Row,
    Section,
    columns,
    counted,
    of_kind,
    sentences,
    tag_text,
)
from reports.timing.figures import (
    Words,
    idle_text,
    quantile,
    seconds,
    time_note,
    time_report,
    time_table,
    times_of,
    words_read,
)
from web.consistent_read import consistent_read

WORDS = {str(code): stage.words for code, stage in STAGES.items()}
HOUR = 3600
SPREAD = (
    *of_kind(ColumnKind.CLOCK, low_s="Low", point_s="Median", high_s="High", q1_s="q1", q3_s="q3", iqr_s="IQR"),
    ("words_per_minute", "Words per minute", ColumnKind.DECIMAL),
)


class TimeForm(ChoicesForm):
    tag = tag_field()
    idle = forms.IntegerField(
        required=False,
        min_value=30,
        max_value=3600,
        label="Idle limit in seconds; empty: from the words on screen",
    )


@report("time", title="Time", form=TimeForm, menu="Results", order=50, needs=(needs.WORK,))
def time_page(form: TimeForm) -> ReportContent:
    with consistent_read():
        return _content(form.campaign, form.chosen["tag"], form.chosen["idle"])


@document(
    "time",
    "How long topics took, by stage: median and quartiles of active time.",
    [
        Option(
            "idle",
            f"count gaps up to this many seconds, at least {SHORTEST_LIMIT}, instead of by the words on screen",
            default=None,
            is_count=True,
            metavar="SECONDS",
        )
    ],
)
def time_document(campaign: Campaign, choices: Choices) -> Document:
    content = time_report(campaign, choices["idle"])
    return Document(content, content["stages"], time_note(content), time_table(content))


def _content(campaign: Campaign, tag: str, idle: int | None) -> ReportContent:
    # Not cached: a beat at a desk adds time and leaves the campaign's revision, the key of every cache, as it is.
    topic_ids = tagged(campaign, tag)
    times = [
        time
        for time in times_of(campaign, idle)
        if time.timed.whole and (topic_ids is None or time.timed.topic_id in topic_ids)
    ]
    first = [time for time in times if time.timed.version == 1 and time.timed.submitted]
    topics, words = len({time.timed.topic_id for time in first}), words_read(campaign)
    facts = sentences(
        f"{counted(len(first), 'first submission')} of {counted(topics, 'topic')}.",
        f"Idle limit {idle_text(idle)}, rule {RULE_VERSION}.",
        tag_text(tag),
        "Low: without what is beyond the limit; high: with all of it. Published: an hour to edit a topic's drafts, "
        "two and a half to write its nuggets. Reworked and unfinished topics are in the last table only.",
    )
    tags = topics_by_tag(campaign)
    sections = [
        _stages(first, words),
        _assessors(first, words),
        *([_tags(first, words, tags)] if tags and first else []),
        _submissions(times, words),
    ]
    return ReportContent(facts, sections)


def _stages(first: Sequence[TopicTime], words: Words) -> Section:
    rows = []
    for stage, own in _by_stage(first).items():
        published = stage.published_s
        row: dict[str, Any] = {"stage": stage, "topics": len(own)} | _spread(own, words)
        times_published = row["point_s"] / published if published else None
        total = sum(seconds(time.times.active.point for time in own))
        rows.append(row | {"published_s": published, "of_published": times_published, "total_s": total})
    bars = [
        {
            "name": row["stage"],
            "low": row["low_s"] / HOUR,
            "point": row["point_s"] / HOUR,
            "high": row["high_s"] / HOUR,
            "published": row["published_s"] / HOUR if row["published_s"] else None,
        }
        for row in rows
    ]
    chart = Chart(
        alt=f"Hours per topic in {counted(len(bars), 'stage')}: low, median and high, and what was published.",
        draw=lambda palette: charts.spans(palette, charts.named(bars, WORDS, palette), "hours per topic"),
        note="Points: medians. Lines: from the median low to the median high. Upright: the published figure.",
        links={stage.words: f"../../work/?stage={stage}" for stage in STAGES.values()},
    )
    stage_columns = columns(
        ("stage", "Stage", ColumnKind.STAGE),
        ("topics", "Topics", ColumnKind.COUNT),
        *SPREAD,
        ("published_s", "Published", ColumnKind.CLOCK),
        ("of_published", "Of published", ColumnKind.SHARE),
        ("total_s", "Total", ColumnKind.CLOCK),
        primary="point_s",
    )
    return Section(
        OVERVIEW, "Active time per topic", stage_columns, rows, chart=chart if bars else None, topics="topics"
    )


def _assessors(first: Sequence[TopicTime], words: Words) -> Section:
    people: dict[tuple[str, str], list[TopicTime]] = defaultdict(list)
    for time in first:
        people[time.timed.assessor, time.timed.stage].append(time)
    rows: list[Row] = [
        {"assessor": name, "stage": stage, "topics": len(own)} | _spread(own, words)
        for (name, stage), own in sorted(people.items())
    ]
    assessor_columns = columns(
        ("assessor", "Assessor"),
        ("stage", "Stage", ColumnKind.STAGE),
        ("topics", "Topics", ColumnKind.COUNT),
        *SPREAD,
    )
    note = "Words per minute: words of the passages, answers or cited pairs of a topic per active minute, median."
    return Section("assessors", "Assessors", assessor_columns, rows, note=note, topics="topics")


def _tags(first: Sequence[TopicTime], words: Words, tags: dict[str, frozenset[str]]) -> Section:
    rows: list[Row] = []
    for tag, topics in tags.items():
        for stage, own in _by_stage([time for time in first if time.timed.topic_id in topics]).items():
            rows.append({"tag": tag, "stage": stage, "topics": len(own)} | _spread(own, words))
    tag_columns = columns(
        ("tag", "Tag"), ("stage", "Stage", ColumnKind.STAGE), ("topics", "Topics", ColumnKind.COUNT), *SPREAD
    )
    return Section("tags", "By topic tag", tag_columns, rows, topics="topics")


def _submissions(times: Sequence[TopicTime], words: Words) -> Section:
    rows = [
        {
            "topic_id": time.timed.topic_id,
            "stage": time.timed.stage,
            "assessor": time.timed.assessor,
            "version": time.timed.version,
            "submitted": "yes" if time.timed.submitted else "not yet",
            "low_s": time.times.active.low / SECOND,
            "point_s": time.times.active.point / SECOND,
            "high_s": time.times.active.high / SECOND,
            "wall_s": time.times.wall / SECOND,
            "words_per_minute": _pace(time, words),
        }
        for time in times
    ]
    submission_columns = columns(
        ("topic_id", "Topic", ColumnKind.TOPIC),
        ("stage", "Stage", ColumnKind.STAGE),
        ("assessor", "Assessor"),
        ("version", "Version", ColumnKind.COUNT),
        ("submitted", "Submitted"),
        *of_kind(ColumnKind.CLOCK, low_s="Low", point_s="Point", high_s="High", wall_s="Wall"),
        ("words_per_minute", "Words per minute", ColumnKind.DECIMAL),
        primary="point_s",
    )
    return Section("submissions", "Every topic, stage and assessor", submission_columns, rows)


def _by_stage(times: Sequence[TopicTime]) -> dict[Stage, list[TopicTime]]:
    by_stage = {stage: [time for time in times if time.timed.stage is stage] for stage in STAGES.values()}
    return {stage: own for stage, own in by_stage.items() if own}


def _spread(own: Sequence[TopicTime], words: Words) -> dict[str, Any]:
    """Return medians of low, point and high, the quartiles of the point, and the median pace; `own` is not empty."""
    point = seconds(time.times.active.point for time in own)
    paces = [pace for time in own if (pace := _pace(time, words)) is not None]
    q1, q3 = np.quantile(point, [0.25, 0.75]).tolist()
    return {
        "low_s": quantile(seconds(time.times.active.low for time in own), 0.5),
        "point_s": quantile(point, 0.5),
        "high_s": quantile(seconds(time.times.active.high for time in own), 0.5),
        "q1_s": q1,
        "q3_s": q3,
        "iqr_s": q3 - q1,
        "words_per_minute": quantile(paces, 0.5),
    }


def _pace(time: TopicTime, words: Words) -> float | None:
    minutes = time.times.active.point / SECOND / 60
    read = words.get((time.timed.topic_id, time.timed.stage), 0)
    # Unfinished work and rework took a part of the reading. A task whose texts are not loaded has no words.
    is_whole = time.timed.submitted and time.timed.version == 1
    return read / minutes if is_whole and minutes and read else None
