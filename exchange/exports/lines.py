"""The exports: what is asked for is resolved at once, and refused where it is not clear."""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS
from django.db.models import QuerySet

from evaluation.battles import battle_set_named
from evaluation.campaigns.pseudonyms import hide
from evaluation.domain.conditions import NuggetCondition, nugget_sets_of, resolve, resolve_citations
from evaluation.errors import Refused
from evaluation.formats.argue import argue_line, keyed_bank_line
from evaluation.formats.assignments import assignment_line, graded_line
from evaluation.formats.battles import FORMS as BATTLE_FORMS
from evaluation.formats.lines import json_line
from evaluation.formats.nuggets import nugget_list_line, research_rubrics_line, rubric_line
from evaluation.models import Campaign, Event, Judgment, NuggetSet, QrelSource
from evaluation.models.judges import OF_PEOPLE
from evaluation.stages import stage_of
from evaluation.terms import BattleCondition, Condition, SupportCondition
from exchange.exports.labels import (
    answer_lines,
    assignment_lines,
    battle_lines,
    judgment_lines,
    nugget_lines,
    qrel_lines,
    stamp,
    support_lines,
    task_lines,
)
from exchange.exports.score_files import SCORE_FILES, score_lines
from exchange.snapshots.tables import CampaignRows
from reports.judges.tables import judge_tables, table_of_condition
from reports.metrics.policies import Policies
from reports.metrics.registry import Profile, scores_of
from reports.profiles import profile_of
from reports.random_checks.frame import drawn_rows, random_check_named
from reports.timing.figures import segment_lines, time_lines

Named = TypeVar("Named", NuggetSet, QrelSource)
AnyCondition = TypeVar("AnyCondition", Condition, SupportCondition, BattleCondition)
Options = Mapping[str, Any]
CAMPAIGN = "campaign"
NAMELESS = ("qrels",)
"""Exports without a name of a person in them."""
NUGGET_FORMS = {
    "nuggetizer": nugget_list_line,
    "argue": argue_line,
    "autojudge": keyed_bank_line,
    "rubric": rubric_line,
    "research-rubrics": research_rubrics_line,
}
LABEL_FORMS = {"nuggetizer": assignment_line, "graded": graded_line}
SUPPORT_FORMS = {"pairs": support_lines, "citations": answer_lines}
RUN_AND_TOPIC = "nuggetizer"
TASKS = "tasks"
EXPORT_FORMS: dict[str, Mapping[str, Callable[..., Any]]] = {
    "nuggets": NUGGET_FORMS,
    "assignments": LABEL_FORMS,
    "support": SUPPORT_FORMS,
    "scores": {RUN_AND_TOPIC: score_lines, **SCORE_FILES},
    "battles": {name: form.line for name, form in BATTLE_FORMS.items()} | {TASKS: task_lines},
}
"""Forms of what has several, the usual one first."""
DEFAULTS: dict[str, Any] = {
    "condition": "",
    "nuggets": "",
    "judge": "",
    "source": "",
    "study": "",
    "set": "",
    "stage": "",
    "missing": "zero",
    "unjudged": "exclude",
    "no_vital": "zero",
    "profile": "",
    "segments": False,
    "form": "",
    "run": "",
    "digits": "17",
    "pseudonyms": False,
}
"""Options of an export that names none."""


def event_lines(campaign: Campaign) -> Iterator[str]:
    """Yield the event log, oldest first, numbered from 1: so in every copy of the campaign."""
    events = Event.objects.filter(campaign=campaign).order_by("pk").select_related("actor")
    for place, event in enumerate(events.iterator(), start=1):
        actor = event.actor.username if event.actor else None
        fields = {"id": place, "at": stamp(event.at), "kind": event.kind, "actor": actor}
        yield json_line(fields | {"payload": event.payload}, {})


def _nuggets(campaign: Campaign, options: Options) -> Iterator[str]:
    line = NUGGET_FORMS[options["form"]]
    if options["condition"] and not options["nuggets"]:
        lists = nugget_sets_of(campaign, _condition(options, Condition))
        if lists:
            return chain.from_iterable(nugget_lines(nugget_set, topics, line=line) for nugget_set, topics in lists)
    return nugget_lines(_nugget_set(campaign, options), line=line)


def _nugget_set(campaign: Campaign, options: Options) -> NuggetSet:
    sets = campaign.nugget_sets.select_related("judge")
    if options["condition"]:
        sets = sets.filter(origin=_condition(options, Condition).origin)
    if options["nuggets"]:
        sets = sets.filter(name=options["nuggets"])
    return _only(sets, campaign.nugget_sets.all(), "no_such_set", "nugget set", "nuggets")


def _only(fitting: QuerySet[Named], every: QuerySet[Named], missing: str, which: str, field: str) -> Named:
    """Row that alone fits. Raises `Refused` with the names to choose from, of all rows where none fits."""
    names = [row.name for row in fitting]
    if len(names) == 1:
        return fitting[0]
    there = names or list(every.values_list("name", flat=True))
    text = f"Say which {which}: {', '.join(there) or 'none'}."
    raise Refused("ambiguous" if names else missing, text, field=field, choices=there)


