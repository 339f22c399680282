"""Score files of judges: loaded by topic, all or nothing, again without change, and taken back."""

from pathlib import Path

import pytest

from evaluation.models import Event, Finding
from reports.models import ExternalCondition, ExternalScore
from tests.worlds.imported import load, refuse, report, write


def rows_of(name: str) -> set[tuple[str, str, str, float]]:
    rows = ExternalScore.objects.filter(condition__name=name)
    return set(rows.values_list("run_id", "topic_id", "score", "value"))


@pytest.mark.usefixtures("judged")
def test_the_two_files_of_a_judge_give_equal_tables(score_files: Path) -> None:
    load("import_scores", "--form", "tot", "--judge", "A", score_files / "judgeA.eval.txt")
    load("import_scores", "--judge", "B", score_files / "judgeA.ir_measures.txt")
    assert rows_of("A") == rows_of("B")
    assert ("r1", "t01", "GRADE", 0.5984) in rows_of("A")
    assert ("r1", "", "GRADE", 0.573717) in rows_of("A")


@pytest.mark.usefixtures("judged")
def test_the_same_file_again_changes_nothing_and_its_event_can_be_taken_back(score_files: Path) -> None:
    options = ("--judge", "A", "--method", "pointwise", "--model", "gpt-4o", score_files / "judgeA.eval.txt")
    assert "49 scores added" in load("import_scores", *options).err
    assert "Nothing changed: 49 scores" in load("import_scores", *options).err
    table = ExternalCondition.objects.get()
    assert (table.method, table.model) == ("pointwise", "gpt-4o")
    event = Event.objects.get(kind="import.scores")
    assert set(ExternalScore.objects.values_list("event", flat=True)) == {event.pk}
    assert "49 scores taken away" in load("undo_import", f"e{event.pk}").err
    assert not ExternalCondition.objects.exists()


def test_an_aggregate_that_is_not_the_mean_is_found_and_the_mean_counts(judged: Path) -> None:
    file = write(judged, "a.txt", "r1 m t01 0.25\nr1 m t02 0.75\nr1 m all 0.9\n")
    told = load("import_scores", "--judge", "A", file).err
    assert "m: all is 0.9, the mean over topics 0.5; the mean counts" in told
    assert Finding.objects.get().line == 3
    assert {topic for _, topic, _, _ in rows_of("A")} == {"t01", "t02"}
    load("import_scores", "--judge", "B", "--keep-aggregates", file)
    assert ("r1", "", "m", 0.9) in rows_of("B")


def test_an_aggregate_is_compared_with_all_topics_of_the_judge_also_those_of_other_files(judged: Path) -> None:
    first, second = "r1 m t01 0.2\nr1 m t02 0.4\n", "r1 m t03 0.9\nr1 m t04 0.9\n"
    stale, whole = "r1 m all 0.3\n", "r1 m all 0.6\n"
    told = "m: all is 0.3, the mean over topics 0.6; the mean counts"
    parts = {
        "stale": (first + stale, second),
        "of topics to come": (stale, first + second),
        "again": (first + stale, second + stale),
        "right": (first + stale, second + whole),
        "last": (first + second, whole),
        "last and wrong": (first + second, stale),
    }
    for name, texts in parts.items():
        for place, text in enumerate(texts):
            said = load("import_scores", "--judge", name, "--form", "tot", write(judged, f"{place}.txt", text)).err
        assert (told in said) is (whole not in texts[1]), name
        aggregates = {value for _, topic, _, value in rows_of(name) if not topic}
        assert aggregates == ({0.6} if whole in texts[1] else set()), name
    load("import_scores", "--judge", "kept", "--form", "tot", write(judged, "a.txt", first + stale))
    load("import_scores", "--judge", "kept", "--form", "tot", "--keep-aggregates", write(judged, "b.txt", second))
    assert ("r1", "", "m", 0.3) in rows_of("kept")


def test_a_changed_value_is_shown_and_changed_with_replace_alone(judged: Path) -> None:
    load("import_scores", "--judge", "A", write(judged, "a.txt", "r1 m t01 0.25\nr1 m t02 0.75\nr2 m t01 1\n"))
    other = write(judged, "b.txt", "r1 m t01 0.5\n")
    assert f"{other}:1: value: what is already loaded for r1, t01, m" in refuse(
        "import_scores", "--judge", "A", other
    )
    assert "1 changed. 1 taken out" in load("import_scores", "--judge", "A", "--replace", other).err
    assert rows_of("A") == {("r1", "t01", "m", 0.5), ("r2", "t01", "m", 1.0)}


