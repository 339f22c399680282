"""LLM jobs: try out, start, pause, resume, cancel, retry."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from decimal import Decimal
from http import HTTPStatus
from typing import Annotated, Any, ClassVar

from django.http import HttpResponse
from pydantic import BaseModel, Field

from accounts.models import User
from api.idempotency import Doing
from api.rows.work import JobRow
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
)
from evaluation.models import Campaign
from evaluation.rules.battles import Orders
from exchange.loaded_jobs import retry
from llmjobs.budget import Budget
from llmjobs.client import default_endpoint
from llmjobs.job_service import JobOrder, Work, cancel, estimate_job, pause, plan_job, resume, start_job
from llmjobs.job_status import any_job_for, callable_judges_for
from llmjobs.models import LlmJob

Names = Annotated[list[Name], Field(max_length=10_000)]
Count = Annotated[int, Field(ge=1, le=2**31 - 1)]


class Spending(Body):
    """Limits of a job's spending. Left out: no limit."""

    max_requests: Count | None = Field(default=None, description="that are sent")
    max_tokens: Count | None = Field(default=None, description="of prompts and replies")
    # A text, because many clients read JSON numbers as floats, and prices are decimal.
    max_money: Annotated[str, Field(pattern=r"^\d{1,8}(\.\d{1,4})?$")] | None = Field(
        default=None, description="a decimal number, in the currency of the price table"
    )

    @property
    def budget(self) -> Budget:
        """The budget. Raises `Refused` for one of nothing."""
        money = None if self.max_money is None else Decimal(self.max_money)
        return Budget(self.max_requests, self.max_tokens, money)


class NewJob(Spending):
    """Work for an LLM judge. No topic or run named means all."""

    campaign: Name
    work: Work = Field(
        description="a condition in which an LLM assigns, or nuggets, drafts, rubric, support, relevance, battle"
    )
    judge: OptionalName = Field(default="", description="an LLM judge; the endpoint's own without it")
    qrels: OptionalName = Field(
        default="", description="by whose grades passages are read; UMBRELA, or the only ones"
    )
    nuggets: OptionalName = Field(default="", description="which nugget set, where several fit")
    source: OptionalName = Field(default="", description="of relevance: under which name its grades go")
    set: OptionalName = Field(default="", description="of battle: whose battles; the only set without it")
    orders: Orders = Field(
        default=Orders.FIFTH,
        description="of battle: sides as drawn, changed too in a fifth of them, at least 100, or in both orders all",
    )
    topics: Names = Field(default=[], description="only these topics, by the track's ids")
    runs: Names = Field(default=[], description="only these runs")
    priority: Annotated[int, Field(ge=-100, le=100)] = Field(default=0, description="higher is done first")


class JobEstimate(BaseModel):
    """The work and cost of a job. Re-asks are not known before; `calls` counts what is sure.

    Costs are a forecast: `cost` is null where no price is known, `seconds` where the model was never called.
    """

    items: int
    calls: int
    reused: int
    tokens: int
    judged: int
    again: int
    without_text: int
    blocked: dict[str, str]
    calls_to_pay: int
    prompt_tokens: int
    completion_tokens: int
    cost: str | None
    currency: str
    price_table: str
    seconds: float | None


class JobsView(WriteView, ListView):
    """Have an LLM judge, or ask what that would cost."""

    operation = "jobs_start"
    query = Tryable
    body = NewJob
    answer = JobRow
    tried = JobEstimate
    success = HTTPStatus.CREATED

    def about(self, write: Write, **place: Any) -> Campaign:
        campaign = self.campaign_to_change(write.actor, write.body.campaign)
        # Judges belong to no campaign, so that names of other campaigns' judges must answer like unknown ones.
        names = {judge.name for judge in callable_judges_for(write.actor, campaign)}
        if write.body.judge not in {"", default_endpoint().model, *names}:
            raise WrongBody({"judge": ["There is no LLM of that name that can be called."]})
        return campaign

    def try_out(self, write: Write, about: Campaign) -> HttpResponse:
        estimate = estimate_job(about, self._order(write))
        blocked = {topic: self.clean(reason) for topic, reason in estimate.blocked.items()}
        to_pay = estimate.forecast
        # With :f, because str() of a small Decimal is 1E-7.
        cost = None if to_pay.cost is None else f"{to_pay.cost:f}"
        others = {"blocked": blocked, "calls_to_pay": to_pay.calls, "cost": cost}
        return document_answer(JobEstimate.model_validate(asdict(to_pay) | asdict(estimate) | others))

    def prepare(self, write: Write, about: Campaign) -> Doing:
        # Planning reads every pair of the campaign and writes nothing, so it needs no transaction.
        ready = plan_job(about, self._order(write))
        return lambda: row_answer(write.actor, "jobs", start_job(ready, write.actor).pk, HTTPStatus.CREATED)

    def _order(self, write: Write) -> JobOrder:
        order: NewJob = write.body
        nuggets = self.names.real_set(self.campaign.pk, order.nuggets) if self.campaign else order.nuggets
        return JobOrder(
            work=order.work,
            judge=order.judge,
            qrels=order.qrels,
            nuggets=nuggets,
            source=order.source,
            set=order.set,
            orders=order.orders,
            topics=tuple(order.topics),
            runs=tuple(order.runs),
            budget=order.budget,
            priority=order.priority,
        )


@dataclass(frozen=True, slots=True)
class JobChange:
    text: str
    do: Callable[[LlmJob, User, Any], object]
    body: type[Body] = Body


JOB_CHANGES = {
    "pause": JobChange(
        "Let a job rest. Replies to what is under way are kept.", lambda job, actor, _body: pause(job, actor)
    ),
    "resume": JobChange(
        "Have a paused job go on, under the budget that is sent: what is left out has no limit.",
        lambda job, actor, body: resume(job, actor, body.budget),
        Spending,
    ),
    "cancel": JobChange(
        "Cancel what is left of a job. Labels that were given stay.", lambda job, actor, _body: cancel(job, actor)
    ),
    "retry": JobChange("Queue the failed items of a job again.", lambda job, actor, _body: retry(job, actor)),
}


class ChangeJobView(WriteView):
    """Change a job."""

    answer = JobRow
    act: ClassVar[str] = "pause"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.change = JOB_CHANGES[self.act]
        self.text, self.body = self.change.text, self.change.body  # type: ignore[misc]  # each act has its own
        self.operation = f"jobs_{self.act}"  # type: ignore[misc]

    def about(self, write: Write, **place: Any) -> LlmJob:
        llm = found_or_404(lambda: any_job_for(write.actor, place["pk"]))
        self.campaign_to_change(write.actor, llm.campaign.slug)
        return llm

    def do(self, write: Write, about: LlmJob) -> HttpResponse:
        self.change.do(about, write.actor, write.body)
        return row_answer(write.actor, "jobs", about.pk)
