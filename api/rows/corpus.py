"""Fields of campaigns, topics and segments."""

from typing import Any

from rest_framework.serializers import (
    BooleanField,
    CharField,
    ChoiceField,
    DateTimeField,
    DictField,
    IntegerField,
    ListField,
    Serializer,
)

from evaluation.models import NuggetLineage
from evaluation.terms import Importance, Origin

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


JUDGE = "as `judges` names them"


class NuggetSetRow(Serializer[Any]):
    """A nugget set: one maker's lists for a campaign's topics."""

    id = IntegerField()
    campaign = CharField(help_text=CAMPAIGN)
    name = CharField()
    origin = ChoiceField(choices=[one.value for one in Origin])
    judge = CharField(help_text=f"who made it, {JUDGE}")
    drafts = CharField(allow_null=True, help_text="the set that was post-edited")
    topics = IntegerField(help_text="how many topics have a submitted list")


class LineageRow(Serializer[Any]):
    """What a wording was made from."""

    relation = ChoiceField(choices=list(NuggetLineage.RELATIONS))
    nugget = CharField()
    nugget_version = IntegerField()
    text = CharField()


class EvidenceRow(Serializer[Any]):
    """What a nugget rests on."""

    docid = CharField()
    sentence = IntegerField(allow_null=True, help_text="of the segment, from 0; null: all of it")


class NuggetRow(Serializer[Any]):
    """A nugget at its place in a submitted list. Labels name it by `nugget` and `nugget_version`."""

    id = IntegerField(help_text="of this place in this list")
    campaign = CharField(help_text=CAMPAIGN)
    topic_id = CharField(help_text=TOPIC)
    nugget_set = CharField(help_text="the set's name")
    list_version = IntegerField(help_text="each submission of a list is a version, from 1")
    newest = BooleanField(help_text="whether this version of the list is the one that reports read")
    position = IntegerField(help_text="in the list, from 0")
    nugget = CharField(help_text="the nugget; it stays while its wording changes")
    nugget_version = IntegerField(help_text="which wording of it, from 1")
    text = CharField()
    importance = ChoiceField(choices=[one.name.lower() for one in Importance])
    raw_importance = CharField(help_text="as the file has it")
    group = CharField(help_text="for instance the sub-narrative")
    lineage = LineageRow(many=True)
    evidence = EvidenceRow(many=True)
