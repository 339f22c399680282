"""Take judgments out, in the formats that the field's own tools read."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from django.core.management.base import CommandParser, OutputWrapper

from evaluation.errors import Refused
from evaluation.management.base import AssayCommand, the_campaign
from evaluation.models import Campaign
from evaluation.terms import Scoring
from exchange.exports.autojudge import AUTOJUDGE, AutoJudgeFolder
from exchange.exports.lines import CAMPAIGN, EXPORT_FORMS, EXPORTS, lines_of
from exchange.exports.score_files import DIGITS
from exchange.files import whole_file, writing
from exchange.snapshots.pack import SnapshotContents
from exchange.snapshots.service import take_snapshot, write_campaign, write_snapshot
from web.consistent_read import consistent_read
from web.text import plural

Options = dict[str, Any]


class Command(AssayCommand):
    help = "Write nuggets, labels, scores, qrels, times, events or the whole campaign to stdout or a file."
    example = "manage.py export assignments --campaign rag24 --condition E/M --output edited.manual.jsonl"
    audited = "export"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", choices=[*EXPORTS, AUTOJUDGE, CAMPAIGN])
        parser.add_argument("--campaign", required=True, metavar="SLUG")
        text = "A/A, E/M, ... for nuggets, assignments and scores; scratch, post-edit, llm for support; B/M, B/A"
        parser.add_argument("--condition", default="", help=text)
        parser.add_argument("--nuggets", default="", metavar="SET", help="which nugget set, where several fit")
        parser.add_argument("--judge", default="", metavar="NAME", help="whose labels, where several fit")
        parser.add_argument("--study", default="", metavar="NAME", help="of random-check: which study")
        parser.add_argument("--set", default="", metavar="NAME", help="of battles: which set")
        parser.add_argument(
            "--stage", default="", metavar="CODE", help="of judgments: at which stage they were given"
        )
        parser.add_argument("--source", default="", metavar="NAME", help="which qrels, where there are several")
        text = "of nuggets: a bank or a rubric; of labels: graded criteria; of support: answers; of scores; of battles"
        forms = dict.fromkeys(form for forms in EXPORT_FORMS.values() for form in forms)
        parser.add_argument("--form", choices=list(forms), default="", help=text)
        parser.add_argument(
            "--run", default="", metavar="RUN", help="of score files: one run alone, as trec_eval needs"
        )
        text = "of score files: every digit, or six"
        parser.add_argument("--digits", choices=list(DIGITS), default="17", help=text)
        parser.add_argument("--missing", choices=["zero", "skip"], default="zero")
        parser.add_argument("--unjudged", choices=["exclude", "zero"], default="exclude")
        parser.add_argument("--no-vital", choices=["zero", "skip"], default="zero")
        text = "of scores: which; those of the protocol where none is named"
        parser.add_argument("--profile", choices=list(Scoring), default="", help=text)
        text = "of time: the recorded stretches instead, from which every figure can be computed again"
        parser.add_argument("--segments", action="store_true", help=text)
        _add_output(parser)

    def act(self, options: Options) -> None:
        campaign = the_campaign(options["campaign"])
        if options["what"] == CAMPAIGN:
            self.say(_campaign(campaign, options))
            return
        if options["what"] == AUTOJUDGE:
            self.say(_autojudge(campaign, options))
            return
        lines = lines_of(options["what"], campaign, options)
        count = 0
        with _output(options["output"], self.stdout) as out:
            for line in lines:
                out.write(f"{line}\n")
                count += 1
        self.say(f"{count:,} lines written.")


def _add_output(parser: CommandParser) -> None:
    parser.add_argument("--name", default="assay", metavar="NAME", help="of autojudge: how its files begin")
    text = "instead of stdout; of autojudge: a new folder; of campaign: a ZIP, SLUG.zip where this is not said"
    parser.add_argument("--output", metavar="FILE", help=text)
    text = (
        "leave out what a licence does not allow: of campaign passages, answers and what LLMs were sent, "
        "of autojudge passages"
    )
    parser.add_argument("--without-texts", action="store_true", help=text)
    parser.add_argument("--pseudonyms", action="store_true", help="people by pseudonyms")
    text = "of campaign: keep it as a snapshot of this name too"
    parser.add_argument("--snapshot", default="", metavar="NAME", help=text)


def _campaign(campaign: Campaign, options: Options) -> str:
    path = Path(options["output"] or f"{campaign.slug}.zip")
    contents = SnapshotContents(texts=not options["without_texts"], names=not options["pseudonyms"])
    if options["snapshot"]:
        snapshot = take_snapshot(campaign=campaign, name=options["snapshot"], contents=contents)
        with path.open("wb") as out:
            write_snapshot(snapshot, out)
        return f"{path}: snapshot {snapshot.name}, SHA-256 {snapshot.sha256}."
    manifest = write_campaign(path, campaign, contents)
    return f"{path}: {manifest.rows:,} rows of {len(manifest.tables)} tables, content {manifest.content}."


def _autojudge(campaign: Campaign, options: Options) -> str:
    """Write a folder, which appears when it is whole."""
    if not options["output"] or "/" in options["name"]:
        raise Refused(
            "usage", "An export of autojudge needs --output, a new folder, and a --name without slashes."
        )
    path, export = Path(options["output"]), AutoJudgeFolder.of(campaign, options)
    if path.exists():
        raise Refused("cannot_write", f"{path} is there already: name a new folder.")
    count = 0
    with writing(path), TemporaryDirectory(dir=path.parent) as scratch, consistent_read():
        folder = Path(scratch) / "whole"
        (folder / "runs").mkdir(parents=True)
        for count, (name, lines) in enumerate(export.files(), start=1):  # noqa: B007
            with (folder / name).open("x", encoding="utf-8", newline="\n") as out:
                out.writelines(f"{line}\n" for line in lines)
        folder.rename(path)
    return " ".join([f"{path}: {count:,} {plural(count, 'file')}.", *export.remarks])


@contextmanager
def _output(name: str | None, stdout: OutputWrapper) -> Iterator[IO[str] | OutputWrapper]:
    if not name:
        yield stdout
        return
    with whole_file(Path(name)) as part, part.open("w", encoding="utf-8", newline="\n") as out:
        yield out
