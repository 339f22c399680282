"""`create_study` and `report study`: the figures are those of scikit-learn, and of the labels as they stand."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from sklearn.metrics import cohen_kappa_score

from evaluation.judges import study_judge
from evaluation.models import Assignment, Judge, Study, StudyPair
from evaluation.terms import StudyKind
from reports.methods.report import methods_report
from reports.quality.studies import StudyRole, study_report
from tests.worlds.judging import JudgingWorld
from tests.worlds.study import (
    EXPERT,
    MACHINE,
    STUDY,
    hand_study,
    keys_of,
    make_study,
    make_study_world,
    window_of,
)


@pytest.fixture
def world(db: None, tmp_path: Path) -> JudgingWorld:
    """An expert and a machine who differ on six pairs."""
    return make_study_world(tmp_path)


def run(*words: str, code: int = 0) -> str:
    """Run a command; return what it prints: data, or where it ends with a status, messages."""
    out, err = StringIO(), StringIO()
    if not code:
        call_command(*words, stdout=out, stderr=err)
        return out.getvalue()
    with pytest.raises(SystemExit) as ended:
        call_command(*words, stdout=out, stderr=err)
    assert (ended.value.code, out.getvalue()) == (code, "")
    return err.getvalue()


def report(*words: str) -> Any:
    return json.loads(run("report", "study", "--campaign", "river", "--study", STUDY, "--format", "json", *words))


def label_as(study: Study, judge: Judge, labels: list[int]) -> None:
    event = study.event
    for pair, label in zip(StudyPair.objects.filter(study=study).order_by("pk"), labels, strict=False):
        Assignment.objects.create(
            judge=study_judge(study, judge),
            answer=pair.answer,
            nugget_version_id=pair.nugget_version_id or 0,
            label=label,
            given_at=event.at,
            event=event,
        )


def test_it_leaves_as_files_from_the_second_looks(world: JudgingWorld) -> None:
    study, client = make_study(world), Client()
    client.force_login(world.people["olga"])
    page = client.get(reverse("organizer:studies", args=["river"])).content.decode()
    assert STUDY in page
    address = reverse("reports:study_table", args=["river", study.pk, "json"])
    assert address in page
    assert client.get(address).json()["judges"] == report()["judges"]
    latex = client.get(reverse("reports:study_table", args=["river", study.pk, "tex"])).content.decode()
    assert "Linear-weighted kappa" in latex
    assert client.get(reverse("reports:study_table", args=["river", 999, "csv"])).status_code == 404


def test_kappas_of_each_with_each_are_scikit_learn_s(world: JudgingWorld) -> None:
    study = make_study(world)
    second = Judge.objects.create(name="second", kind="llm", model="second")
    given = {"ann": [2, 2, 1, 0, 1, 8], "second": [0, 2, 1, 0, 9]}
    label_as(study, Judge.objects.create(name="ann", kind="human", user=world.people["ann"]), given["ann"])
    label_as(study, second, given["second"])
    pairs = list(StudyPair.objects.filter(study=study).order_by("pk"))
    labels: dict[str, list[int]] = {
        EXPERT: [pair.person_label or 0 for pair in pairs],
        MACHINE: [pair.judge_label or 0 for pair in pairs],
        f"ann, study {STUDY}": given["ann"],
        f"second, study {STUDY}": [*given["second"], 9],
    }
    rows = report()["agreement"]
    assert len(rows) == 6
    for row in rows:
        both = [pair for pair in zip(labels[row["judge"]], labels[row["with"]], strict=True) if max(pair) <= 2]
        left, right = zip(*both, strict=True)
        assert row["pairs"] == len(both)
        assert row["agreement"] == pytest.approx(sum(a == b for a, b in both) / len(both))
        assert row["kappa"] == pytest.approx(cohen_kappa_score(left, right, labels=[0, 1, 2]))
        linear = cohen_kappa_score(left, right, labels=[0, 1, 2], weights="linear")
        assert row["kappa_linear"] == pytest.approx(linear)


def test_label_distributions_count_what_was_given(world: JudgingWorld) -> None:
    study = make_study(world)
    label_as(study, Judge.objects.create(name="ann", kind="human", user=world.people["ann"]), [2, 2, 1, 0, 8])
    found = {row["role"]: row for row in report()["judges"]}
    assert list(found) == [StudyRole.PERSON, StudyRole.JUDGE, StudyRole.ASSESSOR]
    ann = found[StudyRole.ASSESSOR]
    assert (ann["judged"], ann["unjudged"], ann["failed"]) == (4, 2, 0)
    assert (ann["not_support"], ann["partial_support"], ann["support"]) == (0.25, 0.25, 0.5)
    assert (found["person"]["support"], found["judge"]["support"]) == (0.5, pytest.approx(1 / 3))


def test_work_at_the_desk_comes_into_the_report_when_it_is_submitted(world: JudgingWorld) -> None:
    study = make_study(world, StudyKind.SUPPORT)
    window = window_of(world, hand_study(world, study))
    [row] = report()["agreement"]
    ends = row.pop("intervals")
    assert row == {
        "judge": EXPERT,
        "with": MACHINE,
        "pairs": 2,
        "agreement": 0.0,
        "kappa": 0.0,
        "kappa_linear": 0.0,
    }
    refused = {"low": None, "high": None, "reason": "too few topics"}
    assert ends == dict.fromkeys(("agreement", "kappa", "kappa_linear"), refused)
    for key in keys_of(window):
        window.do("label", key=key, label="no_support")
    assert len(study_report(study).judges) == 2
    window.submit()
    rows = {(row["judge"], row["with"]): row["agreement"] for row in report()["agreement"]}
    assert rows[MACHINE, f"ann, study {STUDY}"] == 1.0
    assert rows[EXPERT, f"ann, study {STUDY}"] == 0.0


def test_what_was_drawn_is_shown_by_topic_and_cell(world: JudgingWorld) -> None:
    [topic] = study_report(make_study(world)).topics
    assert (topic.topic_id, topic.pairs) == ("t1", 6)
    assert topic.cells == ((0, 1, 2), (0, 0, 0), (1, 2, 0))


def test_the_methods_say_how_many_decoys_were_mixed_in(world: JudgingWorld) -> None:
    make_study(world, decoys=33)
    make_study(world, name="bare", per_topic=2, stratified=True, seed=4)
    sections = {section.title: section for section in methods_report(world.campaign).sections}
    mixed, bare = sections["Second looks"].sentences
    assert mixed.startswith(f"6 pairs on which Assessor 2 and {MACHINE} differ were drawn to be judged again")
    assert "3 on which the two agree were mixed in (33 % of each topic)" in mixed
    assert "up to 2 of each topic, stratified by the two labels, seed 4." in bare
    assert bare.endswith("Every pair that was handed out is one of them.")


def test_the_commands_draw_and_print(world: JudgingWorld, capsys: pytest.CaptureFixture[str]) -> None:
    make = ("create_study", "--campaign", "river", STUDY, "--kind", "assignment")
    run(*make, "--per-topic", "4", "--stratified", "--seed", "7", "--topics", "t1")
    found = report()
    assert (found["pairs"], found["stratified"], found["seed"], found["nuggets"]) == (4, True, 7, "edited")
    table = run("report", "study", "--campaign", "river", "--study", STUDY)
    assert "kappa_linear" in table
    assert found["decoys"] == 2  # one in four
    assert "4 pairs of 1 topics, up to 4 each, stratified by cell, seed 7; 2 decoys beside them." in table
    rows = run("report", "study", "--campaign", "river", "--study", STUDY, "--format", "csv").splitlines()
    assert rows[0].startswith("judge,with,pairs,agreement,kappa,kappa_linear,agreement_low,agreement_high,")
    assert "There is a study" in run(*make, code=1)
    assert STUDY in run("report", "study", "--campaign", "river", "--study", "none", code=1)
    assert "from 1 to" in run(*make[:3], "other", *make[4:], "--per-topic", "0", code=2)
