"""Handing out tasks, and changing what is handed out."""

from collections.abc import Sequence
from datetime import date
from enum import StrEnum
from http import HTTPStatus
from typing import Annotated, Any

from django.db import transaction
from django.http import HttpResponse
from django.utils.http import parse_etags
from pydantic import BaseModel, Field, PlainValidator
from rest_framework.exceptions import APIException

from accounts.models import User
from api.filters import NO_SUCH
from api.rows.corpus import words
from api.rows.work import TaskRow
from api.streams import tag_of_body
from api.views import ListView
from api.writes.base import (
    Body,
    Name,
    OptionalName,
    Tryable,
    Write,
    WriteView,
    WrongBody,
    document_answer,
    found_or_404,
    row_answer,
    row_now,
)
from assessor.progress.matrix import any_task_for, assessors_for
from evaluation.corpus.topics import topics_for
from evaluation.models import Campaign, Task
from evaluation.stages import STAGES, Stage, stage_of
from evaluation.tasks.changes import (
    LONGEST_REASON,
    Change,
    ChangeReceipt,
    TaskChange,
    change_tasks,
    lock_any_task,
    plan_change,
)
from evaluation.tasks.hand_out import hand_out, reassign
from evaluation.tasks.plan import plan_hand_out
from evaluation.tasks.units import Order

HIGHEST_PRIORITY = 2
MANY = Annotated[list[Name], Field(min_length=1, max_length=10_000)]
Reason = Annotated[str, Field(max_length=LONGEST_REASON)]
Priority = Annotated[int, Field(ge=0, le=HIGHEST_PRIORITY)]
DUE = "the last day; null takes it away; left out it stays"
PRIORITY = "higher is done first; left out or null it stays"


class Changed(APIException):
    status_code = HTTPStatus.PRECONDITION_FAILED
    default_code = "changed"
    default_detail = "The task is another by now than If-Match says. Nothing was changed."


# Without drafts: those are there to be edited, and no answer is judged by them.
class Judged(StrEnum):
    """Origins of lists that answers are judged by."""

    AUTO = "auto"
    EDITED = "edited"
    MANUAL = "manual"


class NewTasks(Body):
    """Topics, a stage, and who gets them."""

    campaign: Name
    stage: Annotated[Stage, PlainValidator(lambda code: stage_of(str(code))), words(STAGES.values())]
    topics: MANY = Field(description="by the track's ids")
    assessor: OptionalName = Field(default="", description="by pseudonym or user name; without one it is balanced")
    drafts: OptionalName = Field(default="", description="the set of drafts to post-edit; the only one without it")
    qrels: OptionalName = Field(
        default="", description="by whose grades passages are chosen; NIST, or the only ones"
    )
    nuggets: OptionalName = Field(default="", description="the set to assign; each topic's only one without it")
    origin: Judged | None = Field(default=None, description="without a set: lists of this origin")
    judge: OptionalName = Field(default="", description="the judge whose support labels are shown")
    battles: OptionalName = Field(default="", description="the battle set; none: the only one")
    sample: OptionalName = Field(
        default="", description="the LLM whose sample of the battles is handed out; none: all battles"
    )
    due: date | None = None
    priority: Priority = Field(default=0, description="higher is done first")
    again: bool = Field(default=False, description="also topics that somebody has already: a second opinion")
    reason: Reason = Field(default="", description="why somebody else assigns a list than made it")
    expect: Annotated[str, Field(max_length=16)] = Field(
        default="", description="`key` of the plan that was tried out: with another one nothing is handed out"
    )


class Given(BaseModel):
    """A task that would be made."""

    topic_id: str
    assessor: str | None
    nugget_set: str | None
    minutes: int
    answers: int
    labels: int
    second_opinion: bool


class LeftOut(BaseModel):
    """A topic that nobody gets, and why."""

    topic_id: str
    reason: str


class Load(BaseModel):
    """Open work of an assessor, in expected minutes, before and after."""

    assessor: str
    before: int
    after: int


class HandOutPlan(BaseModel):
    """Tasks that would be made. `key` tells two plans apart."""

    key: str
    given: list[Given]
    left_out: list[LeftOut]
    loads: list[Load]


class HandedOut(BaseModel):
    """The tasks that were made, and the topics that were left out."""

    tasks: list[str]
    left_out: list[LeftOut]


