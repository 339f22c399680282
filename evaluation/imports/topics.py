"""Import topics."""

from collections.abc import Sequence

from django.db.models import Max

from accounts.models import User
from evaluation.errors import BadInput, InputProblem
from evaluation.formats.source import Source
from evaluation.formats.topics import QrelRecord, TopicRecord, parse_qrels, parse_topics
from evaluation.imports.base import (
    BATCH,
    ImportFinding,
    ImportPlan,
    LoadReceipt,
    carry_out,
    changed_problem,
    refuse_changes,
    refuse_if_labelled,
    segment_pks,
    with_every_problem,
)
from evaluation.imports.dependents import labels_on_topics
from evaluation.models import Campaign, Event, Qrel, QrelSource, Topic, TopicTag
from evaluation.rules.text import check_name
from evaluation.terms import FindingCode

TEXTS = ("text", "problem_statement", "background", "article")
FIELDS = (*TEXTS, "language", "extra")


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
    new = [row for row in rows if row.topic_id not in loaded]
    changed = [row for row in rows if row.topic_id in loaded and _differs(loaded[row.topic_id], row)]
    refuse_changes(
        [
            changed_problem(source, row.line, field_name, f"topic {row.topic_id}", loaded=old, in_file=new_one)
            for row in changed
            for field_name, old, new_one in [_difference(loaded[row.topic_id], row)]
        ],
        replace,
    )
    reworded = [loaded[row.topic_id] for row in changed if _says_other(loaded[row.topic_id], row, TEXTS)]
    if reworded:
        refuse_if_labelled(labels_on_topics(reworded), "A topic's text")

    def write(event: Event) -> None:
        _add(campaign, new, event)
        for row in changed:
            _change(loaded[row.topic_id], row, event)

    unchanged = len(rows) - len(new) - len(changed)
    return ImportPlan("topics", added=len(new), changed=len(changed), unchanged=unchanged, write=write)


def _differs(topic: Topic, row: TopicRecord) -> bool:
    tags = sorted(tag.name for tag in topic.tags.all())
    return tags != sorted(row.tags) or _says_other(topic, row, FIELDS)


def _says_other(topic: Topic, row: TopicRecord, fields: Sequence[str]) -> bool:
    return any(getattr(topic, name) != getattr(row, name) for name in fields)


def _difference(topic: Topic, row: TopicRecord) -> tuple[str, object, object]:
    """Return the first field that differs, as files call it, with what is loaded and what the file has."""
    name = next((name for name in FIELDS if _says_other(topic, row, [name])), "")
    if not name:
        return "tags", ", ".join(sorted(tag.name for tag in topic.tags.all())), ", ".join(sorted(row.tags))
    return {"article": "body", "extra": "line"}.get(name, name), getattr(topic, name), getattr(row, name)


def _add(campaign: Campaign, rows: list[TopicRecord], event: Event) -> None:
    last = campaign.topics.aggregate(last=Max("position"))["last"] or 0
    topics = [
        Topic(
            campaign=campaign,
            topic_id=row.topic_id,
            **{name: getattr(row, name) for name in FIELDS},
            position=last + number,
            event=event,
        )
        for number, row in enumerate(rows, start=1)
    ]
    Topic.objects.bulk_create(topics, batch_size=BATCH)
    tags = [TopicTag(topic=topic, name=name) for topic, row in zip(topics, rows, strict=True) for name in row.tags]
    TopicTag.objects.bulk_create(tags, batch_size=BATCH)


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
    check_name("source", name)
    rows = parse_qrels(source)
    return carry_out(
        campaign=campaign,
        kind="qrels",
        sources=[source],
        actor=actor,
        make_plan=lambda locked: _qrel_plan(locked, source, rows, name, replace),
    )


def _qrel_plan(
    campaign: Campaign, source: Source, rows: tuple[QrelRecord, ...], name: str, replace: bool
) -> ImportPlan:
    topics = dict(campaign.topics.values_list("topic_id", "pk"))
    _refuse_unknown_topics(source, rows, topics)
    loaded = _loaded(campaign, name)
    new = [row for row in rows if (row.topic_id, row.docid) not in loaded]
    changed = [row for row in rows if loaded.get((row.topic_id, row.docid), row.grade) != row.grade]
    refuse_changes(
        [_qrel_change(source, row, loaded[row.topic_id, row.docid]) for row in changed],
        replace,
    )

    def write(event: Event) -> None:
        _write(campaign, name, topics, new + changed, event)

    found = _off_scale(campaign, source, new + changed)
    unchanged = len(rows) - len(new) - len(changed)
    return ImportPlan("qrels", len(new), len(changed), unchanged, found, write=write)


def _qrel_change(source: Source, row: QrelRecord, grade: int) -> InputProblem:
    text = f"{row.topic_id} {row.docid}"
    return changed_problem(source, row.line, "grade", text, loaded=grade, in_file=row.grade)


def _refuse_unknown_topics(source: Source, rows: tuple[QrelRecord, ...], topics: dict[str, int]) -> None:
    first_lines: dict[str, int] = {}
    for row in rows:
        if row.topic_id not in topics:
            first_lines.setdefault(row.topic_id, row.line)
    problems = [
        InputProblem(source.name, line, "topic", f"a topic of the campaign, not {topic_id}")
        for topic_id, line in first_lines.items()
    ]
    if problems:
        raise BadInput(problems)


def _loaded(campaign: Campaign, name: str) -> dict[tuple[str, str], int]:
    qrels = Qrel.objects.filter(source__campaign=campaign, source__name=name)
    return {
        (topic_id, docid): grade
        for topic_id, docid, grade in qrels.values_list("topic__topic_id", "segment__docid", "grade")
    }


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


def _write(campaign: Campaign, name: str, topics: dict[str, int], rows: list[QrelRecord], event: Event) -> None:
    source, _ = QrelSource.objects.get_or_create(campaign=campaign, name=name)
    segments = segment_pks(campaign, {row.docid for row in rows}, event)
    Qrel.objects.bulk_create(
        [
            Qrel(
                source=source,
                topic_id=topics[row.topic_id],
                segment_id=segments[row.docid],
                grade=row.grade,
                event=event,
            )
            for row in rows
        ],
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=["source", "topic", "segment"],
        update_fields=["grade", "event"],
    )
