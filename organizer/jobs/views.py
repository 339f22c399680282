"""LLM jobs and the labels they gave: look, start, cancel, retry."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Literal

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import UserRequest
from accounts.models import User
from evaluation.campaigns.access import may_run_jobs
from evaluation.campaigns.findings import findings_for
from evaluation.errors import Refused
from evaluation.judges import judge_of_source
from evaluation.models import Campaign
from evaluation.stages import STAGES
from evaluation.terms import FindingCode
from exchange import loaded_jobs
from jobs.models import Job
from llmjobs import job_service, job_status, provenance
from llmjobs.budget import CostForecast, forecast_rows
from llmjobs.job_plan import JobPlan
from llmjobs.job_service import ExpectedCost, estimate, order_of
from llmjobs.job_status import job_for, jobs_for, mark_all_read, mark_read
from llmjobs.models import LlmJob
from llmjobs.provenance import is_simulated
from llmjobs.simulator.answering import MODEL as SIMULATED_MODEL
from organizer.access import get_campaign, get_row, or_404
from organizer.forms import page_of, refusals_on
from organizer.jobs.forms import LABELS, BudgetForm, JobForm, choices_of_order
from organizer.today.acts import next_step_of
from reports.quality.judges import JudgeTrust, trust_of
from web.text import plural

LONGEST_KEY = 19
JOBS_A_PAGE = 50


def earlier_order(viewer: User, campaign: Campaign, pk: str) -> tuple[dict[str, object], LlmJob | None]:
    """Order of an earlier job and the job; of a job without one, nothing."""
    # A number that no key can be is an address of nothing, not an error of the database.
    is_key = pk.isdecimal() and len(pk) < LONGEST_KEY
    llm = jobs_for(viewer, campaign).filter(pk=int(pk)).first() if is_key else None
    order = order_of(llm) if llm else None
    return (order, llm) if order else ({}, None)


@require_safe
def jobs(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug)
    page = page_of(request, jobs_for(request.user, campaign), JOBS_A_PAGE)
    rows = job_status.job_rows(page)
    context = {
        "campaign": campaign,
        "page": page,
        "rows": rows,
        "simulated": any(row.simulated for row in rows),
        "moving": any(row.llm.job.state == Job.State.RUNNING for row in rows),
        "no_worker": job_status.why_none_moves(request.user, campaign),
        "may_run": may_run_jobs(request.user, campaign),
    }
    return render(request, "organizer/jobs.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new_job(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_run_jobs)
    order, earlier = earlier_order(request.user, campaign, request.GET.get("again", ""))
    # The page's own button sends nothing but the address of what is shown; programs send the fields.
    choices = request.POST if "what" in request.POST else request.GET
    form = JobForm(request.user, campaign, choices_of_order(order) if order and "what" not in choices else choices)
    starts = "start" in request.POST
    if starts and form.is_valid():
        with refusals_on(form):
            return redirect("organizer:job", campaign.slug, form.start(request.user).pk)
    context = {
        "campaign": campaign,
        "form": form,
        "earlier": earlier,
        "addressing": findings_for(request.user, campaign, FindingCode.ADDRESSES_JUDGE).count(),
        "preview": preview_of(form),
        # A reply that changes the estimate alone has no judge, and new labels make a new computation.
        "trusts": () if request.htmx.target == "estimate" else trusts_of(form),
        "address": choices.urlencode(),
        "endpoint": form.endpoint_name,
        "simulated": form.is_simulated,
    }
    return render(request, "organizer/job_new.html", context, status=422 if starts else 200)


def trusts_of(form: JobForm) -> list[JudgeTrust]:
    judge = form["judge"].value()
    # Of a kind that gives no labels every stage says something about the judge.
    task = next((stage for stage in STAGES.values() if stage.job == form.kind), None)
    trusts = (trust for tasks in trust_of(form.campaign).values() for trust in tasks)
    return [trust for trust in trusts if trust.judge.name == judge and task in (None, trust.task)]


def preview_of(form: JobForm) -> dict[str, Any]:
    """Return the topics that lack the work, and what is known before it is started, or the `reason` against it."""
    errors = [*form.non_field_errors(), *(str(error) for field in form for error in field.errors)]
    if {"what", "judge", "condition", "study"} & set(form.errors):
        return {"reason": " ".join(errors)}
    ids = dict(form.campaign.topics.values_list("pk", "topic_id"))
    try:
        with_all = form.try_plan(())
        topics = tuple(form.cleaned_data.get("topics", ()))
        ready = form.try_plan(topics) if topics else with_all
    except Refused as refused:
        return {"reason": refused.message}
    plan = ready.plan
    preview = {
        "lacking": {ids[pk] for pk in with_all.plan.topics},
        "missing": f"these {form.card.makes}s",
        "skipped": skipped_rows(plan),
    }
    if reason := " ".join(errors) or why_nothing(form, plan):
        return preview | {"reason": reason}
    expected = estimate(plan, ready.request.judge)
    return preview | {
        "rows": list(estimate_rows(form, plan, expected)),
        "then_labels": form.kind == LABELS and any(item.kind == "nuggets" for item in plan.items),
        "button": button_of(expected.forecast),
    }


def why_nothing(form: JobForm, plan: JobPlan) -> str:
    if plan.items:
        return ""
    done, result = plan.labelled or plan.judged, form.card.makes
    if plan.blocked:
        return f"Nothing to do: {len(plan.blocked):,} {plural(len(plan.blocked), 'topic')} cannot be judged yet."
    if not done:
        return f"Nothing to do: nothing here waits for a {result}."
    whole = f"the 1 {result} is" if done == 1 else f"all {done:,} {result}s are"
    return f"Nothing to do: {whole} done."


def estimate_rows(form: JobForm, plan: JobPlan, expected: ExpectedCost) -> Iterator[tuple[str, str]]:
    answers = {item.payload["answer"] for item in plan.items if "answer" in item.payload}
    lists = sum(item.kind == "nuggets" for item in plan.items)
    labels = form.kind == LABELS
    units = sum(len(item.payload.get("nuggets", [item])) for item in plan.items)
    done, forecast = plan.labelled or plan.judged, expected.forecast
    counts = [
        ("Topics to make nuggets for", lists if labels else 0),
        ("Answers", len(answers) if labels else 0),
        (form.card.units, 0 if labels else units),
        ("Calls to the model, at least", forecast.calls),
        ("Answered from earlier calls", expected.reused),
        ("Asked again, for what failed", expected.again),
    ]
    yield from ((name, f"{count:,}") for name, count in counts if count)
    if done:
        yield "Done already", f"{done:,} {plural(done, form.card.makes)}"
    if forecast.calls:
        yield "Tokens in / out", f"{_thousands(forecast.prompt_tokens)} / {_thousands(forecast.completion_tokens)}"
        yield "Money", money_of(forecast) or "no price set"
        yield "Time", dict(forecast_rows(forecast))["time"]


def skipped_rows(plan: JobPlan) -> list[tuple[str, str]]:
    texts = f"{plan.without_text:,} {plural(plan.without_text, 'passage')}"
    return [*plan.blocked.items(), *([(texts, "without text")] if plan.without_text else [])]


def button_of(forecast: CostForecast) -> str:
    if not forecast.calls:
        return "Start: no new call"
    words = [f"Start: {forecast.calls:,} {plural(forecast.calls, 'call')}", money_of(forecast)]
    return ", ".join(filter(None, words))


def money_of(forecast: CostForecast) -> str:
    if not forecast.cost:
        return "" if forecast.cost is None else "free of charge"
    digits = 2 if forecast.cost >= Decimal("0.01") else 4
    return f"about {forecast.cost:,.{digits}f} {forecast.currency}"


def _thousands(count: int) -> str:
    return f"{count / 1000:,.0f} k" if count >= 10_000 else f"{count:,}"


@require_safe
def job(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Job page; htmx gets only the moving part, and the rest when the job's state has changed."""
    campaign, llm = get_row(request.user, slug, job_for, pk)
    return _shown(request, campaign, llm, BudgetForm(initial=forms.model_to_dict(llm)))


