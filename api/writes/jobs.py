"""LLM jobs: try out, start, cancel, retry."""

from http import HTTPStatus
from typing import Annotated, Any

from django.http import HttpResponse
from pydantic import BaseModel, Field

from accounts.models import User
from api.once import Doing
from api.serializers.work import JobRow
from api.views import ListView
from api.writes.base import Write, WriteView, found_or_404, told, told_row
from api.writes.said import Body, Name, NamedOne, Tryable, WrongBody
from evaluation.models import Campaign
from llmjobs.endpoints import default_endpoint
from llmjobs.models import LlmJob
from llmjobs.ordering import JobOrder, ReadyJob, Work, cancel, make_ready, retry, start_ready, try_out
from llmjobs.queries import any_job_for, callable_judges_for

Names = Annotated[list[NamedOne], Field(max_length=10_000)]


class NewJob(Body):
    """What an LLM is to judge. No topic or run named means all."""

    campaign: NamedOne
    work: Work = Field(description="a condition in which an LLM assigns, or drafts, support, relevance")
    judge: Name = Field(default="", description="an LLM judge; the endpoint's own without it")
    qrels: Name = Field(default="", description="by whose grades passages are read; UMBRELA, or the only ones")
    nuggets: Name = Field(default="", description="which nugget set, where several fit")
    source: Name = Field(default="", description="of relevance: under which name its grades go")
    topics: Names = Field(default=[], description="only these topics, by the track's ids")
    runs: Names = Field(default=[], description="only these runs")


class JobEstimate(BaseModel):
    """What a job would do. Later windows and re-asks are not known before; `calls` counts what is sure."""

    items: int
    calls: int
    reused: int
    tokens: int
    judged: int
    again: int
    without_text: int
    blocked: dict[str, str]


class JobsView(WriteView, ListView):
    """Have an LLM judge, or ask what that would cost."""

    operation = "jobs_start"
    query = Tryable
    body = NewJob
    answer = JobRow
    tried = JobEstimate
    made = HTTPStatus.CREATED

    def about(self, write: Write, **place: Any) -> Campaign:
        """Return the campaign that is judged."""
        campaign = self.campaign_to_change(write.actor, write.body.campaign)
        # Judges belong to no campaign: whoever is not among those that can be called here is nobody.
        known = {one.name for one in callable_judges_for(write.actor, campaign)}
        if write.body.judge not in {"", default_endpoint().model, *known}:
            raise WrongBody({"judge": ["There is no LLM of that name that can be called."]})
        return campaign

    def try_out(self, write: Write, about: Campaign) -> HttpResponse:
        """Say what it would cost."""
        found = try_out(about, self._order(write))
        blocked = {topic: self.clean(reason) for topic, reason in found.blocked.items()}
        return told(
            JobEstimate(
                items=found.items,
                calls=found.calls,
                reused=found.reused,
                tokens=found.tokens,
                judged=found.judged,
                again=found.again,
                without_text=found.without_text,
                blocked=blocked,
            )
        )

    def prepare(self, write: Write, about: Campaign) -> Doing:
        """Plan the job; return what queues it."""
        ready = make_ready(about, self._order(write))
        return lambda: _started(ready, write.actor)

    def _order(self, write: Write) -> JobOrder:
        said: NewJob = write.body
        nuggets = self.names.real_set(self.campaign.pk, said.nuggets) if self.campaign else said.nuggets
        return JobOrder(
            said.work, said.judge, said.qrels, nuggets, said.source, tuple(said.topics), tuple(said.runs)
        )


def _started(ready: ReadyJob, actor: User) -> HttpResponse:
    return told_row(actor, "jobs", start_ready(ready, actor).pk, HTTPStatus.CREATED)


class ChangeJobView(WriteView):
    """Change a job."""

    answer = JobRow

    def about(self, write: Write, **place: Any) -> LlmJob:
        """Return the job."""
        llm = found_or_404(lambda: any_job_for(write.actor, place["pk"]))
        self.campaign_to_change(write.actor, llm.campaign.slug)
        return llm


class CancelJobView(ChangeJobView):
    """Cancel what is left of a job. Labels that were given stay."""

    operation = "jobs_cancel"

    def prepare(self, write: Write, about: LlmJob) -> Doing:
        """Return what cancels it."""

        def do() -> HttpResponse:
            cancel(about, write.actor)
            return told_row(write.actor, "jobs", about.pk)

        return do


class RetryJobView(ChangeJobView):
    """Queue the failed items of a job again."""

    operation = "jobs_retry"

    def prepare(self, write: Write, about: LlmJob) -> Doing:
        """Return what queues them."""

        def do() -> HttpResponse:
            retry(about, write.actor)
            return told_row(write.actor, "jobs", about.pk)

        return do
