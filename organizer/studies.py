"""Disagreement studies: the list, one study with its figures, handing it out, a second LLM."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import UserRequest
from accounts.models import User
from assessor.progress import matrix as work_rows
from assessor.progress.matrix import assessors_for
from evaluation import studies as study_service
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
    studies_for,
    study_for,
    tasks_of_study,
    topics_of_study,
)
from evaluation.tasks.hand_out import HandOutReceipt
from evaluation.tasks.units import ASSIGNED
from evaluation.terms import StudyKind, SupportCondition
from jobs.models import Job
from llmjobs import job_service
from llmjobs.job_status import callable_judges_for, may_run_jobs
from organizer import access as organizer_access
from organizer.access import get_campaign, missing_is_404
from organizer.jobs.views import get_campaign_to_judge
from organizer.work import views as work_views
from organizer.work.views import get_campaign_to_organize
from reports.quality.studies import study_report

KINDS = [
    (StudyKind.ASSIGNMENT.value, "Assignment: whether answers contain nuggets"),
    (StudyKind.SUPPORT.value, "Support: whether cited passages support sentences"),
]
CONDITIONS = [(word.value, word.value) for word in SupportCondition if word is not SupportCondition.LLM]


class StudyForm(forms.Form):
    """Labels to compare, and the number of differing pairs to draw. No topic chosen means all."""

    name = forms.CharField(max_length=LONGEST_NAME, label="Name")
    kind = forms.ChoiceField(choices=KINDS, initial=StudyKind.ASSIGNMENT, widget=forms.RadioSelect, label="Kind")
    condition = forms.ChoiceField(choices=CONDITIONS, label="Person's condition, of support")
    per_topic = forms.IntegerField(
        min_value=1, max_value=MOST_PER_TOPIC, initial=PER_TOPIC, label="Pairs of each topic"
    )
    seed = forms.IntegerField(min_value=0, max_value=GREATEST_SEED, initial=0, label="Seed")
    stratified = forms.BooleanField(required=False, label="Stratified")

    def __init__(self, viewer: User, campaign: Campaign, data: Any = None) -> None:
        super().__init__(data)
        sets = [
            (nugget_set.name, nugget_set.name)
            for nugget_set in nugget_sets_for(viewer, campaign)
            if nugget_set.origin in ASSIGNED
        ]
        counts = [*assignment_counts_for(viewer, campaign), *support_counts_for(viewer, campaign)]
        people, machines = (
            [(name, name) for name in sorted({count.judge for count in counts if count.machine is machine})]
            for machine in (False, True)
        )
        self.fields["nuggets"] = _choice("Nugget set, of assignments", "the only one that fits", sets)
        self.fields["person"] = _choice("Person", "the only one that fits", people)
        self.fields["machine"] = _choice("LLM", "the only one that fits", machines)
        self.fields["topics"] = forms.MultipleChoiceField(
            choices=list(topics_for(viewer, campaign).values_list("topic_id", "text")),
            required=False,
            widget=forms.CheckboxSelectMultiple,
            label="Topics",
        )

    @property
    def wish(self) -> StudyWish:
        values = self.cleaned_data
        return StudyWish(
            name=values["name"],
            kind=StudyKind(values["kind"]),
            person=values["person"],
            machine=values["machine"],
            nuggets=values["nuggets"] if values["kind"] == StudyKind.ASSIGNMENT else "",
            condition=SupportCondition(values["condition"]),
            per_topic=values["per_topic"],
            stratified=values["stratified"],
            seed=values["seed"],
            topics=tuple(values["topics"]),
        )


class HandStudyForm(forms.Form):
    """Independent assessor and topics. No topic chosen means all."""

    due = forms.DateField(required=False, widget=forms.DateInput(attrs={"type": "date"}), label="Due")

    def __init__(self, viewer: User, study: Study, data: Any = None) -> None:
        super().__init__(data)
        people = [(user.username, user.name) for user in assessors_for(viewer, study.campaign)]
        self.fields["assessor"] = forms.ChoiceField(choices=people, label="Assessor")
        self.fields["topics"] = forms.MultipleChoiceField(
            choices=[(topic.public_id, f"{topic.topic_id}: {topic.text}") for topic in topics_of_study(study)],
            required=False,
            widget=forms.CheckboxSelectMultiple,
            label="Topics",
        )


class JudgeStudyForm(forms.Form):
    """LLM judge for the pairs of a study."""

    def __init__(self, viewer: User, study: Study, data: Any = None) -> None:
        super().__init__(data)
        names = [
            judge.name for judge in callable_judges_for(viewer, study.campaign) if judge.pk != study.machine_id
        ]
        self.fields["judge"] = forms.ChoiceField(choices=[(name, name) for name in names], label="Second LLM")


def _choice(label: str, unsaid: str, choices: list[tuple[str, str]]) -> forms.ChoiceField:
    return forms.ChoiceField(choices=[("", unsaid), *choices], required=False, label=label)


def create_from(form: StudyForm, campaign: Campaign, actor: User) -> Study | None:
    if not form.is_valid():
        return None
    try:
        return create_study(campaign=campaign, wish=form.wish, actor=actor)
    except Refused as refusal:
        form.add_error(None, refusal.message)
    return None


def hand_out_from(form: HandStudyForm, study: Study, actor: User) -> HandOutReceipt | None:
    if not form.is_valid():
        return None
    data = form.cleaned_data
    try:
        return study_service.hand_out_study(
            study=study, assessor=data["assessor"], actor=actor, topics=data["topics"], due=data["due"]
        )
    except Refused as refusal:
        form.add_error(None, refusal.message)
    return None


def judge_from(form: JudgeStudyForm, study: Study, actor: User) -> Job | None:
    if not form.is_valid():
        return None
    try:
        request = job_service.study_request(study, job_service.judge_for(form.cleaned_data["judge"]))
        plan = job_service.plan_study(request, study)
        if not plan.items:
            raise Refused("nothing_to_do", f"Nothing to do: {plan.judged:,} done already.")
        return job_service.start(request, f"Study {study.name}", plan, actor)
    except Refused as refusal:
        form.add_error(None, refusal.message)
    return None


def get_study(viewer: User, slug: str, pk: int) -> tuple[Campaign, Study]:
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, study_for(viewer, campaign, pk)


def get_study_to_organize(viewer: User, slug: str, pk: int) -> tuple[Campaign, Study]:
    campaign = get_campaign_to_organize(viewer, slug)
    with missing_is_404():
        return campaign, study_for(viewer, campaign, pk)


def get_study_to_judge(viewer: User, slug: str, pk: int) -> tuple[Campaign, Study]:
    campaign = get_campaign_to_judge(viewer, slug)
    with missing_is_404():
        return campaign, study_for(viewer, campaign, pk)


@require_safe
def studies(request: UserRequest, slug: str) -> HttpResponse:
    campaign = organizer_access.get_campaign(request.user, slug)
    context = {
        "campaign": campaign,
        "rows": studies_for(request.user, campaign),
        "may_organize": work_rows.may_organize(request.user, campaign),
    }
    return render(request, "organizer/studies.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new_study(request: UserRequest, slug: str) -> HttpResponse:
    campaign = work_views.get_campaign_to_organize(request.user, slug)
    form = StudyForm(request.user, campaign, request.POST if request.method == "POST" else None)
    made = create_from(form, campaign, request.user)
    if made:
        messages.success(request, "Drawn. The pairs stay as they are; now hand them out.")
        return redirect("organizer:study", campaign.slug, made.pk)
    context = {"campaign": campaign, "form": form}
    return render(request, "organizer/study_new.html", context, status=422 if form.errors else 200)


@require_safe
def study(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = get_study(request.user, slug, pk)
    return _page(request, campaign, found)


@require_POST
def hand_out_pairs(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = get_study_to_organize(request.user, slug, pk)
    form = HandStudyForm(request.user, found, request.POST)
    receipt = hand_out_from(form, found, request.user)
    if receipt is None:
        return _page(request, campaign, found, handing=form)
    sentences = [f"Tasks handed out: {len(receipt.tasks):,}."]
    for skipped_topic in receipt.skipped:
        sentences.append(f"Left out, {skipped_topic.topic_id}: {skipped_topic.reason}")
    messages.success(request, " ".join(sentences))
    return redirect("organizer:study", campaign.slug, pk)


@require_POST
def judge_study(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = get_study_to_judge(request.user, slug, pk)
    form = JudgeStudyForm(request.user, found, request.POST)
    job = judge_from(form, found, request.user)
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
