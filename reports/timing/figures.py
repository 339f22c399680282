"""Times of topics for the report and the exports: median and quartiles first, because times are skewed."""

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
from django.db.models import Sum, Value
from django.db.models.functions import Length, Replace

from assessor.models import WorkingSupport
from assessor.rules.clock import PUBLISHED_LIMITS, RULE_VERSION, SECOND, Stretch, fixed_limit, moment
from assessor.timing.times import SEGMENT_FIELDS, Timed, TopicTime, recorded_in, times_in
from evaluation.models import Campaign, Qrel, Task, TaskAnswer
from evaluation.stages import STAGES, Stage
from reports.files import Row
from web.csv_response import safe_cell

TIME_COLUMNS = (
    "campaign",
    "topic_id",
    "stage",
    "assessor",
    "version",
    "wall_s",
    "presence_s",
    "active_low_s",
    "active_point_s",
    "active_high_s",
    *(f"active_{seconds}_s" for seconds in PUBLISHED_LIMITS),
    "hidden_s",
    "paused_s",
    "offline_s",
    "blur_s",
    "sessions",
    "rework_s",
    "rule_version",
    "reading_s",
    "editing_s",
    "suspended_s",
    "submitted",
)
SEGMENT_COLUMNS = ("campaign", "topic_id", "stage", "assessor", "version", *SEGMENT_FIELDS)
Words = dict[tuple[str, Stage], int]
"""By topic id and stage."""


def time_report(campaign: Campaign, idle: int | None) -> dict[str, Any]:
    """Return `report time` as JSON: the stages, and the submissions they rest on.

    `idle` is a fixed idle limit in seconds, None the one that follows from the words on screen. Raises `Refused`
    for a limit that is too short.
    """
    times = times_of(campaign, idle)
    return {
        "idle": idle,
        "rule_version": RULE_VERSION,
        "stages": [
            _stage_row(stage, times)
            for stage in STAGES.values()
            if any(time.timed.stage is stage and time.timed.whole for time in times)
        ],
        "submissions": [time_row(time) for time in times],
    }


def times_of(campaign: Campaign, idle: int | None = None) -> list[TopicTime]:
    """Return the times of a campaign's submissions, `idle` a fixed limit in seconds. Raises `Refused` if too short."""
    return times_in(Campaign.objects.filter(pk=campaign.pk), fixed_limit(idle) if idle is not None else None)


def _stage_row(stage: Stage, times: Iterable[TopicTime]) -> dict[str, Any]:
    # Work after a reopening is apart, and so are a study's pairs: both are a part of a topic and would look quick.
    own = [time for time in times if time.timed.stage is stage and time.timed.whole]
    first = [time for time in own if time.timed.version == 1 and time.timed.submitted]
    reworked = [time for time in own if time.timed.version > 1]
    point = seconds(time.times.active.point for time in first)
    return {
        "stage": stage,
        "topics": len(first),
        "median_s": quantile(point, 0.5),
        "q1_s": quantile(point, 0.25),
        "q3_s": quantile(point, 0.75),
        "low_median_s": quantile(seconds(time.times.active.low for time in first), 0.5),
        "high_median_s": quantile(seconds(time.times.active.high for time in first), 0.5),
        "wall_median_s": quantile(seconds(time.times.wall for time in first), 0.5),
        "mean_s": float(np.mean(point)) if point else None,
        "total_s": sum(point),
        "unfinished": sum(not time.timed.submitted for time in own),
        "reworked": len(reworked),
        "rework_total_s": sum(seconds(time.times.active.point for time in reworked)),
    }


def seconds(milliseconds: Iterable[int]) -> list[float]:
    return [millisecond / SECOND for millisecond in milliseconds]


def quantile(values: Sequence[float], share: float) -> float | None:
    return float(np.quantile(values, share)) if values else None


def time_table(document: dict[str, Any]) -> list[Row]:
    return [
        {name.removesuffix("_s"): _clock(value) if name.endswith("_s") else value for name, value in row.items()}
        for row in document["stages"]
    ]


def _clock(seconds: float | None) -> str | None:
    return None if seconds is None else str(timedelta(seconds=round(seconds)))


def idle_text(idle: int | None) -> str:
    return "from the words on screen" if idle is None else f"{idle} s"


def time_note(document: dict[str, Any]) -> str:
    return (
        "Active time of first submissions, point estimate; q1 and q3 are the quartiles. "
        f"Idle limit {idle_text(document['idle'])}, rule {document['rule_version']}."
    )


