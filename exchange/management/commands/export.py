"""Take judgments out, in the formats that the field's own tools read."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any

from django.core.management.base import CommandParser

from evaluation import exporting
from evaluation.errors import Refused
from evaluation.management.base import AssayCommand, the_campaign
from evaluation.models import Campaign, NuggetSet, QrelSource
from evaluation.terms import Condition, SupportCondition
from exchange.snapshots.packing import Wish
from exchange.snapshots.service import take_snapshot, write_campaign, write_snapshot
from reports.choices import lists_of, resolve_condition, resolve_support
from reports.exporting import score_lines
from reports.metrics.policies import Policies
from reports.timing import segment_lines, time_lines

Options = dict[str, Any]
CAMPAIGN = "campaign"


class Command(AssayCommand):
    help = "Write nuggets, labels, scores, qrels, times, events or the whole campaign to stdout or a file."
    example = "manage.py export assignments --campaign rag24 --condition E/M --output edited.manual.jsonl"
    audited = "export"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", choices=[*EXPORTS, CAMPAIGN])
        parser.add_argument("--campaign", required=True, metavar="SLUG")
        said = "A/A, E/M, ... for nuggets, assignments and scores; scratch, post-edit, llm for support"
        parser.add_argument("--condition", default="", help=said)
        parser.add_argument("--nuggets", default="", metavar="SET", help="which nugget set, where several fit")
        parser.add_argument("--judge", default="", metavar="NAME", help="whose labels, where several fit")
        parser.add_argument("--source", default="", metavar="NAME", help="which qrels, where there are several")
        parser.add_argument("--missing", choices=["zero", "skip"], default="zero")
        parser.add_argument("--unjudged", choices=["exclude", "zero"], default="exclude")
        parser.add_argument("--no-vital", choices=["zero", "skip"], default="zero")
        said = "of time: the recorded stretches instead, from which every figure can be computed again"
        parser.add_argument("--segments", action="store_true", help=said)
        said = "instead of stdout; of campaign: a ZIP, SLUG.zip where this is not said"
        parser.add_argument("--output", metavar="FILE", help=said)
        said = (
            "of campaign: leave out passages, answers and what LLMs were sent, where a licence does not allow them"
        )
        parser.add_argument("--without-texts", action="store_true", help=said)
        parser.add_argument("--pseudonyms", action="store_true", help="of campaign: people by pseudonyms")
        said = "of campaign: keep it as a snapshot of this name too"
        parser.add_argument("--snapshot", default="", metavar="NAME", help=said)

    def act(self, options: Options) -> None:
        campaign = the_campaign(options["campaign"])
        if options["what"] == CAMPAIGN:
            self.say(_campaign(campaign, options))
            return
        lines = EXPORTS[options["what"]](campaign, options)
        with _output(options["output"]) as out:
            count = _write(lines, out)
        self.say(f"{count:,} lines written.")


def _campaign(campaign: Campaign, options: Options) -> str:
    """Write the whole campaign; return what was written."""
    path = Path(options["output"] or f"{campaign.slug}.zip")
    wish = Wish(texts=not options["without_texts"], names=not options["pseudonyms"])
    if options["snapshot"]:
        snapshot = take_snapshot(campaign=campaign, name=options["snapshot"], wish=wish)
        with path.open("wb") as out:
            write_snapshot(snapshot, out)
        return f"{path}: snapshot {snapshot.name}, SHA-256 {snapshot.sha256}."
    manifest = write_campaign(path, campaign, wish)
    return f"{path}: {manifest.rows:,} rows of {len(manifest.tables)} tables, content {manifest.content}."


def _write(lines: Iterable[str], out: IO[str]) -> int:
    count = 0
    for line in lines:
        out.write(f"{line}\n")
        count += 1
    return count


@contextmanager
def _output(name: str | None) -> Iterator[IO[str]]:
    """Open the output. A file appears under its name only when it is whole."""
    if not name:
        yield sys.stdout
        return
    path = Path(name)
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as out:
            yield out
        part.replace(path)
    except OSError as error:
        raise Refused("cannot_write", f"{name}: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)


def _nuggets(campaign: Campaign, options: Options) -> Iterator[str]:
    lists = lists_of(campaign, _condition(options)) if options["condition"] and not options["nuggets"] else []
    if lists:
        return chain.from_iterable(exporting.nugget_lines(made, topics) for made, topics in lists)
    return exporting.nugget_lines(_nugget_set(campaign, options))


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
    said = f"Say which nugget set with --nuggets: {there}."
    raise Refused("ambiguous" if names else "no_such_set", said)


def _assignments(campaign: Campaign, options: Options) -> Iterator[str]:
    choice = resolve_condition(campaign, _condition(options), judge=options["judge"], nuggets=options["nuggets"])
    if not choice.judges:
        raise Refused("no_labels", f"There are no labels under {choice} in {campaign.slug}.")
    return chain.from_iterable(
        exporting.assignment_lines(part.nugget_set, part.judge, part.topics)
        for part in choice.parts
        if part.nugget_set and part.judge
    )


def _support(campaign: Campaign, options: Options) -> Iterator[str]:
    choice = resolve_support(campaign, _support_condition(options), judge=options["judge"])
    if not choice.judges:
        raise Refused("no_labels", f"There are no support labels under {choice} in {campaign.slug}.")
    return chain.from_iterable(
        exporting.support_lines(campaign, choice.condition, part.judge, part.topics)
        for part in choice.parts
        if part.judge
    )


def _scores(campaign: Campaign, options: Options) -> Iterator[str]:
    choice = resolve_condition(campaign, _condition(options), judge=options["judge"], nuggets=options["nuggets"])
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
