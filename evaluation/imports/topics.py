"""Import topics."""

import json
from operator import attrgetter
from typing import Any

from django.db.models import Max

from accounts.models import User
from evaluation.errors import InputProblem
from evaluation.formats.source import Source
from evaluation.formats.topics import QrelRecord, TopicRecord, parse_qrels, parse_topics
from evaluation.imports.base import (
    NOT_IN_FILE,
    TAKEN_OUT,
    ImportFinding,
    ImportPlan,
    LoadReceipt,
    NamedSegments,
    carry_out,
    changed_problem,
    compare,
    refuse_if_labelled,
    refuse_unknown_topics,
    with_every_problem,
)
from evaluation.imports.dependents import labels_on_topics
from evaluation.judges import check_source
from evaluation.labelling import upsert
from evaluation.models import Campaign, Event, Qrel, QrelSource, Topic, TopicTag
from evaluation.models.fields import new_public_id
from evaluation.models.querysets import in_parts_of
from evaluation.tasks.pooling import extend_tasks, lock_judging
from evaluation.terms import FindingCode
from web.statements import ROWS_A_STATEMENT

TEXTS = ("text", "problem_statement", "background", "article")
texts = attrgetter(*TEXTS)
FIELDS = (*TEXTS, "language", "extra")
BY_FILE = "import.qrels"


@with_every_problem
def import_topics(
    *, campaign: Campaign, source: Source, replace: bool = False, actor: User | None = None
) -> LoadReceipt:
    """Load topics (id, text, tags). Raises `BadInput` for a bad file or a changed text without `replace`."""
    rows = parse_topics(source)
    return carry_out(
        campaign=campaign,
        kind="topics",
        sources=[source],
        actor=actor,
        make_plan=lambda locked: _plan(locked, source, rows, replace),
    )


def _plan(campaign: Campaign, source: Source, rows: tuple[TopicRecord, ...], replace: bool) -> ImportPlan:
    loaded = {topic.topic_id: topic for topic in campaign.topics.prefetch_related("tags")}
    compared = compare(
        rows,
        lambda row: row.topic_id,
        loaded,
        lambda row, topic: _difference(topic, row) is not None,
        lambda row, topic: _change_problem(source, topic, row),
        replace,
    )
    reworded = [
        loaded[row.topic_id]
        for row in compared.changed
        if any(getattr(loaded[row.topic_id], name) != getattr(row, name) for name in TEXTS)
    ]

    def check() -> None:
        # Labels were given to an answer of the former question.
        refuse_if_labelled(labels_on_topics(reworded), "A topic's text")

    rows_to_add = topic_rows(campaign, compared.new)

    def write(event: Event) -> None:
        add_topics(campaign, rows_to_add, compared.new, event)
        for row in compared.changed:
            _change(loaded[row.topic_id], row, event)

    return ImportPlan("topics", *compared.counts, write=write, check=check)


def _difference(topic: Topic, row: TopicRecord) -> tuple[str, object, object] | None:
    """Return the first field that differs, as files call it, with what is loaded and what the file has."""
    for name in FIELDS:
        if getattr(topic, name) != getattr(row, name):
            return {"article": "body", "extra": "line"}.get(name, name), getattr(topic, name), getattr(row, name)
    old, new = sorted(tag.name for tag in topic.tags.all()), sorted(row.tags)
    return ("tags", ", ".join(old), ", ".join(new)) if old != new else None


def _change_problem(source: Source, topic: Topic, row: TopicRecord) -> InputProblem:
    field_name, old, new = _difference(topic, row) or ("", "", "")
    return changed_problem(source, row.line, field_name, f"topic {row.topic_id}", loaded=old, in_file=new)


def topic_rows(campaign: Campaign, records: list[TopicRecord]) -> list[tuple[Any, ...]]:
    last = campaign.topics.aggregate(last=Max("position"))["last"] or 0
    return [
        (new_public_id(), last + number, row.topic_id, row.language, *texts(row), json.dumps(row.extra))
        for number, row in enumerate(records, start=1)
    ]


