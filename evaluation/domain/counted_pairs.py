"""Counted pairs of sentence and cited segment: each sentence's first k different citations, or all its candidates.

One rule in two forms that give the same pairs: a plain function over citations in order, and a query. An unresolved
citation takes a place among the first k and leaves nothing to judge there.
"""

from collections.abc import Container, Iterable, Iterator
from typing import TypeVar

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from evaluation.models import AnswerProvenance, Citation, Sentence

Rest = TypeVar("Rest")

UNRESOLVED = 0  # no segment has this key; NULL would not be counted as a different citation


def first_different(
    citations: Iterable[tuple[int, int | None, Rest]], first: int | None, with_candidates: Container[int] = ()
) -> Iterator[tuple[int, int | None, Rest]]:
    """Yield each sentence's first `first` different citations, all for None and of sentences with candidates.

    `citations`: sentence, segment and any third value, ordered within a sentence. Without a segment: unresolved.
    """
    taken: dict[int, set[int | None]] = {}
    for sentence, segment, rest in citations:
        segments = taken.setdefault(sentence, set())
        counts = first is None or len(segments) < first or sentence in with_candidates
        if segment not in segments and counts:
            segments.add(segment)
            yield sentence, segment, rest


def sentences_with_candidates() -> QuerySet[Sentence]:
    """Sentences of runs that cite nothing and are judged by what was retrieved for them."""
    answers = AnswerProvenance.objects.filter(run__has_candidates=True).values("answer")
    return Sentence.objects.filter(answer__in=answers).order_by()


def counted_citations(first: int | None) -> QuerySet[Citation]:
    """Citations that `first_different` yields, where the text of the segment is loaded."""
    judgeable = Citation.objects.filter(segment__has_text=True).order_by()
    candidates = Q(sentence__in=sentences_with_candidates().values("pk"))
    earlier = Citation.objects.filter(sentence=OuterRef("sentence"), position__lt=OuterRef("position")).order_by()
    is_repeated = Q(Exists(earlier.filter(segment=OuterRef("segment"))))
    # The usual protocol: it needs no subquery for each pair that is cited.
    if first == 1:
        return judgeable.filter(Q(position=0) | (candidates & ~is_repeated))
    pairs = judgeable.exclude(is_repeated)
    if first is None:
        return pairs
    taken = (
        earlier.values("sentence").annotate(n=Count(Coalesce("segment", UNRESOLVED), distinct=True)).values("n")
    )
    return pairs.annotate(taken=Coalesce(Subquery(taken), 0)).filter(Q(taken__lt=first) | candidates)
