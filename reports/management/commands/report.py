"""Reports at the command line: data on stdout, what it rests on beside it."""

from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from django.core.management.base import CommandParser

from assessor.rules.clock import SHORTEST_LIMIT
from evaluation.domain.conditions import ALL_PEOPLE, CitationCondition, NuggetCondition, resolve, resolve_citations
from evaluation.errors import Refused, on_side
from evaluation.management.base import AssayCommand, the_campaign, words_of
from evaluation.models import Campaign
from evaluation.studies import study_named
from evaluation.terms import Condition, DrawKind, StudyKind, SupportCondition
from reports.agreement.figures import Scored, Side, correlate, correlation_document, correlation_rows
from reports.confusion.paired_labels import confuse_conditions, confusion_document, confusion_rows
from reports.files import Row, as_csv, as_json, as_table
from reports.forms import external_names
from reports.leaderboard.scores import ALL_SCORES, leaderboard, scores_document, scores_rows
from reports.metrics.bootstrap import RESAMPLES
from reports.metrics.policies import Policies, SupportPolicies
from reports.metrics.random_check.estimate import FEWEST_JUDGED
from reports.metrics.support import SUPPORT_NAMES
from reports.nuggets.descriptives import descriptive_rows, descriptives, edit_report
from reports.quality.studies import agreement_rows, judge_rows, study_document, study_report
from reports.random_checks.corrected import TARGETS, corrected_report, primary_score, random_check_state, scores_of
from reports.random_checks.documents import corrected_document, corrected_note, corrected_rows
from reports.random_checks.frame import drawn_rows, random_check_named
from reports.support import citations_text, support_document
from reports.timing.figures import time_note, time_report, time_table

Options = dict[str, Any]
AnyConditions = type[Condition] | type[SupportCondition]
Printed = tuple[Row, Sequence[Row], str]


def _common(parser: CommandParser) -> None:
    parser.add_argument("--campaign", required=True, metavar="SLUG")
    parser.add_argument("--format", choices=["table", "csv", "json"], default="table")


def _add_policies_of(parser: CommandParser, conditions: AnyConditions) -> None:
    if conditions is Condition:
        _add_policies(parser)
        return
    text = "an answer that cites nothing has no precision, or one of 0"
    parser.add_argument("--no-cited", choices=["skip", "zero"], default="skip", help=text)
    _missing(parser)


def _add_policies(parser: CommandParser) -> None:
    _missing(parser)
    text = "answers with failed or unjudged nuggets are left out, or those nuggets count 0"
    parser.add_argument("--unjudged", choices=["exclude", "zero"], default="exclude", help=text)
    text = "a topic without vital nuggets has vital scores of 0, or none"
    parser.add_argument("--no-vital", choices=["zero", "skip"], default="zero", help=text)


def _missing(parser: CommandParser) -> None:
    text = "a run without an answer for a topic scores 0, or the topic is left out of its means"
    parser.add_argument("--missing", choices=["zero", "skip"], default="zero", help=text)


def _who(parser: CommandParser, conditions: AnyConditions, prefix: str = "") -> None:
    parser.add_argument(
        f"--{prefix}judge", default="", metavar="NAME", help=f"whose labels, where several fit, or '{ALL_PEOPLE}'"
    )
    if conditions is Condition:
        parser.add_argument(f"--{prefix}nuggets", default="", metavar="SET", help="which set, where several fit")


def _add_scores(parser: CommandParser, conditions: AnyConditions) -> None:
    _common(parser)
    parser.add_argument("--condition", required=True, choices=words_of(conditions))
    _add_policies_of(parser, conditions)
    _who(parser, conditions)


