"""Prompts, judges and trials from their forms. A refusal becomes an error of the form, and nothing is written."""

from dataclasses import dataclass, field

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign, Judge
from llmjobs.models import Prompt, Trial
from llmjobs.previewing import PromptPreview, preview
from llmjobs.prompt_files import import_prompt
from llmjobs.prompts import PromptTask, Template
from llmjobs.starting import Estimate, judge_for
from llmjobs.stored_prompts import UnusableError, save_prompt
from llmjobs.trials import foretell, start_trial
from llmjobs.ways import add_llm_judge
from organizer.prompt_forms import JudgeForm, PreviewForm, PromptFileForm, PromptForm, TrialForm


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
        return import_prompt(form.source(), task=data["task"], name=data["name"], campaign=owner, actor=actor)
    except Refused as refusal:
        for line in refusal.message.split("\n"):
            form.add_error("file", line)
    return None


def preview_from(
    form: PreviewForm, campaign: Campaign, template: Template, viewer: User
) -> tuple[PromptPreview | None, str]:
    """Template filled with the chosen item, or the reason why there is none."""
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
