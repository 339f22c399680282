"""Import topics."""

from collections.abc import Sequence

from django.db.models import Max

from accounts.models import User
from evaluation.formats.source import Source
from evaluation.formats.topics import TopicRow, parse_topics
from evaluation.models import Campaign, Event, Topic, TopicTag
from evaluation.services.importing.base import (
    BATCH,
    Plan,
    Receipt,
    carry_out,
    changed_problem,
    refuse_changes,
    refuse_if_labelled,
)
from evaluation.services.importing.every_problem import with_every_problem
from evaluation.services.importing.hanging import labels_on_topics

TEXTS = ("text", "problem_statement", "background", "article")
FIELDS = (*TEXTS, "language", "extra")


@with_every_problem
def import_topics(
    *, campaign: Campaign, source: Source, replace: bool = False, actor: User | None = None
) -> Receipt:
    """Load topics (id, text, tags). Raises `BadInput` for a bad file or a changed text without `replace`."""
    rows = parse_topics(source)
    return carry_out(
        campaign=campaign,
        kind="topics",
        sources=[source],
        actor=actor,
        make_plan=lambda locked: _plan(locked, source, rows, replace),
    )


def _plan(campaign: Campaign, source: Source, rows: tuple[TopicRow, ...], replace: bool) -> Plan:
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
    return Plan("topics", added=len(new), changed=len(changed), unchanged=unchanged, write=write)


def _differs(topic: Topic, row: TopicRow) -> bool:
    tags = sorted(tag.name for tag in topic.tags.all())
    return tags != sorted(row.tags) or _says_other(topic, row, FIELDS)


def _says_other(topic: Topic, row: TopicRow, fields: Sequence[str]) -> bool:
    return any(getattr(topic, name) != getattr(row, name) for name in fields)


def _difference(topic: Topic, row: TopicRow) -> tuple[str, object, object]:
    """Return the first field that differs, as files call it, with what is loaded and what the file has."""
    name = next((name for name in FIELDS if _says_other(topic, row, [name])), "")
    if not name:
        return "tags", ", ".join(sorted(tag.name for tag in topic.tags.all())), ", ".join(sorted(row.tags))
    return {"article": "body", "extra": "line"}.get(name, name), getattr(topic, name), getattr(row, name)


def _add(campaign: Campaign, rows: list[TopicRow], event: Event) -> None:
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


def _change(topic: Topic, row: TopicRow, event: Event) -> None:
    for name in FIELDS:
        setattr(topic, name, getattr(row, name))
    topic.event = event
    topic.save()
    topic.tags.all().delete()
    TopicTag.objects.bulk_create([TopicTag(topic=topic, name=name) for name in row.tags])
