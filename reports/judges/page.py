"""Judges compared with the truth: which judge ranks runs as the truth does, and which two are told apart."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final

from django import forms
from django.http import QueryDict

from evaluation.domain.conditions import NuggetCondition, check_apart, resolve
from evaluation.errors import Refused
from evaluation.models import Campaign
from evaluation.terms import Condition, JudgeKind
from reports import charts, needs
from reports.cache import cached_report
from reports.correlations import METHOD, OF_RBO, methods_of, names_of
from reports.document import Document, Option
from reports.files import Row, with_code
from reports.forms import CONDITIONS, ChoicesForm, external_names, labelled_conditions, labelled_sets, name_options
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
from reports.metrics.rank_correlations import METHODS, CorrelationMethod
from reports.metrics.registry import BY_NAME, OF_NUGGETS, measure_words, primary_of, scores_of
from reports.profiles import profile_of, score_choices
from reports.registry import Choices, document, report
from reports.report import OVERVIEW, Chart, ColumnKind, ReportContent, Section, columns, counted
from web.consistent_read import consistent_read
from web.text import plural

ERROR, WARN, SKIP, DEFAULT = ON_MISSING = ("error", "warn", "skip", "default")
USUAL: Final = ("kendall", "tauap_b")
NAMES_SHOWN: Final = 10
MOST_PAIRS: Final = 60
"""Differences are computed of at most so many pairs of judges; beyond, measures are to be named."""
WORDS = {
    "kendall": "Kendall's tau-b",
    "spearman": "Spearman's rho",
    "pearson": "Pearson's r",
    "tauap": "tau-AP",
    "tauap_a": "tau-AP, the judge's ties",
    "tauap_b": "tau-AP, ties of both",
    "tau_gap": "tau-gap",
    "rbo": "RBO, rank-biased",
}


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
    reason = "by several LLMs or lists of nuggets without a default, or the truth's own"
    return f"{number} left out, {reason}: {', '.join(conditions)}."


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


class JudgesForm(ChoicesForm):
    truth = forms.ChoiceField(label="Truth", required=False)
    truth_measure = forms.ChoiceField(label="Scored", required=False)
    correlation = forms.ChoiceField(label="Correlation", choices=[(name, WORDS[name]) for name in METHODS])
    top = forms.IntegerField(label="Only the best by truth", required=False, min_value=3, max_value=100_000)
    judge_measure = forms.ChoiceField(label="Judges scored by", required=False)
    missing_runs = forms.ChoiceField(
        label="Runs that one side lacks",
        choices=[(WARN, "are left out"), (DEFAULT, "score 0 where a judge lacks them")],
        initial=WARN,
    )
    needless = ("judge_measure", "truth_measure")

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        tables = judge_tables(campaign)
        conditions = labelled_conditions(labelled_sets(campaign))
        people = [condition.value for condition in conditions if condition.judge_kind is JudgeKind.HUMAN]
        names = external_names(campaign)
        truth = next(iter([*people, *names]), "")
        super().__init__(query, campaign, {"truth": truth, "correlation": "kendall"})
        others = [("", "choose one"), *((code, words) for code, words in CONDITIONS if code in list(conditions))]
        self.offer("truth", name_options(names, *others))
        if (chosen := self.data.get("truth")) in names:
            own = [table.measure for table in tables if table.name == chosen]
            self.offer("truth_measure", [*([("", "choose one")] if len(own) > 1 else []), *_options(own)])
            if len(own) == 1:
                self.fields["truth_measure"].initial = own[0]
        else:
            self.offer("truth_measure", [("", "by the primary score"), *score_choices(OF_NUGGETS, sizes=False)])
        measures = sorted({table.measure for table in tables if table.name != chosen})
        self.offer("judge_measure", [("", "all"), *_options(measures)])


def _options(measures: Iterable[str]) -> list[tuple[str, str]]:
    return [(measure, measure_words(measure)) for measure in measures]


@report(
    "judges", title="Judges compared", form=JudgesForm, menu="Results", order=85, needs=(needs.TRUTH, needs.JUDGES)
)
def judges_page(form: JudgesForm) -> ReportContent:
    chosen = form.chosen
    if not chosen["truth"]:
        raise Refused("no_truth", needs.TRUTH.lack.text)
    method = CorrelationMethod(chosen["correlation"], chosen["top"])
    measures = (chosen["judge_measure"],) if chosen["judge_measure"] else ()
    truth = (chosen["truth"], chosen["truth_measure"])
    return _content(JudgesRequest(form.campaign, *truth, measures, (method,), chosen["missing_runs"]))


@cached_report(size=16)
def _content(request: JudgesRequest) -> ReportContent:
    content, [method] = judges_document(request), request.methods
    sections = [_overview(content, method), _every_two(content, method)]
    return ReportContent(tuple(facts(_in_words(content))), [section for section in sections if section.rows])


def _in_words(content: Mapping[str, Any]) -> dict[str, Any]:
    judges = [
        row | {"judge": with_code(row["judge"]), "measure": _spoken(row["measure"])} for row in content["judges"]
    ]
    words = {"truth": with_code(content["truth"]), "truth_measure": _spoken(content["truth_measure"])}
    return {**content, **words, "judges": judges}


def _spoken(measure: str) -> str:
    return BY_NAME[measure].spoken if measure in BY_NAME else measure


def _overview(content: Mapping[str, Any], method: CorrelationMethod) -> Section:
    bars = [_bar(row, str(method)) for row in content["judges"] if row[str(method)] is not None]
    return Section(
        name=OVERVIEW,
        title="Judges",
        columns=columns(
            ("judge", "Judge", ColumnKind.CONDITION),
            *_filled(content, method="Method", model="Model"),
            ("measure", "Measure", ColumnKind.MEASURE),
            (str(method), _caption(method), ColumnKind.SCORE),
            ("runs", "Runs", ColumnKind.COUNT),
            ("topics", "Topics", ColumnKind.COUNT),
            *_filled(content, reason="Why none"),
            primary=str(method),
            screen="reason",
        ),
        rows=content["judges"],
        topics="topics",
        document=lambda: content,
        chart=Chart(
            alt=f"{counted(len(bars), 'judge')} by {_caption(method)} with the truth, with intervals.",
            draw=lambda palette: charts.ranking(palette, bars, str(method), _caption(method)),
        )
        if bars
        else None,
    )


def _filled(content: Mapping[str, Any], **captions: str) -> list[tuple[str, str]]:
    """Return those columns that some judge has something in."""
    rows = content["judges"]
    return [(name, caption) for name, caption in captions.items() if any(row[name] for row in rows)]


def _bar(row: Row, method: str) -> dict[str, Any]:
    ends = row["intervals"][method]
    names = {"run_id": f"{with_code(row['judge'])}, {measure_words(row['measure'])}", "task": ""}
    return names | {method: row[method], "low": ends["low"], "high": ends["high"]}


def _every_two(content: Mapping[str, Any], method: CorrelationMethod) -> Section:
    return Section(
        name="differences",
        title="Every two judges",
        columns=columns(
            ("judge", "Judge", ColumnKind.CONDITION),
            ("measure", "Measure", ColumnKind.MEASURE),
            ("other", "Less", ColumnKind.CONDITION),
            ("other_measure", "Its measure", ColumnKind.MEASURE),
            ("difference", f"Difference in {_caption(method)}", ColumnKind.SIGNED),
            ("p", "p", ColumnKind.P),
            ("verdict", "Verdict"),
        ),
        rows=content["differences"],
        note="Both judges are asked about the same draws of topics.",
    )


def _caption(method: CorrelationMethod) -> str:
    return WORDS[method.name] + (f", {method.top} best" if method.top else "")
