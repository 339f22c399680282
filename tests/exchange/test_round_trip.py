"""What leaves a campaign and enters an empty one with the same topics and runs gives the same reports."""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db.models import F

from evaluation.campaigns.create import create_campaign, read_campaign_file
from evaluation.domain.conditions import judges_of, support_judges_of
from evaluation.models import Campaign, QrelSource
from evaluation.terms import Condition, JudgeKind, Origin, SupportCondition
from exchange.demo_campaign import FILES, RUNS, SLUG
from loadtest.demo.desks import FILES as MADE_OF
from tests.worlds.demo import make_demo

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("round-trip")]

COPY = "copy"


def command(*words: str, **options: Any) -> None:
    call_command(*words, stderr=StringIO(), **options)


def report(kind: str, slug: str, *words: str) -> Any:
    out = StringIO()
    call_command("report", kind, "--campaign", slug, "--format", "json", *words, stdout=out, stderr=StringIO())
    return json.loads(out.getvalue())


def copy_judgments(original: str, folder: Path) -> None:
    campaign = Campaign.objects.get(slug=original)
    for source in QrelSource.objects.filter(campaign=campaign):
        file = _export(folder, "qrels", original, "--source", source.name)
        command("import_qrels", file, "--campaign", COPY, "--source", source.name)
    for nugget_set in (
        campaign.nugget_sets.filter(lists__isnull=False)
        .distinct()
        .order_by(F("drafts").asc(nulls_first=True), "pk")
    ):
        file = _export(folder, "nuggets", original, "--nuggets", nugget_set.name)
        words = ["--set", nugget_set.name, "--judge", nugget_set.judge.name, "--by", nugget_set.judge.kind]
        words += ["--drafts", nugget_set.drafts.name] if nugget_set.drafts else []
        command("import_nuggets", file, "--campaign", COPY, "--origin", nugget_set.origin, *words)
    _copy_assignments(campaign, folder)
    _copy_support(campaign, folder)


def _copy_assignments(campaign: Campaign, folder: Path) -> None:
    for nugget_set in campaign.nugget_sets.all():
        for judge in judges_of(nugget_set):
            condition = Condition.of(Origin(nugget_set.origin), JudgeKind(judge.kind))
            who = ["--judge", judge.name, "--nuggets", nugget_set.name]
            file = _export(folder, "assignments", campaign.slug, "--condition", str(condition), *who)
            options = ["--campaign", COPY, "--origin", nugget_set.origin, "--by", judge.kind]
            command("import_assignments", file, *options, *who)


def _copy_support(campaign: Campaign, folder: Path) -> None:
    for condition in SupportCondition:
        for judge in support_judges_of(campaign, condition):
            who = ["--judge", judge.name]
            file = _export(folder, "support", campaign.slug, "--condition", condition, *who)
            words = ["--by", judge.kind, "--condition", condition, *who]
            command("import_support", file, "--campaign", COPY, *words)


def _export(folder: Path, what: str, slug: str, *words: str) -> str:
    file = folder / f"{what}.{len(list(folder.iterdir()))}"
    command("export", what, "--campaign", slug, "--output", str(file), *words)
    return str(file)


@pytest.fixture
def demo(tmp_path: Path) -> str:
    make_demo()
    # With the same settings: several people gave labels, and these say whose count.
    create_campaign(slug=COPY, name="Copy", file=read_campaign_file(MADE_OF / "campaign.toml"))
    command("import_topics", str(FILES / "topics.jsonl"), "--campaign", COPY)
    for run_id, options in RUNS.items():
        words = ["--group", options.group, "--task", options.task, "--priority", options.priority]
        words += ["--control"] if options.control else []
        command("import_run", str(FILES / f"runs/{run_id}.jsonl"), "--campaign", COPY, *map(str, words))
    command("import_segments", str(FILES / "segments.jsonl"), "--campaign", COPY)
    copy_judgments(SLUG, tmp_path)
    return SLUG


@pytest.fixture
def study(shared_data: Path, tmp_path: Path, load_list_qa: Callable[[str], None]) -> str:
    load_list_qa("study")
    create_campaign(slug=COPY, name="Copy")
    folder = shared_data / "qampari-list-qa"
    command("import_topics", str(folder / "topics.tsv"), "--campaign", COPY)
    command("import_run", *map(str, sorted(folder.glob("runs/*.jsonl"))), "--campaign", COPY)
    command("import_segments", str(folder / "segments.jsonl"), "--campaign", COPY)
    copy_judgments("study", tmp_path)
    return "study"


def assert_same(original: str, kind: str, *words: str) -> None:
    assert report(kind, original, *words) == report(kind, COPY, *words)


def test_the_demo_comes_back_with_the_same_scores(demo: str) -> None:
    for condition in ("A/A", "E/A", "M/A", "M/M"):
        for unjudged in ("exclude", "zero"):
            assert_same(demo, "scores", "--condition", condition, "--unjudged", unjudged)
    for judge in ("Ann Archer", "Ben Brook"):
        assert_same(demo, "scores", "--condition", "E/M", "--judge", judge)


def test_the_demo_comes_back_with_the_same_agreement(demo: str) -> None:
    people = ["--y-judge", "Ann Archer"]
    assert_same(demo, "correlation", "--x", "A/A", "--y", "E/M", *people)
    assert_same(demo, "confusion", "--rows", "E/A", "--columns", "E/M", "--columns-judge", "Ben Brook")


def test_the_demo_comes_back_with_the_same_support(demo: str) -> None:
    for condition in SupportCondition:
        assert_same(demo, "support", "--condition", condition)
    assert_same(demo, "support-confusion", "--rows", "llm", "--columns", "scratch")
    assert_same(demo, "support-correlation", "--x", "llm", "--y", "scratch")


def test_the_demo_comes_back_with_the_same_descriptions(demo: str) -> None:
    assert_same(demo, "descriptives")
    for nuggets in ("edited", "edited-Ben Brook"):  # matched by wording, and by the lineage of a desk
        assert_same(demo, "edits", "--nuggets", nuggets)


def test_the_demo_s_qrels_come_back(demo: str, tmp_path: Path) -> None:
    for name in ("NIST", "UMBRELA"):
        files = [_export(tmp_path, "qrels", slug, "--source", name) for slug in (demo, COPY)]
        assert Path(files[0]).read_text() == Path(files[1]).read_text()


def test_the_list_qa_study_comes_back_with_the_same_reports(study: str) -> None:
    for condition in (Condition.AA, Condition.EA, Condition.EM):
        assert_same(study, "scores", "--condition", condition)
    for topics in ("all", "common"):
        assert_same(study, "correlation", "--x", "A/A", "--y", "E/M", "--topics", topics)
    assert_same(study, "confusion", "--rows", "E/A", "--columns", "E/M")
    assert_same(study, "descriptives")
    assert_same(study, "edits")


def test_an_export_imported_where_it_came_from_changes_nothing(demo: str, tmp_path: Path) -> None:
    file = _export(tmp_path, "nuggets", demo, "--nuggets", "edited")
    out = StringIO()
    words = ["--origin", "edited", "--judge", "Ann Archer", "--set", "edited"]
    call_command("import_nuggets", file, "--campaign", demo, *words, stderr=out)
    assert "Nothing changed" in out.getvalue()