def _add_correlation(parser: CommandParser, conditions: AnyConditions) -> None:
    _common(parser)
    is_nuggets = conditions is Condition
    text = (
        "A/A, E/M, M/M, E/A, M/A, A/M, or the name of a published table"
        if is_nuggets
        else "scratch, post-edit, llm"
    )
    for side in ("x", "y"):
        # No choices: a published table of the campaign may be named in place of a condition.
        parser.add_argument(f"--{side}", required=True, metavar="CONDITION", help=text)
        _who(parser, conditions, f"{side}-")
    scores = ALL_SCORES if is_nuggets else SUPPORT_NAMES
    parser.add_argument("--score", choices=scores, default=scores[0])
    _add_policies_of(parser, conditions)
    text = "run means over the topics of both conditions, or over each one's own"
    parser.add_argument("--topics", choices=["common", "all"], default="common", help=text)
    text = f"resamples of topics for the intervals of two levels, seeded (default {RESAMPLES})"
    parser.add_argument("--resamples", type=_positive, default=RESAMPLES, metavar="N", help=text)


def _positive(word: str) -> int:
    number = int(word)
    if number < 1:
        raise ArgumentTypeError(f"a number of at least 1, found {number}")
    return number


def _add_confusion(parser: CommandParser, conditions: AnyConditions) -> None:
    _common(parser)
    for side in ("rows", "columns"):
        parser.add_argument(f"--{side}", required=True, choices=words_of(conditions))
        _who(parser, conditions, f"{side}-")


def _add_edits(parser: CommandParser) -> None:
    _common(parser)
    parser.add_argument("--nuggets", default="", metavar="SET", help="the edited set, where several fit")
    parser.add_argument("--drafts", default="", metavar="SET", help="what it was made from, where not recorded")


def _add_study(parser: CommandParser) -> None:
    _common(parser)
    parser.add_argument("--study", required=True, metavar="NAME", help="which study")


def _add_corrected(parser: CommandParser) -> None:
    _common(parser)
    parser.add_argument("--study", required=True, metavar="NAME", help="which random check")
    scores = [*scores_of(StudyKind.ASSIGNMENT), *scores_of(StudyKind.SUPPORT)]
    parser.add_argument("--score", choices=scores, default="", help="the primary score where none is named")
    text = "intervals for these topics (default), or for new topics like them"
    parser.add_argument("--target", choices=TARGETS, default=TARGETS[0], help=text)
    text = f"judged pairs that a run needs (default {FEWEST_JUDGED}); another number lifts the rule for strata too"
    parser.add_argument("--least-judged", type=_positive, default=FEWEST_JUDGED, metavar="N", help=text)
    _add_policies(parser)
    text = "of citations: an answer that cites nothing has no precision, or one of 0"
    parser.add_argument("--no-cited", choices=["skip", "zero"], default="skip", help=text)
    parser.add_argument("--pairs", action="store_true", help="each drawn pair with its labels as well")


def _add_time(parser: CommandParser) -> None:
    _common(parser)
    text = f"count gaps up to this many seconds, at least {SHORTEST_LIMIT}, instead of by the words on screen"
    parser.add_argument("--idle", type=int, metavar="SECONDS", help=text)


SUBPARSERS: dict[str, tuple[str, Callable[[CommandParser], None]]] = {
    "scores": ("Runs by nugget score under one condition.", partial(_add_scores, conditions=Condition)),
    "correlation": (
        "Kendall's tau-b of two conditions, three ways.",
        partial(_add_correlation, conditions=Condition),
    ),
    "confusion": ("Labels of the same pairs under two conditions.", partial(_add_confusion, conditions=Condition)),
    "descriptives": ("Nugget sets and labels in figures.", _common),
    "edits": ("What assessors did to the drafts.", _add_edits),
    "support": (
        "Runs by weighted precision and recall of their citations.",
        partial(_add_scores, conditions=SupportCondition),
    ),
    "support-correlation": (
        "Kendall's tau-b of two support conditions, three ways.",
        partial(_add_correlation, conditions=SupportCondition),
    ),
    "support-confusion": (
        "Support labels of the same pairs under two conditions.",
        partial(_add_confusion, conditions=SupportCondition),
    ),
    "study": ("Who agrees with whom on pairs on which a person and an LLM differ.", _add_study),
    "corrected": ("Runs by score, corrected by a random check, with intervals.", _add_corrected),
    "time": ("How long topics took, by stage: median and quartiles of active time.", _add_time),
}