def _shown(
    request: UserRequest, campaign: Campaign, llm: LlmJob, form: BudgetForm, status: int = 200
) -> HttpResponse:
    report = job_status.report_of(llm)
    # A page whose job is in another state has the wrong buttons, so htmx loads it anew.
    changed = request.GET.get("standing") != report.standing
    context = {
        "campaign": campaign,
        "llm": llm,
        "report": report,
        "form": form,
        "changed": changed,
        "may_run": may_run_jobs(request.user, campaign),
        "next_step": next_step_of(request.user, campaign) if changed else None,
        # Work that only commands start has no order that the form could repeat.
        "ordered": llm.job.has_ended and job_service.order_of(llm) is not None,
    }
    part = "#ticked" if request.htmx else ""
    response = render(request, f"organizer/job.html{part}", context, status=status)
    # The address has two answers, and a browser's Back must not show the part alone.
    patch_vary_headers(response, ["HX-Request"])
    return response


@require_POST
def change_job(request: UserRequest, slug: str, pk: int, act: Literal["cancel", "pause", "retry"]) -> HttpResponse:
    campaign, llm = get_row(request.user, slug, job_for, pk, may_run_jobs)
    match act:
        case "cancel":
            left = job_service.cancel(llm, request.user)
            text = f"Cancelled: {left:,} {plural(left, 'item')} will not be done. Labels that were given stay."
        case "pause":
            job_service.pause(llm, request.user)
            text = "Paused. Replies to what is under way are kept."
        case "retry":
            retried = loaded_jobs.retry(llm, request.user)
            text = f"Queued again: {retried:,} {plural(retried, 'item')}."
    messages.success(request, text)
    return redirect("organizer:job", campaign.slug, pk)


