"""Prompts and trials for views; 404 where there is none."""

from accounts.models import User
from evaluation.models import Campaign
from llmjobs.models import Trial
from llmjobs.prompt_queries import PromptRow, prompt_for
from llmjobs.trials import trial_for
from organizer.getters import get_campaign, missing_is_404


def get_prompt(viewer: User, slug: str, ref: str) -> tuple[Campaign, PromptRow]:
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, prompt_for(viewer, campaign, ref)


def get_trial(viewer: User, slug: str, pk: int) -> tuple[Campaign, Trial]:
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, trial_for(viewer, campaign, pk)
