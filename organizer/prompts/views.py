"""Prompts: reading, comparing, new versions, and trials on pairs that people have labelled."""

import json
from dataclasses import dataclass, field
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import UserRequest
from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign, Judge
from llmjobs import prompt_store
from llmjobs.job_service import Estimate, judge_for
from llmjobs.job_status import may_run_jobs
from llmjobs.models import Prompt, Trial
from llmjobs.prompt_preview import PromptPreview, preview
from llmjobs.prompt_store import PromptRow, UnusableError, add_llm_judge, prompt_for, prompts_by_task, save_prompt
from llmjobs.prompts.template import DATA_OF, PLAIN_OF, PromptTask, Template
from llmjobs.prompts.texts import ASSIGN
from llmjobs.trials import foretell, start_trial, trial_for, trials_for
from organizer import access as organizer_access
from organizer.access import get_campaign, missing_is_404
from organizer.jobs import views as jobs_views
from organizer.prompts.forms import (
    TRIABLE,
    CompareForm,
    JudgeForm,
    PreviewForm,
    PromptFileForm,
    PromptForm,
    TrialForm,
    task_named,
)
from organizer.prompts.trial_report import compared, trial_report


def save_from(form: PromptForm, task: PromptTask, campaign: Campaign, actor: User) -> tuple[Prompt, bool] | None:
    if not form.is_valid():
        return None
    try:
        words = {name: form.cleaned_data[name] for name in ("name", "system", "user")}
        return save_prompt(task=task, campaign=_owner(form, campaign), actor=actor, **words)
    except UnusableError as refusal:
        for field, problem in refusal.problems:
            form.add_error(field, f"{problem}.")
    return None


def _owner(form: PromptForm | PromptFileForm, campaign: Campaign) -> Campaign | None:
    return None if form.cleaned_data["common"] else campaign


def import_from(form: PromptFileForm, campaign: Campaign, actor: User) -> tuple[Prompt, bool] | None:
    if not form.is_valid():
        return None
    data = form.cleaned_data
    try:
        owner = _owner(form, campaign)
        return prompt_store.import_prompt(
            form.source(), task=data["task"], name=data["name"], campaign=owner, actor=actor
        )
    except Refused as refusal:
        for line in refusal.message.split("\n"):
            form.add_error("file", line)
    return None


def preview_from(
    form: PreviewForm, campaign: Campaign, template: Template, viewer: User
) -> tuple[PromptPreview | None, str]:
    try:
        return preview(viewer, campaign, template, form.wish, structured=bool(form.data.get("structured"))), ""
    except Refused as refusal:
        return None, refusal.message


def make_judge_from(form: JudgeForm) -> tuple[Judge, bool] | None:
    if not form.is_valid():
        return None
    data = form.cleaned_data
    try:
        like = judge_for(data["like"])
        return add_llm_judge(
            name=data["name"],
            model=like.model,
            base_url=like.base_url,
            prompts=form.prompts,
            structured=data["structured"],
        )
    except Refused as refusal:
        form.add_error(None, refusal.message)
    return None


@dataclass(frozen=True, slots=True)
class TrialOffer:
    """Result of a filled form: the cost of each prompt, or the trial."""

    estimates: list[tuple[str, Estimate]] = field(default_factory=list)
    trial: Trial | None = None


def try_from(form: TrialForm, campaign: Campaign, actor: User, *, starts: bool) -> TrialOffer:
    if not form.is_valid():
        return TrialOffer()
    try:
        if starts:
            return TrialOffer(trial=start_trial(campaign, form.wish, actor))
        return TrialOffer(foretell(campaign, form.wish))
    except Refused as refusal:
        form.add_error(None, refusal.message)
    return TrialOffer()


def get_prompt(viewer: User, slug: str, ref: str) -> tuple[Campaign, PromptRow]:
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, prompt_for(viewer, campaign, ref)


def get_trial(viewer: User, slug: str, pk: int) -> tuple[Campaign, Trial]:
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, trial_for(viewer, campaign, pk)


@require_safe
def prompts(request: UserRequest, slug: str) -> HttpResponse:
    campaign = organizer_access.get_campaign(request.user, slug)
    context = {
        "campaign": campaign,
        "tasks": prompts_by_task(request.user, campaign),
        "triable": TRIABLE,
        "trials": trials_for(request.user, campaign),
        "may_run": may_run_jobs(request.user, campaign),
    }
    return render(request, "organizer/prompts.html", context)


