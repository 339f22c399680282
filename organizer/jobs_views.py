"""LLM jobs and the labels they gave: look, start, cancel, retry."""

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import UserRequest
from evaluation.models import Campaign
from evaluation.queries.findings import findings_for
from evaluation.terms import FindingCode
from jobs.models import Job
from llmjobs import ordering, provenance, queries
from llmjobs.endpoints import default_endpoint
from llmjobs.forecasting import forecast_rows
from llmjobs.models import LlmJob
from llmjobs.notices import mark_all_read, mark_read
from llmjobs.simulator.answering import MODEL as SIMULATED_MODEL
from organizer import getters, jobs_acts, jobs_getters
from organizer.jobs_forms import BudgetForm, JobForm
from web.text import plural

JOBS_A_PAGE = 50


@require_safe
def jobs(request: UserRequest, slug: str) -> HttpResponse:
    campaign = getters.get_campaign(request.user, slug)
    page = Paginator(queries.jobs_for(request.user, campaign), JOBS_A_PAGE).get_page(request.GET.get("page"))
    rows = queries.job_rows(page)
    context = {
        "campaign": campaign,
        "page": page,
        "rows": rows,
        "simulated": any(row.simulated for row in rows),
        "moving": any(row.llm.job.state == Job.State.RUNNING for row in rows),
        "no_worker": queries.why_none_moves(request.user, campaign),
        "may_run": queries.may_run_jobs(request.user, campaign),
    }
    return render(request, "organizer/jobs.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new_job(request: UserRequest, slug: str) -> HttpResponse:
    campaign = jobs_getters.get_campaign_to_judge(request.user, slug)
    earlier = jobs_getters.get_earlier_order(request.user, campaign, request.GET.get("again", ""))
    form = JobForm(request.user, campaign, request.POST if request.method == "POST" else None, earlier.order)
    starts, offer = "start" in request.POST, jobs_acts.JobOffer()
    if form.is_valid():
        offer = jobs_acts.answer_to(form, campaign, request.user, starts=starts)
    if offer.job:
        return redirect("organizer:job", campaign.slug, offer.job.pk)
    endpoint = default_endpoint()
    context = {
        "campaign": campaign,
        "form": form,
        "earlier": earlier,
        "addressing": findings_for(request.user, campaign, FindingCode.ADDRESSES_JUDGE).count(),
        "estimate": offer.estimate,
        "forecast": forecast_rows(offer.estimate.forecast) if offer.estimate else [],
        "endpoint": endpoint.name,
        "simulated": endpoint.model == SIMULATED_MODEL,
    }
    return render(request, "organizer/job_new.html", context, status=422 if form.errors else 200)


@require_safe
def job(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Job page; htmx gets only the moving part, and the rest when the job's state has changed."""
    campaign, llm = jobs_getters.get_job(request.user, slug, pk)
    return _shown(request, campaign, llm, BudgetForm(initial=forms.model_to_dict(llm)))


def _shown(
    request: UserRequest, campaign: Campaign, llm: LlmJob, form: BudgetForm, status: int = 200
) -> HttpResponse:
    report = queries.report_of(llm)
    context = {
        "campaign": campaign,
        "llm": llm,
        "report": report,
        "form": form,
        "changed": request.GET.get("said") != report.standing,
        "may_run": queries.may_run_jobs(request.user, campaign),
        "ordered": llm.job.has_ended and ordering.order_of(llm) is not None,
    }
    part = "#ticked" if request.htmx else ""
    response = render(request, f"organizer/job.html{part}", context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


@require_POST
def cancel_job(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, llm = jobs_getters.get_job_to_change(request.user, slug, pk)
    left = ordering.cancel(llm, request.user)
    messages.success(
        request, f"Cancelled: {left:,} {plural(left, 'item')} will not be done. Labels that were given stay."
    )
    return redirect("organizer:job", campaign.slug, pk)


@require_POST
def pause_job(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, llm = jobs_getters.get_job_to_change(request.user, slug, pk)
    ordering.pause(llm, request.user)
    messages.success(request, "Paused. Replies to what is under way are kept.")
    return redirect("organizer:job", campaign.slug, pk)


@require_POST
def resume_job(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, llm = jobs_getters.get_job_to_change(request.user, slug, pk)
    form = BudgetForm(request.POST)
    if not form.is_valid():
        return _shown(request, campaign, llm, form, status=422)
    ordering.resume(llm, request.user, form.budget)
    messages.success(request, "The job goes on.")
    return redirect("organizer:job", campaign.slug, pk)


@require_POST
def retry_job(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, llm = jobs_getters.get_job_to_change(request.user, slug, pk)
    retried = ordering.retry(llm, request.user)
    messages.success(request, f"Queued again: {retried:,} {plural(retried, 'item')}.")
    return redirect("organizer:job", campaign.slug, pk)


@require_POST
def read_notice(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign = jobs_getters.get_campaign_to_judge(request.user, slug)
    with getters.missing_is_404():
        mark_read(request.user, campaign, pk)
    return redirect("organizer:inbox", campaign.slug)


@require_POST
def read_notices(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Notices up to the newest on the page are read, so that later ones stay in the inbox."""
    campaign = jobs_getters.get_campaign_to_judge(request.user, slug)
    mark_all_read(request.user, campaign, pk)
    return redirect("organizer:inbox", campaign.slug)


@require_safe
def label(request: UserRequest, slug: str, kind: str, pk: int) -> HttpResponse:
    campaign, label = jobs_getters.get_label(request.user, slug, kind, pk)
    call = provenance.call_behind(request.user, campaign, label.event)
    simulated = provenance.is_simulated(label.judge, call)
    context = {"campaign": campaign, "given": label, "shown": call, "simulated": simulated}
    return render(request, "organizer/label.html", context)


@require_safe
def labels_of_answer(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, given = jobs_getters.get_answer(request.user, slug, pk)
    assigned, supported = provenance.labels_of(request.user, campaign, given.answer)
    context = {
        "campaign": campaign,
        "given": given,
        "assigned": assigned,
        "supported": supported,
        "simulated": any(row.judge.model == SIMULATED_MODEL for row in [*assigned, *supported]),
    }
    return render(request, "organizer/call_labels.html", context)
