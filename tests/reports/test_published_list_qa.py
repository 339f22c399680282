"""Method, section 10, on the list-QA study: the taus, confusion, descriptives and edits that must come out."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from pytest_django.plugin import DjangoDbBlocker

from evaluation.models import Campaign
from tests.worlds.cast import make_cast, make_user
from tests.worlds.imported import load, report, run

AUTO, EDITED = ("--origin", "auto"), ("--origin", "edited")
BY_LLM, BY_PEOPLE = ("--judge", "llm", "--by", "llm"), ("--judge", "authors", "--by", "human")
LEVELS = ("run_level", "topic_average", "all_topic_run")


def load_study(data: Path) -> None:
    """Make the study's campaign."""
    assert run("create_campaign", "river", "--name", "List QA").code == 0
    load("import_topics", data / "topics.tsv")
    load("import_segments", data / "segments.jsonl")
    load("import_qrels", "--source", "gold", data / "qrels.txt")
    load("import_run", "--task", "RAG", *sorted((data / "runs").iterdir()))
    load("import_nuggets", *AUTO, "--judge", "llm", data / "nuggets" / "auto.jsonl")
    load("import_nuggets", *EDITED, "--judge", "authors", data / "nuggets" / "edited.jsonl")
    for options, folder in (
        ((*AUTO, *BY_LLM), "auto-nuggets.auto-assign"),
        ((*EDITED, *BY_LLM), "edited-nuggets.auto-assign"),
        ((*EDITED, *BY_PEOPLE), "edited-nuggets.manual-assign"),
    ):
        load("import_assignments", *options, *sorted((data / "assignments" / folder).iterdir()))


@pytest.fixture(scope="module")
def list_qa(django_db_setup: None, django_db_blocker: DjangoDbBlocker, shared_data: Path) -> Iterator[Path]:
    """The study's campaign, loaded once for this module and rolled back."""
    data = shared_data / "qampari-list-qa"
    with django_db_blocker.unblock(), transaction.atomic():
        load_study(data)
        yield data
        transaction.set_rollback(True)


def taus(x: str, score: str, *policies: str) -> Any:
    return report("correlation", "--x", x, "--y", "E/M", "--score", score, "--resamples", "10", *policies)


def rounded(document: Any) -> list[str]:
    return [f"{document[level]:.3f}".lstrip("0") for level in LEVELS]


ZERO = ("--unjudged", "zero")
TAUS = [
    (("--topics", "all", *ZERO), "vital_strict", [".810", ".762", ".615"]),
    (("--topics", "all", *ZERO), "all_strict", [".810", ".795", ".766"]),
    (("--topics", "common", *ZERO), "vital_strict", [".714", ".762", ".615"]),
    (("--topics", "common", *ZERO), "all_strict", [".714", ".795", ".766"]),
    (("--topics", "all", "--unjudged", "exclude"), "vital_strict", [".810", ".759", ".613"]),
    (("--topics", "all", "--unjudged", "exclude"), "all_strict", [".810", ".789", ".764"]),
]


@pytest.mark.usefixtures("list_qa")
@pytest.mark.parametrize(("policies", "score", "expected"), TAUS)
def test_automatic_against_manual(policies: tuple[str, ...], score: str, expected: list[str]) -> None:
    document = taus("A/A", score, *policies)
    assert rounded(document) == expected
    assert document["policies"]["unjudged"] == policies[3]


@pytest.mark.usefixtures("list_qa")
@pytest.mark.parametrize(
    ("score", "expected"), [("vital_strict", [".714", ".881", ".880"]), ("all_strict", [".714", ".851", ".865"])]
)
def test_automatic_assignment_against_manual(score: str, expected: list[str]) -> None:
    document = taus("E/A", score)
    assert rounded(document) == expected
    assert (document["pairs"], document["runs"]) == (343, 7)


@pytest.mark.usefixtures("list_qa")
def test_the_confusion_of_the_assigners() -> None:
    document = report("confusion", "--rows", "E/A", "--columns", "E/M")
    assert document["labels"] == ["not_support", "partial_support", "support"]
    assert document["counts"] == [[1683, 36, 25], [10, 34, 83], [2, 5, 642]]
    assert document["pairs"] == 2520
    assert f"{document['agreement']:.2%}" == "93.61%"
    assert f"{document['kappa']:.3f} {document['kappa_linear']:.3f}" == "0.860 0.911"
    assert f"{document['ordinal_strictness']:.4f}" == "-0.0595"
    assert f"{document['row_rates'][1]:.2%} {document['column_rates'][1]:.2%}" == "5.04% 2.98%"


@pytest.mark.usefixtures("list_qa")
def test_the_pages_show_the_published_figures() -> None:
    client = Client()
    client.force_login(make_user("root", is_superuser=True, is_staff=True))
    page = client.get("/campaigns/river/confusion/?rows=E/A&columns=E/M").content.decode()
    for figure in (
        "1,683",
        ">83<",
        "2,520 pairs",
        "93.61",
        "0.860",
        "linear-weighted 0.911",
        "0.0595",
        "5.04",
        "2.98",
    ):
        assert figure in page
    page = client.get("/campaigns/river/agreement/?x=E/A&y=E/M&topics=common").content.decode()
    for figure in ("0.714", "0.881", "0.880", "343 pairs", "93.61"):
        assert figure in page


@pytest.mark.usefixtures("list_qa")
@pytest.mark.parametrize(
    ("name", "topics", "nuggets", "words", "vital"),
    [("auto-llm", 100, "7.64", "7.24", "71.6%"), ("edited-authors", 50, "7.20", "9.05", "80.8%")],
)
def test_the_descriptives(name: str, topics: int, nuggets: str, words: str, vital: str) -> None:
    row = next(row for row in report("descriptives")["rows"] if row.get("nuggets") == name)
    assert row["topics"] == topics
    assert f"{row['nuggets_per_topic']:.2f} {row['words_per_nugget']:.2f}" == f"{nuggets} {words}"
    assert f"{row['vital']:.1%}" == vital


@pytest.mark.usefixtures("list_qa")
def test_the_authors_own_edit_flags() -> None:
    document = report("edits")
    said = {row["edit"]: row["authors_share"] for row in document["rows"]}
    published = {
        "add_nugget": 0.34,
        "remove_nugget": 0.34,
        "major_edit": 0.28,
        "minor_edit": 0.16,
        "no_edit": 0.32,
    }
    assert {name: said[name] for name in published} == pytest.approx(published)
    assert (document["topics"], document["inferred"]) == (50, True)
    assert all(row["share"] is not None for row in document["rows"])


@pytest.mark.usefixtures("list_qa")
def test_the_pages_show_the_descriptives_and_the_edits() -> None:
    client, campaign = Client(), Campaign.objects.get(slug="river")
    client.force_login(make_cast(campaign)["olga"])

    def lines(name: str) -> list[str]:
        page = client.get(reverse("reports:report", args=["river", name])).content.decode()
        return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in page.split("<tr>")]

    described = lines("descriptives")
    assert any("100 7.64 7.24 71.6 %" in line for line in described)
    assert any("50 7.20 9.05 80.8 %" in line for line in described)
    edits = [line for line in lines("nuggets") if line.startswith(("add nugget", "minor edit"))]
    assert [line.split()[-2] for line in edits] == ["34.0", "16.0"]
