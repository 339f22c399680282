"""The methods section of a paper, written from what is stored: how a campaign was judged, by whom, how far it agrees.

People stand as Assessor 1, 2 and so on, always: what is printed here is meant to be printed elsewhere.
"""

import re
from collections.abc import Iterator
from typing import Any

from django.template.loader import render_to_string

from evaluation.domain.conditions import Choice, CitationCondition, NuggetCondition, resolve, resolve_citations
from evaluation.errors import Refused
from evaluation.models import Campaign
from evaluation.terms import Condition, SupportCondition
from reports import methods_counts as counts
from reports.confusions import confuse_assignments, confuse_support
from reports.correlation import RESAMPLES, correlate
from reports.describing import descriptives
from reports.documents import descriptive_rows
from reports.methods_form import MethodsReport, Section, Table, changed, methods_json, methods_latex
from reports.metrics.policies import Policies, SupportPolicies
from reports.rendering import Row
from reports.timing import time_note, time_report
from web.reading import consistent_read

PAIRINGS = (
    (Condition.AA, Condition.EM),
    (Condition.AA, Condition.MM),
    (Condition.EA, Condition.EM),
    (Condition.MA, Condition.MM),
    (SupportCondition.LLM, SupportCondition.SCRATCH),
    (SupportCondition.LLM, SupportCondition.POST_EDIT),
)
"""What the published studies compare."""

LEVELS = {"run_level": "run", "topic_average": "topic, averaged", "all_topic_run": "topic and run, pooled"}
TAUS = {
    "x": "x",
    "y": "y",
    "score": "Score",
    "level": "Level",
    "n": "n",
    "tau_b": "Tau-b",
    "low": "Low",
    "high": "High",
}
AGREED = {
    "x": "x",
    "y": "y",
    "pairs": "Pairs",
    "agreement": "Agreement",
    "kappa": "Kappa",
    "kappa_linear": "Kappa, linear",
    "alpha": "Alpha",
    "harsh": "Harsh conflicts",
}
LISTS = {
    "nuggets": "Nuggets",
    "topics": "Topics",
    "nuggets_per_topic": "Nuggets a topic",
    "words_per_nugget": "Words a nugget",
    "vital": "Vital",
    "okay": "Okay",
    "unknown": "Unknown",
}
MIX = {
    "condition": "Condition",
    "set": "Nuggets",
    "judge": "Judge",
    "not_support": "Not support",
    "partial_support": "Partial support",
    "support": "Support",
}
SUPPORT = {
    "condition": "Condition",
    "judge": "Judge",
    "labels": "Labels",
    "no_support": "No support",
    "partial_support": "Partial support",
    "full_support": "Full support",
}
TIMES = {
    "stage": "Stage",
    "topics": "Topics",
    "median_s": "Median, s",
    "q1_s": "Q1, s",
    "q3_s": "Q3, s",
    "low_median_s": "Low median, s",
    "high_median_s": "High median, s",
    "unfinished": "Unfinished",
}
RUNS = {"group": "Group", "task": "Task", "runs": "Runs", "controls": "Controls"}
QRELS = {"source": "Source", "topics": "Topics", "grades": "Grades"}
WORK = {
    "assessor": "Assessor",
    "stage": "Stage",
    "tasks": "Tasks",
    "submitted": "Submitted",
    "second": "Second opinions",
}
JUDGES = {"judge": "Judge", "kind": "Kind", "model": "Model", "prompts": "Prompts"}


def methods_report(campaign: Campaign) -> MethodsReport:
    """Write the report of a campaign's present state, from one state of the database."""
    with consistent_read():
        parts = (_protocol, _material, _people, _labels, _times, _agreement, _exclusions, _versions)
        report = MethodsReport(campaign.name, campaign.slug, campaign.revision, [one(campaign) for one in parts])
        return _without_names(campaign, report)


def methods_documents(campaign: Campaign) -> dict[str, str]:
    """Return the report as the files that a snapshot brings along."""
    report = methods_report(campaign)
    return {
        "methods.html": render_to_string("reports/methods_document.html", {"report": report}),
        "methods.tex": methods_latex(report),
        "methods.json": methods_json(report),
    }


def _protocol(campaign: Campaign) -> Section:
    rows = counts.protocol_rows(campaign)
    sentences = [f"The campaign {campaign.slug} follows version {campaign.protocol.version} of its protocol."]
    return Section(
        "Protocol", sentences, [Table("Settings in force", {"setting": "Setting", "value": "Value"}, rows)]
    )


def _material(campaign: Campaign) -> Section:
    found = counts.material(campaign)
    passages = f"{found.segments:,} passages are graded or cited, {found.with_text:,} of them with their text."
    sentences = [
        f"{found.topics:,} topics are answered by {found.runs:,} runs in {found.answers:,} answers.",
        passages,
    ]
    tables = [
        Table("Runs", RUNS, counts.run_rows(campaign)),
        Table("Qrels", QRELS, counts.qrel_rows(campaign)),
    ]
    return Section("Topics, runs and passages", sentences, tables)


