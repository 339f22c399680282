"""The options of each report."""

from argparse import ArgumentTypeError

from django.core.management.base import CommandParser

from evaluation.management.base import words_of
from evaluation.rules.clock import SHORTEST_LIMIT
from evaluation.terms import Condition, SupportCondition
from reports.correlation import RESAMPLES
from reports.leaderboard import ALL_SCORES
from reports.metrics.support import SUPPORT_NAMES


def _common(parser: CommandParser) -> None:
    parser.add_argument("--campaign", required=True, metavar="SLUG")
    parser.add_argument("--format", choices=["table", "csv", "json"], default="table")


def _policies(parser: CommandParser, *, two: bool = False) -> None:
    text = "a run without an answer for a topic scores 0, or the topic is left out of its means"
    parser.add_argument("--missing", choices=["zero", "skip"], default="zero", help=text)
    text = "answers with failed or unjudged nuggets are left out, or those nuggets count 0"
    parser.add_argument("--unjudged", choices=["exclude", "zero"], default="exclude", help=text)
    text = "a topic without vital nuggets has vital scores of 0, or none"
    parser.add_argument("--no-vital", choices=["zero", "skip"], default="zero", help=text)
    if two:
        _topics(parser)


def _topics(parser: CommandParser) -> None:
    text = "run means over each condition's own topics, or over those in both"
    parser.add_argument("--topics", choices=["all", "common"], default="all", help=text)


def _who(parser: CommandParser, side: str = "", *, nuggets: bool = True) -> None:
    prefix = f"--{side}-" if side else "--"
    parser.add_argument(f"{prefix}judge", default="", metavar="NAME", help="whose labels, where several fit")
    if nuggets:
        parser.add_argument(f"{prefix}nuggets", default="", metavar="SET", help="which set, where several fit")


def _scores(parser: CommandParser) -> None:
    _common(parser)
    parser.add_argument("--condition", required=True, choices=words_of(Condition))
    _policies(parser)
    _who(parser)


def _correlation(parser: CommandParser) -> None:
    _common(parser)
    for side in ("x", "y"):
        text = "A/A, E/M, M/M, E/A, M/A, A/M, or the name of a published table"
        parser.add_argument(f"--{side}", required=True, metavar="CONDITION", help=text)
        _who(parser, side)
    parser.add_argument("--score", choices=ALL_SCORES, default="vital_strict")
    _policies(parser, two=True)
    _resamples(parser)


def _positive(word: str) -> int:
    number = int(word)
    if number < 1:
        raise ArgumentTypeError(f"a number of at least 1, found {number}")
    return number


def _resamples(parser: CommandParser) -> None:
    text = f"bootstrap resamples over topics for the intervals, seeded (default {RESAMPLES})"
    parser.add_argument("--resamples", type=_positive, default=RESAMPLES, metavar="N", help=text)


def _confusion(parser: CommandParser) -> None:
    _common(parser)
    for side in ("rows", "columns"):
        parser.add_argument(f"--{side}", required=True, choices=words_of(Condition))
        _who(parser, side)


def _edits(parser: CommandParser) -> None:
    _common(parser)
    parser.add_argument("--nuggets", default="", metavar="SET", help="the edited set, where several fit")
    parser.add_argument("--drafts", default="", metavar="SET", help="what it was made from, where not recorded")


def _no_cited(parser: CommandParser) -> None:
    text = "an answer that cites nothing has no precision, or one of 0"
    parser.add_argument("--no-cited", choices=["skip", "zero"], default="skip", help=text)
    text = "a run without an answer for a topic scores 0, or the topic is left out of its means"
    parser.add_argument("--missing", choices=["zero", "skip"], default="zero", help=text)


def _support(parser: CommandParser) -> None:
    _common(parser)
    parser.add_argument("--condition", required=True, choices=words_of(SupportCondition))
    _no_cited(parser)
    _who(parser, nuggets=False)


def _support_correlation(parser: CommandParser) -> None:
    _common(parser)
    for side in ("x", "y"):
        parser.add_argument(f"--{side}", required=True, metavar="CONDITION", help="scratch, post-edit, llm")
        _who(parser, side, nuggets=False)
    parser.add_argument("--score", choices=SUPPORT_NAMES, default="weighted_precision")
    _no_cited(parser)
    _topics(parser)
    _resamples(parser)


def _support_confusion(parser: CommandParser) -> None:
    _common(parser)
    for side in ("rows", "columns"):
        parser.add_argument(f"--{side}", required=True, choices=words_of(SupportCondition))
        _who(parser, side, nuggets=False)


def _study(parser: CommandParser) -> None:
    _common(parser)
    parser.add_argument("--study", required=True, metavar="NAME", help="which study")


def _time(parser: CommandParser) -> None:
    _common(parser)
    text = f"count gaps up to this many seconds, at least {SHORTEST_LIMIT}, instead of by the words on screen"
    parser.add_argument("--idle", type=int, metavar="SECONDS", help=text)


SUBPARSERS = {
    "scores": ("Runs by nugget score under one condition.", _scores),
    "correlation": ("Kendall's tau-b of two conditions, three ways.", _correlation),
    "confusion": ("Labels of the same pairs under two conditions.", _confusion),
    "descriptives": ("Nugget sets and labels in figures.", _common),
    "edits": ("What assessors did to the drafts.", _edits),
    "support": ("Runs by weighted precision and recall of their citations.", _support),
    "support-correlation": ("Kendall's tau-b of two support conditions, three ways.", _support_correlation),
    "support-confusion": ("Support labels of the same pairs under two conditions.", _support_confusion),
    "study": ("Who agrees with whom on pairs on which a person and an LLM differ.", _study),
    "time": ("How long topics took, by stage: median and quartiles of active time.", _time),
}
