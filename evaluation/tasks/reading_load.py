"""Passages and drafts that a topic gives its assessor to read, in counts: for the hand-out."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db.models import Count, QuerySet, Sum
from django.db.models.functions import Length

from evaluation.models import ListedNugget, NuggetList, NuggetSet, Qrel


@dataclass(frozen=True, slots=True)
class ReadingLoad:
    """The passages of a topic that have a text and a grade high enough."""

    passages: int = 0
    characters: int = 0


def readable(source: int, threshold: int) -> QuerySet[Qrel]:
    return Qrel.objects.filter(source=source, grade__gte=threshold, segment__has_text=True).order_by()


def to_read(source: int, threshold: int, topics: Collection[int]) -> dict[int, ReadingLoad]:
    """Return the number of passages by topic and of their characters; topics with nothing are left out."""
    rows = readable(source, threshold).filter(topic__in=topics).values_list("topic")
    counted = rows.annotate(n=Count("pk"), characters=Sum(Length("segment__text")))
    return {topic: ReadingLoad(passages, characters or 0) for topic, passages, characters in counted}


def newest_drafts(nugget_set: NuggetSet, topics: Collection[int]) -> dict[int, tuple[int, int]]:
    """Return the newest submitted list by topic with its length; empty lists are left out."""
    lists = NuggetList.objects.newest_submitted().filter(nugget_set=nugget_set, topic__in=topics)
    newest = dict(lists.values_list("topic__pk", "pk"))
    sizes = sizes_of(newest.values())
    return {topic: (pk, sizes[pk]) for topic, pk in newest.items() if pk in sizes}


def sizes_of(lists: Iterable[int]) -> dict[int, int]:
    """Return the number of nuggets of each list; empty lists are left out."""
    listed = ListedNugget.objects.filter(nugget_list__in=list(lists)).order_by()
    return dict(listed.values_list("nugget_list").annotate(Count("pk")))
