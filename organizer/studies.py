"""Second looks and random checks: their lists, drawing, one study with its figures, handing it out, drawing more."""

import json
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import UserRequest
from accounts.models import User
from assessor.progress.matrix import assessors_for, task_cells
from assessor.timing.times import hours_of_labels
from evaluation.campaigns.access import may_organize, may_run_jobs, within
from evaluation.campaigns.contents import assignment_counts_for, nugget_sets_for, support_counts_for
from evaluation.corpus.runs import runs_for
from evaluation.corpus.topics import topics_for
from evaluation.errors import Refused
from evaluation.models import Campaign, Study, Task
from evaluation.models.studies import MOST_DECOYS
from evaluation.stages import stage_of_study
from evaluation.studies import (
    DECOYS,
    GREATEST_SEED,
    LONGEST_NAME,
    MOST_PER_TOPIC,
    PER_TOPIC,
    StudyOrder,
    create_study,
    hand_out_study,
    refused_assessors,
    studies_for,
    study_for,
    tasks_of_study,
    topics_of_study,
)
from evaluation.tasks.units import ASSIGNED
from evaluation.terms import DrawKind, StudyKind, SupportCondition
from llmjobs import job_service
from llmjobs.job_status import callable_judges_for
from organizer.access import get_campaign, get_row
from organizer.forms import choice_field, due_field, named, posted, refusals_on, ticks_field
from reports.files import TableForm
from reports.metrics.random_check.estimate import FEWEST_JUDGED
from reports.quality.studies import study_report
from reports.random_checks.corrected import corrected_report, primary_score
from reports.random_checks.drawing import (
    LONGEST_SEED,
    MOST_PER_RUN,
    PER_RUN,
    RandomCheckOrder,
    create_random_check,
    extend_random_check,
    grow_random_check,
    size_of,
    size_of_order,
)
from reports.random_checks.frame import CheckCounts, check_counts
from reports.random_checks.page import board_address
from reports.random_checks.population import default_policies
from reports.random_checks.state import label_rows, random_check_state
from web.fields import TextField
from web.text import plural

STUDY_KINDS = [
    (StudyKind.ASSIGNMENT.value, "Nugget labels: whether answers say nuggets"),
    (StudyKind.SUPPORT.value, "Citation labels: whether cited passages back their sentences"),
]
# The person is compared with an LLM, so the person's labels are never an LLM's.
CONDITIONS = [
    (condition.value, condition.words) for condition in (SupportCondition.SCRATCH, SupportCondition.POST_EDIT)
]


def _fitting_field(label: str, names: list[str]) -> forms.ChoiceField:
    """Choice of a name, the first preselected; of several names one must be chosen."""
    field = choice_field(label, "the only one that fits", named(names))
    if len(names) > 1:
        field.choices, field.required = named(names), True
    return field


