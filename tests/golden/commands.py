"""What `report` and `export` print of a campaign, with every report, export and option that they have."""

import io
from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from itertools import cycle, product
from pathlib import Path

from django.core.management import load_command_class
from django.core.management.base import BaseCommand

from evaluation.models import Campaign
from evaluation.terms import BattleCondition, Condition, SupportCondition, SupportMeasure
from exchange.exports.lines import EXPORT_FORMS
from reports.metrics.support import SUPPORT_NAMES
from reports.random_checks.corrected import CORRECTED_SCORES
from reports.registry import documents, pages
from tests.golden.archives import listed
from tests.golden.keeping import Documents
from tests.golden.worlds import NAMED, RANDOM_CHECK
from tests.worlds.battles import BATTLES
from tests.worlds.imported import run

Words = tuple[str, ...]
FEW = ("--resamples", "20")
OTHER_METHODS = ("--method", "spearman", "--method", "tauap", "--method", "rbo", "--rbo-p", "0.8")
PAIRS = (("A/A", "E/M"), ("E/M", "E/A"), ("M/M", "A/A"), ("M/A", "M/M"), ("A/M", "M/A"), ("E/A", "A/M"))
SUPPORT_PAIRS = (("llm", "scratch"), ("scratch", "post-edit"), ("post-edit", "llm"))
SCORES = ("vital_strict", "vital", "weighted_strict", "weighted", "all_strict", "all")
OTHERS = ("length", "rubric", "rubric_strict", "violations", "mandatory_missed")
POLICIES = (("--missing", "skip"), ("--unjudged", "zero"), ("--no-vital", "skip"))
PROFILES = (("--profile", "rubric"), ("--profile", "trec-rag"))
HUMAN = ("--condition", "E/M")
FREE = {"tag": "easy", "group": "hill", "task": "RAG"}
OF_NO_CONSEQUENCE = {
    "campaign",
    "format",
    "output",
    *(action.dest for action in BaseCommand().create_parser("manage.py", "any")._actions),
}
"""Options with which every document is made, or that change none."""


def reports(world: str) -> Iterator[Words]:
    """Yield what follows `report` but for campaign and format."""
    person, nuggets, machine, drafts = NAMED[world]
    yield from (("scores", "--condition", condition) for condition in Condition)
    for choice in (*POLICIES, *PROFILES):
        yield "scores", *HUMAN, *choice
    yield "scores", *HUMAN, "--judge", person, "--nuggets", nuggets
    for x, y in PAIRS:
        yield "correlation", "--x", x, "--y", y, *FEW
        yield "confusion", "--rows", x, "--columns", y
    for score in (*SCORES, *OTHERS):
        yield "correlation", "--x", "A/A", "--y", "E/M", "--score", score, *FEW
    for policy in (*POLICIES, ("--topics", "all")):
        yield "correlation", "--x", "A/A", "--y", "E/M", *policy, *FEW
    yield "correlation", "--x", "A/A", "--y", "E/M"
    yield "correlation", "--x", "A/A", "--y", "E/M", *OTHER_METHODS, *FEW
    yield "correlation", "--x", "published", "--y", "E/M", *FEW
    yield "correlation", *_sides("x", "y", machine, person, nuggets), *FEW
    yield "confusion", *_sides("rows", "columns", machine, person, nuggets)
    yield from of_comparisons(person, nuggets)
    yield from of_samples(person, nuggets)
    yield ("descriptives",)
    yield ("edits",)
    yield "edits", "--nuggets", nuggets, "--drafts", drafts
    yield from of_support(person, machine)
    yield "study", "--study", "where they differ"
    if world == "demo":
        yield from of_random_check()
        yield from of_battles(person, nuggets, machine)
    yield from of_judges()
    yield ("time",)
    yield "time", "--idle", "60"
    yield from of_pages(world)


def _sides(first: str, second: str, machine: str, person: str, nuggets: str) -> Words:
    named = [(first, "E/A", machine), (second, "E/M", person)]
    return tuple(
        word
        for side, condition, judge in named
        for word in (f"--{side}", condition, f"--{side}-judge", judge, f"--{side}-nuggets", nuggets)
    )


def of_samples(person: str, nuggets: str) -> Iterator[Words]:
    yield from (("samples", "--condition", condition) for condition in Condition)
    yield from (("samples", *HUMAN, "--score", score) for score in (*SCORES, *OTHERS))
    yield from (("samples", *HUMAN, *policy) for policy in POLICIES)
    yield "samples", *HUMAN, "--judge", person, "--nuggets", nuggets, "--threshold", "0.25"


