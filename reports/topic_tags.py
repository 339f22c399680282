"""Topics by tag: a report is of all topics or of those with one tag, and shows each tag's figures beside them."""

from collections import defaultdict

import numpy as np

from evaluation.domain.conditions import CitationCondition, NuggetCondition
from evaluation.models import Campaign, TopicTag
from reports.frames import assignment_sheet, support_sheet
from reports.metrics.arrays import Booleans
from reports.metrics.label_matrix import AssignmentSheet, SupportSheet


def tags_of(campaign: Campaign) -> list[str]:
    tags = TopicTag.objects.filter(topic__campaign=campaign)
    return list(tags.order_by("name").values_list("name", flat=True).distinct())


def topics_by_tag(campaign: Campaign) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    rows = TopicTag.objects.filter(topic__campaign=campaign).order_by("name")
    for name, topic in rows.values_list("name", "topic__topic_id"):
        found[name].add(topic)
    return {name: frozenset(topics) for name, topics in found.items()}


def tagged(campaign: Campaign, tag: str) -> frozenset[str] | None:
    if not tag:
        return None
    tags = TopicTag.objects.filter(topic__campaign=campaign, name=tag)
    return frozenset(tags.values_list("topic__topic_id", flat=True))


def rows_of(topic_ids: tuple[str, ...], chosen: frozenset[str] | None) -> Booleans:
    """Return the mask of the chosen topics, T."""
    return np.array([chosen is None or one in chosen for one in topic_ids], dtype=np.bool_)


def tagged_assignments(choice: NuggetCondition, tag: str) -> AssignmentSheet:
    sheet = assignment_sheet(choice)
    return sheet.of_topics(rows_of(sheet.topic_ids, tagged(choice.campaign, tag))) if tag else sheet


def tagged_support(choice: CitationCondition, tag: str) -> SupportSheet:
    sheet = support_sheet(choice)
    return sheet.of_topics(rows_of(sheet.topic_ids, tagged(choice.campaign, tag))) if tag else sheet
