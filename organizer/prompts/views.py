"""Prompts: reading, comparing, new versions, and trials on pairs that people have labelled."""

import json
from dataclasses import replace
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import UserRequest
from accounts.models import User
from evaluation.campaigns.access import may_run_jobs
from evaluation.corpus.runs import runs_for
from evaluation.corpus.topics import topics_for
from evaluation.errors import Refused
from evaluation.formats.source import read_source
from evaluation.models import Campaign
from llmjobs.job_service import judge_to_try
from llmjobs.job_status import callable_judges_for, prompts_for
from llmjobs.models import LONGEST_NAME, Prompt
from llmjobs.prompt_preview import PreviewTarget, preview
from llmjobs.prompt_store import (
    LARGEST_FILE,
    LONGEST_TEXT,
    UnusableError,
    all_templates,
    check_wording,
    import_prompt,
    new_wording,
    prompt_for,
    prompts_by_task,
    save_prompt,
)
from llmjobs.prompts.template import DATA_OF, PLAIN_OF, TEXTS_OF, PromptTask, Template
from llmjobs.prompts.texts import ASSIGN, TEMPLATES
from llmjobs.trials import (
    GREATEST_SEED,
    MOST_PAIRS,
    PAIRS,
    TrialOrder,
    foretell,
    labelled_by_people,
    last_trials,
    start_trial,
    trial_for,
    trials_for,
)
from organizer.access import get_campaign, get_row
from organizer.forms import choice_field, errors_text, named, posted, refusals_on, ticks_field
from organizer.jobs.forms import BudgetForm, judge_choice
from organizer.jobs.views import button_of
from organizer.prompts.trial_report import trial_report
from web.fields import TextField

LABELLED: dict[PromptTask, str] = {
    "assign": "nugget set",
    "support": "support,",
    "importance": "nugget set",
    "relevance": "qrels",
    "battle": "battle set",
}
"""Words before a name of people's labels of each task. Nuggetizing writes texts, which no label compares with."""


class ScopeForm(forms.Form):
    common = forms.BooleanField(required=False, label="common: every campaign here may read and use it")

    def owner(self, campaign: Campaign) -> Campaign | None:
        return None if self.cleaned_data["common"] else campaign


class PromptForm(ScopeForm):
    name = TextField(max_length=LONGEST_NAME, label="Name")
    # Not stripped: blanks at the ends are sent to the LLM, and are part of the prompt's hash.
    system = TextField(
        max_length=LONGEST_TEXT, strip=False, label="System text", widget=forms.Textarea(attrs={"rows": 18})
    )
    user = TextField(
        max_length=LONGEST_TEXT, strip=False, label="User text", widget=forms.Textarea(attrs={"rows": 18})
    )

    def wording(self, task: PromptTask) -> Template:
        # As it is typed, whether it can be used or not.
        return new_wording(task, *(self[field].value() or "" for field in ("name", "system", "user")))


class PromptFileForm(ScopeForm):
    """A wording from a TOML file, which may name its task and itself."""

    file = forms.FileField(label="TOML file")
    task = choice_field("Task", "as the file says", named(TEMPLATES))
    name = TextField(max_length=LONGEST_NAME, required=False, label="Name, if unsaid in the file")


class PreviewForm(forms.Form):
    """Item that fills a prompt. By default the first that fits."""

    structured = forms.BooleanField(required=False, label="Structured")

    def __init__(self, viewer: User, campaign: Campaign, data: Any) -> None:
        super().__init__(data)
        self.viewer, self.campaign = viewer, campaign
        topics = topics_for(viewer, campaign).values_list("topic_id", flat=True)
        runs = runs_for(viewer, campaign).values_list("run_id", flat=True)
        self.fields["topic"] = choice_field("Topic", "the first that fits", named(topics))
        self.fields["run"] = choice_field("Run", "the first that fits", named(runs))

    def filled(self, template: Template) -> dict[str, Any]:
        """The template filled with the chosen item, or why none fits it; an unknown choice counts as none."""
        self.is_valid()
        values = self.cleaned_data
        target = PreviewTarget(values.get("topic", ""), values.get("run", ""))
        structured = bool(values.get("structured"))
        try:
            example = preview(self.viewer, self.campaign, template, target, structured=structured)
        except Refused as refusal:  # the words can be read and written all the same
            return {"chosen": self, "why_not": refusal.message}
        schema = json.dumps(example.ask.form.response_format, indent=2) if example.ask.form else ""
        return {"chosen": self, "shown": example, "schema": schema}


class TrialForm(BudgetForm):
    """Prompts to try, number of labelled pairs, and budget; what is not given yet has its usual value."""

    pairs = forms.IntegerField(min_value=1, max_value=MOST_PAIRS, label="Labelled pairs")
    seed = forms.IntegerField(min_value=0, max_value=GREATEST_SEED, label="Seed")

    def __init__(self, viewer: User, campaign: Campaign, task: PromptTask, given: QueryDict) -> None:
        material = [(name, f"{LABELLED[task]} {name}") for name in labelled_by_people(campaign, task)]
        judge, data = judge_choice(callable_judges_for(viewer, campaign)), given.copy()
        usual = {"judge": judge.initial, "of": next((name for name, _ in material), ""), "pairs": PAIRS, "seed": 0}
        for name, value in usual.items():
            data.setdefault(name, str(value))
        super().__init__(data)
        self.task = task
        self.fields["prompts"] = ticks_field("Prompts", named(_refs(viewer, task)))
        self.fields["judge"] = judge
        self.fields["of"] = forms.ChoiceField(choices=material, label="Labels by people of")

    @property
    def order(self) -> TrialOrder:
        """Raises `Refused` for a judge that cannot be called."""
        values, like = self.cleaned_data, judge_to_try(self.cleaned_data["judge"])
        drawn = values["of"], values["pairs"], values["seed"]
        return TrialOrder(self.task, tuple(values["prompts"]), like, *drawn, self.budget)