class Command(AssayCommand):
    help = "Print scores, agreement, and what they rest on."
    example = "manage.py report correlation --campaign rag24 --x A/A --y E/M --score vital_strict --format json"
    audited = "export"

    def add_arguments(self, parser: CommandParser) -> None:
        kinds = parser.add_subparsers(dest="kind", required=True, metavar="REPORT")
        for name, (text, build) in SUBPARSERS.items():
            build(kinds.add_parser(name, help=text, description=text))

    def act(self, options: Options) -> None:
        campaign = the_campaign(options["campaign"])
        document, rows, text = REPORTS[options["kind"]](campaign, options)
        if options["format"] == "json":
            self.stdout.write(as_json(document))
        elif options["format"] == "csv":
            self.stdout.write(as_csv(rows))
        else:
            self.stdout.write(as_table(rows))
            self.stdout.write(text)


def _scores(campaign: Campaign, options: Options) -> Printed:
    board = leaderboard(_nuggets(campaign, options, "condition"), _policies(options))
    # A table has no room for the columns that only programs need.
    rows = scores_rows(board) if options["format"] == "table" else list(board.rows)
    document = scores_document(board)
    return document, rows, _policy_line(document)


def _nuggets(campaign: Campaign, options: Options, name: str) -> NuggetCondition:
    """Condition that an option names. Raises `Refused` where several sets or judges fit."""
    if name == "condition":
        return resolve(campaign, Condition(options[name]), judge=options["judge"], nuggets=options["nuggets"])
    judge, nuggets = (options[f"{name}_{field}"] for field in ("judge", "nuggets"))
    with on_side(name):
        return resolve(campaign, Condition(options[name]), judge=judge, nuggets=nuggets)


def _citations(campaign: Campaign, options: Options, name: str) -> CitationCondition:
    """Support condition that an option names. Raises `Refused` where several judges fit."""
    if name == "condition":
        return resolve_citations(campaign, SupportCondition(options[name]), judge=options["judge"])
    with on_side(name):
        return resolve_citations(campaign, SupportCondition(options[name]), judge=options[f"{name}_judge"])


def _labels(campaign: Campaign, options: Options, name: str, conditions: AnyConditions) -> Scored:
    return _nuggets(campaign, options, name) if conditions is Condition else _citations(campaign, options, name)


def _side(campaign: Campaign, options: Options, name: str, conditions: AnyConditions) -> Side:
    side: str = options[name]
    if side in list(conditions):
        return _labels(campaign, options, name, conditions)
    names = external_names(campaign)
    if side not in names:
        there = ", ".join([*conditions, *names])
        raise Refused("usage", f"No condition or published table {side}; there are: {there}.")
    return side


def _correlation(campaign: Campaign, options: Options, conditions: AnyConditions) -> Printed:
    x, y = (_side(campaign, options, name, conditions) for name in ("x", "y"))
    policies = _policies(options) if conditions is Condition else _support_policies(options)
    correlation = correlate(campaign, x, y, options["score"], policies, resamples=options["resamples"])
    document = correlation_document(correlation)
    topics = correlation.agreement.topics
    pairs = f"{correlation.x} against {correlation.y}, {correlation.score}: {topics} common topics"
    # A published table has means only: that it shares no topic says nothing.
    if not correlation.published and not topics:
        pairs += "; no topic in common"
    rows = correlation_rows(correlation)
    text = "\n".join(
        [f"{pairs}. {_policy_line(document)}", *(f"{row['level']}: {row['note']}." for row in rows if row["note"])]
    )
    if options["format"] == "table":
        rows = [{name: value for name, value in row.items() if name != "note"} for row in rows]
    return document, rows, text


def _confusion(campaign: Campaign, options: Options, conditions: AnyConditions) -> Printed:
    rows, columns = (_labels(campaign, options, side, conditions) for side in ("rows", "columns"))
    report = confuse_conditions(rows, columns)
    document = confusion_document(report)
    names = ("pairs", "agreement", "kappa", "kappa_linear", "alpha", "ordinal_strictness", "harsh_conflicts")
    text = as_table([{name: document[name] for name in names}])
    ends = [{"figure": name, "low": None, "high": None} | end for name, end in document["intervals"].items()]
    text = f"{text}\n\n95 % intervals over topics\n{as_table(ends)}"
    note = "" if report.comparable else "\nThe two conditions use different nuggets: no pair is in both."
    return document, confusion_rows(report), f"{text}{note}"


