"""Fields of runs and answers."""

from typing import Any

from rest_framework.serializers import BooleanField, CharField, DictField, IntegerField, ListField, Serializer

from api.serializers.corpus import CAMPAIGN, RUN, TOPIC


class RunRow(Serializer[Any]):
    """A run: what one system answered."""

    id = IntegerField()
    campaign = CharField(help_text=CAMPAIGN)
    run_id = CharField()
    group = CharField(help_text="the team that submitted it; empty: not said")
    task = CharField(help_text="AG or RAG; empty: not said")
    priority = IntegerField(allow_null=True, help_text="1 is judged first")
    control = BooleanField(help_text="an organizers' control run")
    pool = BooleanField(help_text="judged whatever its priority")
    sha256 = CharField(help_text="of the file")
    answers = IntegerField(help_text="how many topics it answers")


class CitationRow(Serializer[Any]):
    """What a sentence cites."""

    position = IntegerField(help_text="from 0, in the order of the file")
    docid = CharField(allow_null=True, help_text="null: out of range of the references")
    raw = CharField(help_text="as the file has it")


class SentenceRow(Serializer[Any]):
    """A sentence of an answer."""

    index = IntegerField(help_text="from 0")
    text = CharField()
    citations = CitationRow(many=True)


class AnswerRow(Serializer[Any]):
    """An answer: what one run says to one topic."""

    id = CharField()
    campaign = CharField(help_text=CAMPAIGN)
    run_id = CharField(help_text=RUN)
    topic_id = CharField(help_text=TOPIC)
    words = IntegerField(help_text="whitespace words")
    response_length = IntegerField(allow_null=True, help_text="as the file declares it")
    references = ListField(child=CharField())
    sentences = SentenceRow(many=True)
    extra = DictField(help_text="keys of the file that Assay has no field for")
