"""The documents say what the code does: names are complete, links lead somewhere, examples run."""

import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.core.management import call_command, load_command_class
from django.core.management.base import CommandError

from assessor.practice.rules import parse_practice
from evaluation.campaigns.create import BattleSettings, ProtocolSettings, read_campaign_file
from evaluation.errors import BadInput
from evaluation.formats.argue import parse_lists
from evaluation.formats.assignments import parse_assignments
from evaluation.formats.battles import parse_battles
from evaluation.formats.citation_judgments import parse_support
from evaluation.formats.runs import parse_run
from evaluation.formats.scores import parse_scores
from evaluation.formats.segments import parse_segments
from evaluation.formats.source import read_source
from evaluation.formats.topics import parse_qrels, parse_topics
from evaluation.management.base import AssayCommand
from evaluation.terms import FindingCode, StudyKind
from llmjobs.prompt_store import read_wording
from reports.metrics.registry import BY_NAME
from reports.random_checks.importing import parse_random_check
from reports.registry import documents
from tests.architecture.tree import DJANGOS

ROOT = Path(__file__).resolve().parents[2]
DOCS = sorted([*ROOT.glob("*.md"), *ROOT.glob("client/*.md"), *ROOT.glob("docs/**/*.md")])
EXAMPLE = ROOT / "docs" / "example"
COMMANDS = sorted(
    (path.parts[-4], path.stem)
    for path in ROOT.glob("*/management/commands/[a-z]*.py")
    if path.stem not in DJANGOS
)
BLOCK = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
HOST = re.compile(r"https?://(?P<host>[^/\s`)>\"]+)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")

# Who is spoken of by address: the papers, the two conventions of the changelog, this machine, and made-up hosts.
HOSTS = re.compile(r"arxiv\.org|keepachangelog\.com|semver\.org|127\.0\.0\.1(:\d+)?|[a-z.]*\bexample(\.org)?")

PARSERS: dict[str, Callable[[str], object]] = {
    "campaign": read_campaign_file,
    "topics": lambda path: parse_topics(read_source(path)),
    "segments": lambda path: parse_segments(read_source(path)),
    "qrels": lambda path: parse_qrels(read_source(path)),
    "run": lambda path: parse_run(read_source(path)),
    "nuggets": lambda path: parse_lists(read_source(path)),
    "assignments": lambda path: parse_assignments(read_source(path)),
    "support": lambda path: parse_support(read_source(path)),
    "random-check": lambda path: parse_random_check(read_source(path), StudyKind.ASSIGNMENT, ()),
    "battles": lambda path: parse_battles(read_source(path), "assay"),
    "practice": lambda path: parse_practice(read_source(path)),
    "scores": lambda path: parse_scores(read_source(path), BY_NAME),
    "prompt": lambda path: read_wording(read_source(path)),
}


@dataclass(frozen=True, slots=True)
class Example:
    """A file shown in docs/formats.md. A refused one is followed by what is said of it, if that is shown."""

    kind: str
    body: str
    refused: bool
    message: str

    def __str__(self) -> str:
        return f"{self.kind}{'-refused' if self.refused else ''}"


def blocks(path: Path) -> list[tuple[list[str], str]]:
    """Return the fenced blocks of a document: the words of the info string, and the body."""
    return [(match["info"].split(), match["body"]) for match in BLOCK.finditer(path.read_text("utf-8"))]


def examples() -> Iterator[Example]:
    there = blocks(ROOT / "docs" / "formats.md")
    for (info, body), (next_info, next_body) in zip(there, [*there[1:], ([], "")], strict=True):
        if len(info) > 1:
            message = next_body.rstrip("\n") if next_info == ["text"] else ""
            yield Example(info[1], body, "refused" in info, message)


@pytest.mark.parametrize("example", list(examples()), ids=str)
def test_each_example_of_a_file_is_read_or_refused_as_it_says(
    example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("FILE").write_text(example.body, "utf-8")
    if not example.refused:
        assert PARSERS[example.kind]("FILE")
        return
    with pytest.raises(BadInput) as refusal:
        PARSERS[example.kind]("FILE")
    assert example.message in ("", refusal.value.message)


def test_every_kind_of_file_has_an_example() -> None:
    assert {example.kind for example in examples() if not example.refused} == PARSERS.keys()


def test_the_campaign_example_names_every_setting() -> None:
    example = next(example for example in examples() if example.kind == "campaign")
    named = set(re.findall(r"^([a-z_]+) = ", example.body, re.MULTILINE))
    assert named >= {*ProtocolSettings.model_fields, *BattleSettings.model_fields}


def test_every_finding_is_explained() -> None:
    rows = rows_of(ROOT / "docs" / "formats.md")
    assert [code for code in FindingCode if code not in rows] == []


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["docs/commands.md", "docs/metrics.md"])
def test_printed_commands_run_and_print_what_is_shown(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shutil.copytree(EXAMPLE, tmp_path / "example"))
    for line, shown in printed_commands(ROOT / name):
        call_command(*shlex.split(line)[1:])
        printed = capsys.readouterr().out
        assert shown in ("", printed), line


