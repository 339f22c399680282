"""Import topics."""

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
from evaluation.services.importing.hanging import labels_on_topics
from web.phrases import phrase


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
        [changed_problem(source, row.line, "text", f"topic {row.topic_id}") for row in changed], replace
    )
    reworded = [loaded[row.topic_id] for row in changed if loaded[row.topic_id].text != row.text]
    if reworded:
        refuse_if_labelled(labels_on_topics(reworded), phrase("A topic's text"))

    def write(event: Event) -> None:
        _add(campaign, new, event)
        for row in changed:
            _change(loaded[row.topic_id], row, event)

    unchanged = len(rows) - len(new) - len(changed)
    return Plan("topics", added=len(new), changed=len(changed), unchanged=unchanged, write=write)


def _differs(topic: Topic, row: TopicRow) -> bool:
    tags = sorted(tag.name for tag in topic.tags.all())
    return (topic.text, tags, topic.extra) != (row.text, sorted(row.tags), row.extra)


def _add(campaign: Campaign, rows: list[TopicRow], event: Event) -> None:
    last = campaign.topics.aggregate(last=Max("position"))["last"] or 0
    topics = [
        Topic(
            campaign=campaign,
            topic_id=row.topic_id,
            text=row.text,
            extra=row.extra,
            position=last + number,
            event=event,
        )
        for number, row in enumerate(rows, start=1)
    ]
    Topic.objects.bulk_create(topics, batch_size=BATCH)
    tags = [TopicTag(topic=topic, name=name) for topic, row in zip(topics, rows, strict=True) for name in row.tags]
    TopicTag.objects.bulk_create(tags, batch_size=BATCH)


def _change(topic: Topic, row: TopicRow, event: Event) -> None:
    topic.text, topic.extra, topic.event = row.text, row.extra, event
    topic.save()
    topic.tags.all().delete()
    TopicTag.objects.bulk_create([TopicTag(topic=topic, name=name) for name in row.tags])
