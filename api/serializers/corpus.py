"""Fields of campaigns, topics and segments."""

from typing import Any

from rest_framework.serializers import (
    BooleanField,
    CharField,
    DateTimeField,
    DictField,
    IntegerField,
    ListField,
    Serializer,
)

CAMPAIGN = "the campaign's slug"
TOPIC = "the topic, by the track's id"
RUN = "the run, by its run id"


class CampaignRow(Serializer[Any]):
    """A campaign: one evaluation that you may see unblinded."""

    slug = CharField(help_text="its name in addresses and filters")
    name = CharField()
    description = CharField()
    language = CharField(help_text="BCP 47, of topics without one; empty: not known")
    created_at = DateTimeField()
    revision = IntegerField(help_text="goes up whenever labels, nuggets, runs or texts change")
    protocol_version = IntegerField(allow_null=True, help_text="how often the settings were changed, from 1")
    topics = IntegerField(help_text="how many")
    runs = IntegerField(help_text="how many")


class TopicRow(Serializer[Any]):
    """A topic: one information need."""

    id = CharField()
    campaign = CharField(help_text=CAMPAIGN)
    topic_id = CharField(help_text="the track's")
    text = CharField()
    tags = ListField(child=CharField())
    position = IntegerField(help_text="the order in which topics were loaded")
    language = CharField(help_text="BCP 47; empty: the campaign's")
    problem_statement = CharField()
    background = CharField()
    article = CharField(help_text="the text of the article that is asked about")
    extra = DictField(help_text="keys of the file that Assay has no field for")


class GradeRow(Serializer[Any]):
    """One source's grade of a segment for a topic."""

    topic_id = CharField(help_text=TOPIC)
    source = CharField(help_text="NIST, UMBRELA, ...")  # type: ignore[assignment]  # a column of that name
    grade = IntegerField()


class SegmentRow(Serializer[Any]):
    """A segment: a passage that qrels grade and answers cite."""

    id = CharField()
    campaign = CharField(help_text=CAMPAIGN)
    docid = CharField()
    document = CharField(help_text="the document that it is a segment of")
    has_text = BooleanField(help_text="false: named by qrels or runs, and never loaded")
    title = CharField()
    headings = CharField()
    url = CharField()
    text = CharField()
    start_char = IntegerField(allow_null=True)
    end_char = IntegerField(allow_null=True)
    grades = GradeRow(many=True)
