"""Which scores of nuggets are meant where nobody chooses, and which there are to choose from."""

from typing import Any, Final

from evaluation.domain.conditions import CitationCondition, NuggetCondition
from evaluation.models import Campaign, ListedNugget
from evaluation.terms import SupportCondition
from reports.cache import cached_report
from reports.metrics.policies import Policies, SupportPolicies
from reports.metrics.registry import BY_NAME, OF_NUGGETS, Profile, primary_of, scores_of

WORDS: Final = {Profile.TREC_RAG: "Nugget scores", Profile.RUBRIC: "Rubric"}


def profile_of(campaign: Campaign, score: str = "") -> Profile:
    """Return the profile of a score; of none, and of the length, which all have, that of the protocol."""
    return (BY_NAME[score].profile if score else None) or Profile(campaign.protocol.scoring)


def usual_policies(campaign: Campaign) -> Policies:
    return Policies(profile=profile_of(campaign))


def usual_score(campaign: Campaign, condition: str) -> str:
    return primary_of(Profile.CITATIONS if condition in list(SupportCondition) else profile_of(campaign))


def usual_comparison(choice: NuggetCondition | CitationCondition) -> tuple[str, Policies | SupportPolicies]:
    """Return the score and the policies by which two conditions are compared where nobody chooses any."""
    # The same topics on both sides: else the order of runs also tells which topics one side has beside the other's.
    score = usual_score(choice.campaign, choice.condition)
    if isinstance(choice, CitationCondition):
        return score, SupportPolicies(choice.campaign.protocol.measure, topics="common")
    return score, Policies(topics="common", profile=profile_of(choice.campaign))


@cached_report(size=64)
def profiles_of(campaign: Campaign) -> tuple[Profile, ...]:
    """Return the profiles that a campaign has scores of: without a weight there are none of a rubric."""
    weighted = ListedNugget.objects.filter(nugget_list__nugget_set__campaign=campaign).exclude(weight=None)
    has_rubric = profile_of(campaign) is Profile.RUBRIC or weighted.exists()
    return OF_NUGGETS if has_rubric else (Profile.TREC_RAG,)


def score_options(profile: Profile, *, sizes: bool = False) -> list[tuple[str, str]]:
    return [(score.name, score.words) for score in scores_of(profile, sizes=sizes)]


def score_groups(profiles: tuple[Profile, ...], *, sizes: bool = True) -> list[tuple[str, list[tuple[str, str]]]]:
    # The length is of every profile: the first one's group has it.
    return [
        (WORDS[profile], score_options(profile, sizes=sizes and not place))
        for place, profile in enumerate(profiles)
    ]


def score_choices(profiles: tuple[Profile, ...], *, sizes: bool = True) -> list[Any]:
    """Return the choices of a list of scores, in groups where there is more than one profile."""
    groups = score_groups(profiles, sizes=sizes)
    return groups if len(groups) > 1 else groups[0][1]