class StudyForm(forms.Form):
    """Labels to compare, and the number of differing pairs to draw. No topic chosen means all."""

    name = TextField(max_length=LONGEST_NAME, label="Name")
    kind = forms.ChoiceField(
        choices=STUDY_KINDS, initial=StudyKind.ASSIGNMENT, widget=forms.RadioSelect, label="Kind"
    )
    condition = forms.ChoiceField(choices=CONDITIONS, label="Person's condition, of citation labels")
    per_topic = forms.IntegerField(
        min_value=1, max_value=MOST_PER_TOPIC, initial=PER_TOPIC, label="Pairs of each topic"
    )
    decoys = forms.IntegerField(min_value=0, max_value=MOST_DECOYS, initial=DECOYS, label="Decoys, %")
    seed = forms.IntegerField(min_value=0, max_value=GREATEST_SEED, initial=0, label="Seed")
    stratified = forms.BooleanField(required=False, label="Stratified")

    def __init__(self, viewer: User, campaign: Campaign, data: Any = None) -> None:
        super().__init__(data)
        names = {row.name for row in nugget_sets_for(viewer, campaign) if row.origin in ASSIGNED}
        assigned = [count for count in assignment_counts_for(viewer, campaign) if count.of in names]
        self.counts = [*assigned, *support_counts_for(viewer, campaign)]
        by_people, by_machines = (
            {count.of for count in assigned if count.is_llm is is_llm} for is_llm in (False, True)
        )
        defaults = set(campaign.defaults.values_list("nuggets", flat=True))
        compared = by_people & by_machines
        sets = sorted(names, key=lambda name: (name not in compared, name not in defaults, name))
        people, llms = (
            sorted({count.judge for count in self.counts if count.is_llm is is_llm}) for is_llm in (False, True)
        )
        self.fields["nuggets"] = _fitting_field("Nugget list, of nugget labels", sets)
        self.fields["person"] = _fitting_field("Person", people)
        self.fields["judge"] = _fitting_field("LLM", llms)
        if sets:
            self.initial["person"] = next(iter(self._judges(sets[0], is_llm=False)), "")
            self.initial["judge"] = next(iter(self._judges(sets[0], is_llm=True)), "")
        self.fields["topics"] = ticks_field("Topics", topics_for(viewer, campaign).values_list("topic_id", "text"))

    def _judges(self, of: str, *, is_llm: bool) -> list[str]:
        return sorted({count.judge for count in self.counts if count.is_llm is is_llm and count.of == of})

    def clean(self) -> None:
        values = self.cleaned_data
        of_nuggets = values.get("kind") == StudyKind.ASSIGNMENT
        for name in ("person", "judge"):
            condition = SupportCondition.LLM if name == "judge" else values.get("condition")
            of = values.get("nuggets", "") if of_nuggets else condition
            fitting = self._judges(str(of), is_llm=name == "judge")
            chosen = values.get(name)
            if chosen and fitting and chosen not in fitting:
                self.add_error(name, f"{chosen} has no such labels; choose one of {', '.join(fitting)}")

    @property
    def order(self) -> StudyOrder:
        values = self.cleaned_data
        return StudyOrder(
            name=values["name"],
            kind=StudyKind(values["kind"]),
            person=values["person"],
            judge=values["judge"],
            # A set that was chosen before the kind says nothing about support.
            nuggets=values["nuggets"] if values["kind"] == StudyKind.ASSIGNMENT else "",
            condition=SupportCondition(values["condition"]),
            per_topic=values["per_topic"],
            stratified=values["stratified"],
            decoys=values["decoys"],
            seed=values["seed"],
            topics=tuple(values["topics"]),
        )


class HandStudyForm(forms.Form):
    """No topic chosen means all."""

    due = due_field()

    def __init__(self, viewer: User, study: Study, data: Any = None) -> None:
        super().__init__(data)
        people = {user.username: user for user in assessors_for(viewer, study.campaign)}
        refused = refused_assessors(study, people.values())
        free = [(name, user.name) for name, user in people.items() if name not in refused]
        choices = [*free, *([("May have none of its topics", [*refused.items()])] if refused else [])]
        self.fields["assessor"] = forms.ChoiceField(choices=choices, label="Assessor")
        topics = [(topic.public_id, f"{topic.topic_id}: {topic.text}") for topic in topics_of_study(study)]
        self.fields["topics"] = ticks_field("Topics", topics)


class CheckForm(forms.Form):
    """Labels of one LLM, and how many pairs of each run to draw. No run or topic chosen means all."""

    name = TextField(max_length=LONGEST_NAME, label="Name")
    per_run = forms.IntegerField(min_value=FEWEST_JUDGED, max_value=MOST_PER_RUN, label="Pairs a run")
    seed = TextField(max_length=LONGEST_SEED, label="Seed")

    def __init__(self, viewer: User, campaign: Campaign, data: QueryDict, *, sent: bool) -> None:
        studies, data = studies_for(viewer, campaign), data.copy()
        sets = {row.name for row in nugget_sets_for(viewer, campaign) if row.origin in ASSIGNED}
        assigned = [count for count in assignment_counts_for(viewer, campaign) if count.of in sets]
        supported = support_counts_for(viewer, campaign)
        groups = {
            "Nugget labels": {
                json.dumps([StudyKind.ASSIGNMENT, count.of, count.judge]): f"{count.of}: {count.judge}"
                for count in assigned
                if count.is_llm
            },
            "Citation labels": {
                json.dumps([StudyKind.SUPPORT, "", count.judge]): count.judge
                for count in supported
                if count.of == SupportCondition.LLM
            },
        }
        self.offered = [value for group in groups.values() for value in group]
        # An emptied field stays empty: only a form that was not sent yet is filled.
        if not sent:
            number = 1 + sum(study.draw == DrawKind.RANDOM for study in studies)
            usual = {
                "labels": next(iter(self.offered), ""),
                "name": f"Check {number}",
                "per_run": PER_RUN,
                "seed": 0,
            }
            for name, value in usual.items():
                data.setdefault(name, str(value))
        known = []
        if data.get("labels") in self.offered:
            kind, nuggets, _ = json.loads(str(data["labels"]))
            of = nuggets or SupportCondition.SCRATCH
            known += [count.judge for count in [*assigned, *supported] if not count.is_llm and count.of == of]
            known += [study.name for study in studies if _has_known(study, kind, nuggets)]
        if "draw" not in data:
            # The preview of other labels shows other boxes, none of them ticked.
            data.setlist("known", [name for name in data.getlist("known") if name in known])
        super().__init__(data)
        choices = [(group, list(found.items())) for group, found in groups.items() if found]
        self.fields["labels"] = forms.ChoiceField(choices=choices, label="Labels to check")
        self.fields["runs"] = ticks_field(
            "Runs", named(runs_for(viewer, campaign).values_list("run_id", flat=True))
        )
        self.fields["topics"] = ticks_field("Topics", topics_for(viewer, campaign).values_list("topic_id", "text"))
        self.taken = {study.name for study in studies}
        self.judged_by = known
        self.fields["known"] = ticks_field("Labels that people gave before", named(known))

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if name in self.taken:
            raise forms.ValidationError(f"There is a check or second look {name} already.")
        return name

    @property
    def order(self) -> RandomCheckOrder:
        values = self.cleaned_data
        kind, nuggets, llm = json.loads(values["labels"])
        return RandomCheckOrder(
            name=values["name"],
            kind=StudyKind(kind),
            judge=llm,
            nuggets=nuggets,
            per_run=values["per_run"],
            runs=tuple(values["runs"]),
            topics=tuple(values["topics"]),
            known=tuple(values["known"]),
            seed=values["seed"],
        )


