"""A verdict for CI: is a run no worse than another, or better?"""

import sys
import time
import traceback
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any, NoReturn, get_args

from django.core.management.base import CommandParser

from evaluation.errors import Refused
from evaluation.management.base import AssayCommand, add_campaign, the_campaign
from evaluation.terms import Condition, SupportCondition
from exchange.gates.baseline import Baseline, read_baseline
from exchange.gates.gate import (
    FEWEST_TOPICS,
    MOST_MISSING,
    GateOrder,
    GateResult,
    run_gate,
    unfinished_jobs,
)
from exchange.gates.outputs import GATE_FORMS, gate_lines
from reports.document import JUDGE, NUGGETS, OF_CITATIONS, OF_NUGGETS
from reports.files import as_json
from reports.metrics.gate import GateRule, GateVerdict, Goal
from reports.metrics.registry import BY_NAME

POLL_SECONDS = 2
CHOICES = (JUDGE, NUGGETS, *dict.fromkeys((*OF_NUGGETS, *OF_CITATIONS)))


class Command(AssayCommand):
    help = (
        "Say whether a run is no worse than a baseline, or better: 0 pass, 1 fail, 2 undecided, 3 where nothing can be "
        "compared or the usage is wrong."
    )
    example = "manage.py gate --campaign rag24 --condition M/A --baseline v41 --candidate v42 --least 0.02"
    audited = "export"
    exit_refused = exit_usage = GateVerdict.BROKEN.exit_code

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        if getattr(self, "_called_from_command_line", False):
            # 2 would say that more topics decide.
            parser.error = self._wrong_usage  # type: ignore[method-assign]
        return parser

    def _wrong_usage(self, message: str) -> NoReturn:
        self.stderr.write(f"broken: {message}")
        sys.exit(self.exit_usage)

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except Exception:
            # Python's own 1 would say that the candidate is worse.
            self.stderr.write(traceback.format_exc())
            sys.exit(self.exit_usage)

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        parser.add_argument("--condition", required=True, choices=[*Condition, *SupportCondition])
        parser.add_argument("--candidate", required=True, metavar="RUN", help="the run in question")
        against = parser.add_mutually_exclusive_group()
        against.add_argument("--baseline", default="", metavar="RUN", help="a run, or 'accepted'")
        against.add_argument("--baseline-file", metavar="FILE", help="what --save-baseline wrote")
        parser.add_argument(
            "--score", action="append", choices=list(BY_NAME), help="several times: the worst counts"
        )
        parser.add_argument("--goal", choices=get_args(Goal), default="no-worse")
        parser.add_argument(
            "--least", type=float, default=0.0, help="a loss, or a gain, below which nothing matters"
        )
        parser.add_argument("--alpha", type=float, default=0.05, help="of the paired test (default 0.05)")
        parser.add_argument("--level", type=float, default=0.95, help="of the interval (default 0.95)")
        parser.add_argument("--min-topics", type=int, default=FEWEST_TOPICS, help=f"default {FEWEST_TOPICS}")
        parser.add_argument(
            "--max-missing", type=_share, default=MOST_MISSING, help="share of labels (default 0.05)"
        )
        parser.add_argument("--no-new-violations", action="store_true", help="fail where what must not be said is")
        parser.add_argument("--undecided", choices=["pass", "fail"], help="exit as for this, the word stays")
        parser.add_argument(
            "--wait", type=int, default=0, metavar="SECONDS", help="for jobs that label these runs"
        )
        parser.add_argument(
            "--rebaseline", action="store_true", help="compare nothing: the candidate is the baseline"
        )
        parser.add_argument("--accept", action="store_true", help="where it passes, the candidate is accepted")
        parser.add_argument("--save-baseline", metavar="FILE", help="write the candidate as a baseline")
        for name in GATE_FORMS:
            parser.add_argument(
                f"--{name}", metavar="FILE", help=f"write the answer as {name}; - for standard output"
            )
        for option in CHOICES:
            flag = f"--{option.name.replace('_', '-')}"
            parser.add_argument(flag, choices=option.choices or None, default=option.default, help=option.text)

    def act(self, options: dict[str, Any]) -> None:
        order = self._order(options)
        deadline = time.monotonic() + options["wait"]
        while unfinished_jobs(order) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        result = run_gate(order)
        self._write(result, options)
        self.stderr.write(gate_lines(result))
        sys.exit(_exit_code(result.verdict, options["undecided"]))

    def _order(self, options: dict[str, Any]) -> GateOrder:
        file, rebaseline = options["baseline_file"], options["rebaseline"]
        baseline: str | Baseline = options["baseline"]
        if file and not rebaseline:
            baseline = read_baseline(_read(file), file)
        return GateOrder(
            campaign=the_campaign(options["campaign"]),
            condition=options["condition"],
            candidate=options["candidate"],
            baseline=baseline,
            rule=GateRule(options["goal"], options["least"], options["alpha"], options["level"]),
            scores=tuple(options["score"] or ()),
            choices={option.name: options[option.name] for option in CHOICES},
            fewest_topics=options["min_topics"],
            most_missing=options["max_missing"],
            no_new_violations=options["no_new_violations"],
            rebaseline=rebaseline,
            accept=options["accept"],
        )

    def _write(self, result: GateResult, options: dict[str, Any]) -> None:
        for name, make in GATE_FORMS.items():
            if options[name] == "-":
                self.stdout.write(make(result), ending="")
            elif options[name]:
                _save(options[name], make(result))
        kept = options["save_baseline"] or (options["rebaseline"] and options["baseline_file"])
        if kept and result.kept:
            _save(kept, f"{as_json(result.kept.model_dump())}\n")


def _read(name: str) -> bytes:
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise Refused("usage", f"{name} cannot be read: {error.strerror}") from error


def _save(name: str, text: str) -> None:
    try:
        Path(name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Refused("usage", f"{name} cannot be written: {error.strerror}") from error


def _share(word: str) -> float:
    share = float(word)
    if not 0 <= share <= 1:
        raise ArgumentTypeError(f"from 0 to 1, found {word}")
    return share


def _exit_code(verdict: GateVerdict, undecided: str | None) -> int:
    if verdict is GateVerdict.UNDECIDED and undecided:
        return GateVerdict(undecided).exit_code
    return verdict.exit_code
