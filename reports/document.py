"""A report as commands and the API have it, and the options that both offer for it."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, get_args

from evaluation.domain.conditions import ALL_PEOPLE, CitationCondition, NuggetCondition, resolve, resolve_citations
from evaluation.errors import on_side
from evaluation.models import Campaign
from evaluation.terms import Condition, SupportCondition
from reports.files import Row
from reports.metrics.policies import ExcludeOrZero, Policies, SupportPolicies, TopicChoice, ZeroOrSkip

Conditions = type[Condition] | type[SupportCondition]


class Naming(StrEnum):
    """What an option names, where that may be called by a pseudonym."""

    JUDGE = "judge"
    NUGGET_SET = "nugget_set"


@dataclass(frozen=True, slots=True)
class Option:
    """A choice by name: `--x-judge` of the command, `x_judge` of the API. `in_api`: programs have it too.

    `default` where nothing is said, of a string None where that is no choice.
    """

    name: str
    text: str
    choices: tuple[str, ...] = ()
    default: Any = ""
    needed: bool = False
    is_count: bool = False
    is_flag: bool = False
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
OF_CITATIONS: Final = (NO_CITED, MISSING)
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

STUDY: Final = Option("study", "which study", needed=True, metavar="NAME")


def policy_options(conditions: Conditions) -> tuple[Option, ...]:
    return OF_NUGGETS if conditions is Condition else OF_CITATIONS


def condition_options(conditions: Conditions) -> tuple[Option, ...]:
    """Options of one condition: which, and whose labels and nuggets are meant where several fit."""
    condition = Option(
        "condition", "a condition, with labels of nuggets or of citations", tuple(conditions), needed=True
    )
    return condition, *_whose(conditions, "")


def side_options(conditions: Conditions, sides: Sequence[str], *, published: bool = False) -> tuple[Option, ...]:
    """Options of two conditions. `published`: the name of a published table may take the place of one."""
    text = ", ".join(conditions) + (", or the name of a published table" if published else "")
    choices = () if published else tuple(conditions)
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
    campaign: Campaign, choices: Mapping[str, Any], conditions: Conditions, side: str = ""
) -> NuggetCondition | CitationCondition:
    """Return the condition that choices name, or one side of two. Raises `Refused` where several labels fit."""
    condition, prefix = (choices[side], f"{side}_") if side else (choices["condition"], "")
    judge = choices[f"{prefix}judge"]
    with on_side(side) if side else nullcontext():
        if conditions is SupportCondition:
            return resolve_citations(campaign, SupportCondition(condition), judge=judge)
        return resolve(campaign, Condition(condition), judge=judge, nuggets=choices[f"{prefix}nuggets"])


def nugget_policies(choices: Mapping[str, Any]) -> Policies:
    return Policies(choices["missing"], choices["unjudged"], choices["no_vital"], choices.get("topics", "all"))


def support_policies(choices: Mapping[str, Any]) -> SupportPolicies:
    return SupportPolicies(choices["missing"], choices["no_cited"], choices.get("topics", "all"))


def policies_of(choices: Mapping[str, Any], conditions: Conditions) -> Policies | SupportPolicies:
    return nugget_policies(choices) if conditions is Condition else support_policies(choices)


def policy_line(content: Row) -> str:
    text = ", ".join(f"{name} {value}" for name, value in content["policies"].items())
    held = content.get("avoid_nuggets")
    avoid = f" Nuggets that an answer must not contain, in no score: {held}." if held else ""
    return f"Policies: {text}. Topics: {content['topics']}.{avoid}"
