"""First steps of a new campaign, each ticked by a fact, so that it un-ticks when the fact goes."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import NoReverseMatch, reverse

from accounts.models import User
from assessor.progress.pipeline import Pipeline, Step, StepState
from evaluation.campaigns.contents import holdings_for
from evaluation.models import Campaign, Membership
from llmjobs.client import default_endpoint
from llmjobs.job_service import Work
from llmjobs.job_status import callable_judges_for
from llmjobs.simulator.answering import MODEL as SIMULATED_MODEL
from web.text import plural


@dataclass(frozen=True, slots=True)
class FirstStep:
    """One step: its fact in words, whether it holds, and the page where it is done."""

    title: str
    fact: str
    done: bool
    button: str
    link: str
    primary: bool = False


def checklist_for(viewer: User, campaign: Campaign, pipeline: Pipeline) -> list[FirstStep]:
    """Steps of a campaign that has no people's work yet; empty where it is past them."""
    if pipeline.tasks:
        return []
    steps = _steps(viewer, campaign, pipeline)
    if all(step.done for step in steps):
        return []
    first = next(place for place, step in enumerate(steps) if not step.done)
    return [
        FirstStep(step.title, step.fact, step.done, step.button, step.link, primary=place == first)
        for place, step in enumerate(steps)
    ]


def _steps(viewer: User, campaign: Campaign, pipeline: Pipeline) -> list[FirstStep]:
    held = holdings_for(viewer, campaign)
    graded, listed, labelled = (
        len(pipeline.topics_at(step, *states))
        for step, states in (
            (Step.PASSAGES, [StepState.DONE]),
            (Step.NUGGETS, [StepState.DONE]),
            (Step.LABELS, [StepState.DONE, StepState.IN_PROGRESS]),
        )
    )
    loaded = bool(held.topics and held.runs and graded)
    own, version = default_endpoint().model, campaign.protocol.version
    judges = [judge.name for judge in callable_judges_for(viewer, campaign)] or [own]
    others = Membership.objects.filter(campaign=campaign).exclude(user=viewer).count()
    model = "Built-in word-overlap judge: not a model" if own == SIMULATED_MODEL else ", ".join(judges[:3])
    return [
        FirstStep(
            "Load topics, runs and passages",
            f"{held.topics:,} {plural(held.topics, 'topic')}, {held.runs:,} {plural(held.runs, 'run')}, "
            f"{graded:,} {plural(graded, 'topic')} with graded passages",
            loaded,
            "Load data",
            _page(campaign, "data"),
        ),
        FirstStep(
            "Choose the protocol",
            f"Protocol {version}; the defaults stand until you change them",
            loaded,
            "Read the protocol",
            _page(campaign, "protocol"),
        ),
        FirstStep("Add a model", model, loaded, "Judges", _judges(campaign)),
        FirstStep(
            "Make nuggets", f"{listed:,} of {held.topics:,} topics", bool(listed), "Make nuggets", _job(campaign)
        ),
        FirstStep(
            "Label answers",
            f"{labelled:,} of {held.topics:,} topics",
            bool(labelled),
            "Label answers",
            _job(campaign),
        ),
        FirstStep(
            "See the first leaderboard",
            "Ready" if labelled else "After the first labels",
            bool(labelled),
            "Leaderboard",
            reverse("reports:leaderboard", args=[campaign.slug]),
        ),
        FirstStep(
            "Invite people",
            f"{others:,} {plural(others, 'role')} given to others",
            bool(others),
            "Invite people",
            _page(campaign, "people"),
        ),
    ]


def _judges(campaign: Campaign) -> str:
    try:
        return _page(campaign, "judges")
    except NoReverseMatch:
        return _page(campaign, "prompts")


def _job(campaign: Campaign) -> str:
    return f"{_page(campaign, 'new_job')}?{urlencode({'what': Work.AA})}"


def _page(campaign: Campaign, name: str) -> str:
    return reverse(f"organizer:{name}", args=[campaign.slug])
