"""The command `assay-client`."""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from assay_client.api import Assay
from assay_client.errors import AssayError
from assay_client.gates import EXIT_CODES
from assay_client.no_answer import no_answer

if sys.version_info >= (3, 11):
    import tomllib

BROKEN = EXIT_CODES["broken"]
FORMS = ("json", "junit", "markdown")
OPTIONS = ("judge", "nuggets", "missing", "unjudged", "no_vital", "no_cited", "measure")
NOT_SENT = ("campaign", "undecided", "baseline_file", "save_baseline", "from", *FORMS)


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        # argparse's 2 would say that more topics decide.
        self.exit(BROKEN, f"broken: {message}\n")


def main(words: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if words is None else words)
    try:
        options = vars(parser().parse_args(with_table(arguments)))
        answer = answer_to(options)
        write(answer, options)
    except (AssayError, OSError) as error:
        print(f"broken: {error}", file=sys.stderr)
        return BROKEN
    except Exception:
        # Python's own 1 would say that the candidate is worse.
        traceback.print_exc()
        return BROKEN
    verdict = answer["verdict"]
    print(f"{verdict}: {answer['reason']}", file=sys.stderr)
    return EXIT_CODES[(options["undecided"] if verdict == "undecided" else None) or verdict]


def parser() -> Parser:
    """Return the parser. A value that is not said is not sent, and the server has its own."""
    whole = Parser("assay-client", description="Asks a server of Assay: ASSAY_URL, with the token ASSAY_TOKEN.")
    words = whole.add_subparsers(required=True, metavar="COMMAND").add_parser(
        "gate",
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
        help="say whether a run is no worse than a baseline, or better",
        epilog="Exits with 0 for pass, 1 for fail, 2 for undecided, 3 where nothing can be compared.",
    )
    for name in ("campaign", "condition", "candidate"):
        words.add_argument(f"--{name}", required=True)
    against = words.add_mutually_exclusive_group()
    against.add_argument("--baseline", metavar="RUN", help="a run, or 'accepted'")
    against.add_argument("--baseline-file", metavar="FILE", default=None, help="what --save-baseline wrote")
    words.add_argument("--score", action="append", help="several times: the worst counts")
    words.add_argument("--goal", choices=["no-worse", "better"])
    words.add_argument("--least", type=float, help="a loss, or a gain, below which nothing matters")
    for name in ("alpha", "level", "max-missing"):
        words.add_argument(f"--{name}", type=float)
    words.add_argument("--min-topics", type=int)
    words.add_argument("--wait", type=float, metavar="SECONDS", help="for jobs that label these runs")
    for name in ("no-new-violations", "rebaseline", "accept"):
        words.add_argument(f"--{name}", action="store_true")
    words.add_argument("--undecided", choices=["pass", "fail"], default=None, help="exit as for this")
    words.add_argument("--save-baseline", metavar="FILE", default=None, help="write the candidate as a baseline")
    for name in FORMS:
        words.add_argument(f"--{name}", metavar="FILE", default=None, help="- for standard output")
    for name in OPTIONS:
        words.add_argument(f"--{name.replace('_', '-')}")
    words.add_argument("--from", metavar="FILE", help="a pyproject.toml, whose [tool.assay.gate] has more options")
    return whole


def with_table(words: list[str]) -> list[str]:
    """Return the words, with those of the table of `--from` that they do not say. Raises `AssayError`."""
    reader = Parser(add_help=False, allow_abbrev=False)
    reader.add_argument("--from", dest="file")
    file = reader.parse_known_args(words)[0].file
    if not file:
        return words
    said = {word.partition("=")[0] for word in words}
    if "--baseline" in said or "--baseline-file" in said:
        said |= {"--baseline", "--baseline-file"}
    added: list[str] = []
    for name, value in table_of(file).items():
        flag = f"--{name.replace('_', '-')}"
        if flag in said or value is False:
            continue
        for each in value if isinstance(value, list) else [value]:
            added += [flag] if each is True else [f"{flag}={each}"]
    return [words[0], *added, *words[1:]]


def table_of(file: str) -> dict[str, Any]:
    if sys.version_info < (3, 11):
        raise AssayError("--from needs Python 3.11; give the options as words of the command")
    else:
        try:
            table = tomllib.loads(Path(file).read_text("utf-8")).get("tool", {}).get("assay", {}).get("gate")
        except ValueError as error:
            raise AssayError(f"{file}: {error}") from None
        if not isinstance(table, dict):
            raise AssayError(f"{file} has no table [tool.assay.gate]")
        return table


def answer_to(options: dict[str, Any]) -> dict[str, Any]:
    """Return the server's answer; where there is none, a broken verdict in the same words and forms."""
    forms = [form for form in FORMS if options[form]]
    try:
        with Assay.from_env() as api:
            return ask(api, options, forms)
    except (AssayError, OSError) as error:
        return no_answer(str(error), options, forms)


def ask(api: Assay, options: dict[str, Any], forms: list[str]) -> dict[str, Any]:
    order = {name: value for name, value in options.items() if name not in NOT_SENT}
    if "nuggets" in order:
        order["nugget_set"] = order.pop("nuggets")
    if options["baseline_file"] and "rebaseline" not in options:
        order["baseline"] = document_of(options["baseline_file"])
    return api.campaign(options["campaign"]).gate(**order, forms=forms, keep=bool(kept_in(options))).answer


def document_of(file: str) -> dict[str, Any]:
    try:
        document = json.loads(Path(file).read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise AssayError(f"{file}: JSON that --save-baseline wrote: {error}") from None
    if not isinstance(document, dict):
        raise AssayError(f"{file}: an object that --save-baseline wrote")
    return document


def kept_in(options: dict[str, Any]) -> str | None:
    file = options["save_baseline"] or ("rebaseline" in options and options["baseline_file"])
    return str(file) if file else None


def write(answer: dict[str, Any], options: dict[str, Any]) -> None:
    for form, text in (answer.get("files") or {}).items():
        if options[form] == "-":
            # UTF-8 as in a file, whatever a terminal of CI has.
            sys.stdout.buffer.write(text.encode())
        else:
            Path(options[form]).write_text(text, "utf-8")
    kept, file = answer.get("kept"), kept_in(options)
    if kept and file:
        Path(file).write_text(json.dumps(kept, indent=2, ensure_ascii=False) + "\n", "utf-8")
