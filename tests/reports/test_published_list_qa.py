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
pytestmark = pytest.mark.django_db
LEVELS = ("run_level", "topic_average", "all_topic_run")


def load_study(data: Path) -> None:
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


def with_ends(figure: float, interval: dict[str, Any]) -> tuple[float, ...]:
    return figure, interval["low"], interval["high"]


@pytest.mark.usefixtures("list_qa")
def test_t17_means_and_a_difference_have_t_intervals() -> None:
    """Of 49 topics, in `report scores`, on the leaderboard and in its files."""
    runs = {row["run_id"].partition("_")[0]: row for row in report("scores", "--condition", "E/M")["runs"]}
    expected = {
        "RAGW12G": (0.370681, 0.570751),
        "RAGW4G": (0.093409, 0.254502),
        "RAGW8M": (0.405788, 0.621155),
    }
    for name, ends in expected.items():
        assert tuple(runs[name]["intervals"]["vital_strict"].values()) == pytest.approx(ends, abs=5e-7)
    client = Client()
    client.force_login(make_user("admin", is_superuser=True, is_staff=True))
    address = reverse("reports:scores_table", args=["river", "runs", "json"])
    document = client.get(f"{address}?condition=E/M&compare=on").json()
    rows = {row["run_id"].partition("_")[0]: row for row in document["runs"]}
    assert (rows["RAGW8M"]["low"], rows["RAGW8M"]["high"]) == pytest.approx(expected["RAGW8M"], abs=5e-7)
    [pair] = [
        row
        for row in document["comparisons"]
        if row["run_id"].startswith("RAGW8M") and row["other"].startswith("RAGW8G")
    ]
    found = with_ends(pair["difference"], pair["intervals"]["difference"])
    assert found == pytest.approx((0.038787, -0.032117, 0.109692), abs=5e-7)
    page = client.get("/campaigns/river/leaderboard/?condition=E/M&compare=on").content.decode()
    assert "0.406 to 0.621" in page
    assert "\N{MINUS SIGN}0.032 to +0.110" in page


@pytest.mark.usefixtures("list_qa")
def test_t18_labels_have_jackknife_intervals() -> None:
    document = report("confusion", "--rows", "E/A", "--columns", "E/M")
    expected = {
        "agreement": (0.936111, 0.910294, 0.954675),
        "kappa": (0.860002, 0.809704, 0.897757),
        "kappa_linear": (0.910714, 0.875151, 0.936490),
        "alpha": (0.944082, 0.915176, 0.963326),
        "ordinal_strictness": (-0.059524, -0.084216, -0.034832),
    }
    assert document["intervals"].keys() == expected.keys()
    for name, figures in expected.items():
        assert with_ends(document[name], document["intervals"][name]) == pytest.approx(figures, abs=5e-7)


@pytest.mark.usefixtures("list_qa")
def test_t19_taus_have_centred_percentiles_and_t_on_z() -> None:
    document = report("correlation", "--x", "E/A", "--y", "E/M", "--score", "vital_strict")
    ends = document["intervals"]
    run_level = with_ends(document["run_level"], ends["run_level"])
    assert run_level == pytest.approx((0.714286, 0.476190, 0.952381), abs=5e-7)
    assert ends["run_level"]["resamples"] == ends["all_topic_run"]["resamples"] == 4000
    note = "95 % interval for 49 topics like these; with more topics tau would be higher"
    assert ends["run_level"]["note"] == ends["all_topic_run"]["note"] == note
    average = with_ends(document["topic_average"], ends["topic_average"])
    assert average == pytest.approx((0.881387, 0.805908, 0.928673), abs=5e-7)
    assert document["topics"] - document["undefined_topics"] == 38
    assert ends["topic_average"].keys() == {"low", "high"}


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
    shares = {row["edit"]: row["authors_share"] for row in document["rows"]}
    published = {
        "add_nugget": 0.34,
        "remove_nugget": 0.34,
        "major_edit": 0.28,
        "minor_edit": 0.16,
        "no_edit": 0.32,
    }
    assert {name: shares[name] for name in published} == pytest.approx(published)
    assert (document["topics"], document["inferred"]) == (50, True)
    assert all(row["share"] is not None for row in document["rows"])


@pytest.mark.usefixtures("list_qa")
def test_the_pages_show_the_descriptives_and_the_edits() -> None:
    client, campaign = Client(), Campaign.objects.get(slug="river")
    client.force_login(make_cast(campaign)["olga"])

    def lines(name: str) -> list[str]:
        page = client.get(reverse(f"reports:{name}", args=["river"])).content.decode()
        return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in page.split("<tr>")]

    described = lines("descriptives")
    assert any("100 7.64 7.24 71.6 %" in line for line in described)
    assert any("50 7.20 9.05 80.8 %" in line for line in described)
    edits = [line for line in lines("nuggets") if line.startswith(("add nugget", "minor edit"))]
    assert [line.split()[-2] for line in edits] == ["34.0", "16.0"]
