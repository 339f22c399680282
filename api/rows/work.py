"""Columns of work: jobs, tasks, times, the log, findings."""

from datetime import date, datetime
from typing import Annotated, Any

from pydantic import Field

from api.rows.corpus import CampaignSlug, JudgeName, Number, Out, TopicId, words
from evaluation.stages import STAGES
from evaluation.terms import FindingCode, TaskState
from jobs.models import Job

WHO = "by pseudonym"
OTHERS = "null in an assessor's own tasks"
BUDGET = "the job pauses there; null: no limit"
StageWord = Annotated[str, words(STAGES.values())]


class JobRow(Out):
    """A job: work for an LLM judge."""

    id: int
    campaign: CampaignSlug
    title: str
    judge: JudgeName
    state: Annotated[str, words(Job.State.values)]
    waiting_for: str = Field(description="why nothing moves just now")
    made_by: str | None = Field(description=WHO)
    made_at: datetime
    ended_at: datetime | None
    items: dict[str, int] = Field(description="how many are in each state")
    priority: int = Field(description="higher is done first")
    requests: int = Field(description="sent so far, tries that were refused among them")
    prompt_tokens: int = Field(description="paid so far, of replies that say it")
    completion_tokens: int = Field(description="paid so far, of replies that say it")
    max_requests: int | None = Field(description=BUDGET)
    max_tokens: int | None = Field(description=BUDGET)
    # A text, because many clients read JSON numbers as floats, and prices are decimal.
    max_money: str | None = Field(description=f"a decimal number; {BUDGET}")
    currency: str = Field(description="of the prices with which the job was started; empty: none is known")
    price_table: str = Field(description="the version of those prices")


class TaskRow(Out):
    """A task: one stage of one topic, handed to somebody. Assessors get their own, and no word more than their desk."""

    id: str
    campaign: CampaignSlug
    topic: str = Field(description="the question")
    stage: StageWord
    state: Annotated[str, words(TaskState)]
    version: int = Field(description="the submission being made, or made last")
    due: date | None
    blocked_reason: str
    reopened_reason: str
    # Null from here on in an assessor's own tasks: it would tell whose list or which system is judged.
    topic_id: str | None = Field(description=f"the track's; {OTHERS}, as all that follows")
    assessor: str | None = Field(description=WHO)
    nugget_set: str | None = Field(description="what is made, or assigned")
    drafts: str | None = Field(description="the set that is post-edited")
    qrels: str | None = Field(description="whose grades choose the passages")
    judge: str | None = Field(description="whose support labels are shown")
    study: str | None = Field(description="the study whose pairs are judged")
    second_opinion: bool | None
    priority: int | None
    expected_minutes: int | None
    created_at: datetime | None
    opened_at: datetime | None
    submitted_at: datetime | None = Field(description="the last time")


class TimeRow(Out):
    """The time of one submission, in seconds, as `export time` has it; docs/time.md says what each column is."""

    # In the order of `TIME_COLUMNS`: the cells of a CSV file are written by position.
    task: str = Field(description="the task's id")
    campaign: CampaignSlug
    topic_id: TopicId
    stage: StageWord
    assessor: str = Field(description=WHO)
    version: int = Field(description="the submission")
    wall_s: Number
    presence_s: Number
    active_low_s: Number
    active_point_s: Number
    active_high_s: Number
    active_60_s: Number
    active_120_s: Number
    active_180_s: Number
    active_300_s: Number
    hidden_s: Number
    paused_s: Number
    offline_s: Number
    blur_s: Number
    sessions: int
    rework_s: Number
    rule_version: int
    reading_s: Number
    editing_s: Number
    suspended_s: Number
    submitted: bool = Field(description="false: it is still being made, and the time goes on")
    last_at: datetime = Field(description="the end of the last stretch")


class EventRow(Out):
    """An event of the log. Names of people in it are pseudonyms."""

    id: int
    campaign: CampaignSlug
    at: datetime
    kind: str
    actor: str | None = Field(description=f"{WHO}; null: a command or a machine")
    payload: dict[str, Any]


class FindingRow(Out):
    """A finding: what an import noticed and loaded all the same."""

    id: int
    campaign: CampaignSlug
    event: int = Field(description="the import")
    at: datetime
    code: Annotated[str, words(FindingCode)]
    file: str
    line: int | None
    run_id: str = Field(description="empty: about no run")
    topic_id: str = Field(description="empty: about no topic")
    message: str
