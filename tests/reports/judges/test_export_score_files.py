"""Scores go out in the five forms of score files, and come in again equal."""

from pathlib import Path

import pytest

from evaluation.formats.score_files import FORMS
from tests.reports.judges.test_import_score_files import rows_of
from tests.worlds.imported import load, report, run, write


def export(*options: object) -> str:
    outcome = run("export", "scores", "--campaign", "river", *options)
    assert outcome.code == 0, outcome.err
    return outcome.out


@pytest.mark.usefixtures("judged")
@pytest.mark.parametrize("form", [form.name for form in FORMS.values() if not form.is_of_one_run])
def test_a_judge_s_table_goes_out_and_comes_in_again_equal(tmp_path: Path, form: str, score_files: Path) -> None:
    load("import_scores", "--judge", "A", score_files / "judgeA.eval.txt")
    file = write(tmp_path, "out.txt", export("--condition", "A", "--form", form))
    load("import_scores", "--judge", "B", "--form", form, file)
    assert rows_of("A") == rows_of("B")


@pytest.mark.usefixtures("judged")
def test_trec_eval_has_a_file_for_each_run(tmp_path: Path, score_files: Path) -> None:
    load("import_scores", "--judge", "A", score_files / "judgeA.eval.txt")
    asked = ("--condition", "A", "--form", "trec_eval")
    refused = run("export", "scores", "--campaign", "river", *asked)
    assert (refused.code, refused.err) == (2, "trec_eval needs one file per run. Option: --run.\n")
    folder = tmp_path / "runs"
    folder.mkdir()
    files = [write(folder, f"r{n}", export(*asked, "--run", f"r{n}")) for n in range(1, 8)]
    load("import_scores", "--judge", "B", *files)
    assert rows_of("A") == rows_of("B")
    assert "nobody" in run("export", "scores", "--campaign", "river", *asked, "--run", "nobody").err


@pytest.mark.usefixtures("judged")
def test_six_digits_are_enough_for_a_reader(tmp_path: Path) -> None:
    load("import_scores", "--judge", "A", write(tmp_path, "a.txt", "r1 m t01 0.1234567890123456\n"))
    asked = ("--condition", "A", "--form", "tot", "--digits")
    assert export(*asked, "6") == "r1\tm\tt01\t0.123457\nr1\tm\tall\t0.123457\n"
    assert "0.1234567890123456\n" in export(*asked, "17")


def test_our_own_scores_are_a_judge_s_that_agrees_with_them_in_full(labelled: Path) -> None:
    text = export("--condition", "A/A", "--form", "tot")
    assert text.splitlines()[0].split("\t")[:3] == ["alpha", "vital_strict", "t1"]
    load("import_scores", "--judge", "copy", write(labelled, "out.txt", text))
    scores = {row["run_id"]: row["all"] for row in report("scores", "--condition", "A/A")["runs"]}
    ours = {(run_id, value) for run_id, topic, score, value in rows_of("copy") if (topic, score) == ("", "all")}
    assert ours == set(scores.items())
