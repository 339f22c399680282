"""The choices that change a score, each explicit, each with its default first (docs/metrics.md#nugget-scores)."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from evaluation.terms import SupportMeasure
from reports.metrics.registry import Profile

ZeroOrSkip: TypeAlias = Literal["zero", "skip"]
ExcludeOrZero: TypeAlias = Literal["exclude", "zero"]
TopicChoice: TypeAlias = Literal["all", "common"]


@dataclass(frozen=True, slots=True)
class Policies:
    """Treatment of missing answers and labels by nugget scores.

    `missing`: a run submitted no answer for a topic: it scores 0 (trec_eval -c) or is left out.
    `unjudged`: an answer with a failed or unjudged nugget is left out and counted, or those labels
    count 0 and stay in the denominator. `no_vital`: a topic without vital nuggets scores 0 in the
    vital scores (the published pipeline) or is undefined there. `topics`: where two conditions meet,
    run means over each one's own topics or over the common ones. `profile`: which scores these are.
    """

    # As trec_eval -c: a run must not gain by leaving out what it answers badly.
    missing: ZeroOrSkip = "zero"
    # Counting a failed call as 0 would let an LLM's errors look like those of the run.
    unjudged: ExcludeOrZero = "exclude"
    no_vital: ZeroOrSkip = "zero"
    topics: TopicChoice = "all"
    profile: Profile = Profile.TREC_RAG


@dataclass(frozen=True, slots=True)
class SupportPolicies:
    """Treatment of missing answers and labels by support scores.

    `measure`: how the judged citations of a sentence count. `missing` as in `Policies`. `no_cited`: an answer that
    cites nothing has undefined precision and is left out of the run's mean, or counts 0. `topics` as in `Policies`.
    """

    # No default: it is that of the campaign's protocol, or of a random check's draw.
    measure: SupportMeasure
    missing: ZeroOrSkip = "zero"
    # Nothing divided by nothing is no precision of 0: an answer without citations loses in recall already.
    no_cited: ZeroOrSkip = "skip"
    topics: TopicChoice = "all"


def policies_document(policies: Policies | SupportPolicies) -> dict[str, Any]:
    """Return the policies as they are spelled on the command line; of a profile only those that it has."""
    by_weight = isinstance(policies, Policies) and policies.profile is Profile.RUBRIC
    left_out = "no_vital" if by_weight else "profile"
    return {name.replace("_", "-"): value for name, value in asdict(policies).items() if name != left_out}


def listed_policies(policies: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in policies.items())
