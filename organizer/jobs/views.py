"""LLM jobs and the labels they gave: look, start, cancel, retry."""

from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import UserRequest
from accounts.models import User
from evaluation.campaigns.contents import findings_for, nugget_sets_for, sources_for
from evaluation.corpus.runs import runs_for
from evaluation.corpus.topics import topics_for
from evaluation.models import Campaign
from evaluation.terms import FindingCode
from jobs.models import Job
from llmjobs import job_service, job_status, provenance
from llmjobs.budget import Budget
from llmjobs.client import default_endpoint
from llmjobs.forecast import forecast_rows
from llmjobs.job_service import JobOrder, Work, estimate_job, order_of, plan_job, start_job
from llmjobs.job_status import callable_judges_for, job_for, jobs_for, mark_all_read, mark_read, may_run_jobs
from llmjobs.models import LlmJob
from llmjobs.provenance import is_simulated
from llmjobs.simulator.answering import MODEL as SIMULATED_MODEL
from organizer.access import get_campaign, get_row, or_404
from organizer.forms import choice_field, named, page_of, posted, refusals_on, ticks_field
from web.text import plural

KINDS = [
    (Work.AA.value, "A/A: AutoNuggets where a topic has none, then AutoAssign"),
    (Work.EA.value, "E/A: AutoAssign with the post-edited nuggets"),
    (Work.MA.value, "M/A: AutoAssign with the manual nuggets"),
    (Work.DRAFTS.value, "Drafts: over-generated nuggets for post-editing"),
    (Work.SUPPORT.value, "Support: whether cited segments support their sentences"),
    (Work.RELEVANCE.value, "Relevance: grades for segments that a source has not graded"),
]


class BudgetForm(forms.Form):
    """Limits of a job. Empty: no limit."""

    most_calls = forms.IntegerField(required=False, min_value=1, label="Requests at most")
    most_tokens = forms.IntegerField(required=False, min_value=1, label="Tokens at most")
    most_money = forms.DecimalField(
        required=False, min_value=Decimal("0.0001"), max_digits=12, decimal_places=4, label="Money at most"
    )

    @property
    def budget(self) -> Budget:
        values = self.cleaned_data
        return Budget(values["most_calls"], values["most_tokens"], values["most_money"])


class JobForm(BudgetForm):
    """Work, judge, topics and runs of a job. No topic or run chosen means all."""

    what = forms.ChoiceField(choices=KINDS, initial=Work.AA.value, widget=forms.RadioSelect, label="What")
    priority = forms.IntegerField(required=False, min_value=-100, max_value=100, label="Priority, 0 if unsaid")
    source = forms.CharField(required=False, max_length=200, label="Name for the new grades")

    def __init__(
        self, viewer: User, campaign: Campaign, data: Any = None, earlier_order: dict[str, object] | None = None
    ) -> None:
        """`earlier_order`: order of an earlier job, for another judge."""
        earlier = earlier_order or {}
        super().__init__(data, initial=earlier | {"what": earlier["work"]} if earlier else None)
        qrels = named(row.name for row in sources_for(viewer, campaign))
        sets = [(row.name, f"{row.name} ({row.origin})") for row in nugget_sets_for(viewer, campaign)]
        self.fields["judge"] = judge_choice(viewer, campaign, "Judge")
        self.fields["qrels"] = choice_field("Qrels to read by", "UMBRELA, or the only ones", qrels)
        self.fields["nuggets"] = choice_field("Nugget set", "the one that fits", sets)
        self.fields["topics"] = ticks_field("Topics", topics_for(viewer, campaign).values_list("topic_id", "text"))
        self.fields["runs"] = ticks_field("Runs", runs_for(viewer, campaign).values_list("run_id", "run_id"))

    def clean_source(self) -> str:
        """Require a name for grades; a job's other results need none."""
        name = str(self.cleaned_data["source"])
        if self.cleaned_data.get("what") == Work.RELEVANCE and not name:
            raise forms.ValidationError("say what they are to be called.")
        return name

    @property
    def order(self) -> JobOrder:
        values = self.cleaned_data
        return JobOrder(
            work=Work(values["what"]),
            judge=values["judge"],
            qrels=values["qrels"],
            nuggets=values["nuggets"],
            source=values["source"],
            topics=tuple(values["topics"]),
            runs=tuple(values["runs"]),
            budget=self.budget,
            priority=values["priority"] or 0,
        )


def judge_choice(viewer: User, campaign: Campaign, label: str) -> forms.ChoiceField:
    names = [judge.name for judge in callable_judges_for(viewer, campaign)]
    # The endpoint's own model is offered before it is a judge: the first job makes it.
    own = default_endpoint().model
    choices = named(names)
    if own not in names:
        choices.insert(0, ("", f"{own} (new)"))
    return forms.ChoiceField(choices=choices, required=False, initial=own if own in names else "", label=label)


