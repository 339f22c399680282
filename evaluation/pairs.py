"""The pairs of sentence and cited segment that count: counted by the database, for many answers at once."""

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from evaluation.models import Citation

UNRESOLVED = 0  # stands for a citation that points to no segment; it takes a place among the first all the same


def judgeable_pairs(first: int | None) -> QuerySet[Citation]:
    """Return each sentence's first `first` different citations, all for None, as far as their text is loaded.

    A segment that a sentence cites twice is one pair.
    """
    judgeable = Citation.objects.filter(segment__has_text=True).order_by()
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
