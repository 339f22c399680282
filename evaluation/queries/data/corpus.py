"""Campaigns, topics and segments as rows."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db.models import Count, Max, QuerySet

from evaluation.models import Campaign, Protocol, Qrel, Run, Segment, Topic, TopicTag
from evaluation.queries.data.reading import Reader, Row, Values

TOPIC_TEXTS = ("language", "problem_statement", "background", "article")


class Campaigns(Reader):
    """The evaluations that the viewer may see whole."""

    values = ("slug", "name", "description", "language", "created_at", "revision")
    row_path = "slug"

    def rows(self) -> QuerySet[Campaign]:
        """Return the viewer's campaigns."""
        return Campaign.objects.using(self.alias).filter(pk__in=self.seen)

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        """Yield campaigns with what is in them, in numbers."""
        pks = [one[0] for one in chunk]
        topics = self._per_campaign(Topic.objects.filter(campaign__in=pks))
        runs = self._per_campaign(Run.objects.filter(campaign__in=pks))
        versions = Protocol.objects.using(self.alias).filter(campaign__in=pks).order_by().values_list("campaign")
        protocols = dict(versions.annotate(Max("version")))
        for pk, slug, name, description, language, created_at, revision in chunk:
            yield {
                "slug": slug,
                "name": name,
                "description": description,
                "language": language,
                "created_at": created_at,
                "revision": revision,
                "protocol_version": protocols.get(pk),
                "topics": topics.get(pk, 0),
                "runs": runs.get(pk, 0),
            }

    def _per_campaign(self, rows: QuerySet[Any]) -> dict[int, int]:
        return dict(rows.using(self.alias).order_by().values_list("campaign").annotate(Count("pk")))


class Topics(Reader):
    """What is asked."""

    values = ("public_id", "campaign", "topic_id", "text", "position", "extra", *TOPIC_TEXTS)
    row_path = "public_id"

    def rows(self) -> QuerySet[Topic]:
        """Return the topics of the viewer's campaigns."""
        return Topic.objects.using(self.alias).filter(campaign__in=self.seen)

    def of_topics(self, rows: QuerySet[Any], topics: Iterable[int]) -> QuerySet[Any]:
        """Keep some topics."""
        return rows.filter(pk__in=topics)

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        """Yield topics with their tags."""
        tags = defaultdict(list)
        found = TopicTag.objects.using(self.alias).filter(topic__in=[one[0] for one in chunk])
        for topic, name in found.order_by("name").values_list("topic", "name"):
            tags[topic].append(name)
        for pk, public_id, campaign, topic_id, text, position, extra, *texts in chunk:
            yield {
                "id": public_id,
                "campaign": self.names.slug(campaign),
                "topic_id": topic_id,
                "text": text,
                "tags": tags[pk],
                "position": position,
                **dict(zip(TOPIC_TEXTS, texts, strict=True)),
                "extra": extra,
            }


class Segments(Reader):
    """Passages that qrels grade and answers cite, with their grades."""

    values = (
        *("public_id", "campaign", "docid", "document", "has_text"),
        *("title", "headings", "url", "text", "start_char", "end_char"),
    )
    row_path = "public_id"

    def rows(self) -> QuerySet[Segment]:
        """Return the segments of the viewer's campaigns."""
        return Segment.objects.using(self.alias).filter(campaign__in=self.seen)

    def of_topics(self, rows: QuerySet[Any], topics: Iterable[int]) -> QuerySet[Any]:
        """Keep what is graded for some topics."""
        return rows.filter(pk__in=Qrel.objects.filter(topic__in=topics).values("segment"))

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        """Yield segments with the grades of every source."""
        grades = defaultdict(list)
        found = Qrel.objects.using(self.alias).filter(segment__in=[one[0] for one in chunk]).order_by("pk")
        for segment, topic, source, grade in found.values_list(
            "segment", "topic__topic_id", "source__name", "grade"
        ):
            grades[segment].append({"topic_id": topic, "source": source, "grade": grade})
        for pk, public_id, campaign, docid, document, has_text, title, headings, url, text, start, end in chunk:
            yield {
                "id": public_id,
                "campaign": self.names.slug(campaign),
                "docid": docid,
                "document": document,
                "has_text": has_text,
                "title": title,
                "headings": headings,
                "url": url,
                "text": text,
                "start_char": start,
                "end_char": end,
                "grades": grades[pk],
            }
