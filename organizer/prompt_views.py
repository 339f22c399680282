"""Prompts: reading, comparing, new versions, and trials on pairs that people have labelled."""

import json
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import UserRequest
from llmjobs.models import Prompt
from llmjobs.prompt_queries import prompts_by_task
from llmjobs.prompts import ASSIGN
from llmjobs.prompts.comparing import compared
from llmjobs.prompts.template import DATA_OF, PLAIN_OF
from llmjobs.queries import may_run_jobs
from llmjobs.trials import trials_for
from organizer import getters, jobs_getters, prompt_acts, prompt_getters
from organizer.prompt_forms import (
    TRIABLE,
    CompareForm,
    JudgeForm,
    PreviewForm,
    PromptFileForm,
    PromptForm,
    TrialForm,
    task_named,
)
from organizer.trial_report import trial_report


@require_safe
def prompts(request: UserRequest, slug: str) -> HttpResponse:
    campaign = getters.get_campaign(request.user, slug)
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
    campaign, row = prompt_getters.get_prompt(request.user, slug, public_id)
    form = PreviewForm(request.user, campaign, request.GET)
    shown, why_not = prompt_acts.preview_from(form, campaign, row.template, request.user)
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
    campaign, one = prompt_getters.get_prompt(request.user, slug, request.GET.get("one", ASSIGN.ref))
    _, other = prompt_getters.get_prompt(request.user, slug, request.GET.get("other", ASSIGN.ref))
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
    campaign = jobs_getters.get_campaign_to_judge(request.user, slug)
    _, row = prompt_getters.get_prompt(request.user, slug, request.GET.get("like", ASSIGN.ref))
    like = row.template
    own: dict[str, Any] = {
        "name": like.name if row.stored else f"{like.name}-own",
        "system": like.system,
        "user": like.user,
    }
    own["common"] = bool(row.stored and row.stored.campaign_id is None)
    form = PromptForm(request.POST) if request.method == "POST" else PromptForm(initial=own)
    saved = prompt_acts.save_from(form, like.task, campaign, request.user)
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
    campaign = jobs_getters.get_campaign_to_judge(request.user, slug)
    form = PromptFileForm(request.POST, request.FILES) if request.method == "POST" else PromptFileForm()
    saved = prompt_acts.import_from(form, campaign, request.user)
    if saved:
        made, is_new = saved
        messages.success(request, _saved(made, is_new=is_new))
        return redirect("organizer:prompt", campaign.slug, made.template.ref)
    context = {"campaign": campaign, "form": form}
    return render(request, "organizer/prompt_import.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def prompt_judge(request: UserRequest, slug: str) -> HttpResponse:
    campaign = jobs_getters.get_campaign_to_judge(request.user, slug)
    form = JudgeForm(request.user, campaign, request.POST if request.method == "POST" else None)
    made = prompt_acts.make_judge_from(form)
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
    campaign = jobs_getters.get_campaign_to_judge(request.user, slug)
    task = task_named(request.GET.get("task", ""), TRIABLE)
    form = TrialForm(request.user, campaign, task, request.POST if request.method == "POST" else None)
    offer = prompt_acts.try_from(form, campaign, request.user, starts="start" in request.POST)
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
    campaign, found = prompt_getters.get_trial(request.user, slug, pk)
    context = {"campaign": campaign, "report": trial_report(request.user, campaign, found)}
    return render(request, "organizer/trial.html", context)


def _saved(made: Prompt, *, is_new: bool) -> str:
    return f"Saved as {made}." if is_new else f"These are the words of {made}; nothing was changed."
