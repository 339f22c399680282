"""Import traces."""

from dataclasses import replace
from typing import Any

from django.core.management.base import CommandParser

from evaluation.errors import BadInput
from evaluation.formats.lines import read_toml
from evaluation.formats.source import MAX_TEXT_LINE_BYTES, read_source
from evaluation.formats.traces import FORMS, MAY_BE_SKIPPED, TraceMap, TraceOptions
from evaluation.imports.base import LoadReceipt, trying_out
from evaluation.imports.traces import MAY_BE_NUMBERED, first_answers, import_traces
from evaluation.management.base import ImportCommand, read_sources
from evaluation.models import Campaign


class Command(ImportCommand):
    help = "Load traces of a RAG system: questions, passages, answers and citations, in one import."
    example = "manage.py import_traces --campaign own --form csv --map map.toml --run bot sheet.csv"
    several = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--form", choices=list(FORMS), help="without it what the keys say")
        parser.add_argument("--map", metavar="FILE.toml", help="where question, answer and contexts stand")
        run = parser.add_mutually_exclusive_group(required=True)
        run.add_argument("--run", metavar="NAME", help="the run of all answers")
        run.add_argument("--run-field", metavar="PATH", help="where each trace names its run")
        parser.add_argument(
            "--samples",
            choices=["auto"],
            help="number the answers of a run to one question in their order, where the map names no sample",
        )
        text = "by what sentences are judged: their marks, or the first contexts, whatever they cite"
        parser.add_argument("--uncited", choices=["none", "retrieved"], default="none", help=text)
        parser.add_argument("--skip-empty", action="store_true", help="leave out traces without an answer")
        parser.add_argument(
            "--keep",
            action="append",
            default=[],
            metavar="PATH",
            help="a column, key or path that is kept beside the answer; may be given several times",
        )
        parser.add_argument("--dry-run", action="store_true", help="show the first answers, and load nothing")

    def load(self, campaign: Campaign, options: dict[str, Any]) -> LoadReceipt:
        sources = read_sources(options["files"], max_line_bytes=MAX_TEXT_LINE_BYTES, of_sheets=True, on_disk=True)
        order = TraceOptions(
            form=options["form"] or "",
            names=read_toml(read_source(options["map"]), TraceMap) if options["map"] else TraceMap(),
            run=options["run"] or "",
            run_field=options["run_field"] or "",
            skip_empty=options["skip_empty"],
            number_samples=options["samples"] == "auto",
            with_candidates=options["uncited"] == "retrieved",
            keep=tuple(options["keep"]),
        )
        try:
            if not options["dry_run"]:
                return import_traces(campaign=campaign, sources=sources, options=order, replace=options["replace"])
            with trying_out():
                receipt = import_traces(
                    campaign=campaign, sources=sources, options=order, replace=options["replace"]
                )
        except BadInput as wrong:
            raise BadInput(
                [replace(row, expected=_with_options(row.expected)) for row in wrong.problems]
            ) from wrong
        for answer in first_answers(sources, order):
            self.stdout.write(f"{answer['run']} {answer['topic']}: {answer['question']}")
            for text, cited in answer["sentences"]:
                self.stdout.write(f"- {text} {''.join(f'[{place}]' for place in cited)}".rstrip())
        return receipt


def _with_options(expected: str) -> str:
    # Only a command has options.
    hint = "(map a sample, or --samples auto numbers them in order)"
    return expected.replace(MAY_BE_SKIPPED, "(skip such rows with --skip-empty)").replace(MAY_BE_NUMBERED, hint)
