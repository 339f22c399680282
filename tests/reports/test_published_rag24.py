"""Method, section 10, on the 2024 track's files: the figures that must come out, through the commands."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from pytest_django.plugin import DjangoDbBlocker

from evaluation.models import Campaign, Finding
from tests.reports.surfaces import admin, check_scores, check_today
from tests.worlds.imported import load, report, run

GPT, COMMAND = "baseline_rag24.test_gpt-4o_top20", "baseline_rag24.test_command-r-plus_top20"
FILES = [f"{run_id}.jsonl" for run_id in (GPT, COMMAND)]
SCORES = ("vital_strict", "vital", "all_strict", "all", "weighted_strict", "weighted")
AUTO = ("--origin", "auto", "--judge", "mistral")


def load_topics_and_runs(data: Path, runs: str) -> None:
    assert run("create_campaign", "river", "--name", "TREC 2024 RAG").code == 0
    load("import_topics", data / "topics.rag24.test.tsv")
    load("import_qrels", "--source", "NIST", data / "qrels.rag24.test.txt")
    load("import_run", "--group", "ragnarok", "--task", "AG", *(data / runs / name for name in FILES))


@pytest.fixture(scope="module")
def rag24(django_db_setup: None, django_db_blocker: DjangoDbBlocker, shared_data: Path) -> Iterator[Path]:
    """The track's campaign, loaded once for this module and rolled back."""
    data = shared_data / "trec-rag-2024"
    with django_db_blocker.unblock(), transaction.atomic():
        load_topics_and_runs(data, "runs")
        load("import_nuggets", *AUTO, data / "nuggets.mistral.jsonl")
        labels = [data / "assignments.mistral" / name for name in FILES]
        load("import_assignments", *AUTO, "--by", "llm", *labels)
        yield data
        transaction.set_rollback(True)


def of(document: Any, run_id: str) -> Any:
    return next(row for row in document["runs"] if row["run_id"] == run_id)


def scores(*policies: str) -> Any:
    return report("scores", "--condition", "A/A", *policies)


@pytest.mark.usefixtures("rag24")
@pytest.mark.parametrize(("run_id", "words"), [(GPT, "300.93"), (COMMAND, "251.75")])
def test_the_published_lengths(run_id: str, words: str) -> None:
    document = report("scores", "--condition", "M/M")
    row = of(document, run_id)
    assert f"{row['length']:.2f}" == words
    assert all(row[name] is None for name in SCORES)
    assert document["topics"] == 301


@pytest.mark.usefixtures("rag24")
@pytest.mark.parametrize(
    ("run_id", "mean", "total", "uncited"), [(GPT, "13.21", 3975, 1662), (COMMAND, "12.26", 3690, 329)]
)
def test_the_sentences(run_id: str, mean: str, total: int, uncited: int) -> None:
    row = of(report("support", "--condition", "scratch"), run_id)
    assert f"{row['sentences']:.2f}" == mean
    assert (row["sentences_total"], row["sentences_uncited"]) == (total, uncited)


@pytest.mark.usefixtures("rag24")
def test_no_finding_about_lengths_or_references() -> None:
    about = ["response_length", "answer_too_long", "too_many_references", "duplicate_reference"]
    assert not Finding.objects.filter(code__in=about).exists()


@pytest.mark.usefixtures("rag24")
@pytest.mark.parametrize(
    ("run_id", "values", "failed", "unjudged"),
    [
        (GPT, (".4082", ".4699", ".3034", ".3649", ".3400", ".4015"), 25, 2),
        (COMMAND, (".4027", ".4810", ".3072", ".3854", ".3399", ".4185"), 26, 3),
    ],
)
def test_scores_with_unjudged_as_zero(run_id: str, values: tuple[str, ...], failed: int, unjudged: int) -> None:
    row = of(scores("--unjudged", "zero"), run_id)
    assert tuple(f"{row[name]:.4f}".lstrip("0") for name in SCORES) == values
    assert (row["failed"], row["unjudged"], row["excluded"]) == (failed, unjudged, 0)


@pytest.mark.usefixtures("rag24")
@pytest.mark.parametrize(("run_id", "value", "answers"), [(GPT, "0.4136", 291), (COMMAND, "0.4073", 290)])
def test_scores_with_unjudged_excluded(run_id: str, value: str, answers: int) -> None:
    row = of(scores("--unjudged", "exclude"), run_id)
    assert (f"{row['vital_strict']:.4f}", row["topics"]) == (value, answers)
    assert row["excluded"] == 301 - answers


@pytest.mark.usefixtures("rag24")
def test_the_dirty_labels_of_the_lists() -> None:
    codes = Counter(Finding.objects.values_list("code", flat=True))
    assert codes["unknown_importance"] == 40
    assert codes["unknown_label"] == 25 + 26
    assert Finding.objects.filter(code="repeated_nugget").values("topic_id").distinct().count() == 4
    assert Finding.objects.filter(message__contains="'ming_dynasty_support'").exists()


@pytest.mark.usefixtures("rag24")
def test_the_same_files_again_change_nothing(rag24: Path) -> None:
    labels = [rag24 / "assignments.mistral" / name for name in FILES]
    for outcome in (
        load("import_qrels", "--source", "NIST", rag24 / "qrels.rag24.test.txt"),
        load("import_run", *(rag24 / "runs" / name for name in FILES)),
        load("import_nuggets", *AUTO, rag24 / "nuggets.mistral.jsonl"),
        load("import_assignments", *AUTO, "--by", "llm", *labels),
    ):
        assert outcome.err.startswith("Nothing changed: ")


@pytest.mark.django_db
def test_findings_of_the_runs_as_their_system_wrote_them(shared_data: Path) -> None:
    load_topics_and_runs(shared_data / "trec-rag-2024", "runs-as-submitted")
    found = Counter(Finding.objects.values_list("code", "run_id"))
    counts = {code: (found[code, GPT], found[code, COMMAND]) for code in sorted({code for code, _ in found})}
    assert counts["response_length"] == (53, 44)
    assert counts["answer_too_long"] == (30, 10)
    assert counts["duplicate_citation"] == (5, 0)


@pytest.mark.usefixtures("rag24")
def test_every_surface_has_the_same_scores_over_the_same_topics() -> None:
    campaign, client = Campaign.objects.get(), admin()
    expected = check_scores(campaign, client, "A/A")
    assert [expected[run_id][1] for run_id in (GPT, COMMAND)] == [291, 290]
    check_today(campaign, client, {"A/A": expected})
