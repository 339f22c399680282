"""Campaigns, topics and segments as rows."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from django.db.models import QuerySet

from evaluation.models import Topic, TopicTag
from evaluation.queries.campaigns import unblinded
from evaluation.queries.data.reading import Reader, Row, Values


class Topics(Reader):
    """What is asked."""

    values = ("public_id", "campaign", "topic_id", "text", "position", "extra")

    def rows(self) -> QuerySet[Topic]:
        """Return the topics of the viewer's campaigns."""
        return Topic.objects.using(self.alias).filter(campaign__in=unblinded(self.viewer))

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        """Yield topics with their tags."""
        tags = defaultdict(list)
        found = TopicTag.objects.using(self.alias).filter(topic__in=[one[0] for one in chunk])
        for topic, name in found.order_by("name").values_list("topic", "name"):
            tags[topic].append(name)
        for pk, public_id, campaign, topic_id, text, position, extra in chunk:
            yield {
                "id": public_id,
                "campaign": self.names.slug(campaign),
                "topic_id": topic_id,
                "text": text,
                "tags": tags[pk],
                "position": position,
                "extra": extra,
            }
