"""What the views of prompts start with: the thing asked for, or a 404."""

from accounts.models import User
from evaluation.models import Campaign
from llmjobs.models import Trial
from llmjobs.prompt_queries import PromptRow, prompt_for
from llmjobs.trials import trial_for
from organizer.getters import get_campaign, missing_is_404


def get_prompt(viewer: User, slug: str, ref: str) -> tuple[Campaign, PromptRow]:
    """Return a prompt with the campaign from which it is looked at."""
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, prompt_for(viewer, campaign, ref)


def get_trial(viewer: User, slug: str, pk: int) -> tuple[Campaign, Trial]:
    """Return a trial with its campaign."""
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, trial_for(viewer, campaign, pk)
