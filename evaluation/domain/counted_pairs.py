"""Counted pairs of sentence and cited segment: each sentence's first k different citations.

One rule in two forms that give the same pairs: a plain function over citations in order, and a query. An unresolved
citation takes a place among the first k and leaves nothing to judge there.
"""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from evaluation.models import Citation

Rest = TypeVar("Rest")

UNRESOLVED = 0  # no segment has this key; NULL would not be counted as a different citation


def first_different(
    citations: Iterable[tuple[int, int | None, Rest]], first: int | None
) -> Iterator[tuple[int, int | None, Rest]]:
    """Yield each sentence's first `first` different citations, all for None.

    `citations`: sentence, segment and any third value, ordered within a sentence. Without a segment: unresolved.
    """
    taken: dict[int, set[int | None]] = {}
    for sentence, segment, rest in citations:
        segments = taken.setdefault(sentence, set())
        if segment not in segments and (first is None or len(segments) < first):
            segments.add(segment)
            yield sentence, segment, rest


def counted_citations(first: int | None) -> QuerySet[Citation]:
    """Citations that `first_different` yields, where the text of the segment is loaded."""
    judgeable = Citation.objects.filter(segment__has_text=True).order_by()
    # The usual protocol: it needs no subquery for each pair.
    if first == 1:
        return judgeable.filter(position=0)
    earlier = Citation.objects.filter(sentence=OuterRef("sentence"), position__lt=OuterRef("position")).order_by()
    pairs = judgeable.exclude(Exists(earlier.filter(segment=OuterRef("segment"))))
    if first is None:
        return pairs
    taken = (
        earlier.values("sentence").annotate(n=Count(Coalesce("segment", UNRESOLVED), distinct=True)).values("n")
    )
    return pairs.annotate(taken=Coalesce(Subquery(taken), 0)).filter(taken__lt=first)