def _people(campaign: Campaign) -> Section:
    rows = counts.work_rows(campaign)
    people = len({row["assessor"] for row in rows})
    sentences = [f"{people:,} assessors were handed work here; withdrawn work is not counted."]
    tables = [Table("Work handed out", WORK, rows), Table("Judges", JUDGES, counts.judge_rows(campaign))]
    return Section("Assessors and judges", sentences, tables)


def _labels(campaign: Campaign) -> Section:
    rows = descriptive_rows(descriptives(campaign))
    mix = [row for row in rows if "condition" in row]
    sentences = ["Shares are fractions of the labels that were given."]
    tables = [
        Table("Nugget lists", LISTS, [row for row in rows if "condition" not in row]),
        Table("Labels of nuggets", MIX, mix),
        Table("Labels of citations", SUPPORT, counts.support_rows(campaign)),
    ]
    return Section("Nuggets and labels", sentences, tables)


def _times(campaign: Campaign) -> Section:
    found = time_report(campaign, None)
    rows = found["stages"]
    sentences = [time_note(found) if rows else "No time was recorded here."]
    return Section("Time", sentences, [Table("Active time of a topic, by stage", TIMES, rows)])


def _agreement(campaign: Campaign) -> Section:
    taus: list[Row] = []
    agreed: list[Row] = []
    sentences = [f"Intervals are 95 % percentiles of {RESAMPLES:,} bootstrap samples of topics."]
    for x, y in PAIRINGS:
        try:
            found = _pair(campaign, x, y)
        except Refused as refused:
            sentences.append(f"{x} against {y} is left out: {refused.message}")
            continue
        taus += found[0]
        agreed += found[1]
    tables = [
        Table("Kendall's tau-b of conditions", TAUS, taus),
        Table("Labels of the same pairs", AGREED, agreed),
    ]
    return Section("Agreement", sentences, tables)


def _pair(campaign: Campaign, x: Any, y: Any) -> tuple[list[Row], list[Row]]:
    """Return the taus and the label agreement of a pairing; nothing where one side has no labels. Raises `Refused`."""
    sides: list[Choice] = [_resolved(campaign, one) for one in (x, y)]
    if not all(side.judges for side in sides):
        return [], []
    left, right = sides
    if isinstance(left, NuggetCondition) and isinstance(right, NuggetCondition):
        found = correlate(campaign, left, right, "vital_strict", Policies())
        same = confuse_assignments(left, right)
    elif isinstance(left, CitationCondition) and isinstance(right, CitationCondition):
        found = correlate(campaign, left, right, "weighted_precision", SupportPolicies())
        same = confuse_support(left, right)
    else:
        raise TypeError(f"{x} and {y} are no pairing")
    names: dict[str, Any] = {"x": str(x), "y": str(y)}
    return [names | dict(row) for row in _tau_rows(found)], [names | dict(row) for row in _agreed_rows(same)]


def _resolved(campaign: Campaign, one: Any) -> Choice:
    if isinstance(one, SupportCondition):
        return resolve_citations(campaign, one)
    return resolve(campaign, one)


def _tau_rows(found: Any) -> Iterator[Row]:
    agreed = found.agreement
    sizes = {"run_level": agreed.runs, "topic_average": agreed.topics, "all_topic_run": agreed.pairs}
    for level, words in LEVELS.items():
        interval = found.intervals[level]
        bounds = {"low": interval.low if interval else None, "high": interval.high if interval else None}
        yield {"score": found.score, "level": words, "n": sizes[level], "tau_b": getattr(agreed, level)} | bounds


def _agreed_rows(same: Any) -> Iterator[Row]:
    if same.comparable and same.confusion.pairs:
        figures = {name: getattr(same.confusion, name) for name in AGREED if hasattr(same.confusion, name)}
        yield figures | {"harsh": same.harsh}


def _exclusions(campaign: Campaign) -> Section:
    rows = counts.exclusion_rows(campaign)
    sentences = ["What is stored and enters no score, and what is missing:"]
    return Section("Exclusions", sentences, [Table("Left out", {"what": "What", "count": "Count"}, rows)])


def _versions(campaign: Campaign) -> Section:
    rows = counts.version_rows(campaign)
    policies = (
        "Policies are the defaults: missing zero, unjudged exclude, no vital zero, no cited skip, topics all."
    )
    sentences = [f"The state is revision {campaign.revision:,} of the campaign.", policies]
    return Section(
        "Versions", sentences, [Table("What computed this", {"what": "What", "version": "Version"}, rows)]
    )


def _without_names(campaign: Campaign, report: MethodsReport) -> MethodsReport:
    """Return the report with numbers in place of the names of people who judge."""
    called = {name: f"Assessor {place}" for place, name in enumerate(counts.people_in_order(campaign), start=1)}
    either = "|".join(re.escape(name) for name in sorted(called, key=len, reverse=True))
    if not either:
        return report
    spoken = re.compile(rf"(?<!\w)(?:{either})(?!\w)")
    return changed(report, lambda text: spoken.sub(lambda one: called[one[0]], text))