def test_another_method_of_a_judge_is_a_change(judged: Path) -> None:
    file = write(judged, "a.txt", "r1 m t01 0.25\n")
    load("import_scores", "--judge", "A", file)
    assert "1 changed" in load("import_scores", "--judge", "A", "--method", "pairwise", file).err
    assert "method" in refuse("import_scores", "--judge", "A", "--method", "pointwise", file)
    load("import_scores", "--judge", "A", "--method", "pointwise", "--replace", file)
    assert ExternalCondition.objects.get().method == "pointwise"


def test_files_of_several_judges_are_one_import_and_their_names_are_in_a_file(judged: Path) -> None:
    judges = write(judged, "judges.yml", "judges:\n  a.txt: {name: A, method: x}\n  b: {name: B}\nstyles: {}\n")
    files = [write(judged, name, f"r1 m t01 {value}\n") for name, value in (("a.txt", 0.1), ("b.txt", 0.2))]
    load("import_scores", "--judges", judges, *files)
    assert list(ExternalCondition.objects.values_list("name", "method")) == [("A", "x"), ("B", "")]
    load("import_scores", "--judges", judges, write(judged, "b.csv", "run_id,vital\nr1,1\n"), "--replace")
    sent = [event.payload["files"] for event in Event.objects.filter(kind="import.scores").order_by("pk")]
    names = [[Path(file["name"]).name for file in files] for files in sent]
    assert names == [["judges.yml", "a.txt", "b.txt"], ["judges.yml", "b.csv"]]
    other = write(judged, "c.txt", "r1 m t01 0.3\n")
    assert f"{other}:0: judges: a file of: a.txt, b" in refuse("import_scores", "--judges", judges, other)


def test_trec_eval_has_a_run_in_each_file(judged: Path) -> None:
    folder = judged / "runs"
    folder.mkdir()
    files = [
        write(folder, name, f"map t01 {value}\nmap all {value}\n") for name, value in (("r1", 0.1), ("r2", 0.2))
    ]
    load("import_scores", "--judge", "A", *files)
    assert {run_id for run_id, _, _, _ in rows_of("A")} == {"r1", "r2"}


def test_a_row_in_two_files_of_one_judge_is_refused(judged: Path) -> None:
    files = [write(judged, name, "r1 m t01 0.5\n") for name in ("a.txt", "b.txt")]
    told = refuse("import_scores", "--judge", "A", *files)
    assert f"{files[1]}:1: row: run r1, topic t01, measure m once, it is in {files[0]} too (duplicate)" in told


def test_a_file_that_could_be_either_is_refused_until_its_form_is_said(judged: Path) -> None:
    file = write(judged, "a.txt", "r1 x y 0.5\n")
    told = refuse("import_scores", "--judge", "A", "--topics-as-they-are", file, code=2)
    assert told.strip() == "--form: tot or ir_measures, this file could be either"
    load("import_scores", "--judge", "A", "--topics-as-they-are", "--form", "tot", file)
    assert rows_of("A") == {("r1", "y", "x", 0.5)}


@pytest.mark.usefixtures("judged")
def test_standard_input_is_no_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = write(tmp_path, "in", "map t01 0.5\n")
    with file.open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        told = refuse("import_scores", "--judge", "A", "-", code=2)
    assert told.strip() == "trec_eval needs one file per run: standard input has no name"


def test_a_judge_may_not_be_named_as_a_condition(judged: Path) -> None:
    file = write(judged, "a.txt", "r1 m t01 0.5\n")
    assert "E/M is a condition of Assay" in refuse("import_scores", "--judge", "E/M", file)


def test_every_problem_of_all_files_is_told_at_once(judged: Path) -> None:
    load("import_scores", "--judge", "A", write(judged, "a.txt", "r1 m t01 0.25\n"))
    files = [
        write(judged, "b.txt", "r1 m t01 0.5\nr1 m t01\n"),
        write(judged, "c.txt", "r1 m t09 0.5\n"),
    ]
    told = refuse("import_scores", "--judge", "A", "--form", "tot", *files)
    for problem in ("b.txt:1: value", "b.txt:2: columns", "c.txt:1: topic: a topic of the campaign, found 't09'"):
        assert problem in told


def test_a_table_by_topic_correlates_by_its_means(judged: Path) -> None:
    load("import_scores", "--judge", "A", write(judged, "a.txt", "r1 all t01 0\nr1 all t02 1\nr2 all t01 0.25\n"))
    load("import_scores", "--condition", "Paper", write(judged, "p.csv", "run_id,all\nr1,0.5\nr2,0.25\n"))
    assert report("correlation", "--x", "A", "--y", "Paper", "--score", "all")["run_level"] == 1.0
