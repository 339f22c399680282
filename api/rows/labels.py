"""Fields of labels and of those who give them."""

from typing import Any

from rest_framework.serializers import (
    BooleanField,
    CharField,
    ChoiceField,
    DateTimeField,
    DictField,
    FloatField,
    IntegerField,
    ListField,
    Serializer,
)

from api.rows.corpus import CAMPAIGN, JUDGE, RUN, TOPIC
from evaluation.terms import AssignmentLabel, Condition, JudgeKind, SupportCondition, SupportLabel
from llmjobs.models import Call

EVENT = "the event that brought it; null: none was kept"
ASSIGNED = [one.name.lower() for one in AssignmentLabel]
SUPPORTED = [one.name.lower() for one in SupportLabel]


class AssignmentRow(Serializer[Any]):
    """A label: whether an answer contains a nugget. Only labels that stand."""

    id = IntegerField()
    campaign = CharField(help_text=CAMPAIGN)
    topic_id = CharField(help_text=TOPIC)
    run_id = CharField(help_text=RUN)
    answer = CharField(help_text="the answer's id")
    nugget = CharField(help_text="as in `nuggets`")
    nugget_version = IntegerField(help_text="which wording was looked for")
    nugget_set = CharField(help_text="the set's name")
    judge = CharField(help_text=JUDGE)
    label = ChoiceField(choices=ASSIGNED)  # type: ignore[assignment]  # a column of that name
    raw = CharField(help_text="what was said, where it is none of the labels")
    sentence = IntegerField(allow_null=True, help_text="of the answer, from 0: where the nugget is")
    first_label = ChoiceField(choices=ASSIGNED, allow_null=True, help_text="before the sweep changed it")
    submission = IntegerField(help_text="from 1")
    given_at = DateTimeField()
    event = IntegerField(allow_null=True, help_text=EVENT)


class SupportRow(Serializer[Any]):
    """A label: whether a cited segment supports a sentence. Only labels that stand."""

    id = IntegerField()
    campaign = CharField(help_text=CAMPAIGN)
    topic_id = CharField(help_text=TOPIC)
    run_id = CharField(help_text=RUN)
    answer = CharField(help_text="the answer's id")
    sentence = IntegerField(help_text="of the answer, from 0")
    docid = CharField(help_text="what the sentence cites")
    condition = ChoiceField(choices=[one.value for one in SupportCondition])
    judge = CharField(help_text=JUDGE)
    label = ChoiceField(choices=SUPPORTED)  # type: ignore[assignment]  # a column of that name
    raw = CharField(help_text="what was said, where it is none of the labels")
    shown_label = ChoiceField(choices=SUPPORTED, allow_null=True, help_text="the machine's, where it was shown")
    shown_ms = IntegerField(allow_null=True, help_text="from when it was shown to the first decision")
    accepted = BooleanField(allow_null=True, help_text="whether the machine's label was taken over")
    submission = IntegerField(help_text="from 1")
    given_at = DateTimeField()
    event = IntegerField(allow_null=True, help_text=EVENT)


class QrelRow(Serializer[Any]):
    """A label: how relevant a source says that a segment is for a topic."""

    id = IntegerField()
    campaign = CharField(help_text=CAMPAIGN)
    topic_id = CharField(help_text=TOPIC)
    docid = CharField()
    source = CharField(help_text="whose grades: NIST, UMBRELA or another name")  # type: ignore[assignment]  # a column of that name
    grade = IntegerField()
    event = IntegerField(allow_null=True, help_text=EVENT)


class JudgeRow(Serializer[Any]):
    """A judge in a campaign. A person with an account goes by a pseudonym, another one in each campaign."""

    campaign = CharField(help_text=CAMPAIGN)
    name = CharField()
    kind = ChoiceField(choices=[one.value for one in JudgeKind])
    model = CharField(help_text="of an LLM")
    prompt_versions = DictField()
    study = CharField(allow_null=True, help_text="the study whose pairs this judge labels")
    aside = BooleanField(help_text="its labels count only where it is named")
    created_at = DateTimeField()


class ScoreRow(Serializer[Any]):
    """A run's scores under a condition, computed when they are asked for. Scores are in [0, 1]."""

    campaign = CharField(help_text=CAMPAIGN)
    condition = ChoiceField(choices=[one.value for one in (*Condition, *SupportCondition)])
    judge = CharField(allow_null=True, help_text="whose labels they rest on")
    nugget_set = CharField(allow_null=True, help_text="whose nuggets; null under a support condition")
    run_id = CharField(help_text=RUN)
    group = CharField()
    task = CharField()
    control = BooleanField(allow_null=True)
    topics = IntegerField(allow_null=True, help_text="topics behind the primary score")
    vital_strict = FloatField(allow_null=True, help_text="the primary score")
    vital = FloatField(allow_null=True)
    weighted_strict = FloatField(allow_null=True)
    weighted = FloatField(allow_null=True)
    all_strict = FloatField(allow_null=True)
    all = FloatField(allow_null=True)
    length = FloatField(allow_null=True, help_text="words of an answer, the mean")
    weighted_precision = FloatField(allow_null=True, help_text="of support")
    weighted_recall = FloatField(allow_null=True, help_text="of support")
    sentences = FloatField(allow_null=True, help_text="of an answer, the mean")
    sentences_total = IntegerField(allow_null=True)
    sentences_uncited = IntegerField(allow_null=True)
    judged = IntegerField(help_text="labels")
    failed = IntegerField(help_text="labels")
    unjudged = IntegerField(help_text="labels")
    excluded = IntegerField(allow_null=True, help_text="answers")
    missing = IntegerField(allow_null=True, help_text="answers")
    unjudgeable = IntegerField(allow_null=True, help_text="pairs that nobody can judge")


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
