"""The track's rubrics and graded criteria by command: loaded, counted, exported and read back equal."""

import json
from pathlib import Path

import pytest

from evaluation.formats.argue import parse_lists
from evaluation.formats.assignments import parse_assignments
from evaluation.formats.source import read_source
from evaluation.models import Assignment, Finding, ListedNugget, NuggetList
from evaluation.terms import FindingCode
from tests.reports.rubric_world import GRADED, LABELS, RUBRICS, SET, load_graded, load_rubrics, needs_data
from tests.worlds.imported import load, refuse, run

pytestmark = [pytest.mark.django_db, needs_data]


def test_the_track_s_rubrics_are_loaded_and_leave_equal_in_both_forms(tmp_path: Path) -> None:
    load_rubrics()
    listed = ListedNugget.objects.all()
    assert (NuggetList.objects.count(), listed.count()) == (30, 755)
    assert (listed.filter(weight__lt=0).count(), listed.filter(weight=0).count()) == (97, 1)
    assert [finding.code for finding in Finding.objects.all()] == [FindingCode.REPEATED_CRITERION]
    lists = parse_lists(read_source(RUBRICS))
    for form in ("rubric", "research-rubrics", "nuggetizer"):
        file = tmp_path / form
        export = ("--campaign", "river", "--nuggets", "rubric", "--form", form, "--output", file)
        assert run("export", "nuggets", *export).code == 0
        back = parse_lists(read_source(file))
        for row, original in zip(back, lists, strict=True):
            extras = [
                {key: value for key, value in nugget.extra.items() if key != "assay"} for nugget in row.nuggets
            ]
            assert extras == [nugget.extra for nugget in original.nuggets]
            assert [(n.text, n.weight, n.group, n.importance) for n in row.nuggets] == [
                (n.text, n.weight, n.group, n.importance) for n in original.nuggets
            ]
        assert "755" not in load("import_nuggets", *SET, file).err.split("unchanged")[0].split("new")[0]
    assert listed.count() == 755


def test_graded_criteria_leave_equal(tmp_path: Path) -> None:
    load_graded()
    graded = parse_assignments(read_source(GRADED))
    labels = Assignment.objects.count()
    assert labels == sum(len(row.labels) for row in graded)
    file = tmp_path / "graded.jsonl"
    words = ("--campaign", "river", "--condition", "M/A", "--form", "graded", "--output", file)
    assert run("export", "assignments", *words).code == 0
    back = {(row.topic_id, row.run_id): row for row in parse_assignments(read_source(file))}
    for row in graded:
        mine = back[row.topic_id, row.run_id]
        assert [(n.text, n.label, n.occurrence, n.weight) for n in mine.labels] == [
            (n.text, n.label, n.occurrence, n.weight) for n in row.labels
        ]
    load("import_assignments", *LABELS, file)
    assert Assignment.objects.count() == labels


def test_a_wrong_rubric_leaves_nothing(tmp_path: Path) -> None:
    load_rubrics()
    lines = [json.loads(line) for line in RUBRICS.read_text("utf-8").splitlines()[:1]]
    others = len(lines[0]["rubrics"]) - 1
    del lines[0]["rubrics"][3]["weight"]
    file = tmp_path / "wrong.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    error = refuse("import_nuggets", "--origin", "auto", "--judge", "other", file)
    assert f"{file}:1: rubrics.3.weight: a number, as the {others} others of this list have one" in error
    error = run("export", "nuggets", "--campaign", "river", "--nuggets", "rubric", "--form", "graded").err
    assert "The forms of nuggets are nuggetizer, argue, autojudge, rubric, research-rubrics." in error
