"""Judges compared with the truth: a row a judge and measure, and every two of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final

from evaluation.domain.conditions import NuggetCondition, check_apart, resolve
from evaluation.errors import Refused
from evaluation.models import Campaign
from evaluation.terms import Condition, JudgeKind
from reports.correlations import METHOD, OF_RBO, methods_of, names_of
from reports.document import Document, Option
from reports.files import Row
from reports.forms import external_names, labelled_conditions, labelled_sets
from reports.judges.figures import (
    SEED,
    JudgeAgainstTruth,
    JudgeDifference,
    Matching,
    Resampling,
    coefficients,
    match,
)
from reports.judges.tables import JudgeTable, judge_tables, table_of_condition
from reports.metrics.bootstrap import RESAMPLES
from reports.metrics.policies import Policies
from reports.metrics.rank_correlations import CorrelationMethod
from reports.metrics.registry import OF_NUGGETS, primary_of, scores_of
from reports.profiles import profile_of
from reports.registry import Choices, document
from web.consistent_read import consistent_read
from web.text import plural

ERROR, WARN, SKIP, DEFAULT = ON_MISSING = ("error", "warn", "skip", "default")
USUAL: Final = ("kendall", "tauap_b")
NAMES_SHOWN: Final = 10
MOST_PAIRS: Final = 60
"""Differences are computed of at most so many pairs of judges; beyond, measures are to be named."""


@dataclass(frozen=True, slots=True)
class JudgesRequest:
    """What is compared. Without `measures` all of a judge; `on_missing` says what runs of one side alone do."""

    campaign: Campaign
    truth: str
    truth_measure: str
    measures: tuple[str, ...]
    methods: tuple[CorrelationMethod, ...]
    on_missing: str = ERROR
    only_shared_topics: bool = False
    only_shared_runs: bool = False


OPTIONS: Final = (
    Option("truth", "a condition by people, or the name of a table of scores", needed=True, metavar="NAME"),
    Option("truth_measure", "which score of it, where it has several", metavar="MEASURE"),
    Option("measure", "which scores of the judges; all without it", metavar="MEASURE", several=True, default=None),
    replace(METHOD, text=f"{METHOD.text}; {' and '.join(USUAL)} without it"),
    Option(
        "on_missing",
        "runs that one side lacks: refused; left out, with a word or without; or a judge scores them 0",
        ON_MISSING,
        ERROR,
    ),
    Option("only_shared_topics", "means over the topics of both alone", default=False, is_flag=True),
    Option("only_shared_runs", "runs of both alone", default=False, is_flag=True),
    OF_RBO,
)


@document(
    "judges", "How well judges rank runs, against the truth, and whether one is better than another.", OPTIONS
)
def judges_report(campaign: Campaign, choices: Choices) -> Document:
    request = JudgesRequest(
        campaign=campaign,
        truth=choices["truth"],
        truth_measure=choices["truth_measure"],
        measures=names_of(choices["measure"]),
        methods=methods_of(choices, USUAL),
        on_missing=choices["on_missing"] or ERROR,
        only_shared_topics=bool(choices["only_shared_topics"]),
        only_shared_runs=bool(choices["only_shared_runs"]),
    )
    content = judges_document(request)
    lines = [{name: value for name, value in row.items() if name != "reason"} for row in content["judges"]]
    return Document(content, content["judges"], "\n".join(facts(content)), lines)


def judges_document(request: JudgesRequest) -> dict[str, Any]:
    """Return the judges by their first figure, the best first, and every two. Raises `Refused` for missing runs."""
    with consistent_read():
        truth = truth_of(request.campaign, request.truth, request.truth_measure)
        judges, unclear = _judges(request, truth)
    matching = Matching(request.on_missing == DEFAULT, request.only_shared_topics)
    pairs = [match(truth, judge, matching) for judge in judges]
    if request.on_missing == ERROR and not request.only_shared_runs:
        _refuse_missing(pairs)
    if request.only_shared_runs:
        pairs = [match(truth, judge, replace(matching, fills=False)) for judge in judges]
    resampling = Resampling(RESAMPLES)
    rows = [_row(pair, request.methods, resampling) for pair in pairs]
    return {
        "truth": truth.name,
        "truth_measure": truth.measure,
        "methods": [str(method) for method in request.methods],
        "on_missing": request.on_missing,
        "resamples": RESAMPLES,
        "seed": SEED,
        "judges": sorted(rows, key=lambda row: _best_first(row, str(request.methods[0]))),
        "differences": _differences(pairs, request.methods, resampling),
        "pairs_left_out": max(0, len(pairs) * (len(pairs) - 1) // 2 - MOST_PAIRS),
        "conditions_left_out": unclear,
        "left_out": sorted({run for pair in pairs for run in pair.left_out}),
    }


def truth_of(campaign: Campaign, name: str, measure: str) -> JudgeTable:
    """Return the table of a condition or of somebody's scores. Raises `Refused` where it is not clear which."""
    if name in list(Condition):
        choice = resolve(campaign, Condition(name))
        return _score_of(choice, measure or primary_of(profile_of(campaign)))
    tables = judge_tables(campaign, [name])
    if not tables:
        there = ", ".join([*Condition, *external_names(campaign)])
        raise Refused("usage", f"No condition or table of scores {name}; there are: {there}.", field="truth")
    fitting = [table for table in tables if measure in ("", table.measure)]
    if len(fitting) != 1:
        measures = [table.measure for table in tables]
        text = f"Say which measure of {name}: {', '.join(measures)}."
        raise Refused("ambiguous", text, field="truth_measure", choices=measures)
    return fitting[0]


