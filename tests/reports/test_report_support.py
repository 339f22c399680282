"""`report support`: hand-computed cases through the database, and what leaves the denominators."""

from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from evaluation.labels import SupportLabel
from evaluation.models import SupportJudgment
from tests.reports.conftest import settle
from tests.reports.surfaces import admin
from tests.worlds.imported import BY_ANN, answer, judged, load, report, run, sentence, write

ROW = {
    "run_id",
    "weighted_precision",
    "weighted_recall",
    "sentences",
    "sentences_total",
    "sentences_uncited",
    "judged",
    "unjudged",
    "failed",
    "unjudgeable",
}


def row(run_id: str, *policies: str) -> dict[str, Any]:
    """One run's row under `scratch`."""
    rows = report("support", "--condition", "scratch", *policies)["runs"]
    return next(entry for entry in rows if entry["run_id"] == run_id)


def figures(run_id: str, *policies: str) -> tuple[float | None, float | None]:
    found = row(run_id, *policies)
    return found["weighted_precision"], found["weighted_recall"]


@pytest.mark.usefixtures("labelled")
def test_partial_full_and_uncited_give_three_quarters_and_a_half() -> None:
    assert figures("alpha") == (0.75, 0.5)


@pytest.mark.usefixtures("labelled")
def test_the_document_has_the_contract_s_keys() -> None:
    document = report("support", "--condition", "scratch")
    assert document["condition"] == "scratch"
    assert all(entry.keys() >= ROW for entry in document["runs"])


@pytest.mark.usefixtures("labelled")
def test_only_topics_with_a_label_count() -> None:
    alpha = row("alpha")
    assert (alpha["sentences_total"], alpha["sentences_uncited"], alpha["judged"]) == (3, 1, 2)
    assert report("support", "--condition", "scratch")["topics"] == 1


@pytest.mark.usefixtures("labelled")
def test_a_run_without_labels_has_no_scores() -> None:
    beta = row("beta")
    assert (beta["weighted_precision"], beta["weighted_recall"]) == (None, None)
    assert (beta["unjudged"], beta["sentences_total"]) == (1, 1)


@pytest.mark.parametrize(
    ("label", "count"), [(SupportLabel.FAILED, "failed"), (SupportLabel.CANT_JUDGE, "unjudgeable")]
)
@pytest.mark.usefixtures("labelled")
def test_a_pair_without_a_verdict_leaves_both_denominators(label: SupportLabel, count: str) -> None:
    SupportJudgment.objects.filter(segment__docid="d2").update(label=label)
    alpha = row("alpha")
    assert (alpha["weighted_precision"], alpha["weighted_recall"]) == (1.0, 0.5)
    assert (alpha["judged"], alpha[count], alpha["unjudged"]) == (1, 1, 0)


@pytest.mark.usefixtures("labelled")
def test_an_unjudged_pair_leaves_both_denominators() -> None:
    SupportJudgment.objects.filter(segment__docid="d2").delete()
    alpha = row("alpha")
    assert (alpha["weighted_precision"], alpha["weighted_recall"], alpha["unjudged"]) == (1.0, 0.5, 1)


@pytest.fixture
def gamma(labelled: Path) -> Path:
    """Gamma's answer cites a segment without text, d1 and d2, one out of range, and nothing."""
    line = answer(
        *("gamma", "t1", sentence("One.", "x1"), sentence("Two.", 0, 1)),
        *(sentence("Three.", 9), sentence("Four.")),
    )
    load("import_run", write(labelled, "gamma.jsonl", [line]))
    load("import_support", *BY_ANN, write(labelled, "g", [judged("gamma", "t1", 1, "d1", "partial_support")]))
    return labelled


@pytest.mark.usefixtures("gamma")
def test_a_pair_without_label_and_text_is_unjudgeable() -> None:
    found = row("gamma")
    assert (found["judged"], found["unjudged"], found["unjudgeable"]) == (1, 0, 2)
    assert (found["weighted_precision"], found["weighted_recall"]) == (0.5, 0.25)


def test_a_label_counts_where_the_text_is_not_loaded(gamma: Path) -> None:
    load("import_support", *BY_ANN, write(gamma, "x", [judged("gamma", "t1", 0, "x1", "full_support")]))
    found = row("gamma")
    assert (found["judged"], found["unjudgeable"], found["weighted_precision"]) == (2, 1, 0.75)


def test_only_the_first_citation_counts_by_default(gamma: Path) -> None:
    load("import_support", *BY_ANN, write(gamma, "x", [judged("gamma", "t1", 1, "d2", "full_support")]))
    assert row("gamma")["judged"] == 1
    assert report("support", "--condition", "scratch")["published_measure"] is True