def printed_commands(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each command of the console blocks with the output shown below it, '' where none is."""
    for info, body in blocks(path):
        if info == ["console"]:
            for part in body.removeprefix("$ ").split("\n$ "):
                line, _, shown = part.rstrip("\n").partition("\n")
                yield line, f"{shown}\n" if shown else ""


def test_every_environment_variable_is_documented() -> None:
    settings = (ROOT / "config" / "settings.py").read_text("utf-8")
    server = (ROOT / "gunicorn.conf.py").read_text("utf-8")
    read = set(re.findall(r"\b(?:env\.\w+|secret)\(\s*\"([A-Z_]+)\"", settings))
    read |= set(re.findall(r"environ\.get\(\s*\"([A-Z_]+)\"", server))
    shown = set(re.findall(r"^#?([A-Z_]+)=", (ROOT / ".env.example").read_text("utf-8"), re.MULTILINE))
    assert len(read) > 10
    assert sorted(read - shown) == []
    assert sorted(read - rows_of(ROOT / "docs" / "settings.md")) == []


@pytest.mark.parametrize(("app", "name"), COMMANDS)
def test_every_command_is_documented_with_its_options(app: str, name: str) -> None:
    text = (ROOT / "docs" / "commands.md").read_text("utf-8")
    section = re.search(rf"^### {name}\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    assert section, f"docs/commands.md has no section on {name}"
    assert [option for option in options_of(app, name) if option not in section[1]] == []


def options_of(app: str, name: str) -> list[str]:
    """Return a command's own options, those of its kinds included."""
    own = load_command_class(app, name).create_parser("manage.py", name)
    options = set(OPTION.findall(own.format_help()))
    if name == "report":
        of_reports = (option.name for entry in documents().values() for option in entry.options)
        options |= {f"--{name.replace('_', '-')}" for name in of_reports} | {"--format"}
    common = AssayCommand().create_parser("manage.py", name)
    return sorted(options - set(OPTION.findall(common.format_help())))


def test_every_report_is_documented() -> None:
    assert sorted(documents().keys() - rows_of(ROOT / "docs" / "commands.md")) == []


@pytest.mark.parametrize("path", DOCS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    targets = [match["target"].partition("#")[0] for match in LINK.finditer(path.read_text("utf-8"))]
    inside = [target for target in targets if target and "://" not in target]
    assert [target for target in inside if not (path.parent / target).exists()] == []


@pytest.mark.parametrize("path", [*DOCS, ROOT / ".env.example"], ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_name_no_other_host_and_no_folder_of_this_machine(path: Path) -> None:
    text = path.read_text("utf-8")
    assert [match["host"] for match in HOST.finditer(text) if not HOSTS.fullmatch(match["host"])] == []
    assert str(ROOT) not in text


def rows_of(path: Path) -> set[str]:
    """Return what the first cells of a document's tables name, in backticks."""
    cells = re.findall(r"^\| (`[^|]*`) \|", path.read_text("utf-8"), re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def command_lines() -> Iterator[tuple[str, str]]:
    for path in DOCS:
        for info, body in blocks(path):
            if info[:1] not in (["console"], ["sh"], ["text"]):
                continue
            for line in body.replace("\\\n", " ").splitlines():
                if found := re.search(r"manage\.py ([a-z_]+ ?.*)", line):
                    yield path.name, found[1].rstrip(" &")


def test_every_command_line_of_the_documents_is_taken() -> None:
    refused = []
    for name, line in command_lines():
        words = shlex.split(line.partition(" > ")[0].partition(" | ")[0])
        app = next((app for app, command in COMMANDS if command == words[0]), "")
        if not app:
            continue  # Django's own
        parser = load_command_class(app, words[0]).create_parser("manage.py", words[0])
        try:
            parser.parse_args(words[1:])
        except (CommandError, SystemExit) as error:
            refused.append((name, line, str(error)))
    assert refused == []
    assert len(list(command_lines())) > 40