class TasksView(WriteView, ListView):
    """Hand out topics, or ask who would get what."""

    operation = "tasks_hand_out"
    query = Tryable
    body = NewTasks
    answer = HandedOut
    tried = HandOutPlan
    success = HTTPStatus.CREATED

    def about(self, write: Write, **place: Any) -> tuple[Campaign, Order]:
        body: NewTasks = write.body
        campaign = self.campaign_to_change(write.actor, body.campaign)
        names = self.names
        order = Order(
            stage=body.stage,
            topics=_topics(write.actor, campaign, body.topics),
            assessor=user_name(self, write.actor, campaign, body.assessor) if body.assessor else "",
            drafts=names.real_set(campaign.pk, body.drafts),
            qrels=body.qrels,
            due=body.due,
            priority=body.priority,
            again=body.again,
            nuggets=names.real_set(campaign.pk, body.nuggets),
            origin=body.origin or "",
            judge=body.judge,
            battles=body.battles,
            sample=body.sample,
            reason=body.reason,
        )
        return campaign, order

    def try_out(self, write: Write, about: tuple[Campaign, Order]) -> HttpResponse:
        campaign, order = about
        plan, names, clean = plan_hand_out(campaign, order), self.names, self.clean
        tasks = [
            Given(
                topic_id=task.topic.topic_id,
                assessor=names.person(campaign.pk, task.assessor.pk if task.assessor else None),
                nugget_set=names.nugget_set(task.nugget_set.pk if task.nugget_set else None),
                minutes=task.minutes,
                answers=task.answers,
                labels=task.labels,
                second_opinion=task.second_opinion,
            )
            for task in plan.given
        ]
        left = [LeftOut(topic_id=topic.topic_id, reason=clean(topic.reason)) for topic in plan.skipped]
        loads = [Load(assessor=clean(share.name), before=share.before, after=share.after) for share in plan.shares]
        return document_answer(HandOutPlan(key=plan.key, given=tasks, left_out=left, loads=loads))

    def do(self, write: Write, about: tuple[Campaign, Order]) -> HttpResponse:
        campaign, order = about
        # Planned anew under the lock: `expect` refuses where that is not the plan that was tried out.
        receipt = hand_out(campaign=campaign, order=order, actor=write.actor, expect=write.body.expect)
        left = [LeftOut(topic_id=topic.topic_id, reason=self.clean(topic.reason)) for topic in receipt.skipped]
        return document_answer(HandedOut(tasks=list(receipt.tasks), left_out=left), HTTPStatus.CREATED)


class TaskChanges(Body):
    """A change of several tasks. `due` and `priority` are for `reschedule`; what is left out stays as it is."""

    campaign: Name
    change: Change
    tasks: MANY
    reason: Reason = ""
    due: date | None = Field(default=None, description=DUE)
    priority: Priority | None = Field(default=None, description=PRIORITY)


class Stays(BaseModel):
    """A task that stays as it is, and why."""

    task: str
    topic_id: str
    reason: str


class TasksChanged(BaseModel):
    """The tasks that were changed, or would be, those that were not, and what is lost by it, in words."""

    changed: list[str]
    left: list[Stays]
    takes_away: list[str]


class TaskChangesView(WriteView):
    """Change each of several tasks that allows it, or ask which do."""

    operation = "tasks_change"
    query = Tryable
    body = TaskChanges
    answer = TasksChanged
    tried = TasksChanged

    def about(self, write: Write, **place: Any) -> tuple[Campaign, TaskChange]:
        body: TaskChanges = write.body
        campaign = self.campaign_to_change(write.actor, body.campaign)
        return campaign, _order(body.change, body.tasks, body)

    def try_out(self, write: Write, about: tuple[Campaign, TaskChange]) -> HttpResponse:
        return self._receipt_answer(plan_change(*about))

    def do(self, write: Write, about: tuple[Campaign, TaskChange]) -> HttpResponse:
        campaign, order = about
        return self._receipt_answer(change_tasks(campaign=campaign, order=order, actor=write.actor))

    def _receipt_answer(self, receipt: ChangeReceipt) -> HttpResponse:
        left = [
            Stays(task=task.task, topic_id=task.topic_id, reason=self.clean(task.reason)) for task in receipt.left
        ]
        return document_answer(
            TasksChanged(changed=list(receipt.changed), left=left, takes_away=list(receipt.takes_away))
        )