def time_row(time: TopicTime) -> dict[str, Any]:
    times, point = time.times, time.times.active.point
    figures = {
        "wall": times.wall,
        "presence": times.presence,
        "active_low": times.active.low,
        "active_point": point,
        "active_high": times.active.high,
        **{f"active_{seconds}": at for seconds, at in times.at.items()},
        "hidden": times.hidden,
        "paused": times.paused,
        "offline": times.offline,
        "blur": times.blurred,
        "rework": point if time.timed.version > 1 else 0,
        "reading": times.reading,
        "editing": times.editing,
        "suspended": times.suspended,
    }
    row = _who(time.timed) | {f"{name}_s": value / SECOND for name, value in figures.items()}
    row |= {"sessions": times.sessions, "rule_version": RULE_VERSION, "submitted": time.timed.submitted}
    return {name: row[name] for name in TIME_COLUMNS}


def _who(timed: Timed) -> dict[str, Any]:
    return {
        "campaign": timed.campaign,
        "topic_id": timed.topic_id,
        "stage": timed.stage,
        "assessor": timed.assessor,
        "version": timed.version,
    }


def time_lines(campaign: Campaign) -> Iterator[str]:
    yield _line(TIME_COLUMNS)
    for time in times_of(campaign):
        yield _line(time_row(time).values())


def segment_lines(campaign: Campaign) -> Iterator[str]:
    yield _line(SEGMENT_COLUMNS)
    for timed, stretches in recorded_in(Campaign.objects.filter(pk=campaign.pk)):
        for stretch in stretches:
            yield _line(_segment_row(timed, stretch).values())


def _segment_row(timed: Timed, stretch: Stretch) -> dict[str, Any]:
    return _who(timed) | {
        "window": stretch.window,
        "number": stretch.number,
        "kind": stretch.kind.value,
        "started_at": moment(stretch.start).isoformat(timespec="milliseconds"),
        "ended_at": moment(stretch.end).isoformat(timespec="milliseconds"),
        "words": stretch.words,
        "blurred": stretch.blurred,
        "offline": stretch.offline,
        "gap_answer": stretch.gap_answer,
        "item": stretch.item,
    }


def _line(cells: Iterable[Any]) -> str:
    # Yes and no are 1 and 0, as spreadsheets and statistics packages count them.
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(
        [int(cell) if isinstance(cell, bool) else safe_cell(cell) for cell in cells]
    )
    return out.getvalue()


def words_read(campaign: Campaign) -> Words:
    """Return the words of each topic's passages, answers or cited pairs that its longest task of a stage holds."""
    tasks = Task.objects.filter(campaign=campaign, study=None).not_withdrawn()
    fields = ("pk", "topic__pk", "topic__topic_id", "stage", "qrels", "protocol__grade_threshold")
    rows = list(tasks.values_list(*fields))
    passages = _passages({(row[4], row[5]) for row in rows if row[4]})
    answers, pairs = _answers(campaign), _pairs(campaign)
    longest: Words = defaultdict(int)
    for pk, topic, topic_id, stage, qrels, threshold in rows:
        # Two people who share a topic read the same passages, which count once: hence the longest and not the sum.
        if not stage.judges:
            words = passages.get((qrels, threshold, topic), 0)
        else:
            words = (pairs if stage.condition else answers).get(pk, 0)
        key = (topic_id, stage)
        longest[key] = max(longest[key], words)
    return dict(longest)


def _count(field: str) -> Sum:
    # In the database, by spaces: passages are the largest texts of a campaign, and a pace needs no exact count.
    spaces = Length(field) - Length(Replace(field, Value(" "), Value("")))
    return Sum(spaces + 1)


def _passages(sources: set[tuple[int, int]]) -> dict[tuple[int | None, int, int], int]:
    """Return the words of the passages of each topic, by qrels, grade threshold and topic."""
    words_of: dict[tuple[int | None, int, int], int] = {}
    for qrels, threshold in sources:
        rows = Qrel.objects.filter(source=qrels, grade__gte=threshold, segment__has_text=True)
        for topic, words in rows.values_list("topic").annotate(words=_count("segment__text")).order_by():
            words_of[qrels, threshold, topic] = words or 0
    return words_of


def _answers(campaign: Campaign) -> dict[int, int]:
    rows = TaskAnswer.objects.filter(task__campaign=campaign).values_list("task")
    return {task: words or 0 for task, words in rows.annotate(words=Sum("answer__words")).order_by()}


def _pairs(campaign: Campaign) -> dict[int, int]:
    """Return the words of the sentences and passages of each task of support."""
    rows = WorkingSupport.objects.filter(task__campaign=campaign).values_list("task")
    counts = rows.annotate(answered=_count("sentence__text"), cited=_count("segment__text")).order_by()
    return {task: (sentence or 0) + (segment or 0) for task, sentence, segment in counts}
