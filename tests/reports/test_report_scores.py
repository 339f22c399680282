"""`report scores` on the small campaign: keys, policies, what is left out and counted."""

from pathlib import Path
from typing import Any

import pytest

from evaluation.labels import AssignmentLabel
from evaluation.models import Assignment, ListedNugget, NuggetList, NuggetVersion
from tests.worlds.imported import BY_LLM, answer, labels, load, report, run, sentence, write

SCORES = ["vital_strict", "vital", "weighted_strict", "weighted", "all_strict", "all"]
ROW = {"run_id", "group", "task", "topics", *SCORES, "length", "judged", "failed", "unjudged", "excluded"}


def row(run_id: str, *policies: str) -> dict[str, Any]:
    rows = report("scores", "--condition", "A/A", *policies)["runs"]
    return next(entry for entry in rows if entry["run_id"] == run_id)


@pytest.mark.usefixtures("labelled")
def test_the_document_has_the_contract_s_keys() -> None:
    document = report("scores", "--condition", "A/A")
    assert document.keys() >= {"condition", "policies", "topics", "runs", "summary"}
    assert document["summary"].keys() == {"min", "median", "max"}
    assert all(entry.keys() >= ROW for entry in document["runs"])
    assert (document["condition"], document["topics"]) == ("A/A", 2)


@pytest.mark.usefixtures("labelled")
def test_alpha_by_hand() -> None:
    alpha = row("alpha")
    assert (alpha["group"], alpha["task"], alpha["topics"]) == ("hill", "RAG", 2)
    # t1: vital 1/1, all 1/2, weighted 1/1.5; t2: vital_strict 0/1, vital 0.5/1
    assert (alpha["vital_strict"], alpha["vital"]) == (0.5, 0.75)
    assert (alpha["all_strict"], alpha["all"]) == (0.25, 0.5)
    assert (alpha["weighted_strict"], alpha["weighted"]) == pytest.approx((1 / 3, (2 / 3 + 0.5) / 2))
    assert (alpha["length"], alpha["judged"], alpha["unjudged"]) == (5.5, 3, 0)


@pytest.mark.usefixtures("labelled")
def test_a_missing_answer_is_0_or_left_out() -> None:
    zero, skipped = row("beta"), row("beta", "--missing", "skip")
    assert (zero["all_strict"], zero["length"], zero["topics"]) == (0.25, 0.5, 2)
    assert (skipped["all_strict"], skipped["length"], skipped["topics"]) == (0.5, 1.0, 1)


@pytest.mark.usefixtures("labelled")
def test_policies_are_echoed() -> None:
    document = report(
        "scores", "--condition", "A/A", "--missing", "skip", "--unjudged", "zero", "--no-vital", "skip"
    )
    assert document["policies"] == {"missing": "skip", "unjudged": "zero", "no-vital": "skip", "topics": "all"}
    table = run("report", "scores", "--campaign", "river", "--condition", "A/A").out
    assert "Policies: missing zero, unjudged exclude, no-vital zero, topics all. Topics: 2." in table


def test_an_unjudged_nugget_excludes_the_answer_or_counts_0(labelled: Path) -> None:
    Assignment.objects.filter(nugget_version__text="sand").delete()
    excluded, zero = row("alpha"), row("alpha", "--unjudged", "zero")
    assert (excluded["excluded"], excluded["unjudged"], excluded["topics"]) == (1, 1, 1)
    assert (zero["excluded"], zero["unjudged"], zero["topics"]) == (0, 1, 2)
    assert (excluded["vital_strict"], zero["vital_strict"]) == (0.0, 0.5)


@pytest.mark.parametrize(
    ("label", "failed", "unjudged"), [(AssignmentLabel.FAILED, 1, 0), (AssignmentLabel.CANT_JUDGE, 0, 1)]
)
@pytest.mark.usefixtures("labelled")
def test_no_judgment_is_never_not_support(label: AssignmentLabel, failed: int, unjudged: int) -> None:
    Assignment.objects.filter(nugget_version__text="dams").update(label=label)
    alpha = row("alpha")
    assert (alpha["failed"], alpha["unjudged"], alpha["excluded"]) == (failed, unjudged, 1)
    assert alpha["vital_strict"] == 1.0


def test_a_topic_without_vital_nuggets_is_0_or_undefined(labelled: Path) -> None:
    ListedNugget.objects.filter(nugget_version__text="dams").update(importance=1)
    document = report("scores", "--condition", "A/A")
    assert document["no_vital_topics"] == 1
    assert row("alpha")["vital_strict"] == 0.5
    assert row("alpha", "--no-vital", "skip")["vital_strict"] == 1.0


