"""Topics for organizers: the list, one topic, its graded segments and its nugget lists."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Count, Max, OuterRef, Q, QuerySet
from django.db.models.functions import Substr

from accounts.models import User
from evaluation.campaigns.access import within
from evaluation.models import AnswerProvenance, Campaign, NuggetList, Qrel, Segment, Topic, TopicTag
from evaluation.models.querysets import number_of
from evaluation.terms import Importance

SNIPPET = 240


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


def topic_rows(topics: Iterable[Topic]) -> QuerySet[Any]:
    """Return one page of topics with the numbers of what hangs on them; a passage graded twice is one."""
    graded = Qrel.objects.filter(topic=OuterRef("pk"))
    lists = NuggetList.objects.filter(topic=OuterRef("pk"), submitted=True)
    # Of the page alone: the database would count for all topics before it sorts them.
    rows = Topic.objects.filter(pk__in=[topic.pk for topic in topics]).prefetch_related("tags")
    return rows.annotate(
        judged=number_of(graded, "segment"),
        related=number_of(graded.filter(grade__gte=1), "segment"),
        lists_made=number_of(lists, "nugget_set"),
        answered=number_of(AnswerProvenance.objects.filter(topic=OuterRef("pk"))),
    )


def graded_pks_of(viewer: User, campaign: Campaign, topic: Topic) -> QuerySet[Qrel, tuple[int, int]]:
    """Return the graded segments of a topic as (segment, best grade), the best first, to page through."""
    qrels = Qrel.objects.filter(source__campaign__in=within(viewer, campaign), topic=topic)
    return qrels.values_list("segment").annotate(best=Max("grade")).order_by("-best", "segment__docid")


def graded_segments(
    topic: Topic, pks: Iterable[int], sources: Sequence[str]
) -> list[tuple[Segment, list[Qrel | None]]]:
    """Return one page of graded segments in the order given, each with its grades in the order of the sources.

    Of a segment's text there is no more than a row shows: `snippet`.
    """
    page = list(pks)
    qrels = Qrel.objects.filter(topic=topic, segment__in=page).select_related("source")
    grades = {(qrel.segment_id, qrel.source.name): qrel for qrel in qrels}
    # Cut by the database: a page of whole texts would be megabytes.
    segments = Segment.objects.annotate(snippet=Substr("text", 1, SNIPPET)).defer("text", "headings").in_bulk(page)
    return [(segments[pk], [grades.get((pk, source)) for source in sources]) for pk in page]


def nugget_lists_of(viewer: User, campaign: Campaign, topic: Topic) -> QuerySet[Any]:
    lists = NuggetList.objects.newest_submitted().filter(
        nugget_set__campaign__in=within(viewer, campaign), topic=topic
    )
    counted = lists.annotate(vital=Count("items", filter=Q(items__importance=Importance.VITAL)))
    whole = counted.select_related("nugget_set__judge").prefetch_related("items__nugget_version")
    return whole.order_by("nugget_set__name")


def segment_for(viewer: User, campaign: Campaign, public_id: str) -> Segment:
    return Segment.objects.get(campaign__in=within(viewer, campaign), public_id=public_id)
