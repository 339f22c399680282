"""Disagreement studies: the list, one study with its figures, handing it out, a second LLM."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import UserRequest
from evaluation.models import Campaign, Study
from evaluation.queries import work as work_rows
from evaluation.queries.studies import studies_for, tasks_of_study
from llmjobs.queries import may_run_jobs
from organizer import getters, study_acts, study_getters, work_getters
from organizer.study_forms import HandStudyForm, JudgeStudyForm, StudyForm
from reports.studying import study_report


@require_safe
def studies(request: UserRequest, slug: str) -> HttpResponse:
    campaign = getters.get_campaign(request.user, slug)
    context = {
        "campaign": campaign,
        "rows": studies_for(request.user, campaign),
        "may_organize": work_rows.may_organize(request.user, campaign),
    }
    return render(request, "organizer/studies.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new_study(request: UserRequest, slug: str) -> HttpResponse:
    campaign = work_getters.get_campaign_to_organize(request.user, slug)
    form = StudyForm(request.user, campaign, request.POST if request.method == "POST" else None)
    made = study_acts.create_from(form, campaign, request.user)
    if made:
        messages.success(request, "Drawn. The pairs stay as they are; now hand them out.")
        return redirect("organizer:study", campaign.slug, made.pk)
    context = {"campaign": campaign, "form": form}
    return render(request, "organizer/study_new.html", context, status=422 if form.errors else 200)


@require_safe
def study(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = study_getters.get_study(request.user, slug, pk)
    return _page(request, campaign, found)


@require_POST
def hand_out_pairs(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = study_getters.get_study_to_organize(request.user, slug, pk)
    form = HandStudyForm(request.user, found, request.POST)
    receipt = study_acts.hand_out_from(form, found, request.user)
    if receipt is None:
        return _page(request, campaign, found, handing=form)
    sentences = [f"Tasks handed out: {len(receipt.tasks):,}."]
    for one in receipt.skipped:
        sentences.append(f"Left out, {one.topic_id}: {one.reason}")
    messages.success(request, " ".join(sentences))
    return redirect("organizer:study", campaign.slug, pk)


@require_POST
def judge_study(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = study_getters.get_study_to_judge(request.user, slug, pk)
    form = JudgeStudyForm(request.user, found, request.POST)
    job = study_acts.judge_from(form, found, request.user)
    if job is None:
        return _page(request, campaign, found, judging=form)
    return redirect("organizer:job", campaign.slug, job.pk)


def _page(request: UserRequest, campaign: Campaign, found: Study, **filled: Any) -> HttpResponse:
    """Render a study's page, with a form as it was sent where that was refused."""
    may_organize = work_rows.may_organize(request.user, campaign)
    context = {
        "campaign": campaign,
        "study": found,
        "report": study_report(found),
        "cells": work_rows.task_cells(tasks_of_study(found)),
        "may_organize": may_organize,
        "may_judge": may_run_jobs(request.user, campaign),
        "handing": filled.get("handing") or HandStudyForm(request.user, found),
        "judging": filled.get("judging") or JudgeStudyForm(request.user, found),
        "form": filled.get("handing") or filled.get("judging"),
    }
    return render(request, "organizer/study.html", context, status=422 if filled else 200)
