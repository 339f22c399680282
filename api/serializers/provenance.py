"""Fields of what stands behind a label."""

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

from llmjobs.models import Call

GAVE = ("label", "wording", "importance")
BEHIND = ("call", "file", "person", "unknown")


class FileRow(Serializer[Any]):
    """A file that was imported."""

    name = CharField()
    sha256 = CharField()


class CauseRow(Serializer[Any]):
    """The event that brought a label."""

    id = IntegerField()
    kind = CharField()
    at = DateTimeField()
    actor = CharField(allow_null=True, help_text="by pseudonym; null: a command or a machine")
    files = FileRow(many=True)


class MessageRow(Serializer[Any]):
    """A message as it was sent."""

    role = CharField()
    sha256 = CharField()
    content = CharField()


class AttemptRow(Serializer[Any]):
    """One time that a call was sent."""

    number = IntegerField()
    sent_at = DateTimeField()
    ended_at = DateTimeField(allow_null=True, help_text="null: its worker stopped meanwhile")
    error = CharField(help_text="empty: it was answered, or has no end")
    status = IntegerField(allow_null=True, help_text="of HTTP")
    message = CharField(help_text="what went wrong")
    latency_ms = IntegerField(allow_null=True)


class UseRow(Serializer[Any]):
    """A job in which a call was used, for which part of an item, and what its reader noticed."""

    job = IntegerField()
    part = CharField()
    notes = ListField(child=CharField())


class AskedRow(Serializer[Any]):
    """What an item asked: a call that is not told in full is named by its hash."""

    part = CharField()
    call = CharField()
    state = ChoiceField(choices=Call.State.values)
    notes = ListField(child=CharField())


class CostRow(Serializer[Any]):
    """What a call's tokens cost, by the prices of the first job that used it."""

    amount = CharField(help_text="a decimal number")
    currency = CharField()
    price_table = CharField(help_text="the version of the prices")
    job = IntegerField()
    reused = BooleanField(help_text="whether an earlier job paid it")


class CallRow(Serializer[Any]):
    """A call to an LLM: what was sent, how often, what came back."""

    gave = ChoiceField(choices=GAVE, help_text="what of the row comes from it")
    sha256 = CharField(help_text="of what makes it this call")
    state = ChoiceField(choices=Call.State.values)
    template = CharField()
    template_version = IntegerField()
    template_sha256 = CharField()
    base_url = CharField(help_text="the endpoint")
    model = CharField(help_text="that was asked")
    model_answered = CharField(help_text="as the endpoint named it")
    parameters = DictField()
    seed = IntegerField(allow_null=True, help_text="null: none was sent")
    replicate = IntegerField(help_text="from 0; what failed is asked again as the next")
    messages = MessageRow(many=True)
    reply = CharField(help_text="as it came")
    finish_reason = CharField()
    prompt_tokens = IntegerField(allow_null=True)
    completion_tokens = IntegerField(allow_null=True)
    latency_ms = IntegerField(allow_null=True)
    made_at = DateTimeField()
    ended_at = DateTimeField(allow_null=True)
    cost = CostRow(allow_null=True, help_text="null: no price is known")
    attempts = AttemptRow(many=True)
    uses = UseRow(many=True)
    asked = AskedRow(many=True, help_text="all that the first item which used it asked, in order")


class Provenance(Serializer[Any]):
    """Why a label says what it says: the calls, the file or the person behind it."""

    collection = CharField()
    row = DictField(help_text="the label, as its collection has it")
    behind = ChoiceField(choices=BEHIND)
    event = CauseRow(allow_null=True)
    calls = CallRow(many=True)