def _descriptives(campaign: Campaign, options: Options) -> Printed:
    rows = descriptive_rows(descriptives(campaign))
    return {"rows": rows}, rows, "Shares are fractions; labels are those that were given."


def _edits(campaign: Campaign, options: Options) -> Printed:
    report = edit_report(campaign, nuggets=options["nuggets"], drafts=options["drafts"])
    document = asdict(report)
    how = "inferred from the texts" if report.inferred else "from the recorded lineage"
    text = f"{report.nuggets} against {report.drafts}, {report.topics} topics, {how}."
    return document, document["rows"], text


def _support(campaign: Campaign, options: Options) -> Printed:
    document = support_document(_citations(campaign, options, "condition"), _support_policies(options))
    return document, document["runs"], f"{_policy_line(document)} {citations_text(document['first_citations'])}"


def _study(campaign: Campaign, options: Options) -> Printed:
    study = study_named(campaign, options["study"])
    if study.draw == DrawKind.RANDOM:
        raise Refused("usage", f"{study} is a random check, which has a report of its own: report corrected.")
    report = study_report(study)
    how = "stratified by cell" if study.stratified else "at random"
    drawn = f"{report.pairs} pairs of {len(report.topics)} topics, up to {study.per_topic} each"
    text = f"{drawn}, {how}, seed {study.seed}."
    return study_document(report), agreement_rows(report), f"\n{as_table(judge_rows(report))}\n{text}"


def _corrected(campaign: Campaign, options: Options) -> Printed:
    study = random_check_named(campaign, options["study"])
    score = options["score"] or primary_score(study.kind)
    if score not in scores_of(study.kind):
        raise Refused("usage", f"{study} corrects {', '.join(scores_of(study.kind))}.")
    policies = _policies(options) if study.kind == StudyKind.ASSIGNMENT else _support_policies(options)
    state = random_check_state(study, policies)
    report = corrected_report(state, score, target=options["target"], least_judged=options["least_judged"])
    document, rows = corrected_document(report), corrected_rows(report)
    pairs = drawn_rows(study) if options["pairs"] else []
    if options["pairs"]:
        document["pairs"] = pairs
        rows = pairs if options["format"] == "csv" else rows
    apart = [gap | {"more": "never" if gap["more"] is None else gap["more"]} for gap in document["differences"]]
    listed = [as_table(part) for part in (apart, [row | {"labels": str(row["labels"])} for row in pairs]) if part]
    return document, rows, "\n".join(["", *listed, corrected_note(report)])


def _time(campaign: Campaign, options: Options) -> Printed:
    document = time_report(campaign, options["idle"])
    rows: Sequence[Row] = time_table(document) if options["format"] == "table" else document["stages"]
    return document, rows, time_note(document)


def _policies(options: Options) -> Policies:
    topics = options.get("topics", "all")
    return Policies(options["missing"], options["unjudged"], options["no_vital"], topics)


def _support_policies(options: Options) -> SupportPolicies:
    return SupportPolicies(options["missing"], options["no_cited"], options.get("topics", "all"))


def _policy_line(document: Row) -> str:
    text = ", ".join(f"{name} {value}" for name, value in document["policies"].items())
    held = document.get("avoid_nuggets")
    avoid = f" Nuggets that an answer must not contain, in no score: {held}." if held else ""
    return f"Policies: {text}. Topics: {document['topics']}.{avoid}"


REPORTS: dict[str, Callable[[Campaign, Options], Printed]] = {
    "scores": _scores,
    "correlation": partial(_correlation, conditions=Condition),
    "confusion": partial(_confusion, conditions=Condition),
    "descriptives": _descriptives,
    "edits": _edits,
    "support": _support,
    "support-correlation": partial(_correlation, conditions=SupportCondition),
    "support-confusion": partial(_confusion, conditions=SupportCondition),
    "study": _study,
    "corrected": _corrected,
    "time": _time,
}
