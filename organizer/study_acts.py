"""Disagreement studies from their forms. A refusal becomes an error of the form."""

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign, Study
from evaluation.services.handing_out import HandOutReceipt
from evaluation.services.studies import create_study, hand_out_study
from jobs.models import Job
from llmjobs import starting
from organizer.study_forms import HandStudyForm, JudgeStudyForm, StudyForm


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
        return hand_out_study(
            study=study, assessor=data["assessor"], actor=actor, topics=data["topics"], due=data["due"]
        )
    except Refused as refusal:
        form.add_error(None, refusal.message)
    return None


def judge_from(form: JudgeStudyForm, study: Study, actor: User) -> Job | None:
    if not form.is_valid():
        return None
    try:
        request = starting.study_request(study, starting.judge_for(form.cleaned_data["judge"]))
        plan = starting.plan_study(request, study)
        if not plan.items:
            raise Refused("nothing_to_do", f"Nothing to do: {plan.judged:,} done already.")
        return starting.start(request, f"Study {study.name}", plan, actor)
    except Refused as refusal:
        form.add_error(None, refusal.message)
    return None
