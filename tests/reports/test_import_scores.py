"""A published table: loaded for runs that are here or not, changed only with --replace."""

from pathlib import Path

import pytest

from evaluation.models import Event
from reports.models import ExternalCondition, ExternalScore
from tests.worlds.imported import load, run, write

TABLE = "run_id,group,task,vital_strict,all,remark\nalpha,hill,RAG,0.5,,good\nomega,dale,,0.25,1,\n"


@pytest.fixture
def paper(db: None, tmp_path: Path) -> Path:
    """A campaign with the table `NIST M/M` and no run."""
    run("create_campaign", "river", "--name", "River study")
    load("import_scores", "--condition", "NIST M/M", write(tmp_path, "paper.csv", TABLE))
    return tmp_path


def values() -> set[tuple[str, str, float]]:
    return set(ExternalScore.objects.values_list("run_id", "score", "value"))


@pytest.mark.usefixtures("paper")
def test_scores_are_loaded_and_other_columns_left_aside() -> None:
    assert values() == {("alpha", "vital_strict", 0.5), ("omega", "vital_strict", 0.25), ("omega", "all", 1.0)}
    assert set(ExternalScore.objects.values_list("group", "task")) == {("hill", "RAG"), ("dale", "")}


@pytest.mark.usefixtures("paper")
def test_an_import_is_one_event_to_which_its_rows_point() -> None:
    event = Event.objects.get(kind="import.scores")
    assert set(ExternalScore.objects.values_list("event", flat=True)) == {event.pk}
    assert event.payload["added"] == 2


def test_replace_takes_out_runs_and_scores_that_the_table_lacks(paper: Path) -> None:
    changed = write(paper, "new.csv", "run_id,vital_strict\nomega,0.75\n")
    said = load("import_scores", "--condition", "NIST M/M", "--replace", changed).err
    assert said == "0 runs' scores added, 1 changed. 1 taken out.\n"
    assert values() == {("omega", "vital_strict", 0.75)}


def test_a_table_with_fewer_runs_replaces_though_it_changes_none(paper: Path) -> None:
    fewer = write(paper, "fewer.csv", "run_id,group,task,vital_strict\nalpha,hill,RAG,0.5\n")
    assert "1 loaded and not in the file" in load("import_scores", "--condition", "NIST M/M", fewer).err
    assert len(values()) == 3
    load("import_scores", "--condition", "NIST M/M", "--replace", fewer)
    assert values() == {("alpha", "vital_strict", 0.5)}


def test_tables_of_two_names_do_not_meet(paper: Path) -> None:
    load("import_scores", "--condition", "Other", write(paper, "o.csv", "run_id,all\nalpha,0.1\n"))
    assert [condition.name for condition in ExternalCondition.objects.all()] == ["NIST M/M", "Other"]


def test_a_table_from_a_spreadsheet_has_quotes_and_crlf(paper: Path) -> None:
    table = write(paper, "crlf.csv", b'"run_id","all"\r\n"alpha","0.125"\r\n')
    load("import_scores", "--condition", "Excel", table)
    assert ("alpha", "all", 0.125) in values()


@pytest.mark.parametrize("cell", ["+0.5", "1e+100", "-1e100", "1e-101", ".5", "5."])
def test_a_number_of_a_table_is_one_of_a_score_file(paper: Path, cell: str) -> None:
    table = write(paper, "o.csv", f"run_id,all\nalpha,{cell}\n")
    load("import_scores", "--condition", "Other", table)
    load("import_scores", "--judge", "A", "--topics-as-they-are", write(paper, "a.tot", f"alpha m all {cell}\n"))
    assert [row.value for row in ExternalScore.objects.exclude(condition__name="NIST M/M")] == [float(cell)] * 2