def condition_of_export(campaign: Campaign, options: Options) -> NuggetCondition:
    condition = _condition(options, Condition)
    return resolve(campaign, condition, judge=options["judge"], nuggets=options["nuggets"])


def _assignments(campaign: Campaign, options: Options) -> Iterator[str]:
    choice, line = condition_of_export(campaign, options), LABEL_FORMS[options["form"]]
    if not choice.judges:
        raise Refused("no_labels", f"There are no labels under {choice} in {campaign.slug}.")
    return chain.from_iterable(
        assignment_lines(part.nugget_set, part.judge, part.topics, line=line)
        for part in choice.parts
        if part.nugget_set and part.judge
    )


def _support(campaign: Campaign, options: Options) -> Iterator[str]:
    lines = SUPPORT_FORMS[options["form"]]
    choice = resolve_citations(campaign, _condition(options, SupportCondition), judge=options["judge"])
    if not choice.judges:
        raise Refused("no_labels", f"There are no support labels under {choice} in {campaign.slug}.")
    return chain.from_iterable(
        lines(campaign, choice.condition, part.judge, part.topics) for part in choice.parts if part.judge
    )


def _judgments(campaign: Campaign, options: Options) -> Iterator[str]:
    there = Judgment.objects.current().filter(topic__campaign=campaign).order_by("stage")
    stages = list(there.values_list("stage", flat=True).distinct())
    if options["stage"] not in stages:
        text = f"Say which stage: {', '.join(stages) or 'no answer or passage is labelled by itself'}."
        raise Refused("no_labels", text, field="stage", choices=stages)
    return judgment_lines(campaign, stage_of(options["stage"]), options["judge"])


def _battles(campaign: Campaign, options: Options) -> Iterator[str]:
    battle_set = battle_set_named(campaign, options["set"])
    if options["form"] == TASKS:
        return task_lines(battle_set)
    condition = _condition(options, BattleCondition)
    return battle_lines(battle_set, condition, options["judge"], BATTLE_FORMS[options["form"]])


def _scores(campaign: Campaign, options: Options) -> Iterator[str]:
    policies = policies_of_export(campaign, options)
    if options["form"] == RUN_AND_TOPIC:
        return score_lines(condition_of_export(campaign, options), policies)
    tables = judge_tables(campaign, [options["condition"]])
    if not tables:
        choice = condition_of_export(campaign, options)
        tables = [table_of_condition(choice, score.name, policies) for score in scores_of(policies.profile)]
    return SCORE_FILES[options["form"]](tables, options)


def policies_of_export(campaign: Campaign, options: Options) -> Policies:
    profile = Profile(options["profile"] or profile_of(campaign))
    return Policies(options["missing"], options["unjudged"], options["no_vital"], profile=profile)


def _qrels(campaign: Campaign, options: Options) -> Iterator[str]:
    sources = QrelSource.objects.filter(campaign=campaign)
    name = options["source"] or (f"{OF_PEOPLE}{options['judge']}" if options["judge"] else "")
    fitting = sources.filter(name=name) if name else sources
    return qrel_lines(_only(fitting, sources, "no_such_source", "qrels", "source"))


def _condition(options: Options, conditions: type[AnyCondition]) -> AnyCondition:
    if options["condition"] not in list(conditions):
        raise Refused(
            "usage",
            f"Say which condition: {', '.join(conditions)}.",
            field="condition",
            choices=[condition.value for condition in conditions],
        )
    return conditions(options["condition"])


def _random_check(campaign: Campaign, options: Options) -> Iterator[str]:
    return (json_line(row, {}) for row in drawn_rows(random_check_named(campaign, options["study"])))


EXPORTS: dict[str, Callable[[Campaign, Options], Iterator[str]]] = {
    "nuggets": _nuggets,
    "assignments": _assignments,
    "support": _support,
    "judgments": _judgments,
    "battles": _battles,
    "scores": _scores,
    "qrels": _qrels,
    "random-check": _random_check,
    "time": lambda campaign, options: segment_lines(campaign) if options["segments"] else time_lines(campaign),
    "events": lambda campaign, _options: event_lines(campaign),
}


def lines_of(what: str, campaign: Campaign, options: Options) -> Iterator[str]:
    """Return an export's lines. Raises `Refused` where it is not clear what is meant, or there is nothing of it."""
    with_defaults = {**DEFAULTS, **options}
    forms = list(EXPORT_FORMS.get(what, ()))
    with_defaults["form"] = form = with_defaults["form"] or (forms[0] if forms else "")
    if form and form not in forms:
        several = f"The forms of {what} are {', '.join(forms)}." if forms else f"An export of {what} has one form."
        raise Refused("usage", several, field="form", choices=forms)
    written = EXPORTS[what](campaign, with_defaults)
    # Score files name runs, topics and measures alone.
    if not with_defaults["pseudonyms"] or what in NAMELESS or form in SCORE_FILES:
        return written
    rows = CampaignRows(campaign, DEFAULT_DB_ALIAS)
    return hide(campaign, rows.people(), rows.judges()).file(written, is_table=what == "time" or form == "arena")
