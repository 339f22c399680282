"""A report as commands and the API have it, and the options that both offer for it."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, get_args

from evaluation.domain.conditions import ALL_PEOPLE, CitationCondition, NuggetCondition, condition_named
from evaluation.errors import on_side
from evaluation.models import Campaign
from evaluation.terms import Condition, SupportCondition, SupportMeasure
from reports.files import Row
from reports.metrics.policies import ExcludeOrZero, Policies, SupportPolicies, TopicChoice, ZeroOrSkip
from reports.metrics.registry import OF_NUGGETS as PROFILES
from reports.metrics.registry import Profile
from reports.profiles import profile_of

Conditions = type[Condition] | type[SupportCondition]


class Naming(StrEnum):
    """What an option names, where that may be called by a pseudonym."""

    JUDGE = "judge"
    NUGGET_SET = "nugget_set"
    STUDY = "study"


@dataclass(frozen=True, slots=True)
class Option:
    """A choice by name: `--x-judge` of the command, `x_judge` of the API. `in_api`: programs have it too.

    `several`: the command takes it several times, the API with commas.

    `default` where nothing is said, of a string None where that is no choice.
    """

    name: str
    text: str
    choices: tuple[str, ...] = ()
    default: Any = ""
    needed: bool = False
    is_count: bool = False
    is_flag: bool = False
    several: bool = False
    in_api: bool = True
    metavar: str = ""
    of: Naming | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A report: `content` as JSON, `rows` as CSV; at a terminal `lines`, or the rows, and `text` below them."""

    content: Row
    rows: Sequence[Row]
    text: str = ""
    lines: Sequence[Row] | None = None


MISSING: Final = Option(
    "missing",
    "a run without an answer for a topic scores 0, or the topic is left out of its means",
    get_args(ZeroOrSkip),
    "zero",
)
NO_CITED: Final = Option(
    "no_cited",
    "of citations: an answer that cites nothing has no precision, or one of 0",
    get_args(ZeroOrSkip)[::-1],
    "skip",
)
OF_NUGGETS: Final = (
    MISSING,
    Option(
        "unjudged",
        "answers with failed or unjudged nuggets are left out, or those nuggets count 0",
        get_args(ExcludeOrZero),
        "exclude",
    ),
    Option(
        "no_vital", "a topic without vital nuggets has vital scores of 0, or none", get_args(ZeroOrSkip), "zero"
    ),
)
MEASURE: Final = Option(
    "measure",
    "of citations: which of a sentence count, and as what; that of the protocol where none is named",
    tuple(SupportMeasure),
)
OF_CITATIONS: Final = (MEASURE, NO_CITED, MISSING)
PROFILE: Final = Option(
    "profile",
    "which scores: of nuggets by their importance, or of criteria by their weights; that of the protocol where none is "
    "named",
    PROFILES,
)
TOPICS: Final = Option(
    "topics",
    "run means over the topics of both conditions, or over each one's own",
    get_args(TopicChoice)[::-1],
    "common",
)
JUDGE: Final = Option(
    "judge", f"whose labels, where several fit, or '{ALL_PEOPLE}'", metavar="NAME", of=Naming.JUDGE
)
NUGGETS: Final = Option("nuggets", "which set, where several fit", metavar="SET", of=Naming.NUGGET_SET)

STUDY: Final = Option("study", "which study", needed=True, metavar="NAME", of=Naming.STUDY)


def policy_options(conditions: Conditions) -> tuple[Option, ...]:
    return OF_NUGGETS if conditions is Condition else OF_CITATIONS


def condition_options(conditions: Conditions) -> tuple[Option, ...]:
    condition = Option(
        "condition", "a condition, with labels of nuggets or of citations", tuple(conditions), needed=True
    )
    return condition, *_whose(conditions, "")


def side_options(conditions: Conditions, sides: Sequence[str], *, others: str = "") -> tuple[Option, ...]:
    """Options of two conditions. `others`: what may take the place of one, by a name that no list has."""
    text = ", ".join([*conditions, *([others] if others else [])])
    choices = () if others else tuple(conditions)
    return tuple(
        option
        for side in sides
        for option in (
            Option(side, text, choices, needed=True, metavar="CONDITION"),
            *_whose(conditions, f"{side}_"),
        )
    )


def _whose(conditions: Conditions, prefix: str) -> list[Option]:
    options = (JUDGE, NUGGETS) if conditions is Condition else (JUDGE,)
    return [replace(option, name=f"{prefix}{option.name}") for option in options]


def chosen_labels(
    campaign: Campaign, choices: Mapping[str, Any], side: str = ""
) -> NuggetCondition | CitationCondition:
    """Return the condition that choices name, or one side of two. Raises `Refused` where several labels fit."""
    condition, prefix = (choices[side], f"{side}_") if side else (choices["condition"], "")
    judge, nuggets = choices[f"{prefix}judge"], choices.get(f"{prefix}nuggets", "")
    with on_side(side) if side else nullcontext():
        return condition_named(campaign, condition, judge=judge, nuggets=nuggets)


def nugget_policies(campaign: Campaign, choices: Mapping[str, Any]) -> Policies:
    """Return the policies among the choices. Where no profile is among them, it is that of the score."""
    profile = choices.get("profile") or profile_of(campaign, choices.get("score", ""))
    return Policies(
        choices["missing"],
        choices["unjudged"],
        choices["no_vital"],
        choices.get("topics", "all"),
        Profile(profile),
    )


def support_policies(choices: Mapping[str, Any], usual: SupportMeasure) -> SupportPolicies:
    measure = choices["measure"] or usual
    return SupportPolicies(measure, choices["missing"], choices["no_cited"], choices.get("topics", "all"))


def policies_of(
    campaign: Campaign, choices: Mapping[str, Any], conditions: Conditions
) -> Policies | SupportPolicies:
    if conditions is Condition:
        return nugget_policies(campaign, choices)
    return support_policies(choices, campaign.protocol.measure)


def policy_line(content: Row) -> str:
    text = ", ".join(f"{name} {value}" for name, value in content["policies"].items())
    held = content.get("avoid_nuggets")
    avoid = f" Nuggets that an answer must not contain, in no score: {held}." if held else ""
    none = content.get("no_positive_topics")
    without = f" Topics without a weight above 0, in no score by weight: {none}." if none else ""
    return f"Policies: {text}. Topics: {content['topics']}.{avoid}{without}"
