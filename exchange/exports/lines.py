"""The lines of each export: what is asked for is resolved at once, and refused where it is not clear."""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from evaluation import exporting
from evaluation.domain.conditions import nugget_sets_of, resolve, resolve_citations
from evaluation.errors import Refused
from evaluation.formats.argue import argue_line
from evaluation.formats.nuggets import nugget_list_line
from evaluation.models import Campaign, NuggetSet, QrelSource
from evaluation.terms import Condition, SupportCondition
from reports.exporting import score_lines
from reports.metrics.policies import Policies
from reports.timing import segment_lines, time_lines

Options = Mapping[str, Any]
CAMPAIGN = "campaign"
NUGGET_FORMS = {"nuggetizer": nugget_list_line, "argue": argue_line}
DEFAULTS: dict[str, Any] = {
    "condition": "",
    "nuggets": "",
    "judge": "",
    "source": "",
    "missing": "zero",
    "unjudged": "exclude",
    "no_vital": "zero",
    "segments": False,
    "format": "nuggetizer",
}
"""What holds where nothing else is said."""


def _nuggets(campaign: Campaign, options: Options) -> Iterator[str]:
    line = NUGGET_FORMS[options["format"]]
    lists = (
        nugget_sets_of(campaign, _condition(options)) if options["condition"] and not options["nuggets"] else []
    )
    if lists:
        return chain.from_iterable(exporting.nugget_lines(made, topics, line=line) for made, topics in lists)
    return exporting.nugget_lines(_nugget_set(campaign, options), line=line)


def _nugget_set(campaign: Campaign, options: Options) -> NuggetSet:
    sets = campaign.nugget_sets.select_related("judge")
    if options["condition"]:
        sets = sets.filter(origin=_condition(options).origin)
    if options["nuggets"]:
        sets = sets.filter(name=options["nuggets"])
    names = [one.name for one in sets]
    if len(names) == 1:
        return sets[0]
    there = ", ".join(names or campaign.nugget_sets.values_list("name", flat=True)) or "none"
    raise Refused("ambiguous" if names else "no_such_set", f"Say which nugget set with --nuggets: {there}.")


def _assignments(campaign: Campaign, options: Options) -> Iterator[str]:
    choice = resolve(campaign, _condition(options), judge=options["judge"], nuggets=options["nuggets"])
    if not choice.judges:
        raise Refused("no_labels", f"There are no labels under {choice} in {campaign.slug}.")
    return chain.from_iterable(
        exporting.assignment_lines(part.nugget_set, part.judge, part.topics)
        for part in choice.parts
        if part.nugget_set and part.judge
    )


def _support(campaign: Campaign, options: Options) -> Iterator[str]:
    choice = resolve_citations(campaign, _support_condition(options), judge=options["judge"])
    if not choice.judges:
        raise Refused("no_labels", f"There are no support labels under {choice} in {campaign.slug}.")
    return chain.from_iterable(
        exporting.support_lines(campaign, choice.condition, part.judge, part.topics)
        for part in choice.parts
        if part.judge
    )


def _scores(campaign: Campaign, options: Options) -> Iterator[str]:
    choice = resolve(campaign, _condition(options), judge=options["judge"], nuggets=options["nuggets"])
    return score_lines(choice, Policies(options["missing"], options["unjudged"], options["no_vital"]))


def _qrels(campaign: Campaign, options: Options) -> Iterator[str]:
    sources = QrelSource.objects.filter(campaign=campaign)
    fitting = sources.filter(name=options["source"]) if options["source"] else sources
    names = [one.name for one in fitting]
    if len(names) == 1:
        return exporting.qrel_lines(fitting[0])
    there = ", ".join(sources.values_list("name", flat=True)) or "none"
    raise Refused("ambiguous" if names else "no_such_source", f"Say which qrels with --source: {there}.")


def _events(campaign: Campaign, options: Options) -> Iterator[str]:
    return exporting.event_lines(campaign)


def _time(campaign: Campaign, options: Options) -> Iterator[str]:
    return segment_lines(campaign) if options["segments"] else time_lines(campaign)


def _condition(options: Options) -> Condition:
    if options["condition"] not in list(Condition):
        raise Refused("usage", f"Say which condition with --condition: {', '.join(Condition)}.")
    return Condition(options["condition"])


def _support_condition(options: Options) -> SupportCondition:
    if options["condition"] not in list(SupportCondition):
        raise Refused("usage", f"Say which condition with --condition: {', '.join(SupportCondition)}.")
    return SupportCondition(options["condition"])


EXPORTS: dict[str, Callable[[Campaign, Options], Iterator[str]]] = {
    "nuggets": _nuggets,
    "assignments": _assignments,
    "support": _support,
    "scores": _scores,
    "qrels": _qrels,
    "time": _time,
    "events": _events,
}


def lines_of(what: str, campaign: Campaign, options: Options) -> Iterator[str]:
    """Return an export's lines. Raises `Refused` where it is not clear what is meant, or there is nothing of it."""
    return EXPORTS[what](campaign, {**DEFAULTS, **options})