@require_safe
def prompt(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    campaign, row = get_prompt(request.user, slug, public_id)
    form = PreviewForm(request.user, campaign, request.GET)
    shown, why_not = preview_from(form, campaign, row.template, request.user)
    context = {
        "campaign": campaign,
        "row": row,
        "template": row.template,
        "form": form,
        "shown": shown,
        "why_not": why_not,
        "schema": json.dumps(shown.ask.form.response_format, indent=2) if shown and shown.ask.form else "",
        "comparing": CompareForm(request.user, row.template.task, row.template.ref),
        "may_run": may_run_jobs(request.user, campaign),
    }
    return render(request, "organizer/prompt.html", context)


@require_safe
def compare_prompts(request: UserRequest, slug: str) -> HttpResponse:
    campaign, one = get_prompt(request.user, slug, request.GET.get("one", ASSIGN.ref))
    _, other = get_prompt(request.user, slug, request.GET.get("other", ASSIGN.ref))
    context = {
        "campaign": campaign,
        "one": one.template,
        "other": other.template,
        "texts": [
            ("System text", compared(one.template.system, other.template.system)),
            ("User text", compared(one.template.user, other.template.user)),
        ],
        "form": CompareForm(request.user, one.template.task, one.template.ref, other.template.ref),
    }
    return render(request, "organizer/prompt_compare.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new_prompt(request: UserRequest, slug: str) -> HttpResponse:
    campaign = jobs_views.get_campaign_to_judge(request.user, slug)
    _, row = get_prompt(request.user, slug, request.GET.get("like", ASSIGN.ref))
    like = row.template
    own: dict[str, Any] = {
        "name": like.name if row.stored else f"{like.name}-own",
        "system": like.system,
        "user": like.user,
    }
    own["common"] = bool(row.stored and row.stored.campaign_id is None)
    form = PromptForm(request.POST) if request.method == "POST" else PromptForm(initial=own)
    saved = save_from(form, like.task, campaign, request.user)
    if saved:
        made, is_new = saved
        messages.success(request, _saved(made, is_new=is_new))
        return redirect("organizer:prompt", campaign.slug, made.template.ref)
    context = {
        "campaign": campaign,
        "like": like,
        "form": form,
        "data": sorted(DATA_OF[like.task]),
        "plain": sorted(PLAIN_OF[like.task]),
    }
    return render(request, "organizer/prompt_new.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def import_wording(request: UserRequest, slug: str) -> HttpResponse:
    campaign = jobs_views.get_campaign_to_judge(request.user, slug)
    form = PromptFileForm(request.POST, request.FILES) if request.method == "POST" else PromptFileForm()
    saved = import_from(form, campaign, request.user)
    if saved:
        made, is_new = saved
        messages.success(request, _saved(made, is_new=is_new))
        return redirect("organizer:prompt", campaign.slug, made.template.ref)
    context = {"campaign": campaign, "form": form}
    return render(request, "organizer/prompt_import.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def prompt_judge(request: UserRequest, slug: str) -> HttpResponse:
    campaign = jobs_views.get_campaign_to_judge(request.user, slug)
    form = JudgeForm(request.user, campaign, request.POST if request.method == "POST" else None)
    made = make_judge_from(form)
    if made:
        judge, is_new = made
        messages.success(
            request,
            f"Made: {judge.name}. It can be chosen when a job is started."
            if is_new
            else f"There already, just so; nothing was changed: {judge.name}. It can be chosen when a job is "
            "started.",
        )
        return redirect("organizer:prompts", campaign.slug)
    context = {"campaign": campaign, "form": form}
    return render(request, "organizer/prompt_judge.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def try_prompts(request: UserRequest, slug: str) -> HttpResponse:
    campaign = jobs_views.get_campaign_to_judge(request.user, slug)
    task = task_named(request.GET.get("task", ""), TRIABLE)
    form = TrialForm(request.user, campaign, task, request.POST if request.method == "POST" else None)
    offer = try_from(form, campaign, request.user, starts="start" in request.POST)
    if offer.trial:
        return redirect("organizer:trial", campaign.slug, offer.trial.pk)
    context = {
        "campaign": campaign,
        "task": task,
        "triable": TRIABLE,
        "form": form,
        "estimates": offer.estimates,
    }
    return render(request, "organizer/prompt_try.html", context, status=422 if form.errors else 200)


@require_safe
def trial(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = get_trial(request.user, slug, pk)
    context = {"campaign": campaign, "report": trial_report(request.user, campaign, found)}
    return render(request, "organizer/trial.html", context)


def _saved(made: Prompt, *, is_new: bool) -> str:
    return f"Saved as {made}." if is_new else f"These are the words of {made}; nothing was changed."
