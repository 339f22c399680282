"""Which labels count: those that stand. Withdrawn and superseded ones are kept, and left out of every figure."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from evaluation.campaigns.contents import assignment_counts_for, support_counts_for
from evaluation.corpus.label_grid import judgings_of
from evaluation.errors import BadInput, Refused
from evaluation.imports.assignments import import_assignments
from evaluation.imports.base import LoadReceipt
from evaluation.imports.support import import_support
from evaluation.judges import judge_of
from evaluation.models import Assignment, Campaign, Judge, NuggetSet, SupportJudgment, Task
from evaluation.stages import ASSIGN, SUPPORT_POST_EDIT, SUPPORT_SCRATCH, Stage
from evaluation.tasks.hand_out import reassign
from evaluation.terms import JudgeKind, Origin, SupportCondition
from exchange.exports.labels import assignment_lines, support_lines
from tests.worlds.judging import JudgingWorld, finish, give, load_machine, make_judging_world

pytestmark = pytest.mark.postgresql

RUNS = ("alpha", "beta", "gamma", "mute", "delta")
SCRATCH = SUPPORT_SCRATCH


@pytest.fixture
def world(db: None, tmp_path: Path) -> JudgingWorld:
    return make_judging_world(tmp_path)


def report(kind: str, *words: str, slug: str = "river") -> Any:
    out = StringIO()
    call_command("report", kind, "--campaign", slug, "--format", "json", *words, stdout=out, stderr=StringIO())
    return json.loads(out.getvalue())


def judged(kind: str, condition: str) -> dict[str, int]:
    """Return how many labels a report counts by run, by people under a condition."""
    return {row["run_id"]: row["judged"] for row in report(kind, "--condition", condition)["runs"]}


def judged_in_scores() -> dict[str, int]:
    """Leave out the answer without a word, whose labels nobody gave."""
    return {run: count for run, count in judged("scores", "E/M").items() if count and run != "mute"}


def judged_in_support() -> dict[str, int]:
    return {run: count for run, count in judged("support", "scratch").items() if count}


def test_a_submitted_task_s_labels_are_scored_as_its_assessor_s(world: JudgingWorld) -> None:
    finish(world.hand(ASSIGN, "ann"))
    assert judged_in_scores() == {"alpha": 3, "beta": 3, "gamma": 3}
    found = report("scores", "--condition", "E/M", "--judge", judge_of(world.people["ann"]).name)
    assert {row["run_id"]: row["vital_strict"] for row in found["runs"]}["alpha"] == 1.0


def test_labels_in_the_making_count_nowhere(world: JudgingWorld) -> None:
    for stage in (ASSIGN, SCRATCH):
        give(world.hand(stage, "ann"))
    assert judged_in_scores() == {}
    assert judged_in_support() == {}


@pytest.mark.parametrize("stage", [ASSIGN, SCRATCH])
def test_a_second_submission_takes_the_place_of_the_first(world: JudgingWorld, stage: Stage) -> None:
    task = world.hand(stage, "ann")
    finish(task, 2)
    counted = judged_in_scores() if stage is ASSIGN else judged_in_support()
    world.reopen(task)
    finish(task, 0)
    assert (judged_in_scores() if stage is ASSIGN else judged_in_support()) == counted
    rows = Assignment.objects if stage is ASSIGN else SupportJudgment.objects
    number = sum(counted.values())
    assert (rows.filter(stands=True).count(), rows.count()) == (number, 2 * number)
    if stage is ASSIGN:
        scores = report("scores", "--condition", "E/M")["runs"]
        assert {row["vital"] for row in scores if row["judged"]} == {0.0}


@pytest.mark.parametrize("stage", [ASSIGN, SCRATCH])
def test_withdrawn_labels_are_kept_and_counted_nowhere(world: JudgingWorld, stage: Stage) -> None:
    task = world.hand(stage, "ann")
    finish(task)
    revision = Campaign.objects.get().revision
    world.withdraw(task)
    rows = Assignment.objects if stage is ASSIGN else SupportJudgment.objects
    assert rows.exists()
    assert not rows.filter(stands=True).exists()
    assert Campaign.objects.get().revision > revision
    assert judged_in_scores() == {}
    assert judged_in_support() == {}
    olga, campaign = world.people["olga"], world.campaign
    assert assignment_counts_for(olga, Campaign.objects.get()) == support_counts_for(olga, campaign) == []
    assert judgings_of(olga, campaign, world.topic()) == []
    judge = judge_of(world.people["ann"])
    assert list(assignment_lines(NuggetSet.objects.get(), judge)) == by_rule_only()
    assert list(support_lines(campaign, SupportCondition.SCRATCH, judge)) == []


def by_rule_only() -> list[str]:
    """The answer without a word: nobody gave its labels."""
    judge = Judge.objects.get(user__username="ann")
    lines = list(assignment_lines(NuggetSet.objects.get(), judge))
    assert ['"provenance":"rule"' in line.replace(" ", "") for line in lines] == [True]
    return lines


def test_reassigned_work_starts_empty_and_its_labels_count_alone(world: JudgingWorld) -> None:
    task = world.hand(ASSIGN, "ann")
    finish(task, 2)
    new = reassign(
        campaign=world.campaign,
        task=task.public_id,
        assessor="ben",
        reason="Ann is away.",
        actor=world.people["olga"],
    )
    assert judged_in_scores() == {}
    finish(Task.objects.get(public_id=new), 1)
    assert {assignment.judge for assignment in Assignment.objects.filter(stands=True).select_related("judge")} == {
        judge_of(world.people["ben"])
    }
    assert judged_in_scores() == {"alpha": 3, "beta": 3, "gamma": 3}


def test_work_that_comes_back_to_somebody_counts_once(world: JudgingWorld) -> None:
    for label in (2, 1):
        task = world.hand(ASSIGN, "ann")
        finish(task, label)
        if label == 2:
            world.withdraw(task)
    assert judged_in_scores() == {"alpha": 3, "beta": 3, "gamma": 3}
    assert set(Assignment.objects.filter(stands=True).values_list("label", flat=True)) == {1}


def test_imported_labels_survive_withdrawing_an_unsubmitted_task(world: JudgingWorld) -> None:
    judge = judge_of(world.people["ann"])
    label = {"qid": "t1", "run_id": "alpha", "nuggets": [{"text": "bends grow", "assignment": "support"}]}
    import_assignments(
        campaign=world.campaign,
        sources=[world.source("l.jsonl", label)],
        origin=Origin.EDITED,
        judge=judge.name,
        kind=JudgeKind.HUMAN,
    )
    world.withdraw(world.hand(ASSIGN, "ann"))
    assert judged_in_scores() == {"alpha": 1}


def test_can_t_judge_is_unjudged_with_its_reason(world: JudgingWorld) -> None:
    finish(world.hand(ASSIGN, "ann"), 8, reason="not in a language I read")
    scores = report("scores", "--condition", "E/M")["runs"]
    assert [row["unjudged"] for row in scores if row["run_id"] == "alpha"] == [3]
    assert set(Assignment.objects.values_list("raw", flat=True)) == {"not in a language I read"}


def copy_of(world: JudgingWorld, folder: Path) -> JudgingWorld:
    call_command("create_campaign", "copy", "--name", "Copy", stderr=StringIO())
    copy = JudgingWorld(Campaign.objects.get(slug="copy"), world.people, folder)
    files = [("import_topics", "t"), *(("import_run", run) for run in RUNS), ("import_segments", "s")]
    for command, name in files:
        words = ["--group", f"of {name}"] if command == "import_run" else []
        call_command(command, str(folder / f"{name}.jsonl"), "--campaign", "copy", *words, stderr=StringIO())
    words = ["--origin", "edited", "--judge", "by edited", "--set", "edited"]
    call_command("import_nuggets", str(folder / "edited.jsonl"), "--campaign", "copy", *words, stderr=StringIO())
    return copy


def bring_assignments(world: JudgingWorld, target: JudgingWorld, judge: str, **more: Any) -> LoadReceipt:
    nuggets = NuggetSet.objects.get(campaign=world.campaign)
    lines = [json.loads(line) for line in assignment_lines(nuggets, Judge.objects.get(name=judge))]
    return import_assignments(
        campaign=target.campaign,
        sources=[target.source("export.jsonl", *lines)],
        origin=Origin.EDITED,
        judge=judge,
        kind=JudgeKind.HUMAN,
        **more,
    )


def bring_support(world: JudgingWorld, target: JudgingWorld, judge: str, condition: SupportCondition) -> Any:
    given = support_lines(world.campaign, condition, Judge.objects.get(name=judge))
    return import_support(
        campaign=target.campaign,
        sources=[target.source("export.jsonl", *(json.loads(line) for line in given))],
        judge=judge,
        kind=JudgeKind.HUMAN,
        condition=condition,
    )


BESIDE = ("label", "raw", "sentence", "first_label")


def test_exported_assignments_come_back_whole(world: JudgingWorld, tmp_path: Path) -> None:
    task = world.hand(ASSIGN, "ann")
    finish(task, 2, sentence=1, first_label=0)
    world.reopen(task)
    give(task, 2, sentence=None, first_label=None)
    [alpha] = Assignment.objects.filter(stands=True).values_list("answer", flat=True)[:1]
    finish(task, 8, answers=[alpha], reason="no words", sentence=0, first_label=1)
    copy, judge = copy_of(world, tmp_path), judge_of(world.people["ann"]).name
    assert bring_assignments(world, copy, judge).added == 9
    labels = Assignment.objects.filter(stands=True).order_by("nugget_version__text", "label")
    here, there = (
        list(labels.filter(answer__topic__campaign=judging_world.campaign).values_list(*BESIDE))
        for judging_world in (world, copy)
    )
    assert here == there
    assert (8, "no words", 0, 1) in here
    assert report("scores", "--condition", "E/M") == report("scores", "--condition", "E/M", slug="copy")


def test_an_export_of_support_comes_back_with_what_was_shown(world: JudgingWorld, tmp_path: Path) -> None:
    pairs = (
        ("alpha", 0, "d1", "full_support"),
        ("alpha", 1, "d2", "no_support"),
        ("gamma", 1, "d2", "no_support"),
    )
    load_machine(world, *pairs)
    task = world.hand(SUPPORT_POST_EDIT, "ann")
    finish(task, 2, shown_label=2, shown_ms=1234, accepted=True, evidence=3)
    copy, judge = copy_of(world, tmp_path), judge_of(world.people["ann"]).name
    assert bring_support(world, copy, judge, SupportCondition.POST_EDIT).added == 3
    labels = SupportJudgment.objects.filter(judge__name=judge, segment__campaign=copy.campaign)
    beside = ("label", "shown_label", "shown_ms", "accepted", "evidence")
    assert set(labels.values_list(*beside)) == {(2, 2, 1234, True, 3)}
    for slug in ("river", "copy"):
        assert report("support", "--condition", "post-edit", slug=slug)["runs"][0]["judged"] > 0


def test_why_a_citation_cannot_be_judged_comes_back(world: JudgingWorld, tmp_path: Path) -> None:
    finish(world.hand(SCRATCH, "ann"), 8, reason="the passage is in another language")
    copy, judge = copy_of(world, tmp_path), judge_of(world.people["ann"]).name
    bring_support(world, copy, judge, SupportCondition.SCRATCH)
    labels = SupportJudgment.objects.filter(segment__campaign=copy.campaign)
    assert set(labels.values_list("label", "raw")) == {(8, "the passage is in another language")}


def test_an_export_imported_where_it_was_judged_changes_nothing(world: JudgingWorld) -> None:
    task = world.hand(ASSIGN, "ann")
    finish(task)
    world.reopen(task)
    finish(task, 1)
    judge = judge_of(world.people["ann"]).name
    assert bring_assignments(world, world, judge).nothing_changed


def test_what_was_submitted_here_is_not_replaced_by_an_import(world: JudgingWorld) -> None:
    finish(world.hand(ASSIGN, "ann"))
    label = {"qid": "t1", "run_id": "alpha", "nuggets": [{"text": "bends grow", "assignment": "not_support"}]}
    with pytest.raises(Refused, match="1 of these labels was submitted here"):
        import_assignments(
            campaign=world.campaign,
            sources=[world.source("l.jsonl", label)],
            origin=Origin.EDITED,
            judge=judge_of(world.people["ann"]).name,
            kind=JudgeKind.HUMAN,
            replace=True,
        )
    assert set(Assignment.objects.values_list("label", flat=True)) == {2}


def test_labels_imported_after_a_withdrawal_leave_withdrawn_ones(world: JudgingWorld) -> None:
    task = world.hand(ASSIGN, "ann")
    finish(task)
    world.withdraw(task)
    label = {"qid": "t1", "run_id": "alpha", "nuggets": [{"text": "bends grow", "assignment": "not_support"}]}
    import_assignments(
        campaign=world.campaign,
        sources=[world.source("l.jsonl", label)],
        origin=Origin.EDITED,
        judge=judge_of(world.people["ann"]).name,
        kind=JudgeKind.HUMAN,
    )
    assert judged_in_scores() == {"alpha": 1}
    assert list(Assignment.objects.filter(stands=True).values_list("submission", "label")) == [(2, 0)]
    assert Assignment.objects.filter(stands=False).count() == 9


@pytest.mark.parametrize("wrong", [{"sentence": -1}, {"sentence": "two"}, {"first_label": "maybe"}])
def test_wrong_provenance_of_a_label_is_refused_with_its_line(world: JudgingWorld, wrong: dict[str, Any]) -> None:
    item = {"text": "bends grow", "assignment": "support", "assay": wrong}
    with pytest.raises(BadInput, match=r"l\.jsonl:1"):
        import_assignments(
            campaign=world.campaign,
            sources=[world.source("l.jsonl", {"qid": "t1", "run_id": "alpha", "nuggets": [item]})],
            origin=Origin.EDITED,
            judge="Cleo",
            kind=JudgeKind.HUMAN,
        )
    assert not Assignment.objects.exists()


@pytest.mark.parametrize(
    "wrong", [{"shown_ms": -1}, {"evidence": -1}, {"shown_label": "perhaps"}, {"accepted": "maybe"}]
)
def test_wrong_provenance_of_a_support_label_is_refused_too(world: JudgingWorld, wrong: dict[str, Any]) -> None:
    row = {
        "run_id": "alpha",
        "topic_id": "t1",
        "sentence": 0,
        "docid": "d1",
        "label": "no_support",
        "assay": wrong,
    }
    with pytest.raises(BadInput, match=r"l\.jsonl:1"):
        import_support(
            campaign=world.campaign,
            sources=[world.source("l.jsonl", row)],
            judge="Cleo",
            kind=JudgeKind.HUMAN,
            condition=SupportCondition.POST_EDIT,
        )
    assert not SupportJudgment.objects.exists()