@require_POST
def resume_job(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, llm = get_row(request.user, slug, job_for, pk, may_run_jobs)
    form = BudgetForm(request.POST)
    if not form.is_valid():
        return _shown(request, campaign, llm, form, status=422)
    job_service.resume(llm, request.user, form.budget)
    messages.success(request, "The job goes on.")
    return redirect("organizer:job", campaign.slug, pk)


@require_POST
def read_notice(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_run_jobs)
    or_404(mark_read, request.user, campaign, pk)
    return redirect("organizer:inbox", campaign.slug)


@require_POST
def read_notices(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Notices up to the newest on the page are read, so that later ones stay in the inbox."""
    campaign = get_campaign(request.user, slug, may_run_jobs)
    mark_all_read(request.user, campaign, pk)
    return redirect("organizer:inbox", campaign.slug)


@require_safe
def label(request: UserRequest, slug: str, kind: str, pk: int) -> HttpResponse:
    read = provenance.assignment_for if kind == "assignment" else provenance.support_judgment_for
    campaign, given = get_row(request.user, slug, read, pk)
    call = provenance.call_behind(request.user, campaign, given.label.event)
    simulated = is_simulated(given.label.judge, call)
    context = {"campaign": campaign, "given": given, "shown": call, "simulated": simulated}
    return render(request, "organizer/label.html", context)


@require_safe
def labels_of_answer(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, given = get_row(request.user, slug, provenance.answer_for, pk)
    assigned, supported = provenance.labels_of(request.user, campaign, given.answer)
    context = {
        "campaign": campaign,
        "given": given,
        "assigned": assigned,
        "supported": supported,
        "simulated": any(row.judge.model == SIMULATED_MODEL for row in [*assigned, *supported]),
    }
    return render(request, "organizer/call_labels.html", context)


@require_safe
def list_origin(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = get_row(request.user, slug, provenance.list_for, pk)
    uses = provenance.uses_behind(request.user, campaign, found)
    models = {found.nugget_set.judge.model, *(use.call.model_answered for use in uses)}
    nuggets = provenance.nuggets_made(found, uses)
    simulated = SIMULATED_MODEL in models
    context = {"campaign": campaign, "list": found, "nuggets": nuggets, "uses": uses, "simulated": simulated}
    return render(request, "organizer/origin_list.html", context)


@require_safe
def nugget_origin(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, origin = get_row(request.user, slug, provenance.nugget_for, pk)
    judge = origin.listed.nugget_list.nugget_set.judge
    simulated = is_simulated(judge, origin.worded, origin.weighed)
    context = {"campaign": campaign, "origin": origin, "judge": judge, "simulated": simulated}
    return render(request, "organizer/origin_nugget.html", context)


@require_safe
def grade_origin(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, qrel = get_row(request.user, slug, provenance.grade_for, pk)
    call = provenance.call_behind(request.user, campaign, qrel.event)
    judge = call.uses[0].item.job.llm.judge if call and call.uses else judge_of_source(qrel.source.name)
    simulated = is_simulated(judge, call)
    context = {"campaign": campaign, "qrel": qrel, "judge": judge, "shown": call, "simulated": simulated}
    return render(request, "organizer/origin_grade.html", context)


@require_safe
def verdict_origin(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, origin = get_row(request.user, slug, provenance.verdict_for, pk)
    simulated = is_simulated(origin.verdict.judge, origin.call)
    context = {"campaign": campaign, "origin": origin, "verdict": origin.verdict, "simulated": simulated}
    return render(request, "organizer/origin_verdict.html", context)


@require_safe
def call(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = get_row(request.user, slug, provenance.call_for, pk)
    context = {"campaign": campaign, "shown": found, "simulated": is_simulated(None, found)}
    return render(request, "organizer/origin_call.html", context)