def _score_of(choice: NuggetCondition, score: str) -> JudgeTable:
    profile = next(
        (profile for profile in OF_NUGGETS if score in [entry.name for entry in scores_of(profile)]), None
    )
    if profile is None:
        raise Refused("usage", f"{score} is no score of nuggets.", field="truth_measure")
    return table_of_condition(choice, score, Policies(profile=profile))


def _judges(request: JudgesRequest, truth: JudgeTable) -> tuple[list[JudgeTable], list[str]]:
    """Return the tables of others and the conditions by LLMs, apart from the truth, and conditions that are unclear."""
    campaign = request.campaign
    tables = [table for table in judge_tables(campaign) if table.name != truth.name]
    score = truth.measure if request.truth in list(Condition) else primary_of(profile_of(campaign))
    there = resolve(campaign, Condition(request.truth)) if request.truth in list(Condition) else None
    unclear = []
    for condition in labelled_conditions(labelled_sets(campaign)):
        if condition.judge_kind is JudgeKind.LLM and condition != request.truth:
            try:
                choice = resolve(campaign, condition)
                if there:
                    check_apart(there, choice)
            except Refused:  # several LLMs labelled: none of them is meant by the condition alone
                unclear.append(str(condition))
                continue
            tables.append(_score_of(choice, score))
    judges = [table for table in tables if not request.measures or table.measure in request.measures]
    if not judges:
        measures = sorted({table.measure for table in tables})
        left_out = f" {_unclear(unclear)}" if unclear else ""
        text = f"No judge has such scores; there are: {', '.join(measures) or 'none'}.{left_out}"
        raise Refused("no_judges", text, field="measure" if request.measures else "", choices=measures)
    return judges, unclear


def _unclear(conditions: Sequence[str]) -> str:
    number = f"{len(conditions)} {plural(len(conditions), 'condition')}"
    return f"{number} left out, by several LLMs without a default, or the truth's own: {', '.join(conditions)}."


def _refuse_missing(pairs: Sequence[JudgeAgainstTruth]) -> None:
    lines = []
    for pair in pairs:
        true_runs = set(pair.truth.run_scores)
        lacks = [run for run in pair.left_out if run in true_runs]
        more = [run for run in pair.left_out if run not in true_runs]
        name = f"{pair.judge.name} ({pair.judge.measure})"
        if lacks:
            lines.append(f"{name} lacks {_names(lacks)}.")
        if more:
            lines.append(f"{pair.truth.name} lacks {_names(more)} of {name}.")
    if lines:
        raise Refused("missing_runs", " ".join(lines), field="on_missing", choices=[WARN, SKIP, DEFAULT])


def _names(runs: Sequence[str]) -> str:
    more = len(runs) - NAMES_SHOWN
    return ", ".join(runs[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _row(pair: JudgeAgainstTruth, methods: Sequence[CorrelationMethod], resampling: Resampling) -> dict[str, Any]:
    figures = coefficients(pair, methods)
    judge = pair.judge
    return {
        "judge": judge.name,
        "method": judge.method,
        "model": judge.model,
        "measure": judge.measure,
        "truth_measure": pair.truth.measure,
        "runs": len(pair.runs),
        "filled": len(pair.filled),
        "topics": pair.topics,
        **{name: figure.value for name, figure in figures.items()},
        "reason": "; ".join(f"{name}: {figure.reason}" for name, figure in figures.items() if figure.reason),
        "intervals": {
            str(method): resampling.interval(pair, method).document
            for method in methods
            if figures[str(method)].value is not None
        },
    }


def _best_first(row: Row, method: str) -> tuple[bool, float, str, str]:
    value = row[method]
    return value is None, -(value or 0.0), row["judge"], row["measure"]


def _differences(
    pairs: Sequence[JudgeAgainstTruth], methods: Sequence[CorrelationMethod], resampling: Resampling
) -> list[dict[str, Any]]:
    return [
        _difference_row(one, other, method, resampling.difference(one, other, method))
        for one, other in list(combinations(pairs, 2))[:MOST_PAIRS]
        for method in methods
    ]


def _difference_row(
    one: JudgeAgainstTruth, other: JudgeAgainstTruth, method: CorrelationMethod, difference: JudgeDifference
) -> dict[str, Any]:
    return {
        "judge": one.judge.name,
        "measure": one.judge.measure,
        "other": other.judge.name,
        "other_measure": other.judge.measure,
        "correlation": str(method),
        "difference": difference.value,
        "p": difference.p,
        "verdict": difference.verdict,
        "intervals": {"difference": difference.interval.document},
    }


def facts(content: Mapping[str, Any]) -> list[str]:
    sentences = [f"Truth: {content['truth']}, by {content['truth_measure']}."]
    if content["left_out"] and content["on_missing"] != SKIP:
        sentences.append(f"Left out, because one side lacks them: {_names(content['left_out'])}.")
    if content["conditions_left_out"]:
        sentences.append(_unclear(content["conditions_left_out"]))
    if content["pairs_left_out"]:
        sentences.append(f"{content['pairs_left_out']} pairs of judges are not compared: name a measure.")
    filled = sum(row["filled"] for row in content["judges"])
    if filled:
        sentences.append(f"{filled} scores of runs that a judge lacks are 0.")
    sentences += sorted(
        {f"{row['judge']}, {row['measure']}: {row['reason']}." for row in content["judges"] if row["reason"]}
    )
    reasons = {
        ends["reason"] for row in content["judges"] for ends in row["intervals"].values() if "reason" in ends
    }
    sentences += [f"No interval: {reason}." for reason in sorted(reasons)]
    return sentences