def _has_known(study: Study, kind: str, nuggets: str) -> bool:
    """Say whether a study's labels can be known ones: of the same pairs, and given without sight of the LLM's."""
    own = study.nugget_set.name if study.nugget_set else ""
    return (study.kind, own) == (kind, nuggets) and study.condition != SupportCondition.POST_EDIT


class GrowForm(forms.Form):
    """Pairs of each run that a random check is to have in all."""

    per_run = forms.IntegerField(max_value=MOST_PER_RUN, label="Pairs a run, in all")

    def __init__(self, study: Study, data: Any = None) -> None:
        most = max(study.design["per_run"].values(), default=0)
        super().__init__(data, initial={"per_run": most + PER_RUN})


class JudgeStudyForm(forms.Form):
    def __init__(self, viewer: User, study: Study, data: Any = None) -> None:
        super().__init__(data)
        judges = callable_judges_for(viewer, study.campaign)
        # The LLM whose labels are compared cannot be the one that decides.
        others = named(judge.name for judge in judges if judge.pk != study.judge_id)
        self.fields["judge"] = forms.ChoiceField(choices=others, label="Second LLM")


@require_safe
def studies(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug)
    context = {
        "campaign": campaign,
        "studies": studies_for(request.user, campaign).exclude(draw=DrawKind.RANDOM),
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
            study = create_study(campaign=campaign, order=form.order, actor=request.user)
            messages.success(request, "Drawn. The pairs stay as they are; now hand them out.")
            return redirect("organizer:study", campaign.slug, study.pk)
    context = {"campaign": campaign, "form": form}
    return render(request, "organizer/study_new.html", context, status=422 if form.errors else 200)


@require_safe
def study(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = get_row(request.user, slug, study_for, pk)
    if found.draw == DrawKind.RANDOM:
        return redirect("organizer:random_check", campaign.slug, pk)
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


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A random check in the list. `pace`: hours of a label, None where the campaign has no times of such labels."""

    study: Study
    counts: CheckCounts
    pace: float | None

    @property
    def hours(self) -> float | None:
        return None if self.pace is None else self.counts.left * self.pace


def check_for(viewer: User, campaign: Campaign, pk: int) -> Study:
    """Return a random check. Raises `Study.DoesNotExist` as well while it is incomplete, but for organizers."""
    study = study_for(viewer, campaign, pk)
    if study.draw != DrawKind.RANDOM:
        raise Study.DoesNotExist
    if not may_organize(viewer, campaign) and check_counts([study])[pk].left:
        raise Study.DoesNotExist
    return study


@require_safe
def random_checks(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug)
    may = may_organize(request.user, campaign)
    studies = list(studies_for(request.user, campaign).filter(draw=DrawKind.RANDOM))
    counts = check_counts(studies)
    campaigns = within(request.user, campaign)
    paces = {kind: hours_of_labels(campaigns, stage_of_study(kind), 1) for kind in StudyKind}
    checks = [
        CheckRow(study, counts[study.pk], paces[StudyKind(study.kind)])
        for study in studies
        if may or not counts[study.pk].left
    ]
    context = {"campaign": campaign, "checks": checks, "may_organize": may}
    return render(request, "organizer/random_checks.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new_check(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    sent = request.method == "POST"
    form = CheckForm(request.user, campaign, request.POST if sent else request.GET, sent=sent)
    # Without `draw` the form asks what would be drawn, and htmx shows no answer that is an error.
    draws = sent and "draw" in request.POST
    size, hours = None, None
    if form.is_valid():
        with refusals_on(form):
            if draws:
                study = create_random_check(campaign=campaign, order=form.order, actor=request.user)
                drawn = size_of(study)
                then = "Now hand them out." if drawn.drawn else "Every pair is known, so there is none to judge."
                messages.success(request, f"Drawn: {drawn}. {then}")
                return redirect("organizer:random_check", campaign.slug, study.pk)
            size = size_of_order(campaign, form.order, form.judged_by)
            hours = hours_of_labels(
                within(request.user, campaign), stage_of_study(form.order.kind), size.judgments
            )
    context = {"campaign": campaign, "form": form, "size": size, "hours": hours, "fails": draws}
    return render(request, "organizer/random_check_new.html", context, status=422 if draws else 200)


@require_safe
def random_check(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = get_row(request.user, slug, check_for, pk)
    return _page(request, campaign, found)


@require_POST
def grow_check(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = get_row(request.user, slug, check_for, pk, may_organize)
    form = GrowForm(found, request.POST)
    if form.is_valid():
        with refusals_on(form, "per_run"):
            came = grow_random_check(study=found, per_run=form.cleaned_data["per_run"], actor=request.user)
            return _drawn_more(request, campaign, found, came)
    return _page(request, campaign, found, growing=form)


@require_POST
def extend_check(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = get_row(request.user, slug, check_for, pk, may_organize)
    return _drawn_more(request, campaign, found, extend_random_check(study=found, actor=request.user))


def _drawn_more(request: UserRequest, campaign: Campaign, study: Study, came: int) -> HttpResponse:
    text = f"Drawn: {came:,} {plural(came, 'pair')} more to judge."
    messages.success(request, f"{text} Whoever has their topics has them too; hand out topics that nobody has.")
    return redirect("organizer:random_check", campaign.slug, study.pk)


def _page(
    request: UserRequest,
    campaign: Campaign,
    found: Study,
    handing: HandStudyForm | None = None,
    judging: JudgeStudyForm | None = None,
    growing: GrowForm | None = None,
) -> HttpResponse:
    """Page of a study, with a form as it was sent where that was refused."""
    check, organizes = found.draw == DrawKind.RANDOM, may_organize(request.user, campaign)
    context = {
        "campaign": campaign,
        "study": found,
        "check": check,
        "cells": task_cells(tasks_of_study(found)),
        "may_organize": organizes,
        "may_run": may_run_jobs(request.user, campaign),
        "handing": handing or (organizes and HandStudyForm(request.user, found)),
        "judging": judging or JudgeStudyForm(request.user, found),
        "form": handing or judging or growing,
    }
    context |= _corrected(request.user, found, growing) if check else {"report": study_report(found)}
    template = "organizer/random_check.html" if check else "organizer/study.html"
    return render(request, template, context, status=422 if context["form"] else 200)


def _corrected(viewer: User, study: Study, growing: GrowForm | None) -> dict[str, Any]:
    state = random_check_state(study, default_policies(study))
    report = corrected_report(state, primary_score(study))
    names = ("judged", "refused", "drawn", "pairs", "outside")
    counts = {name: sum(getattr(run, name) for run in report.runs) for name in names}
    left = counts["drawn"] - counts["judged"] - counts["refused"]
    return {
        "report": report,
        "board": "" if left else board_address(study),
        "lacking": topics_of_study(study).exclude(
            pk__in=Task.objects.filter(study=study).not_withdrawn().values("topic")
        ),
        "left": left,
        "hours": hours_of_labels(within(viewer, study.campaign), stage_of_study(study.kind), left),
        "is_support": study.kind == StudyKind.SUPPORT,
        "runs": report.ordered,
        "label_rows": label_rows(state),
        "growing": growing or GrowForm(study),
        "forms": list(TableForm),
        **counts,
    }