def of_comparisons(person: str, nuggets: str) -> Iterator[Words]:
    yield from (("comparisons", "--condition", condition) for condition in Condition)
    for score in (*SCORES, *OTHERS):
        yield "comparisons", *HUMAN, "--score", score
    yield from (("comparisons", *HUMAN, *policy) for policy in POLICIES)
    yield "comparisons", *HUMAN, "--judge", person, "--nuggets", nuggets
    yield from (("support-comparisons", "--condition", condition) for condition in SupportCondition)
    of_people = ("support-comparisons", "--condition", "scratch")
    for score in SUPPORT_NAMES:
        yield *of_people, "--score", score
    measures = tuple(("--measure", measure) for measure in SupportMeasure)
    for policy in (*measures, ("--no-cited", "zero"), ("--missing", "skip"), ("--judge", person)):
        yield *of_people, *policy


def of_support(person: str, machine: str) -> Iterator[Words]:
    yield from (("support", "--condition", support_condition) for support_condition in SupportCondition)
    measures = tuple(("--measure", measure) for measure in SupportMeasure)
    for policy in (*measures, ("--no-cited", "zero"), ("--missing", "skip"), ("--judge", person)):
        yield "support", "--condition", "scratch", *policy
    for x, y in SUPPORT_PAIRS:
        yield "support-correlation", "--x", x, "--y", y, *FEW
        yield "support-confusion", "--rows", x, "--columns", y
    between = ("support-correlation", "--x", "llm", "--y", "scratch")
    yield *between, *OTHER_METHODS, *FEW
    for score in SUPPORT_NAMES:
        yield *between, "--score", score, *FEW
    for measure in measures:
        yield "support-confusion", "--rows", "llm", "--columns", "scratch", *measure
    for policy in (*measures, ("--no-cited", "zero"), ("--missing", "skip"), ("--topics", "all")):
        yield *between, *policy, *FEW
    yield *between, "--x-judge", machine, "--y-judge", person, *FEW
    yield (
        "support-confusion",
        "--rows",
        "llm",
        "--columns",
        "scratch",
        "--rows-judge",
        machine,
        "--columns-judge",
        person,
    )


def of_judges() -> Iterator[Words]:
    for truth in ("E/M", "published"):
        yield "judges", "--truth", truth, "--on-missing", "warn"
    base = ("judges", "--truth", "E/M", "--truth-measure", "vital_strict")
    yield base
    methods = ("kendall", "spearman", "pearson", "tauap", "tauap_a", "tauap_b", "tau_gap", "rbo", "kendall@3")
    for on_missing in ("skip", "default"):
        yield *base, "--on-missing", on_missing, *(word for name in methods for word in ("--method", name))
    yield *base, "--measure", "vital_strict", "--only-shared-runs", "--only-shared-topics"
    yield *base, "--method", "rbo", "--rbo-p", "0.8", "--on-missing", "warn"


def of_pages(world: str) -> Iterator[Words]:
    person, nuggets, *_ = NAMED[world]
    values = {"judge": person, "nuggets": nuggets} | FREE
    for name in [page.name for page in pages().values() if page.text]:
        choices = {
            f"--{option.name.replace('_', '-')}": option.choices or (values[option.name],)
            for option in documents()[name].options
        }
        yield (name,)
        yield name, "--condition", "E/M", "--judge", person, "--nuggets", nuggets
        # One choice of every option at a time, so that each is in some document.
        for place in range(max(map(len, choices.values()))):
            chosen = ((flag, words[place % len(words)]) for flag, words in choices.items())
            yield name, *(word for pair in chosen for word in pair)


def of_random_check() -> Iterator[Words]:
    base = ("corrected", "--study", RANDOM_CHECK, "--least-judged", "1")
    yield base[:3]
    for score in CORRECTED_SCORES:
        yield *base, "--score", score
    measures = (("--measure", measure) for measure in SupportMeasure)
    policies = (
        *measures,
        ("--missing", "skip"),
        ("--unjudged", "zero"),
        ("--no-vital", "skip"),
        ("--no-cited", "zero"),
    )
    for words in (*policies, ("--target", "new"), ("--pairs",)):
        yield *base, *words


def of_battles(person: str, nuggets: str, machine: str) -> Iterator[Words]:
    yield from (("battles", "--condition", condition) for condition in BattleCondition)
    base = ("battles", "--least-topics", "2", "--least-battles", "1", "--condition")
    yield from ((*base, condition) for condition in BattleCondition)
    for words in (("--set", BATTLES, "--judge", person), ("--by", "rating"), ("--against", "B/A")):
        yield *base, "B/M", *words
    yield from ((*base, condition, "--by", "corrected") for condition in BattleCondition)
    yield *base, "B/A", "--by", "corrected", "--target", "new"
    of_nuggets = zip((*SCORES, *OTHERS), cycle(Condition))
    of_citations = zip(SUPPORT_NAMES, cycle(SupportCondition))
    for score, condition in (*of_nuggets, *of_citations):
        yield *base, "B/M", "--against", condition, "--score", score
    yield *base, "B/A", "--against", "B/M", "--against-judge", person
    yield *base, "B/M", "--against", "E/A", "--against-judge", machine, "--against-nuggets", nuggets


