"""A campaign leaves as a file and comes back, here or in an empty database, with every report and export as it was."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from evaluation.models import Campaign, Judge, QrelSource
from evaluation.terms import Condition, SupportCondition
from exchange.demo_campaign import SLUG, load_demo
from reports.frames import forget_sheets
from reports.methods import methods_documents
from tests.evaluation.world import run

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("round-trip")]

SCORED = [one.value for one in Condition]
SUPPORTED = [one.value for one in SupportCondition]
CORRELATED = [("A/A", "E/M"), ("E/A", "E/M"), ("A/A", "M/M"), ("M/A", "M/M")]
Printed = dict[str, tuple[int, str, str]]


def everything(slug: str) -> Printed:
    """Return all that reports and exports print of a campaign, by their words; what is refused too."""
    forget_sheets()
    return {" ".join(words): printed(*words, "--campaign", slug) for words in asked(slug)}


def printed(*words: str) -> tuple[int, str, str]:
    out = StringIO()
    with redirect_stdout(out):  # where exports write to
        done = run(*words)
    return done.code, done.out + out.getvalue(), done.err


def asked(slug: str) -> Iterator[list[str]]:
    """Yield the words of each report and export."""
    few = ["--resamples", "20"]
    judges = ["", *Judge.objects.filter(aside=False).order_by("name").values_list("name", flat=True)]
    for judge in judges:
        who = ["--judge", judge] if judge else []
        for one in SCORED:
            yield ["report", "scores", "--condition", one, "--format", "json", *who]
            yield ["export", "assignments", "--condition", one, *who]
        for one in SUPPORTED:
            yield ["report", "support", "--condition", one, "--format", "json", *who]
            yield ["export", "support", "--condition", one, *who]
        for x, y in CORRELATED:
            named = ["--y-judge", judge] if judge else []
            yield ["report", "correlation", "--x", x, "--y", y, "--format", "json", *few, *named]
            named = ["--columns-judge", judge] if judge else []
            yield ["report", "confusion", "--rows", x, "--columns", y, "--format", "json", *named]
    for one in ("scratch", "post-edit"):
        yield ["report", "support-correlation", "--x", "llm", "--y", one, "--format", "json", *few]
        yield ["report", "support-confusion", "--rows", "llm", "--columns", one, "--format", "json"]
    for kind in ("descriptives", "edits", "time"):
        yield ["report", kind, "--format", "json"]
    campaign = Campaign.objects.get(slug=slug)
    for name in campaign.nugget_sets.values_list("name", flat=True):
        yield ["export", "nuggets", "--nuggets", name]
        yield ["report", "edits", "--nuggets", name, "--format", "json"]
    for name in QrelSource.objects.filter(campaign=campaign).values_list("name", flat=True):
        yield ["export", "qrels", "--source", name]
    yield from (["export", "time"], ["export", "time", "--segments"], ["export", "events"])


@contextmanager
def elsewhere() -> Iterator[None]:
    """What the block writes is gone afterwards, as if it had been another server."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def taken_out(load: Callable[[], Any], slug: str, file: Path, *options: str) -> tuple[Printed, dict[str, str]]:
    """Load a campaign elsewhere, and write it into a file; return what was printed there."""
    with elsewhere():
        load()
        before, methods = everything(slug), methods_documents(Campaign.objects.get(slug=slug))
        done = run("export", "campaign", "--campaign", slug, "--output", str(file), *options)
        assert done.code == 0, done.err
    assert not Campaign.objects.exists()
    return before, methods


def test_the_demo_comes_back_in_an_empty_database_to_the_last_byte(tmp_path: Path) -> None:
    file = tmp_path / "demo.zip"
    before, methods = taken_out(load_demo, SLUG, file)
    assert len([one for one in before.values() if one[0] == 0]) > 60
    done = run("import_campaign", str(file))
    assert done.code == 0, done.err
    assert everything(SLUG) == before
    assert methods_documents(Campaign.objects.get(slug=SLUG)) == methods
