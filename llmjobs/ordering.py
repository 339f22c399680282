"""What an organizer orders of an LLM, from a dry run to a retry. Each act that changes something is an event."""

from dataclasses import dataclass
from enum import StrEnum

from django.db import transaction

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign, Event, Judge
from evaluation.services.names import check_name
from evaluation.terms import Condition, JudgeKind
from jobs import queue
from jobs.models import Job
from llmjobs import starting
from llmjobs.budget import NO_LIMIT, Budget, budget_payload, set_budget
from llmjobs.endpoints import default_endpoint
from llmjobs.models import LlmJob
from llmjobs.planning import JobPlan
from llmjobs.starting import Estimate, JobRequest


class Work(StrEnum):
    """What an LLM can be asked to judge."""

    AA = "A/A"
    EA = "E/A"
    MA = "M/A"
    DRAFTS = "drafts"
    SUPPORT = "support"
    RELEVANCE = "relevance"

    @property
    def job_title(self) -> str:
        return TITLES.get(self, f"AutoAssign {self}")


TITLES = {
    Work.DRAFTS: "Drafts for post-editing",
    Work.SUPPORT: "Support of citations",
    Work.RELEVANCE: "Relevance",
}


@dataclass(frozen=True, slots=True)
class JobOrder:
    """A job: what, by whom, and about which topics and runs; none named means all.

    `source`: under which name new grades go. `qrels`: by whose grades passages are read.
    """

    work: Work
    judge: str = ""
    qrels: str = ""
    nuggets: str = ""
    source: str = ""
    topics: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    budget: Budget = NO_LIMIT
    priority: int = 0

    @property
    def payload(self) -> dict[str, object]:
        """Order as events store it, without judge and budget."""
        named = {"qrels": self.qrels, "nuggets": self.nuggets, "source": self.source}
        chosen = {"topics": list(self.topics), "runs": list(self.runs)}
        return {"work": self.work.value} | {name: value for name, value in (named | chosen).items() if value}


@dataclass(frozen=True, slots=True)
class ReadyJob:
    """A job that is planned and has something to do. `order`: what was asked for."""

    request: JobRequest
    title: str
    plan: JobPlan
    order: dict[str, object]


def estimate_job(campaign: Campaign, order: JobOrder) -> Estimate:
    """Return what a job would do, and write nothing. Raises `Refused`."""
    judge = starting.judge_for(order.judge) if order.judge else _judge_to_be()
    return starting.estimate(_plan(_request(campaign, judge, order), order), judge)


def plan_job(campaign: Campaign, order: JobOrder) -> ReadyJob:
    """Plan a job, which takes a while and no lock. Raises `Refused`, also where nothing is to be done."""
    request = _request(campaign, starting.judge_for(order.judge), order)
    plan = _plan(request, order)
    if not plan.items:
        done = f"Nothing to do: {plan.judged:,} done already."
        why = "; ".join(f"{topic}: {reason}" for topic, reason in plan.blocked.items())
        raise Refused("nothing_to_do", " ".join(filter(None, (done, why))))
    return ReadyJob(request, order.work.job_title, plan, order.payload)


def start_job(ready: ReadyJob, actor: User) -> Job:
    return starting.start(ready.request, ready.title, ready.plan, actor, ready.order)


def order_of(llm: LlmJob) -> dict[str, object] | None:
    """Order of a job, to be given to another judge; None where it is not on record."""
    started = Event.objects.filter(campaign=llm.campaign, kind="job.started", payload__job=llm.pk).first()
    order: dict[str, object] | None = started.payload.get("order") if started else None
    return order


def cancel(llm: LlmJob, actor: User | None) -> int:
    """Cancel what is left of a job; return how many items will not be done. Raises `Refused` when it has ended."""
    if llm.job.has_ended:
        raise Refused("job_ended", "This job has ended already; there is nothing to cancel.")
    with transaction.atomic():
        left = queue.cancel(llm.job)
        _note("job.cancelled", llm, actor, left)
    return left


def pause(llm: LlmJob, actor: User | None) -> None:
    """Let a job rest until somebody resumes it. Raises `Refused` where it does not run."""
    with transaction.atomic():
        if not queue.pause(llm.pk, "An organizer paused it.", by_hand=True):
            raise Refused("not_running", "This job does not run; there is nothing to pause.")
        _note("job.paused", llm, actor, queue.progress_of(llm.job).queued)


def resume(llm: LlmJob, actor: User | None, budget: Budget | None = None) -> None:
    """Have a paused job go on, under another budget where one is given. Raises `Refused` where it is not paused."""
    with transaction.atomic():
        if budget is not None:
            set_budget(llm, budget)
            llm.save(update_fields=["most_calls", "most_tokens", "most_money"])
        if not queue.resume(llm.pk):
            raise Refused("not_paused", "This job is not paused; there is nothing to resume.")
        _note("job.resumed", llm, actor, queue.progress_of(llm.job).queued)


def prefer(llm: LlmJob, actor: User | None, priority: int) -> None:
    with transaction.atomic():
        llm.job.priority = priority
        llm.job.save(update_fields=["priority"])
        _note("job.priority", llm, actor, queue.progress_of(llm.job).queued)


def retry(llm: LlmJob, actor: User | None) -> int:
    """Queue a job's failed items again; return how many. Raises `Refused` when there are none."""
    with transaction.atomic():
        retried = queue.retry_failed(llm.job)
        if not retried:
            raise Refused("none_failed", "No item of this job has failed; there is nothing to retry.")
        _note("job.retried", llm, actor, retried)
    return retried


def _judge_to_be() -> Judge:
    # A dry run writes nothing: a judge of key 0 has labelled nothing, which is true of a new one.
    model = default_endpoint().model
    there = Judge.objects.filter(name=model).first()
    return there or Judge(pk=0, name=model, kind=JudgeKind.LLM, model=model)


def _request(campaign: Campaign, judge: Judge, order: JobOrder) -> JobRequest:
    return JobRequest(campaign, judge, order.topics, order.runs, order.budget, order.priority)


def _plan(request: JobRequest, order: JobOrder) -> JobPlan:
    match order.work:
        case Work.DRAFTS:
            return starting.plan_drafts(request, qrels=order.qrels)
        case Work.SUPPORT:
            return starting.plan_support(request)
        case Work.RELEVANCE:
            return starting.plan_relevance(request, source=check_name("source", order.source))
        case _:
            return starting.plan_evaluation(
                request, Condition(order.work), qrels=order.qrels, nuggets=order.nuggets
            )


def _note(kind: str, llm: LlmJob, actor: User | None, items: int) -> None:
    payload = {"job": llm.pk, "title": llm.job.title, "items": items, "priority": llm.job.priority}
    payload |= budget_payload(llm)
    Event.objects.create(campaign=llm.campaign, kind=kind, actor=actor, payload=payload)
