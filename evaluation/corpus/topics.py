"""Topics for organizers: the list, one topic, its graded segments and its nugget lists."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max, Q, QuerySet
from django.db.models.functions import Substr

from accounts.models import User
from evaluation.campaigns.access import within
from evaluation.models import AnswerProvenance, Campaign, NuggetList, Qrel, Segment, Topic, TopicTag
from evaluation.terms import Importance

SNIPPET = 240


@dataclass(frozen=True, slots=True)
class ListedTopic:
    topic: Topic
    tags: tuple[str, ...]
    judged: int
    related: int
    lists: int
    answers: int


@dataclass(frozen=True, slots=True)
class ShownGrade:
    """A source's grade of a segment with its key, which leads to its provenance."""

    grade: int
    pk: int


@dataclass(frozen=True, slots=True)
class GradedSegment:
    """A segment and each source's grade of it, in the order of the sources; None where a source has none."""

    docid: str
    public_id: str
    title: str
    snippet: str
    has_text: bool
    grades: tuple[ShownGrade | None, ...]


def topics_for(viewer: User, campaign: Campaign, words: str = "", tag: str = "") -> QuerySet[Topic]:
    topics = Topic.objects.filter(campaign__in=within(viewer, campaign))
    if words:
        topics = topics.filter(Q(text__icontains=words) | Q(topic_id__icontains=words))
    return topics.filter(tags__name=tag) if tag else topics


def topic_for(viewer: User, campaign: Campaign, public_id: str) -> Topic:
    return topics_for(viewer, campaign).prefetch_related("tags").get(public_id=public_id)


def neighbours_of(viewer: User, campaign: Campaign, topic: Topic) -> tuple[Topic | None, Topic | None]:
    topics = topics_for(viewer, campaign)
    before = topics.filter(position__lt=topic.position).order_by("-position").first()
    return before, topics.filter(position__gt=topic.position).first()


def tags_for(viewer: User, campaign: Campaign) -> list[str]:
    tags = TopicTag.objects.filter(topic__campaign__in=within(viewer, campaign))
    return list(tags.order_by("name").values_list("name", flat=True).distinct())


def topic_rows(topics: Iterable[Topic]) -> list[ListedTopic]:
    """Return the rows of one page of topics that were read for the viewer: five queries, however many."""
    page = list(topics)
    pks = [topic.pk for topic in page]
    tags: dict[int, list[str]] = defaultdict(list)
    for pk, name in TopicTag.objects.filter(topic__in=pks).values_list("topic_id", "name"):
        tags[pk].append(name)
    qrels = Qrel.objects.filter(topic__in=pks).values_list("topic").order_by()
    judged = dict(qrels.annotate(Count("segment", distinct=True)))
    related = dict(qrels.filter(grade__gte=1).annotate(Count("segment", distinct=True)))
    submitted_lists = NuggetList.objects.filter(topic__in=pks, submitted=True).values_list("topic").order_by()
    lists = dict(submitted_lists.annotate(Count("nugget_set", distinct=True)))
    provenance = AnswerProvenance.objects.filter(topic__in=pks).values_list("topic").order_by()
    answers = dict(provenance.annotate(Count("pk")))
    return [
        ListedTopic(
            topic=topic,
            tags=tuple(tags[topic.pk]),
            judged=judged.get(topic.pk, 0),
            related=related.get(topic.pk, 0),
            lists=lists.get(topic.pk, 0),
            answers=answers.get(topic.pk, 0),
        )
        for topic in page
    ]


def graded_pks_of(viewer: User, campaign: Campaign, topic: Topic) -> QuerySet[Qrel, tuple[int, int]]:
    """Return the graded segments of a topic as (segment, best grade), the best first, to page through."""
    qrels = Qrel.objects.filter(source__campaign__in=within(viewer, campaign), topic=topic)
    return qrels.values_list("segment").annotate(best=Max("grade")).order_by("-best", "segment__docid")


def graded_segments(topic: Topic, pks: Iterable[int], sources: Sequence[str]) -> list[GradedSegment]:
    """Return one page of graded segments in the order given, with no more of each text than a row shows."""
    page = list(pks)
    grades: dict[int, dict[str, ShownGrade]] = defaultdict(dict)
    rows = Qrel.objects.filter(topic=topic, segment__in=page)
    for segment, source, grade, pk in rows.values_list("segment", "source__name", "grade", "pk"):
        grades[segment][source] = ShownGrade(grade, pk)
    fields = ("docid", "public_id", "title", "snippet", "has_text")
    # Cut by the database: a page of whole texts would be megabytes.
    segments = Segment.objects.filter(pk__in=page).annotate(snippet=Substr("text", 1, SNIPPET))
    by_pk: dict[int, dict[str, Any]] = {row.pop("pk"): row for row in segments.values("pk", *fields)}
    return [GradedSegment(**by_pk[pk], grades=tuple(grades[pk].get(source) for source in sources)) for pk in page]


def nugget_lists_of(viewer: User, campaign: Campaign, topic: Topic) -> QuerySet[Any]:
    lists = NuggetList.objects.newest_submitted().filter(
        nugget_set__campaign__in=within(viewer, campaign), topic=topic
    )
    counted = lists.annotate(vital=Count("items", filter=Q(items__importance=Importance.VITAL)))
    whole = counted.select_related("nugget_set__judge").prefetch_related("items__nugget_version")
    return whole.order_by("nugget_set__name")


def segment_for(viewer: User, campaign: Campaign, public_id: str) -> Segment:
    return Segment.objects.get(campaign__in=within(viewer, campaign), public_id=public_id)