def _refs(viewer: User, task: PromptTask) -> list[str]:
    return [template.ref for template in all_templates(prompts_for(viewer), task)]


@require_safe
def prompts(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug)
    last = last_trials(request.user, campaign)
    tasks = prompts_by_task(request.user, campaign)
    context = {
        "campaign": campaign,
        "tasks": [(task, [(row, last.get(row.template.ref)) for row in rows]) for task, rows in tasks],
        "triable": tuple(LABELLED),
        "trials": trials_for(request.user, campaign),
        "may_run": may_run_jobs(request.user, campaign),
    }
    return render(request, "organizer/prompts.html", context)


@require_safe
def prompt(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    campaign, row = get_row(request.user, slug, prompt_for, public_id)
    context = PreviewForm(request.user, campaign, request.GET).filled(row.template) | {
        "campaign": campaign,
        "row": row,
        "pairs": PAIRS if row.template.task in LABELLED else 0,
        "may_run": may_run_jobs(request.user, campaign),
    }
    return render(request, "organizer/prompt.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new_prompt(request: UserRequest, slug: str) -> HttpResponse:
    campaign, row = get_row(request.user, slug, prompt_for, request.GET.get("like", ASSIGN.ref), may_run_jobs)
    like = row.template
    own = {
        # A built-in prompt gets no versions, so what is made of it needs another name.
        "name": like.name if row.stored else f"{like.name}-own",
        "system": like.system,
        "user": like.user,
        "common": bool(row.stored and row.stored.campaign_id is None),
    }
    form, looks = PromptForm(posted(request), initial=own), "preview" in request.POST
    typed = form.wording(like.task)
    if form.is_valid():
        try:
            if not looks:
                made, is_new = save_prompt(typed, form.owner(campaign), request.user)
                return _to_prompt(request, campaign, made, is_new=is_new)
            check_wording(typed, form.owner(campaign))
        except UnusableError as refusal:
            for field, problem in refusal.problems:
                form.add_error(field, f"{problem}.")
    context = PreviewForm(request.user, campaign, request.POST).filled(typed) | {
        "campaign": campaign,
        "like": like,
        "form": form,
        "typed": typed,
        "data": sorted(DATA_OF[like.task]),
        "plain": sorted(PLAIN_OF[like.task] | TEXTS_OF[like.task]),
    }
    return render(request, "organizer/prompt_new.html", context, status=422 if form.errors and not looks else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def import_wording(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_run_jobs)
    form = PromptFileForm(posted(request), request.FILES or None)
    if form.is_valid():
        data, file = form.cleaned_data, form.cleaned_data["file"]
        with refusals_on(form, "file"):
            source = read_source(file, name=file.name, max_bytes=LARGEST_FILE)
            made, is_new = import_prompt(
                source, task=data["task"], name=data["name"], campaign=form.owner(campaign), actor=request.user
            )
            return _to_prompt(request, campaign, made, is_new=is_new)
    context = {"campaign": campaign, "form": form}
    return render(request, "organizer/prompt_import.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def try_prompts(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_run_jobs)
    task = next((task for task in LABELLED if task == request.GET.get("task")), next(iter(LABELLED)))
    form, starts = TrialForm(request.user, campaign, task, request.GET), "start" in request.POST
    context: dict[str, Any] = {}
    if form.is_valid():
        with refusals_on(form):
            if starts:
                new_trial = start_trial(campaign, form.order, request.user)
                return redirect("organizer:trial", campaign.slug, new_trial.pk)
            context = estimated(campaign, form.order)
    context |= {
        "campaign": campaign,
        "task": task,
        "triable": tuple(LABELLED),
        "form": form,
        "reason": errors_text(form),
        "address": request.GET.urlencode(),
    }
    return render(request, "organizer/prompt_try.html", context, status=422 if starts else 200)


def estimated(campaign: Campaign, order: TrialOrder) -> dict[str, Any]:
    """Cost of each prompt and of all. Raises `Refused`."""
    estimates = foretell(campaign, order)
    first, *others = (estimate.forecast for _, estimate in estimates)
    for other in others:
        # All are asked of one model: its price is known for all of them or for none.
        cost = None if first.cost is None or other.cost is None else first.cost + other.cost
        first = replace(first, calls=first.calls + other.calls, cost=cost)
    return {"estimates": estimates, "in_use": order.in_use, "button": button_of(first)}


@require_safe
def trial(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = get_row(request.user, slug, trial_for, pk)
    context = {"campaign": campaign, "report": trial_report(request.user, campaign, found)}
    return render(request, "organizer/trial.html", context)


def _to_prompt(request: UserRequest, campaign: Campaign, made: Prompt, *, is_new: bool) -> HttpResponse:
    text = f"Saved as {made}." if is_new else f"These are the words of {made}; nothing was changed."
    messages.success(request, text)
    return redirect("organizer:prompt", campaign.slug, made.template.ref)
