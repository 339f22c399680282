"""Fields of work: jobs, tasks, times, the log, findings."""

from typing import Any

from rest_framework.serializers import (
    BooleanField,
    CharField,
    ChoiceField,
    DateField,
    DateTimeField,
    DictField,
    FloatField,
    IntegerField,
    Serializer,
)

from api.rows.corpus import CAMPAIGN, JUDGE, TOPIC
from evaluation.terms import FindingCode, Stage, TaskState
from jobs.models import Job
from reports.timing.figures import TIME_COLUMNS

WHO = "by pseudonym"
OTHERS = "null in an assessor's own tasks"


BUDGET = "the job pauses there; null: no limit"


class JobRow(Serializer[Any]):
    """A job: what an LLM judge was asked to do."""

    id = IntegerField()
    campaign = CharField(help_text=CAMPAIGN)
    title = CharField()
    judge = CharField(help_text=JUDGE)
    state = ChoiceField(choices=Job.State.values)
    waiting_for = CharField(help_text="why nothing moves just now")
    made_by = CharField(allow_null=True, help_text=WHO)
    made_at = DateTimeField()
    ended_at = DateTimeField(allow_null=True)
    items = DictField(child=IntegerField(), help_text="how many are in each state")
    priority = IntegerField(help_text="higher is done first")
    requests = IntegerField(help_text="sent so far, tries that were refused among them")
    prompt_tokens = IntegerField(help_text="paid so far")
    completion_tokens = IntegerField(help_text="paid so far")
    max_requests = IntegerField(allow_null=True, help_text=BUDGET)
    max_tokens = IntegerField(allow_null=True, help_text=BUDGET)
    max_money = CharField(allow_null=True, help_text=f"a decimal number; {BUDGET}")
    currency = CharField(help_text="of the prices with which the job was started; empty: none is known")
    price_table = CharField(help_text="the version of those prices")


class TaskRow(Serializer[Any]):
    """A task: one stage of one topic, handed to somebody. Assessors get their own, and no word more than their desk."""

    id = CharField()
    campaign = CharField(help_text=CAMPAIGN)
    topic = CharField(help_text="the question")
    stage = ChoiceField(choices=[one.value for one in Stage])
    state = ChoiceField(choices=[one.value for one in TaskState])
    version = IntegerField(help_text="the submission being made, or made last")
    due = DateField(allow_null=True)
    blocked_reason = CharField()
    reopened_reason = CharField()
    topic_id = CharField(allow_null=True, help_text=f"the track's; {OTHERS}, as all that follows")
    assessor = CharField(allow_null=True, help_text=WHO)
    nugget_set = CharField(allow_null=True, help_text="what is made, or assigned")
    drafts = CharField(allow_null=True, help_text="the set that is post-edited")
    qrels = CharField(allow_null=True, help_text="whose grades choose the passages")
    machine = CharField(allow_null=True, help_text="whose support labels are shown")
    study = CharField(allow_null=True, help_text="whose pairs are asked about")
    second_opinion = BooleanField(allow_null=True)
    priority = IntegerField(allow_null=True)
    expected_minutes = IntegerField(allow_null=True)
    created_at = DateTimeField(allow_null=True)
    opened_at = DateTimeField(allow_null=True)
    submitted_at = DateTimeField(allow_null=True, help_text="the last time")


class TimeRow(Serializer[Any]):
    """The time of one submission, in seconds, as `export time` has it; docs/time.md says what each column is."""

    task = CharField(help_text="the task's id")
    campaign = CharField(help_text=CAMPAIGN)
    topic_id = CharField(help_text=TOPIC)
    stage = ChoiceField(choices=[one.value for one in Stage])
    assessor = CharField(help_text=WHO)
    version = IntegerField(help_text="the submission")
    sessions = IntegerField()
    rule_version = IntegerField()
    submitted = BooleanField(help_text="false: it is still being made, and the time goes on")
    last_at = DateTimeField(help_text="the end of the last stretch")

    def get_fields(self) -> dict[str, Any]:
        own = super().get_fields() | {name: FloatField() for name in TIME_COLUMNS if name.endswith("_s")}
        return {name: own[name] for name in ("task", *TIME_COLUMNS, "last_at")}


class EventRow(Serializer[Any]):
    """An event of the log. Names of people in it are pseudonyms."""

    id = IntegerField()
    campaign = CharField(help_text=CAMPAIGN)
    at = DateTimeField()
    kind = CharField()
    actor = CharField(allow_null=True, help_text=f"{WHO}; null: a command or a machine")
    payload = DictField()


class FindingRow(Serializer[Any]):
    """A finding: what an import noticed and loaded all the same."""

    id = IntegerField()
    campaign = CharField(help_text=CAMPAIGN)
    event = IntegerField(help_text="the import")
    at = DateTimeField()
    code = ChoiceField(choices=[one.value for one in FindingCode])
    file = CharField()
    line = IntegerField(allow_null=True)
    run_id = CharField(help_text="empty: about no run")
    topic_id = CharField(help_text="empty: about no topic")
    message = CharField()