def exports(world: str, sets: Iterable[str]) -> Iterator[Words]:
    """Yield what follows `export` but for the campaign."""
    person, nuggets, *_ = NAMED[world]
    for what, condition in product(("nuggets", "assignments", "scores"), Condition):
        yield what, "--condition", condition
    for name in [nuggets, *sets]:
        yield from (("nuggets", "--nuggets", name, "--form", form) for form in EXPORT_FORMS["nuggets"])
    for what in ("assignments", "scores"):
        yield what, *HUMAN, "--judge", person, "--nuggets", nuggets
    yield "assignments", *HUMAN, "--judge", person, "--nuggets", nuggets, "--form", "graded"
    for choice in (*POLICIES, *PROFILES):
        yield "scores", *HUMAN, *choice
    files = ("scores", "--form")
    yield from ((*files, form, *HUMAN) for form in EXPORT_FORMS["scores"])
    yield *files, "trec_eval", *HUMAN, "--run", "nobody"
    yield *files, "tot", "--condition", "published", "--digits", "6"
    yield from (("support", "--condition", support_condition) for support_condition in SupportCondition)
    yield "support", "--condition", "scratch", "--judge", person
    yield from (("support", "--condition", "scratch", "--form", form) for form in EXPORT_FORMS["support"])
    yield ("qrels",)
    yield from (("qrels", "--source", name) for name in ("NIST", "UMBRELA"))
    yield "random-check", "--study", RANDOM_CHECK
    battles = ("battles", "--condition")
    yield from ((*battles, condition) for condition in BattleCondition)
    yield from ((*battles, "B/M", "--form", form) for form in EXPORT_FORMS["battles"])
    yield *battles, "B/M", "--set", BATTLES, "--judge", person
    yield from (("judgments",), ("judgments", "--stage", "grade"), ("time",), ("time", "--segments"), ("events",))
    yield from (("campaign",), ("campaign", "--without-texts"), ("campaign", "--pseudonyms"))
    yield "campaign", "--snapshot", "as it was"
    yield "autojudge", *HUMAN, "--source", "NIST"
    yield "autojudge", *HUMAN, "--source", "NIST", "--name", "truth", "--without-texts"


def report_documents(campaign: Campaign, world: str) -> Documents:
    for words in reports(world):
        for form in ("json", "csv", "table"):
            text = printed("report", *words, "--campaign", campaign.slug, "--format", form)
            yield f"report-{words[0]}", " ".join([*words, "--format", form]), text


def export_documents(campaign: Campaign, world: str, folder: Path) -> Documents:
    """Yield every export. Of a whole campaign, what each file of its archive holds."""
    sets = campaign.nugget_sets.order_by("name").values_list("name", flat=True)
    for words in exports(world, sets):
        command = ("export", *words, "--campaign", campaign.slug)
        if words[0] == "campaign":
            file = folder / "campaign.zip"
            text = printed(*command, "--output", str(file)) or listed(file.read_bytes())
        elif words[0] == "autojudge":
            place = folder / f"autojudge-{len(words)}"
            text = printed(*command, "--output", str(place)) + b"".join(contents_of(place))
        else:
            text = printed(*command)
        yield f"export-{words[0]}", " ".join(words), text


def contents_of(folder: Path) -> Iterator[bytes]:
    for file in sorted(folder.rglob("*.*")):
        yield f"{file.relative_to(folder)}\n".encode() + file.read_bytes()


def printed(*words: str) -> bytes:
    """Return what a command writes to standard output; of one that is refused its status and the reason."""
    out = io.StringIO()
    with redirect_stdout(out):  # where exports write to
        done = run(*words)
    return (f"{done.out}{out.getvalue()}" if done.code == 0 else f"exit {done.code}\n{done.err}").encode()


def uncovered(command: str, app: str, used: Iterable[Words]) -> list[str]:
    """Return what a command offers and no document uses: its words to choose from, and its options."""
    parser = load_command_class(app, command).create_parser("manage.py", command)
    given = [parser.parse_args([*words, "--campaign", "river"]) for words in used]
    return sorted(f"{command} {unused}" for unused in _unused(parser, given))


def _unused(parser: ArgumentParser, given: Sequence[Namespace]) -> Iterator[str]:
    for action in parser._actions:
        values = [getattr(namespace, action.dest, None) for namespace in given]
        seen = {tuple(value) if isinstance(value, list) else value for value in values}
        name = (action.option_strings or [action.dest])[0]
        if action.dest in OF_NO_CONSEQUENCE:
            continue
        if isinstance(action, _SubParsersAction):
            for kind, below in action.choices.items():
                mine = [namespace for namespace in given if getattr(namespace, action.dest) == kind]
                yield from (f"{kind} {unused}".strip() for unused in (_unused(below, mine) if mine else [""]))
        elif action.choices:
            yield from (f"{name} {choice}" for choice in action.choices if choice not in seen)
        elif seen <= {action.default}:
            yield name