def add_topics(campaign: Campaign, rows: list[tuple[Any, ...]], records: list[TopicRecord], event: Event) -> None:
    upsert(
        Topic,
        ["public_id", "position", "topic_id", "language", *TEXTS, "extra"],
        rows,
        unique=["campaign_id", "topic_id"],
        update=["event_id"],
        fixed={"campaign_id": campaign.pk, "event_id": event.pk},
    )
    if any(record.tags for record in records):
        keys = dict(campaign.topics.values_list("topic_id", "pk"))
        tags = [TopicTag(topic_id=keys[record.topic_id], name=name) for record in records for name in record.tags]
        TopicTag.objects.bulk_create(tags, batch_size=ROWS_A_STATEMENT)


def _change(topic: Topic, row: TopicRecord, event: Event) -> None:
    for name in FIELDS:
        setattr(topic, name, getattr(row, name))
    topic.event = event
    topic.save()
    topic.tags.all().delete()
    TopicTag.objects.bulk_create([TopicTag(topic=topic, name=name) for name in row.tags])


@with_every_problem
def import_qrels(
    *, campaign: Campaign, source: Source, name: str, replace: bool = False, actor: User | None = None
) -> LoadReceipt:
    """Load one source's grades. Raises `BadInput` for an unknown topic or a changed grade without `replace`."""
    check_source(name)
    rows = parse_qrels(source)
    return carry_out(
        campaign=campaign,
        kind="qrels",
        sources=[source],
        actor=actor,
        make_plan=lambda locked: _qrel_plan(locked, source, rows, name, replace),
        lock=lock_judging,
    )


def _qrel_plan(
    campaign: Campaign, source: Source, rows: tuple[QrelRecord, ...], name: str, replace: bool
) -> ImportPlan:
    topics = dict(campaign.topics.values_list("topic_id", "pk"))
    refuse_unknown_topics(source, ((row.line, row.topic_id) for row in rows), topics, "topic")
    qrels = Qrel.objects.filter(source__campaign=campaign, source__name=name)
    loaded = {
        (topic_id, docid): grade
        for topic_id, docid, grade in qrels.values_list("topic__topic_id", "segment__docid", "grade")
    }
    compared = compare(
        rows,
        lambda row: (row.topic_id, row.docid),
        loaded,
        lambda row, grade: row.grade != grade,
        lambda row, grade: changed_problem(
            source, row.line, "grade", f"{row.topic_id} {row.docid}", loaded=grade, in_file=row.grade
        ),
        replace,
    )

    # Grades of an LLM under the same name were never in a file.
    by_file = {
        (topic_id, docid): pk
        for pk, topic_id, docid in qrels.filter(event__kind=BY_FILE).values_list(
            "pk", "topic__topic_id", "segment__docid"
        )
    }
    absent = by_file.keys() - {(row.topic_id, row.docid) for row in rows}
    taken_out = [by_file[key] for key in absent] if replace else []

    segments = NamedSegments(campaign, (row.docid for row in compared.to_write))

    def write(event: Event) -> None:
        for part in in_parts_of(taken_out):
            Qrel.objects.filter(pk__in=part).delete()
        by, _ = QrelSource.objects.get_or_create(campaign=campaign, name=name)
        keys = segments.keys(event)
        upsert(
            Qrel,
            ["topic_id", "segment_id", "grade"],
            ((topics[row.topic_id], keys[row.docid], row.grade) for row in compared.to_write),
            unique=["source_id", "topic_id", "segment_id"],
            update=["grade", "event_id"],
            fixed={"source_id": by.pk, "event_id": event.pk},
        )
        # Grading may have begun: its tasks get the passages that came.
        extend_tasks(campaign)

    findings = _off_scale(campaign, source, compared.to_write)
    counts = {TAKEN_OUT if replace else NOT_IN_FILE: len(absent)}
    return ImportPlan("qrels", *compared.counts, findings, counts, write)


def _off_scale(campaign: Campaign, source: Source, rows: list[QrelRecord]) -> list[ImportFinding]:
    highest = campaign.protocol.relevance_max
    return [
        ImportFinding(
            FindingCode.GRADE_OFF_SCALE,
            source.name,
            row.line,
            f"grade {row.grade} is above the campaign's scale of 0 to {highest}",
            topic_id=row.topic_id,
        )
        for row in rows
        if row.grade > highest
    ]
