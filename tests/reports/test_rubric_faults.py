"""What an answer must not do: it lowers the scores by weights, is counted, and moves no score of what is to be said."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from evaluation.models import Campaign, ListedNugget, NuggetList, Protocol
from evaluation.terms import Importance
from reports.frames import forget_sheets
from reports.nuggets.descriptives import lists_of
from reports.quality.judges import _labelled_by_both
from tests.reports.surfaces import SCORE_NAMES, admin, report
from tests.worlds.imported import BY_LLM, labels, load, write

RUBRIC = ("scores", "--condition", "A/A", "--profile", "rubric")


@pytest.fixture
def weighted(labelled: Path) -> Path:
    """The river topic with two criteria: `bends` of weight 4, and `sand`, which weighs -3 and is not in alpha."""
    for text, weight in (("bends", 4.0), ("sand", -3.0)):
        ListedNugget.objects.filter(nugget_version__text=text).update(weight=weight)
    Campaign.objects.update(revision=99)
    forget_sheets()
    return labelled


def alpha_of(*words: str) -> dict[str, Any]:
    return next(row for row in report(*words)["runs"] if row["run_id"] == "alpha")


def test_doing_what_must_not_be_done_lowers_the_rubric_and_no_score_of_trec_rag(weighted: Path) -> None:
    usual, before = alpha_of("scores", "--condition", "A/A"), alpha_of(*RUBRIC)
    row = labels("alpha", "t1", ("bends", "support"), ("sand", "support"))
    load("import_assignments", *BY_LLM, "--replace", write(weighted, "more", [row]))
    after, usual_after = alpha_of(*RUBRIC), alpha_of("scores", "--condition", "A/A")
    topics = before["topics"]
    assert before["rubric"] - after["rubric"] == pytest.approx(3 / 4 / topics)
    assert after["violations"] - before["violations"] == pytest.approx(1 / topics)
    assert {name: usual[name] for name in SCORE_NAMES} == {name: usual_after[name] for name in SCORE_NAMES}
    assert usual_after["violations"] == after["violations"]


def test_a_topic_without_a_positive_weight_is_left_out_and_counted(weighted: Path) -> None:
    ListedNugget.objects.filter(weight=4).update(weight=0)
    Campaign.objects.update(revision=100)
    forget_sheets()
    document = report(*RUBRIC)
    assert document["no_positive_topics"] == document["topics"]
    assert {row["rubric"] for row in document["runs"]} == {None}


def test_fewer_faults_are_better(weighted: Path) -> None:
    row = labels("alpha", "t1", ("bends", "support"), ("sand", "support"))
    load("import_assignments", *BY_LLM, "--replace", write(weighted, "more", [row]))
    address = reverse("reports:scores_table", args=["river", "runs", "json"], query={"score": "violations"})
    figures = [row["violations"] for row in admin().get(address).json()["runs"] if row["violations"] is not None]
    assert figures == sorted(figures)


@pytest.mark.parametrize(("scoring", "counted"), [("rubric", 2), ("trec-rag", 1)])
def test_statistics_are_of_the_nuggets_that_the_protocol_counts(
    weighted: Path, scoring: str, counted: int
) -> None:
    Protocol.objects.update(scoring=scoring)
    Campaign.objects.update(revision=100)
    forget_sheets()
    list_of_t1 = NuggetList.objects.get(nugget_set__name="auto-m", topic__topic_id="t1")
    assert len(lists_of(list_of_t1.nugget_set)[list_of_t1.topic_id]) == counted
    assert report("descriptives")
    ann = load(
        "import_assignments", "--origin", "auto", "--judge", "Ann", "--by", "human", weighted / "labels.jsonl"
    )
    assert ann.code == 0
    (shared,) = [rows for rows, _ in [_labelled_by_both(Campaign.objects.get())]]
    assert sum(number for *_, number in shared) == 2 * counted + 1


@pytest.mark.parametrize(("score", "term", "weight"), [("vital_strict", "vital", 4), ("rubric", "weight", 0)])
def test_what_a_topic_lacks_is_a_term_of_the_glossary(
    weighted: Path, score: str, term: str, weight: float
) -> None:
    ListedNugget.objects.filter(weight=4).update(weight=weight, importance=Importance.OKAY)
    Campaign.objects.update(revision=100)
    forget_sheets()
    page = admin().get(reverse("reports:scores", args=["river"], query={"score": score})).content.decode()
    assert re.search(rf'without a <button [^>]*class="term"[^>]*#{term}">{term}</button>', page)


def test_a_campaign_of_a_rubric_shows_first_what_has_weights_and_says_so_where_nothing_has(labelled: Path) -> None:
    Protocol.objects.update(scoring="rubric")
    Campaign.objects.update(revision=100)
    forget_sheets()
    board = reverse("reports:scores", args=["river"])
    client = admin()
    page = client.get(board)
    assert page.context["page"].form.data["condition"] == "A/A"
    assert "No nugget here has a weight above 0" in page.text
    assert "vital" in client.get(board, {"score": "all_strict"}).text
    assert "No nugget here has a weight above 0" not in client.get(board, {"score": "all_strict"}).text

    criteria = [{"text": "bends", "weight": 4, "tier": "mandatory"}, {"text": "sand", "weight": -3}]
    rubric = write(labelled, "rubric.jsonl", [{"qid": "t1", "criteria": criteria}])
    load("import_nuggets", "--origin", "manual", "--judge", "panel", "--set", "rubric", rubric)
    assert client.get(board).context["page"].form.data["condition"] == "A/A", "nobody has labelled the rubric"
    row = labels("alpha", "t1", ("bends", "support"), ("sand", "not_support"))
    load(
        "import_assignments", "--origin", "manual", "--nuggets", "rubric", *BY_LLM[2:], write(labelled, "m", [row])
    )
    page = client.get(board)
    assert page.context["page"].form.data["condition"] == "M/A"
    assert "No nugget here has a weight above 0" not in page.text
