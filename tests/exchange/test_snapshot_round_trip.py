"""A campaign leaves as a file and comes back in an empty database, with every report and export as it was."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.db.models import Q

from evaluation.campaigns.create import create_campaign
from evaluation.imports.topics import import_topics
from evaluation.models import Assignment, Campaign, Event, Judge, QrelSource, SupportJudgment
from evaluation.terms import Condition, JudgeKind, SupportCondition
from exchange.demo_campaign import SLUG, load_demo
from reports.frames import forget_sheets
from reports.methods.report import methods_documents
from tests.worlds.blind import make_blind_world
from tests.worlds.cast import make_user, write_source
from tests.worlds.imported import run

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("round-trip")]

NOBODY = "nobody"
FEW = ["--resamples", "20"]
JSON = ["--format", "json"]
CORRELATED = [("A/A", "E/M"), ("E/A", "E/M"), ("A/A", "M/M"), ("M/A", "M/M")]
Printed = dict[str, tuple[int, str, str]]


def everything(slug: str, *, each_judge: bool = True) -> Printed:
    """Return all that reports and exports print of a campaign, by their words; what is refused too."""
    forget_sheets()
    labels = Assignment.objects.filter(answer__topic__campaign__slug=slug)
    citations = SupportJudgment.objects.filter(segment__campaign__slug=slug)
    known = Judge.objects.filter(
        Q(pk__in=labels.values("judge")) | Q(pk__in=citations.values("judge")), aside=False
    )
    known = known.order_by("name")
    judges = ["", *known.values_list("name", flat=True)] if each_judge else [""]
    commands = [*of_labels(judges), *of_pairs(judges), *of_campaign(Campaign.objects.get(slug=slug))]
    return {" ".join(words): printed(*words, "--campaign", slug) for words in commands}


def printed(*words: str) -> tuple[int, str, str]:
    out = StringIO()
    with redirect_stdout(out):  # where exports write to
        done = run(*words)
    return done.code, done.out + out.getvalue(), done.err


def named(option: str, judge: str) -> list[str]:
    return [option, judge] if judge else []


def of_labels(judges: list[str]) -> Iterator[list[str]]:
    for judge, condition in product(judges, Condition):
        yield ["report", "scores", "--condition", condition.value, *JSON, *named("--judge", judge)]
        yield ["export", "assignments", "--condition", condition.value, *named("--judge", judge)]
    for judge, kind in product(judges, SupportCondition):
        yield ["report", "support", "--condition", kind.value, *JSON, *named("--judge", judge)]
        yield ["export", "support", "--condition", kind.value, *named("--judge", judge)]


def of_pairs(judges: list[str]) -> Iterator[list[str]]:
    for judge, (x, y) in product(judges, CORRELATED):
        yield ["report", "correlation", "--x", x, "--y", y, *JSON, *FEW, *named("--y-judge", judge)]
        yield ["report", "confusion", "--rows", x, "--columns", y, *JSON, *named("--columns-judge", judge)]
    for condition in ("scratch", "post-edit"):
        yield ["report", "support-correlation", "--x", "llm", "--y", condition, *JSON, *FEW]
        yield ["report", "support-confusion", "--rows", "llm", "--columns", condition, *JSON]


def of_campaign(campaign: Campaign) -> Iterator[list[str]]:
    yield from (["report", kind, *JSON] for kind in ("descriptives", "edits", "time"))
    for name in campaign.nugget_sets.values_list("name", flat=True):
        yield ["export", "nuggets", "--nuggets", name]
        yield ["report", "edits", "--nuggets", name, *JSON]
    for name in QrelSource.objects.filter(campaign=campaign).values_list("name", flat=True):
        yield ["export", "qrels", "--source", name]
    yield from (["export", "time"], ["export", "time", "--segments"], ["export", "events"])


@contextmanager
def elsewhere() -> Iterator[None]:
    """What the block writes is gone afterwards, as if it had been another server."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def make_noise(folder: Path) -> None:
    """Let every table count from another number than where the file comes from."""
    other = create_campaign(slug="noise", name="Noise")[0]
    import_topics(campaign=other, source=write_source(folder, "noise.tsv", "n1\tone\nn2\ttwo\nn3\tthree\n"))
    Judge.objects.create(name=NOBODY, kind=JudgeKind.HUMAN, user=make_user("noise"))
    Event.objects.create(campaign=other, kind="noise")


def assert_round_trip(
    load: Callable[[], Any], slug: str, folder: Path, *options: str, each_judge: bool = True
) -> Printed:
    file = folder / "campaign.zip"
    with elsewhere():
        load()
        before = everything(slug, each_judge=each_judge)
        methods = methods_documents(Campaign.objects.get(slug=slug))
        done = run("export", "campaign", "--campaign", slug, "--output", str(file), *options)
        assert done.code == 0, done.err
    assert not Campaign.objects.exists()
    make_noise(folder)
    done = run("import_campaign", str(file))
    assert done.code == 0, done.err
    after = everything(slug, each_judge=each_judge)
    assert [words for words in before if before[words] != after[words]] == []
    assert methods_documents(Campaign.objects.get(slug=slug)) == methods
    assert run("import_campaign", str(file)).err.startswith("Nothing changed")
    return before


def test_a_campaign_at_work_comes_back_to_the_last_byte(tmp_path: Path) -> None:
    before = assert_round_trip(
        lambda: make_blind_world(tmp_path, with_canaries=False), "river", tmp_path, each_judge=False
    )
    assert len([result for result in before.values() if result[0] == 0]) > 10


@pytest.mark.slow
def test_the_demo_comes_back_to_the_last_byte(tmp_path: Path) -> None:
    before = assert_round_trip(load_demo, SLUG, tmp_path)
    assert len([result for result in before.values() if result[0] == 0]) > 60


@pytest.mark.slow
def test_the_demo_without_texts_gives_the_same_reports(tmp_path: Path) -> None:
    assert_round_trip(load_demo, SLUG, tmp_path, "--without-texts", each_judge=False)


@pytest.mark.slow
def test_the_list_qa_study_comes_back_to_the_last_byte(
    tmp_path: Path, load_list_qa: Callable[[str], None]
) -> None:
    before = assert_round_trip(lambda: load_list_qa("study"), "study", tmp_path)
    assert before["report scores --condition E/M --format json"][0] == 0
