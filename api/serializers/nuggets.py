"""Fields of nugget sets and nuggets."""

from typing import Any

from rest_framework.serializers import (
    BooleanField,
    CharField,
    ChoiceField,
    IntegerField,
    Serializer,
)

from api.serializers.corpus import CAMPAIGN, TOPIC
from evaluation.models import NuggetLineage
from evaluation.terms import Importance, Origin

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