class WithReason(Body):
    """Why: whoever has the task reads it, or the log keeps it."""

    reason: Reason = ""


class Schedule(WithReason):
    """Due date and priority of a task. What is left out stays as it is."""

    due: date | None = Field(default=None, description=DUE)
    priority: Priority | None = Field(default=None, description=PRIORITY)


def _order(change: Change, tasks: Sequence[str], body: TaskChanges | WithReason) -> TaskChange:
    if not isinstance(body, TaskChanges | Schedule):
        return TaskChange(change, tuple(tasks), body.reason)
    # A date that is left out stays; one that is sent as null is meant to go.
    drops_due = "due" in body.model_fields_set and body.due is None
    return TaskChange(change, tuple(tasks), body.reason, body.due, body.priority, drops_due)


class Reassignment(WithReason):
    """The assessor who gets a task's topic instead."""

    assessor: Name = Field(description="by pseudonym or user name")


class OneTaskView(WriteView):
    """Change one task; with `If-Match` only if it is still as you know it."""

    answer = TaskRow
    conditional = True

    def about(self, write: Write, **place: Any) -> Task:
        task = found_or_404(lambda: any_task_for(write.actor, place["public_id"]))
        self.campaign_to_change(write.actor, task.campaign.slug)
        return task

    def do(self, write: Write, about: Task) -> HttpResponse:
        # Check and change in one transaction: another organizer's change must not come between them.
        with transaction.atomic():
            _check_unchanged(write, about)
            return self.change(write, about)

    def change(self, write: Write, task: Task) -> HttpResponse:
        raise NotImplementedError


class ChangeTaskView(OneTaskView):
    """Reopen, block, unblock, withdraw or reschedule one task; with `If-Match` only if it is still as you know it."""

    act: Change = Change.REOPEN

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.operation = f"tasks_{self.act}"  # type: ignore[misc]  # each act has its own
        self.body = Schedule if self.act is Change.RESCHEDULE else WithReason  # type: ignore[misc]

    def change(self, write: Write, task: Task) -> HttpResponse:
        order = _order(self.act, [task.public_id], write.body)
        change_tasks(campaign=task.campaign, order=order, actor=write.actor)
        return row_answer(write.actor, "tasks", task.public_id)


class ReassignTaskView(OneTaskView):
    """Give a task's topic to somebody else, as a new and empty task, which is answered. The old one is withdrawn."""

    operation = "tasks_reassign"
    body = Reassignment
    success = HTTPStatus.CREATED

    def change(self, write: Write, task: Task) -> HttpResponse:
        body: Reassignment = write.body
        assessor = user_name(self, write.actor, task.campaign, body.assessor)
        new = reassign(
            campaign=task.campaign, task=task.public_id, assessor=assessor, reason=body.reason, actor=write.actor
        )
        return row_answer(write.actor, "tasks", new, HTTPStatus.CREATED)


def user_name(view: WriteView, actor: User, campaign: Campaign, name: str) -> str:
    names = view.names
    # Among the campaign's own assessors: a search in all accounts would tell which user names exist.
    for assessor in assessors_for(actor, campaign):
        if name in (names.person(campaign.pk, assessor.pk), assessor.username):
            return assessor.username
    raise WrongBody({"assessor": [NO_SUCH]})


def _topics(actor: User, campaign: Campaign, topic_ids: Sequence[str]) -> tuple[str, ...]:
    topics = topics_for(actor, campaign).filter(topic_id__in=topic_ids)
    public_ids = dict(topics.values_list("topic_id", "public_id"))
    if missing := [topic_id for topic_id in topic_ids if topic_id not in public_ids]:
        # The first twenty: a list of the wrong campaign has up to ten thousand.
        raise WrongBody({"topics": [f"{topic_id}: {NO_SUCH}" for topic_id in missing[:20]]})
    # Each once: a topic that is named twice would be a second opinion of itself.
    return tuple(public_ids[topic_id] for topic_id in dict.fromkeys(topic_ids))


def _check_unchanged(write: Write, task: Task) -> None:
    """Raise `Changed` where the task is not what `If-Match` says. It stays locked until the change is done."""
    if not write.if_match:
        return
    lock_any_task(task.campaign, task.public_id)
    tags = parse_etags(write.if_match)
    if "*" not in tags and tag_of_body(row_now(write.actor, "tasks", task.public_id)) not in tags:
        raise Changed