LONGEST_KEY = 19
JOBS_A_PAGE = 50


def earlier_order(viewer: User, campaign: Campaign, pk: str) -> tuple[dict[str, object], LlmJob | None]:
    """Order of an earlier job and the job; of a job without one, nothing."""
    # A number that no key can be is an address of nothing, not an error of the database.
    known = pk.isdecimal() and len(pk) < LONGEST_KEY
    llm = jobs_for(viewer, campaign).filter(pk=int(pk)).first() if known else None
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
    form = JobForm(request.user, campaign, posted(request), order)
    estimate = None
    if form.is_valid():
        with refusals_on(form):
            if "start" in request.POST:
                job = start_job(plan_job(campaign, form.order), request.user)
                return redirect("organizer:job", campaign.slug, job.pk)
            estimate = estimate_job(campaign, form.order)
    endpoint = default_endpoint()
    context = {
        "campaign": campaign,
        "form": form,
        "earlier": earlier,
        "addressing": findings_for(request.user, campaign, FindingCode.ADDRESSES_JUDGE).count(),
        "estimate": estimate,
        "forecast": forecast_rows(estimate.forecast) if estimate else [],
        "endpoint": endpoint.name,
        "simulated": endpoint.model == SIMULATED_MODEL,
    }
    return render(request, "organizer/job_new.html", context, status=422 if form.errors else 200)


@require_safe
def job(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Job page; htmx gets only the moving part, and the rest when the job's state has changed."""
    campaign, llm = get_row(request.user, slug, job_for, pk)
    return _shown(request, campaign, llm, BudgetForm(initial=forms.model_to_dict(llm)))


def _shown(
    request: UserRequest, campaign: Campaign, llm: LlmJob, form: BudgetForm, status: int = 200
) -> HttpResponse:
    report = job_status.report_of(llm)
    context = {
        "campaign": campaign,
        "llm": llm,
        "report": report,
        "form": form,
        # A page whose job is in another state has the wrong buttons, so htmx loads it anew.
        "changed": request.GET.get("said") != report.standing,
        "may_run": may_run_jobs(request.user, campaign),
        # Work that only commands start has no order that the form could repeat.
        "ordered": llm.job.has_ended and job_service.order_of(llm) is not None,
    }
    part = "#ticked" if request.htmx else ""
    response = render(request, f"organizer/job.html{part}", context, status=status)
    # The address has two answers, and a browser's Back must not show the part alone.
    patch_vary_headers(response, ["HX-Request"])
    return response


@require_POST
def cancel_job(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, llm = get_row(request.user, slug, job_for, pk, may_run_jobs)
    left = job_service.cancel(llm, request.user)
    messages.success(
        request, f"Cancelled: {left:,} {plural(left, 'item')} will not be done. Labels that were given stay."
    )
    return redirect("organizer:job", campaign.slug, pk)


@require_POST
def pause_job(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, llm = get_row(request.user, slug, job_for, pk, may_run_jobs)
    job_service.pause(llm, request.user)
    messages.success(request, "Paused. Replies to what is under way are kept.")
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
def retry_job(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, llm = get_row(request.user, slug, job_for, pk, may_run_jobs)
    retried = job_service.retry(llm, request.user)
    messages.success(request, f"Queued again: {retried:,} {plural(retried, 'item')}.")
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
    campaign, label = get_row(request.user, slug, read, pk)
    call = provenance.call_behind(request.user, campaign, label.event)
    simulated = is_simulated(label.judge, call)
    context = {"campaign": campaign, "given": label, "shown": call, "simulated": simulated}
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
    made = provenance.making_of(request.user, campaign, found)
    simulated = SIMULATED_MODEL in (found.nugget_set.judge.model, *made.models)
    context = {"campaign": campaign, "list": found, "made": made, "simulated": simulated}
    return render(request, "organizer/origin_list.html", context)


@require_safe
def nugget_origin(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = get_row(request.user, slug, provenance.nugget_for, pk)
    judge = found.listed.nugget_list.nugget_set.judge
    simulated = is_simulated(judge, found.worded, found.weighed)
    context = {"campaign": campaign, "found": found, "judge": judge, "simulated": simulated}
    return render(request, "organizer/origin_nugget.html", context)


@require_safe
def grade_origin(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = get_row(request.user, slug, provenance.grade_for, pk)
    context = {"campaign": campaign, "found": found, "simulated": is_simulated(found.judge, found.call)}
    return render(request, "organizer/origin_grade.html", context)


@require_safe
def call(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = get_row(request.user, slug, provenance.call_for, pk)
    context = {"campaign": campaign, "shown": found, "simulated": is_simulated(None, found)}
    return render(request, "organizer/origin_call.html", context)
