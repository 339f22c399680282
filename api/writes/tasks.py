"""Handing out tasks, and changing what is handed out."""

from collections.abc import Sequence
from datetime import date
from enum import StrEnum
from http import HTTPStatus
from typing import Annotated, Any

from django.db import transaction
from django.http import HttpResponse
from django.utils.http import parse_etags
from pydantic import BaseModel, Field
from rest_framework.exceptions import APIException

from accounts.models import User
from api.idempotency import Doing
from api.rows.work import TaskRow
from api.views import ListView
from api.writes.base import (
    Body,
    Name,
    NamedOne,
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
from evaluation.tasks.plan import Order, WorkPlan, plan_hand_out
from evaluation.terms import Stage

NO_SUCH = "There is nothing of that name that you may see."
HIGHEST_PRIORITY = 2
MANY = Annotated[list[NamedOne], Field(min_length=1, max_length=10_000)]
Reason = Annotated[str, Field(max_length=LONGEST_REASON)]
Priority = Annotated[int, Field(ge=0, le=HIGHEST_PRIORITY)]


class Changed(APIException):
    """Somebody was faster."""

    status_code = HTTPStatus.PRECONDITION_FAILED
    default_code = "changed"
    default_detail = "The task is another by now than If-Match says. Nothing was changed."


class Judged(StrEnum):
    """Origins of lists that answers are judged by."""

    AUTO = "auto"
    EDITED = "edited"
    MANUAL = "manual"


class NewTasks(Body):
    """Topics, a stage, and who gets them."""

    campaign: NamedOne
    stage: Stage
    topics: MANY = Field(description="by the track's ids")
    assessor: Name = Field(default="", description="by pseudonym or user name; without one it is balanced")
    drafts: Name = Field(default="", description="the set of drafts to post-edit; the only one without it")
    qrels: Name = Field(default="", description="by whose grades passages are chosen; NIST, or the only ones")
    nuggets: Name = Field(default="", description="the set to assign; each topic's only one without it")
    origin: Judged | None = Field(default=None, description="without a set: lists of this origin")
    machine: Name = Field(default="", description="the judge whose support labels are shown")
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
    """What somebody has to do, in expected minutes, before and after."""

    assessor: str
    before: int
    after: int


class HandOutPlan(BaseModel):
    """Who would get what. `key` tells two plans apart."""

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
    made = HTTPStatus.CREATED

    def about(self, write: Write, **place: Any) -> tuple[Campaign, Order]:
        body: NewTasks = write.body
        campaign = self.campaign_to_change(write.actor, body.campaign)
        names = self.names
        order = Order(
            stage=body.stage,
            topics=_topics(write.actor, campaign, body.topics),
            assessor=self.assessor(write.actor, campaign, body.assessor),
            drafts=names.real_set(campaign.pk, body.drafts),
            qrels=body.qrels,
            due=body.due,
            priority=body.priority,
            again=body.again,
            nuggets=names.real_set(campaign.pk, body.nuggets),
            origin=body.origin or "",
            machine=body.machine,
            reason=body.reason,
        )
        return campaign, order

    def assessor(self, actor: User, campaign: Campaign, name: str) -> str:
        return user_name(self, actor, campaign, name) if name else ""

    def try_out(self, write: Write, about: tuple[Campaign, Order]) -> HttpResponse:
        return document_answer(self._plan(*about))

    def prepare(self, write: Write, about: tuple[Campaign, Order]) -> Doing:
        campaign, order = about

        def do() -> HttpResponse:
            receipt = hand_out(campaign=campaign, order=order, actor=write.actor, expect=write.body.expect)
            left = [LeftOut(topic_id=one.topic_id, reason=self.clean(one.reason)) for one in receipt.skipped]
            return document_answer(HandedOut(tasks=list(receipt.tasks), left_out=left), HTTPStatus.CREATED)

        return do

    def _plan(self, campaign: Campaign, order: Order) -> HandOutPlan:
        plan: WorkPlan = plan_hand_out(campaign, order)
        names = self.names
        given = [
            Given(
                topic_id=one.topic.topic_id,
                assessor=names.person(campaign.pk, one.assessor.pk if one.assessor else None),
                nugget_set=names.nugget_set(one.nugget_set.pk if one.nugget_set else None),
                minutes=one.minutes,
                answers=one.answers,
                labels=one.labels,
                second_opinion=one.second_opinion,
            )
            for one in plan.given
        ]
        clean = self.clean
        left = [LeftOut(topic_id=one.topic_id, reason=clean(one.reason)) for one in plan.skipped]
        loads = [Load(assessor=clean(share.name), before=share.before, after=share.after) for share in plan.shares]
        return HandOutPlan(key=plan.key, given=given, left_out=left, loads=loads)


class TaskChanges(Body):
    """A change of several tasks. `due` and `priority` are set by `reschedule` only."""

    campaign: NamedOne
    change: Change
    tasks: MANY
    reason: Reason = ""
    due: date | None = None
    priority: Priority = 0


class Stays(BaseModel):
    """A task that stays as it is, and why."""

    task: str
    topic_id: str
    reason: str


class TasksChanged(BaseModel):
    """The tasks that were changed, or would be, and those that were not."""

    changed: list[str]
    left: list[Stays]


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
        return campaign, TaskChange(body.change, tuple(body.tasks), body.reason, body.due, body.priority)

    def try_out(self, write: Write, about: tuple[Campaign, TaskChange]) -> HttpResponse:
        return self._receipt_answer(plan_change(*about))

    def prepare(self, write: Write, about: tuple[Campaign, TaskChange]) -> Doing:
        campaign, wish = about
        return lambda: self._receipt_answer(change_tasks(campaign=campaign, wish=wish, actor=write.actor))

    def _receipt_answer(self, receipt: ChangeReceipt) -> HttpResponse:
        left = [Stays(task=one.task, topic_id=one.topic_id, reason=self.clean(one.reason)) for one in receipt.left]
        return document_answer(TasksChanged(changed=list(receipt.changed), left=left))


class WithReason(Body):
    """Why: whoever has the task reads it, or the log keeps it."""

    reason: Reason = ""


class Schedule(WithReason):
    """When and before what a task is to be done. Both are set, so that nothing is lost that was not looked at."""

    due: date | None
    priority: Priority


class Reassignment(WithReason):
    """Who gets a task's topic instead."""

    assessor: NamedOne = Field(description="by pseudonym or user name")


class OneTaskView(WriteView):
    """Change one task; with `If-Match` only if it is still as you know it."""

    answer = TaskRow
    conditional = True

    def about(self, write: Write, **place: Any) -> Task:
        task = found_or_404(lambda: any_task_for(write.actor, place["public_id"]))
        self.campaign_to_change(write.actor, task.campaign.slug)
        return task

    def prepare(self, write: Write, about: Task) -> Doing:
        """Return what changes it, if it is still what the organizer knows."""

        def do() -> HttpResponse:
            with transaction.atomic():
                _check_unchanged(write, about)
                return self.change(write, about)

        return do

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
        body = write.body
        due, priority = (body.due, body.priority) if isinstance(body, Schedule) else (None, 0)
        wish = TaskChange(self.act, (task.public_id,), body.reason, due, priority)
        change_tasks(campaign=task.campaign, wish=wish, actor=write.actor)
        return row_answer(write.actor, "tasks", task.public_id)


class ReassignTaskView(OneTaskView):
    """Give a task's topic to somebody else, as a new and empty task, which is answered. The old one is withdrawn."""

    operation = "tasks_reassign"
    body = Reassignment
    made = HTTPStatus.CREATED

    def change(self, write: Write, task: Task) -> HttpResponse:
        body: Reassignment = write.body
        assessor = user_name(self, write.actor, task.campaign, body.assessor)
        new = reassign(
            campaign=task.campaign, task=task.public_id, assessor=assessor, reason=body.reason, actor=write.actor
        )
        return row_answer(write.actor, "tasks", new, HTTPStatus.CREATED)


def user_name(view: WriteView, actor: User, campaign: Campaign, name: str) -> str:
    """Return the user name of an assessor, who is said by the pseudonym that the API shows, or by that name itself."""
    names = view.names
    for assessor in assessors_for(actor, campaign):
        if name in (names.person(campaign.pk, assessor.pk), assessor.username):
            return assessor.username
    raise WrongBody({"assessor": [NO_SUCH]})


def _topics(actor: User, campaign: Campaign, wanted: Sequence[str]) -> tuple[str, ...]:
    there = topics_for(actor, campaign).filter(topic_id__in=wanted)
    found = dict(there.values_list("topic_id", "public_id"))
    if missing := [one for one in wanted if one not in found]:
        raise WrongBody({"topics": [f"{one}: {NO_SUCH}" for one in missing[:20]]})
    return tuple(found[fromkey] for fromkey in dict.fromkeys(wanted))


def _check_unchanged(write: Write, task: Task) -> None:
    """Raise `Changed` where the task is not what `If-Match` says. It stays locked until the change is done."""
    if not write.if_match:
        return
    lock_any_task(task.campaign, task.public_id)
    wanted = parse_etags(write.if_match)
    if "*" not in wanted and row_now(write.actor, "tasks", task.public_id)[1] not in wanted:
        raise Changed