@pytest.mark.parametrize(("first", "words"), [(2, "The first 2 citations"), (0, "All citations")])
def test_more_citations_take_each_sentence_s_best_label(gamma: Path, first: int, words: str) -> None:
    load("import_support", *BY_ANN, write(gamma, "x", [judged("gamma", "t1", 1, "d2", "full_support")]))
    settle(gamma, f"[protocol]\nfirst_citations = {first}\n")
    assert figures("gamma") == (0.75, 0.5)
    table = run("report", "support", "--campaign", "river", "--condition", "scratch").out
    assert f"{words} of each sentence are judged. Every judged citation counts, in recall the best" in table
    assert figures("gamma", "--measure", "first") == (0.5, 0.25)
    assert figures("gamma", "--measure", "sentence") == (0.75, 0.375)


@pytest.mark.parametrize("measure", ["first", "sentence", "pooled"])
def test_the_protocol_says_the_usual_measure(gamma: Path, measure: str) -> None:
    load("import_support", *BY_ANN, write(gamma, "x", [judged("gamma", "t1", 1, "d2", "full_support")]))
    settle(gamma, f'[protocol]\nfirst_citations = 0\nsupport_measure = "{measure}"\n')
    document = report("support", "--condition", "scratch")
    assert (document["policies"]["measure"], document["published_measure"]) == (measure, measure == "first")
    assert document == report("support", "--condition", "scratch", "--measure", measure)


def test_an_answer_that_cites_nothing_has_no_precision_or_0(labelled: Path) -> None:
    lines = [answer("gamma", "t1", sentence("One.", 0)), answer("gamma", "t2", sentence("Two."))]
    load("import_run", write(labelled, "gamma", lines))
    given = [judged("gamma", "t1", 0, "d1", "full_support"), judged("alpha", "t2", 0, "d3", "full_support")]
    load("import_support", *BY_ANN, write(labelled, "x", given))
    assert figures("gamma") == (1.0, 0.5)
    assert figures("gamma", "--no-cited", "zero") == (0.5, 0.5)
    assert row("gamma")["precision_topics"] == 1


@pytest.mark.usefixtures("labelled")
def test_support_labels_of_two_conditions_are_compared(labelled: Path) -> None:
    given = [judged("alpha", "t1", 0, "d1", "partial_support"), judged("alpha", "t1", 1, "d2", "partial_support")]
    load("import_support", "--judge", "m", "--by", "llm", write(labelled, "l", given))
    document = report("support-confusion", "--rows", "llm", "--columns", "scratch")
    assert document["labels"] == ["no_support", "partial_support", "full_support"]
    assert document["counts"] == [[0, 0, 0], [0, 1, 1], [0, 0, 0]]
    assert (document["pairs"], document["agreement"], document["ordinal_strictness"]) == (2, 0.5, -0.5)


def test_labels_are_compared_of_citations_that_count(gamma: Path) -> None:
    settle(gamma, "[protocol]\nfirst_citations = 0\n")
    load("import_support", *BY_ANN, write(gamma, "x", [judged("gamma", "t1", 1, "d2", "full_support")]))
    given = [judged("gamma", "t1", 1, docid, "no_support") for docid in ("d1", "d2")]
    load("import_support", "--judge", "m", "--by", "llm", write(gamma, "l", given))
    words = ("support-confusion", "--rows", "llm", "--columns", "scratch")
    pairs = [report(*words, *more)["pairs"] for more in ((), ("--measure", "sentence"), ("--measure", "first"))]
    assert pairs == [2, 2, 1]


def test_support_correlates_with_a_published_table(labelled: Path) -> None:
    load("import_support", *BY_ANN, write(labelled, "b", [judged("beta", "t1", 0, "d1", "no_support")]))
    table = run("report", "support", "--campaign", "river", "--condition", "scratch", "--format", "csv").out
    load("import_scores", "--condition", "Paper", write(labelled, "p.csv", table))
    document = report("support-correlation", "--x", "scratch", "--y", "Paper", "--score", "weighted_recall")
    assert (document["run_level"], document["runs"], document["policies"]["no-cited"]) == (1.0, 2, "skip")


@pytest.mark.django_db
def test_a_campaign_like_another_track_is_said_to_be_scored_as_that_one() -> None:
    example = Path(__file__).parents[2] / "docs" / "example" / "track-2026"
    assert run("create_campaign", "river", "--name", "Bogs", "--like", "trec-rag-2026").code == 0
    load("import_topics", example / "narratives.tsv")
    load("import_run", example / "curlew.jsonl")
    client, address = admin(), reverse("reports:support", args=["river"])
    page = client.get(address).text
    assert page.count("Scored as TREC RAG 2026") == 2, "above the figures, and beside the rules"
    assert "TREC 2024" not in page
    changed = client.get(address, {"measure": "first"}).text
    assert "Scored as TREC RAG 2026, but citations that count" in changed