def test_a_run_without_labels_has_its_length_and_no_scores(labelled: Path) -> None:
    load("import_run", write(labelled, "gamma", [answer("gamma", "t1", sentence("One two three."))]))
    gamma = row("gamma", "--missing", "skip")
    assert [gamma[name] for name in SCORES] == [None] * 6
    assert (gamma["length"], gamma["judged"]) == (3.0, 0)


def test_an_answer_without_a_word_is_not_support_by_rule(labelled: Path) -> None:
    load("import_run", write(labelled, "gamma", [answer("gamma", "t1"), answer("gamma", "t2", sentence("Dams."))]))
    load("import_assignments", *BY_LLM, write(labelled, "l", [labels("gamma", "t2", ("dams", "support"))]))
    gamma = row("gamma")
    assert (gamma["vital_strict"], gamma["topics"], gamma["unjudged"], gamma["excluded"]) == (0.5, 2, 0, 0)
    assert Assignment.objects.filter(nugget_version__text="bends").count() == 2


def test_controls_are_listed_but_not_in_the_closing_rows(labelled: Path) -> None:
    document = report("scores", "--condition", "A/A")
    assert [entry["run_id"] for entry in document["runs"]] == ["alpha", "beta"]
    assert [entry["control"] for entry in document["runs"]] == [False, True]
    assert {closing["vital_strict"] for closing in document["summary"].values()} == {0.5}


def test_the_closing_rows_are_means_of_each_topic_s_spread(labelled: Path) -> None:
    rows = [answer("gamma", topic, sentence("A.")) for topic in ("t1", "t2")]
    load("import_run", write(labelled, "gamma", rows))
    given = [
        labels("gamma", "t1", ("bends", "not_support"), ("sand", "not_support")),
        labels("gamma", "t2", ("dams", "support")),
    ]
    load("import_assignments", *BY_LLM, write(labelled, "l", given))
    summary = report("scores", "--condition", "A/A")["summary"]
    assert [summary[name]["vital_strict"] for name in ("min", "median", "max")] == [0.0, 0.5, 1.0]


def test_a_topic_with_an_empty_list_enters_nothing(labelled: Path) -> None:
    ListedNugget.objects.filter(nugget_list__topic__topic_id="t2").delete()
    document = report("scores", "--condition", "A/A")
    assert (document["topics"], document["empty_topics"]) == (1, 1)
    assert row("alpha")["vital_strict"] == 1.0


def new_version(*, submitted: bool) -> None:
    """Version 2 of t1's list: `bends` reworded, `sand` as it was."""
    first = NuggetList.objects.get(topic__topic_id="t1")
    second = NuggetList.objects.create(
        nugget_set=first.nugget_set, topic=first.topic, version=2, submitted=submitted
    )
    bends, sand = first.items.order_by("position")
    reworded = NuggetVersion.objects.create(
        nugget=bends.nugget_version.nugget, number=2, text="rivers bend at banks"
    )
    for position, wording in enumerate((reworded, sand.nugget_version)):
        ListedNugget.objects.create(
            nugget_list=second, nugget_version=wording, position=position, importance=2 - position
        )


@pytest.mark.usefixtures("labelled")
def test_a_new_version_makes_only_changed_nuggets_unjudged() -> None:
    new_version(submitted=True)
    alpha = row("alpha", "--unjudged", "zero")
    assert (alpha["judged"], alpha["unjudged"]) == (2, 1)
    assert alpha["vital_strict"] == 0.0


@pytest.mark.usefixtures("labelled")
def test_a_new_version_that_is_not_submitted_changes_nothing() -> None:
    before = row("alpha")
    new_version(submitted=False)
    assert row("alpha") == before


@pytest.mark.usefixtures("labelled")
def test_a_later_submission_s_label_counts() -> None:
    first = Assignment.objects.get(nugget_version__text="dams")
    first.pk, first.submission, first.label = None, 2, AssignmentLabel.SUPPORT
    first.save(force_insert=True)
    assert row("alpha")["vital_strict"] == 1.0


def test_a_cached_report_is_forgotten_when_labels_arrive(labelled: Path) -> None:
    assert row("alpha")["vital_strict"] == 0.5
    changed = [labels("alpha", "t2", ("dams", "support"))]
    load("import_assignments", *BY_LLM, "--replace", write(labelled, "l", changed))
    assert row("alpha")["vital_strict"] == 1.0


@pytest.mark.usefixtures("labelled")
def test_a_condition_without_nuggets_lists_lengths_of_all_topics() -> None:
    document = report("scores", "--condition", "M/M")
    assert {entry["run_id"]: entry["length"] for entry in document["runs"]} == {"alpha": 5.5, "beta": 0.5}
    assert document["nuggets"] is None
