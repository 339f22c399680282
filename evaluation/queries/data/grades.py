"""Relevance grades as rows."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db.models import QuerySet

from evaluation.models import Qrel
from evaluation.queries.data.reading import Reader, Row, Values


class Grades(Reader):
    """How relevant sources say that segments are."""

    values = ("source__campaign", "topic__topic_id", "segment__docid", "source__name", "grade", "event")

    def rows(self) -> QuerySet[Qrel]:
        """Return the grades in the viewer's campaigns."""
        return Qrel.objects.using(self.alias).filter(source__campaign__in=self.seen)

    def of_topics(self, rows: QuerySet[Any], topics: Iterable[int]) -> QuerySet[Any]:
        """Keep the grades for some topics."""
        return rows.filter(topic__in=topics)

    def of_kind(self, rows: QuerySet[Any], kind: str) -> QuerySet[Any]:
        """Keep the grades of one source."""
        return rows.filter(source__name=kind)

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        """Yield grades."""
        for pk, campaign, topic_id, docid, source, grade, event in chunk:
            yield {
                "id": pk,
                "campaign": self.names.slug(campaign),
                "topic_id": topic_id,
                "docid": docid,
                "source": self.names.clean(campaign, source),
                "grade": grade,
                "event": event,
            }
