"""What organizers do to jobs: try out, start, cancel, retry. Each act that changes something is an event."""

from dataclasses import dataclass

from django.db import transaction

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign, Event, Judge
from evaluation.services.names import check_name
from evaluation.terms import Condition, JudgeKind
from jobs import queue
from jobs.models import Job
from llmjobs import starting
from llmjobs.budget import Budget, said_budget, set_budget
from llmjobs.endpoints import default_endpoint
from llmjobs.models import LlmJob
from llmjobs.planning import Plan
from llmjobs.starting import Estimate, Request
from organizer.jobs_forms import JobForm

TITLES = {"drafts": "Drafts for post-editing", "support": "Support of citations", "relevance": "Relevance"}


@dataclass(frozen=True, slots=True)
class Offer:
    """What came of a filled form: the dry run's figures, or the job."""

    estimate: Estimate | None = None
    job: Job | None = None


def answer_to(form: JobForm, campaign: Campaign, actor: User, *, starts: bool) -> Offer:
    """Start what the form asks for, or say what it would do; a refusal becomes an error of the form."""
    try:
        return Offer(job=_start(form, campaign, actor)) if starts else Offer(estimate=_try_out(form, campaign))
    except Refused as refusal:
        form.add_error(None, refusal.message)
        return Offer()


def _try_out(form: JobForm, campaign: Campaign) -> Estimate:
    name = form.cleaned_data["judge"]
    judge = starting.judge_for(name) if name else _judge_to_be()
    return starting.estimate(_plan(form, _request(form, campaign, judge)), judge)


def _start(form: JobForm, campaign: Campaign, actor: User) -> Job:
    request = _request(form, campaign, starting.judge_for(form.cleaned_data["judge"]))
    plan = _plan(form, request)
    if not plan.items:
        why = "; ".join(f"{topic}: {reason}" for topic, reason in plan.blocked.items())
        raise Refused("nothing_to_do", f"Nothing to do: {plan.judged:,} done already. {why}".rstrip())
    what = form.cleaned_data["what"]
    return starting.start(request, TITLES.get(what, f"AutoAssign {what}"), plan, actor)


def _judge_to_be() -> Judge:
    """Return the endpoint's own judge. Where there is none yet it is not made: the key 0 has judged nothing."""
    model = default_endpoint().model
    there = Judge.objects.filter(name=model).first()
    return there or Judge(pk=0, name=model, kind=JudgeKind.LLM, model=model)


def _request(form: JobForm, campaign: Campaign, judge: Judge) -> Request:
    said = form.cleaned_data
    topics, runs = form.chosen("topics"), form.chosen("runs")
    return Request(campaign, judge, topics, runs, form.budget(), said["priority"] or 0)


def _plan(form: JobForm, request: Request) -> Plan:
    said = form.cleaned_data
    match said["what"]:
        case "drafts":
            return starting.plan_drafts(request, qrels=said["qrels"])
        case "support":
            return starting.plan_support(request)
        case "relevance":
            return starting.plan_relevance(request, source=check_name("source", said["source"]))
        case what:
            return starting.plan_evaluation(request, Condition(what), qrels=said["qrels"], nuggets=said["nuggets"])


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
    by = f"Paused by {actor.name}." if actor else "Paused."
    with transaction.atomic():
        if not queue.pause(llm.pk, by):
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
    """Give a job another priority: of two that are due, the higher is done first."""
    with transaction.atomic():
        llm.job.priority = priority
        llm.job.save(update_fields=["priority"])
        _note("job.priority", llm, actor, queue.progress_of(llm.job).queued)


def retry(llm: LlmJob, actor: User | None) -> int:
    """Queue a job's failed items again; return how many. Raises `Refused` when there are none."""
    with transaction.atomic():
        again = queue.retry_failed(llm.job)
        if not again:
            raise Refused("none_failed", "No item of this job has failed; there is nothing to retry.")
        _note("job.retried", llm, actor, again)
    return again


def _note(kind: str, llm: LlmJob, actor: User | None, items: int) -> None:
    payload = {"job": llm.pk, "title": llm.job.title, "items": items, "priority": llm.job.priority}
    payload |= said_budget(llm)
    Event.objects.create(campaign=llm.campaign, kind=kind, actor=actor, payload=payload)
