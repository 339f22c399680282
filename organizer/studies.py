"""Disagreement studies: the list, one study with its figures, handing it out, a second LLM."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import UserRequest
from accounts.models import User
from assessor.progress.matrix import assessors_for, may_organize, task_cells
from evaluation.campaigns.contents import assignment_counts_for, nugget_sets_for, support_counts_for
from evaluation.corpus.topics import topics_for
from evaluation.errors import Refused
from evaluation.models import Campaign, Study
from evaluation.studies import (
    GREATEST_SEED,
    LONGEST_NAME,
    MOST_PER_TOPIC,
    PER_TOPIC,
    StudyWish,
    create_study,
    hand_out_study,
    studies_for,
    study_for,
    tasks_of_study,
    topics_of_study,
)
from evaluation.tasks.units import ASSIGNED
from evaluation.terms import DrawKind, StudyKind, SupportCondition
from llmjobs import job_service
from llmjobs.job_status import callable_judges_for, may_run_jobs
from organizer.access import get_campaign, get_row
from organizer.forms import choice_field, day_field, named, posted, refusals_on, ticks_field
from reports.audits.corrected import audit_state, corrected_report, primary_score
from reports.audits.population import default_policies
from reports.files import TableForm
from reports.quality.studies import study_report

KINDS = [
    (StudyKind.ASSIGNMENT.value, "Nugget labels: whether answers say nuggets"),
    (StudyKind.SUPPORT.value, "Support: whether cited passages support sentences"),
]
# The person is compared with an LLM, so the person's labels are never an LLM's.
CONDITIONS = [
    (condition.value, condition.words) for condition in (SupportCondition.SCRATCH, SupportCondition.POST_EDIT)
]


class StudyForm(forms.Form):
    """Labels to compare, and the number of differing pairs to draw. No topic chosen means all."""

    name = forms.CharField(max_length=LONGEST_NAME, label="Name")
    kind = forms.ChoiceField(choices=KINDS, initial=StudyKind.ASSIGNMENT, widget=forms.RadioSelect, label="Kind")
    condition = forms.ChoiceField(choices=CONDITIONS, label="Person's condition, of citation labels")
    per_topic = forms.IntegerField(
        min_value=1, max_value=MOST_PER_TOPIC, initial=PER_TOPIC, label="Pairs of each topic"
    )
    seed = forms.IntegerField(min_value=0, max_value=GREATEST_SEED, initial=0, label="Seed")
    stratified = forms.BooleanField(required=False, label="Stratified")

    def __init__(self, viewer: User, campaign: Campaign, data: Any = None) -> None:
        super().__init__(data)
        sets = named(row.name for row in nugget_sets_for(viewer, campaign) if row.origin in ASSIGNED)
        counts = [*assignment_counts_for(viewer, campaign), *support_counts_for(viewer, campaign)]
        people, machines = (
            named(sorted({count.judge for count in counts if count.machine is machine}))
            for machine in (False, True)
        )
        self.fields["nuggets"] = choice_field("Nugget list, of nugget labels", "the only one that fits", sets)
        self.fields["person"] = choice_field("Person", "the only one that fits", people)
        self.fields["machine"] = choice_field("LLM", "the only one that fits", machines)
        self.fields["topics"] = ticks_field("Topics", topics_for(viewer, campaign).values_list("topic_id", "text"))

    @property
    def wish(self) -> StudyWish:
        values = self.cleaned_data
        return StudyWish(
            name=values["name"],
            kind=StudyKind(values["kind"]),
            person=values["person"],
            machine=values["machine"],
            # A set that was chosen before the kind says nothing about support.
            nuggets=values["nuggets"] if values["kind"] == StudyKind.ASSIGNMENT else "",
            condition=SupportCondition(values["condition"]),
            per_topic=values["per_topic"],
            stratified=values["stratified"],
            seed=values["seed"],
            topics=tuple(values["topics"]),
        )


class HandStudyForm(forms.Form):
    """Independent assessor and topics. No topic chosen means all."""

    due = day_field("Due")

    def __init__(self, viewer: User, study: Study, data: Any = None) -> None:
        super().__init__(data)
        people = [(user.username, user.name) for user in assessors_for(viewer, study.campaign)]
        self.fields["assessor"] = forms.ChoiceField(choices=people, label="Assessor")
        topics = [(topic.public_id, f"{topic.topic_id}: {topic.text}") for topic in topics_of_study(study)]
        self.fields["topics"] = ticks_field("Topics", topics)


class JudgeStudyForm(forms.Form):
    """LLM judge for the pairs of a study."""

    def __init__(self, viewer: User, study: Study, data: Any = None) -> None:
        super().__init__(data)
        judges = callable_judges_for(viewer, study.campaign)
        # The LLM whose labels are compared cannot be the one that decides.
        others = named(judge.name for judge in judges if judge.pk != study.machine_id)
        self.fields["judge"] = forms.ChoiceField(choices=others, label="Second LLM")


@require_safe
def studies(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug)
    rows = studies_for(request.user, campaign)
    context = {
        "campaign": campaign,
        "rows": [row for row in rows if row.study.draw != DrawKind.AUDIT],
        "checks": [row for row in rows if row.study.draw == DrawKind.AUDIT],
        "may_organize": may_organize(request.user, campaign),
        "forms": list(TableForm),
    }
    return render(request, "organizer/studies.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new_study(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    form = StudyForm(request.user, campaign, posted(request))
    if form.is_valid():
        with refusals_on(form):
            made = create_study(campaign=campaign, wish=form.wish, actor=request.user)
            messages.success(request, "Drawn. The pairs stay as they are; now hand them out.")
            return redirect("organizer:study", campaign.slug, made.pk)
    context = {"campaign": campaign, "form": form}
    return render(request, "organizer/study_new.html", context, status=422 if form.errors else 200)


@require_safe
def study(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = get_row(request.user, slug, study_for, pk)
    return _page(request, campaign, found)


@require_POST
def hand_out_pairs(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = get_row(request.user, slug, study_for, pk, may_organize)
    form = HandStudyForm(request.user, found, request.POST)
    if form.is_valid():
        with refusals_on(form):
            receipt = hand_out_study(study=found, actor=request.user, **form.cleaned_data)
            left_out = [f"Left out, {topic.topic_id}: {topic.reason}" for topic in receipt.skipped]
            messages.success(request, " ".join([f"Tasks handed out: {len(receipt.tasks):,}.", *left_out]))
            return redirect("organizer:study", campaign.slug, pk)
    return _page(request, campaign, found, handing=form)


@require_POST
def judge_study(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = get_row(request.user, slug, study_for, pk, may_run_jobs)
    form = JudgeStudyForm(request.user, found, request.POST)
    if form.is_valid():
        with refusals_on(form):
            order = job_service.study_request(found, job_service.judge_for(form.cleaned_data["judge"]))
            plan = job_service.plan_study(order, found)
            if not plan.items:
                raise Refused("nothing_to_do", f"Nothing to do: {plan.judged:,} done already.")
            job = job_service.start(order, f"Study {found.name}", plan, request.user)
            return redirect("organizer:job", campaign.slug, job.pk)
    return _page(request, campaign, found, judging=form)


def _page(
    request: UserRequest,
    campaign: Campaign,
    found: Study,
    handing: HandStudyForm | None = None,
    judging: JudgeStudyForm | None = None,
) -> HttpResponse:
    """Page of a study, with a form as it was sent where that was refused."""
    check = found.draw == DrawKind.AUDIT
    context = {
        "campaign": campaign,
        "study": found,
        "check": check,
        "cells": task_cells(tasks_of_study(found)),
        "may_organize": may_organize(request.user, campaign),
        "may_judge": may_run_jobs(request.user, campaign),
        "handing": handing or HandStudyForm(request.user, found),
        "judging": judging or JudgeStudyForm(request.user, found),
        "form": handing or judging,
    }
    context |= _corrected(found) if check else {"report": study_report(found)}
    template = "organizer/random_check.html" if check else "organizer/study.html"
    return render(request, template, context, status=422 if handing or judging else 200)


def _corrected(study: Study) -> dict[str, Any]:
    report = corrected_report(audit_state(study, default_policies(study)), primary_score(study.kind))
    counts = {name: sum(getattr(run, name) for run in report.runs) for name in ("judged", "drawn", "pairs")}
    return {"report": report, "runs": report.ordered, "forms": list(TableForm)} | counts
