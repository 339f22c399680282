"""`report correlation`: against another condition, against a published table, and where nothing is in common."""

from pathlib import Path

import pytest

from tests.worlds.imported import (
    BY_LLM,
    LISTS,
    answer,
    labels,
    load,
    report,
    run,
    sentence,
    write,
)

LEVELS = ("run_level", "topic_average", "all_topic_run")
KEYS = {"x", "y", "score", "policies", "runs", "topics", "pairs", *LEVELS}
OBJECTS = ("ties", "discordant", "intervals")
EDITED = ("--origin", "edited", "--judge", "Ann")


@pytest.fixture
def both(labelled: Path) -> Path:
    """Ann's edited list of t1, which ranks the runs the other way; t2 has none."""
    load("import_nuggets", *EDITED, write(labelled, "e", LISTS[:1]))
    given = [
        labels("alpha", "t1", ("bends", "not_support"), ("sand", "not_support")),
        labels("beta", "t1", ("bends", "support"), ("sand", "support")),
    ]
    load("import_assignments", *EDITED, "--by", "human", write(labelled, "el", given))
    return labelled


def correlate(*more: str) -> dict[str, object]:
    document = report("correlation", "--x", "A/A", "--y", "E/M", "--resamples", "20", *more)
    assert isinstance(document, dict)
    return document


@pytest.mark.usefixtures("both")
def test_the_document_has_the_contract_s_keys() -> None:
    document = report("correlation", "--x", "A/A", "--y", "E/M")
    assert document.keys() >= KEYS | set(OBJECTS) | {"undefined_topics"}
    assert all(document[name].keys() == set(LEVELS) for name in OBJECTS)


@pytest.mark.usefixtures("both")
def test_runs_in_opposite_order() -> None:
    document = correlate()
    assert [document[level] for level in LEVELS] == [-1.0, -1.0, -1.0]
    assert (document["runs"], document["topics"], document["pairs"]) == (2, 1, 2)
    assert document["discordant"] == dict.fromkeys(LEVELS, 1)


@pytest.mark.usefixtures("both")
def test_policies_are_echoed() -> None:
    document = correlate("--topics", "common", "--unjudged", "zero")
    assert document["policies"] == {"missing": "zero", "unjudged": "zero", "no-vital": "zero", "topics": "common"}


@pytest.mark.usefixtures("both")
def test_the_intervals_are_seeded() -> None:
    assert correlate() == correlate()


def test_no_common_topic_is_said_and_no_error(labelled: Path) -> None:
    load("import_nuggets", "--origin", "manual", "--judge", "Ann", write(labelled, "m", LISTS[1:]))
    by_ann = ("--origin", "manual", "--judge", "Ann", "--by", "human")
    load("import_assignments", *by_ann, write(labelled, "ml", [labels("alpha", "t2", ("dams", "support"))]))
    sides = ("--x", "E/M", "--y", "M/M", "--resamples", "20")
    load("import_nuggets", *EDITED, write(labelled, "e", LISTS[:1]))
    given = [labels("alpha", "t1", ("bends", "support"), ("sand", "support"))]
    load("import_assignments", *EDITED, "--by", "human", write(labelled, "el", given))
    document = report("correlation", *sides)
    assert (document["topics"], document["pairs"]) == (0, 0)
    assert [document[level] for level in LEVELS] == [None] * 3
    assert "no topic in common" in run("report", "correlation", "--campaign", "river", *sides).out


def test_a_condition_without_labels_has_no_tau(labelled: Path) -> None:
    document = report("correlation", "--x", "A/A", "--y", "M/M", "--resamples", "20")
    assert [document[level] for level in LEVELS] == [None] * 3


def test_a_published_table_correlates_fully_with_its_origin(labelled: Path) -> None:
    load("import_run", write(labelled, "gamma", [answer("gamma", "t1", sentence("One."))]))
    given = [labels("gamma", "t1", ("bends", "partial_support"), ("sand", "support"))]
    load("import_assignments", *BY_LLM, write(labelled, "l", given))
    table = run("report", "scores", "--campaign", "river", "--condition", "A/A", "--format", "csv").out
    load("import_scores", "--condition", "Paper", write(labelled, "paper.csv", table))
    document = report("correlation", "--x", "A/A", "--y", "Paper", "--score", "all")
    assert (document["run_level"], document["runs"]) == (1.0, 3)
    assert (document["topic_average"], document["all_topic_run"]) == (None, None)


def test_a_published_table_of_runs_that_are_not_loaded(labelled: Path) -> None:
    load("import_scores", "--condition", "Paper", write(labelled, "p.csv", "run_id,all\nalpha,0.1\nomega,0.9\n"))
    document = report("correlation", "--x", "A/A", "--y", "Paper", "--score", "all")
    assert (document["runs"], document["run_level"]) == (1, None)


def test_two_published_tables(labelled: Path) -> None:
    for name, low, high in (("One", 1, 2), ("Two", 3, 9)):
        table = f"run_id,all\nr1,{low}\nr2,{high}\n"
        load("import_scores", "--condition", name, write(labelled, f"{name}.csv", table))
    document = report("correlation", "--x", "One", "--y", "Two", "--score", "all")
    assert (document["runs"], document["run_level"]) == (2, 1.0)


@pytest.mark.usefixtures("labelled")
@pytest.mark.parametrize("resamples", ["-1", "0", "many"])
def test_a_number_of_resamples_that_is_none(resamples: str) -> None:
    sides = ("--x", "A/A", "--y", "A/A", "--resamples", resamples)
    outcome = run("report", "correlation", "--campaign", "river", *sides)
    assert (outcome.code, outcome.out) == (2, "")


@pytest.mark.usefixtures("labelled")
def test_an_unknown_table_is_wrong_usage_with_those_there_are() -> None:
    outcome = run("report", "correlation", "--campaign", "river", "--x", "A/A", "--y", "Paper")
    assert outcome.code == 2
    assert "No condition or published table Paper; there are: A/A, E/M" in outcome.err


def test_other_correlations_of_the_run_means_stand_beside_tau(both: Path) -> None:
    for name, rows in (
        ("paper", "alpha,0.5\nbeta,0.25\ngamma,0.75\n"),
        ("other", "alpha,0.5\nbeta,0.3\ngamma,0.4\n"),
    ):
        load("import_scores", "--condition", name, write(both, f"{name}.csv", f"run_id,vital_strict\n{rows}"))
    sides = ("correlation", "--x", "paper", "--y", "other", "--score", "vital_strict")
    assert "methods" not in report(*sides)
    options = ("--method", "spearman", "--method", "rbo", "--method", "kendall@2", "--rbo-p", "0.8")
    methods = report(*sides, *options)["methods"]
    assert methods["spearman"] == {"value": pytest.approx(0.5), "n": 3, "reason": ""}
    assert methods["rbo"]["value"] == pytest.approx(0.8)
    assert methods["kendall@2"] == {
        "value": None,
        "n": 2,
        "reason": (few := "at least 3 runs that both have, found 2"),
    }
    printed = run("report", *sides, "--campaign", "river", *options).out
    assert "spearman" in printed.splitlines()[0]
    assert f"kendall@2: {few}." in printed
    wrong = run("report", *sides, "--campaign", "river", "--method", "beauty")
    assert wrong.code == 2
    assert "beauty is no method; there are: kendall, spearman" in wrong.err
