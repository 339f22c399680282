"""Disagreement studies: what is drawn, who gets it, and that their labels stay apart."""

import json
from collections.abc import Callable
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any, TypedDict

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction

from assessor.desk.task_progress import Progress, progress_of
from evaluation.errors import Refused
from evaluation.imports.assignments import import_assignments
from evaluation.imports.support import import_support
from evaluation.judges import judge_of
from evaluation.models import (
    AnswerProvenance,
    Assignment,
    Campaign,
    Event,
    Judge,
    ListedNugget,
    NuggetSet,
    Study,
    StudyPair,
    SupportJudgment,
    TaskAnswer,
)
from evaluation.stages import ASSIGN, SUPPORT_SCRATCH
from evaluation.studies import hand_out_study
from evaluation.tasks.hand_out import hand_out, reassign
from evaluation.tasks.units import Order
from evaluation.terms import JudgeKind, Origin, StudyKind, SupportCondition, TaskState
from exchange.exports.labels import assignment_lines, support_lines
from tests.worlds.judging import JudgingWorld, current_task, finish, load_nuggets
from tests.worlds.study import (
    EXPERT,
    MACHINE,
    STUDY,
    drawn,
    hand_study,
    judge_drawn,
    load_assignments,
    make_study,
    make_study_world,
    window_of,
)


class Outside(TypedDict):
    judge: str
    kind: JudgeKind


BOTH = [StudyKind.ASSIGNMENT, StudyKind.SUPPORT]
DIFFER = {
    *(("alpha", "bends grow"), ("alpha", "sand moves"), ("beta", "sand moves"), ("beta", "banks erode")),
    *(("gamma", "bends grow"), ("gamma", "banks erode")),
}


@pytest.fixture
def world(db: None, tmp_path: Path) -> JudgingWorld:
    """Labels of an expert and a machine, nothing handed out."""
    return make_study_world(tmp_path)


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(Refused) as refused:
        act()
    return refused.value.code


def report(kind: str, *words: str) -> Any:
    out = StringIO()
    call_command("report", kind, "--campaign", "river", "--format", "json", *words, stdout=out, stderr=StringIO())
    return json.loads(out.getvalue())


def test_just_the_pairs_that_differ_are_drawn_with_both_labels(world: JudgingWorld) -> None:
    study = make_study(world)
    assert drawn(study) == DIFFER
    assert (str(study.person), str(study.judge), str(study.nugget_set)) == (EXPERT, MACHINE, "edited")
    cells = sorted(StudyPair.objects.filter(study=study).values_list("person_label", "judge_label"))
    assert cells == [(0, 1), (0, 2), (0, 2), (2, 0), (2, 1), (2, 1)]
    event = Event.objects.get(kind="study.created")
    assert (event.actor, event.payload["pairs"], event.payload["seed"]) == (world.people["olga"], 6, 0)


def test_support_is_drawn_by_sentence_and_passage(world: JudgingWorld) -> None:
    study = make_study(world, StudyKind.SUPPORT)
    pairs = StudyPair.objects.filter(study=study)
    assert {(pair.person_label, pair.judge_label, pair.segment.docid) for pair in pairs if pair.segment} == {
        (2, 0, "d1"),
        (2, 0, "d2"),
    }
    assert study.condition == SupportCondition.SCRATCH


def test_so_many_a_topic_and_another_seed_draws_others(world: JudgingWorld) -> None:
    studies = [make_study(world, name=f"s{seed}", per_topic=2, seed=seed) for seed in range(6)]
    assert {len(drawn(study)) for study in studies} == {2}
    assert len({frozenset(drawn(study)) for study in studies}) > 1
    assert drawn(make_study(world, name="again", per_topic=2, seed=3)) == drawn(studies[3])


def agreed(study: Study) -> set[tuple[str, str]]:
    return drawn(study) - DIFFER


@pytest.mark.parametrize(("share", "number"), [(0, 0), (1, 1), (25, 2), (33, 3), (75, 3)])
def test_pairs_on_which_both_agree_are_mixed_in_as_decoys(world: JudgingWorld, share: int, number: int) -> None:
    study = make_study(world, decoys=share)
    assert drawn(study) >= DIFFER
    assert (len(agreed(study)), study.decoys) == (number, share)
    for decoy in StudyPair.objects.decoys():
        assert decoy.person_label == decoy.judge_label
    payload = Event.objects.get(kind="study.created").payload
    assert (payload["pairs"], payload["agreed"], payload["decoys"]) == (6, number, share)


def test_the_disputed_pairs_are_the_same_with_and_without_decoys(world: JudgingWorld) -> None:
    [bare, mixed] = [make_study(world, name=f"s{share}", per_topic=3, decoys=share) for share in (0, 50)]
    assert drawn(mixed) - agreed(mixed) == drawn(bare)
    assert agreed(make_study(world, name="again", per_topic=3, decoys=50)) == agreed(mixed)


def test_no_row_s_number_tells_a_decoy(world: JudgingWorld) -> None:
    study = make_study(world, decoys=33)
    rows = StudyPair.objects.filter(study=study).order_by("pk")
    keys = [(runs_of()[pair.answer_id], place_of(pair)) for pair in rows]
    assert keys == sorted(keys)
    assert StudyPair.objects.decoys().count() == 3


def runs_of() -> dict[int, str]:
    return dict(AnswerProvenance.objects.values_list("answer", "run__run_id"))


def place_of(pair: StudyPair) -> int:
    return ListedNugget.objects.get(nugget_version=pair.nugget_version_id).position


def test_decoys_are_work_like_any_and_stay_through_withdrawal(world: JudgingWorld) -> None:
    study = make_study(world, decoys=33)
    old = hand_study(world, study)
    assert progress_of([old])[old.pk].labels == 9
    judge_drawn(window_of(world, old))
    reason, olga = "Ann is away.", world.people["olga"]
    reassigned = reassign(campaign=world.campaign, task=old.public_id, assessor="ben", reason=reason, actor=olga)
    new = current_task(reassigned)
    assert progress_of([new])[new.pk].labels == 9
    judge_drawn(window_of(world, new), "not_support")
    assert Assignment.objects.current().filter(judge__study=study).count() == 9
    found = report("study", "--study", STUDY)
    assert (found["pairs"], found["decoys"]) == (6, 3)
    assert {row["pairs"] for row in found["agreement"]} == {6}
    assert {row["judged"] for row in found["judges"]} == {6}


@pytest.mark.parametrize("kind", BOTH)
def test_exports_mark_decoys(world: JudgingWorld, kind: StudyKind) -> None:
    study = make_study(world, kind, decoys=33)
    is_nuggets = kind is StudyKind.ASSIGNMENT
    judge_drawn(window_of(world, hand_study(world, study)), "support" if is_nuggets else "no_support")
    own = Judge.objects.get(study=study)
    if is_nuggets:
        lines = assignment_lines(NuggetSet.objects.get(), own)
        labels = [nugget["assay"] for line in lines for nugget in json.loads(line)["nuggets"] if "assay" in nugget]
    else:
        labels = [
            json.loads(line)["assay"] for line in support_lines(world.campaign, SupportCondition.SCRATCH, own)
        ]
    marks = [label["decoy"] for label in labels if "decoy" in label]
    assert marks == [True] * StudyPair.objects.decoys().count() != []
    assert len(labels) == StudyPair.objects.count()


def test_what_is_no_label_is_no_disagreement(world: JudgingWorld) -> None:
    load_nuggets(world, "other", Origin.MANUAL)
    load_assignments(world, "second", JudgeKind.LLM, {"alpha": ("dunno", "cant_judge", 1)})
    assert drawn(make_study(world, judge="second", nuggets="edited")) == {("alpha", "banks erode")}


def test_labels_that_do_not_stand_are_no_disagreement(world: JudgingWorld) -> None:
    Assignment.objects.filter(judge__name=MACHINE, label=2).update(stands=False)
    assert drawn(make_study(world)) == DIFFER - {("beta", "sand moves"), ("gamma", "banks erode")}


def test_what_was_drawn_stays_when_labels_change(world: JudgingWorld) -> None:
    study = make_study(world)
    Assignment.objects.update(label=0)
    assert drawn(study) == DIFFER
    assert refusal(lambda: make_study(world, name="later")) == "no_disagreement"


def test_refusals_say_what_is_wrong_and_write_nothing(world: JudgingWorld) -> None:
    make_study(world)
    load_assignments(world, "second", JudgeKind.LLM, {"alpha": (0, 0, 0)})
    events = Event.objects.count()
    requests: list[tuple[str, dict[str, Any]]] = [
        ("name_taken", {"judge": MACHINE}),
        ("ambiguous", {"name": "x"}),
        ("no_such_judge", {"name": "x", "judge": EXPERT}),
        ("no_such_judge", {"name": "x", "judge": MACHINE, "person": "nobody"}),
        ("no_such_set", {"name": "x", "nuggets": "none"}),
        ("no_such_topic", {"name": "x", "judge": MACHINE, "topics": ("t9",)}),
        ("no_such_judge", {"name": "x", "judge": MACHINE, "topics": ("t2",)}),
        ("usage", {"name": "x", "per_topic": 0}),
        ("usage", {"name": "x", "seed": -1}),
        ("usage", {"name": "x", "decoys": 76}),
        ("bad_name", {"name": " "}),
    ]
    assert [refusal(partial(make_study, world, **more)) for _, more in requests] == [code for code, _ in requests]
    assert (Study.objects.count(), Event.objects.count()) == (1, events)


def test_the_database_refuses_a_pair_of_no_kind_or_with_half_its_labels(world: JudgingWorld) -> None:
    study = make_study(world)
    pair = StudyPair.objects.filter(study=study).first()
    assert pair is not None
    for change in ({"nugget_version": None}, {"person_label": None}, {"judge_label": 9}):
        with pytest.raises(IntegrityError), transaction.atomic():
            StudyPair.objects.filter(pk=pair.pk).update(**change)


@pytest.mark.parametrize(("kind", "progress"), [(BOTH[0], (6, 3)), (BOTH[1], (2, 2))])
def test_a_task_asks_just_what_was_drawn(world: JudgingWorld, kind: StudyKind, progress: tuple[int, int]) -> None:
    task = hand_study(world, make_study(world, kind))
    labels, answers = progress
    assert progress_of([task])[task.pk] == Progress(labels=labels, answers=answers)
    assert task.stage == (ASSIGN if kind is StudyKind.ASSIGNMENT else SUPPORT_SCRATCH)
    assert TaskAnswer.objects.filter(task=task).count() == answers
    assert Event.objects.get(kind="task.handed_out").payload["study"] == STUDY


@pytest.mark.parametrize("kind", BOTH)
def test_its_labels_have_an_own_judge_and_no_report_changes(world: JudgingWorld, kind: StudyKind) -> None:
    reports = [
        ("scores", "--condition", "E/M"),
        ("scores", "--condition", "E/A"),
        ("support", "--condition", "scratch"),
        ("support", "--condition", "llm"),
        ("confusion", "--rows", "E/A", "--columns", "E/M"),
        ("descriptives",),
        ("time",),
    ]
    before = [report(*words) for words in reports]
    task = hand_study(world, make_study(world, kind))
    judge_drawn(window_of(world, task), "support" if kind is StudyKind.ASSIGNMENT else "no_support")
    rows = Assignment.objects if kind is StudyKind.ASSIGNMENT else SupportJudgment.objects
    own = Judge.objects.get(study__name=STUDY)
    assert own.name == f"{judge_of(task.assessor).name}, study {STUDY}"
    assert rows.filter(judge=own).count() == StudyPair.objects.count()
    assert not rows.filter(judge=judge_of(task.assessor)).exists()
    assert judge_of(task.assessor).study is None
    assert [report(*words) for words in reports] == before


def test_whoever_is_named_is_reported(world: JudgingWorld) -> None:
    judge_drawn(window_of(world, hand_study(world, make_study(world))))
    own = Judge.objects.get(study__name=STUDY)
    found = report("scores", "--condition", "E/M", "--judge", own.name, "--unjudged", "zero")
    assert (
        sum(row["judged"] for row in found["runs"]) == len(DIFFER) + 3
    )  # those of the answer without a word, by rule


@pytest.mark.parametrize("kind", BOTH)
def test_exports_say_of_which_study_and_go_in_elsewhere_without_harm(
    world: JudgingWorld, kind: StudyKind, tmp_path: Path
) -> None:
    judge_drawn(
        window_of(world, hand_study(world, make_study(world, kind))),
        "support" if kind is StudyKind.ASSIGNMENT else "full_support",
    )
    own = Judge.objects.get(study__name=STUDY)
    if kind is StudyKind.ASSIGNMENT:
        lines = list(assignment_lines(NuggetSet.objects.get(), own))
    else:
        lines = list(support_lines(world.campaign, SupportCondition.SCRATCH, own))
    assert {json.loads(line)["assay"]["study"] for line in lines} == {STUDY}
    rows = [json.loads(line) | {"judge": None} for line in lines]
    source, outside = world.source("out.jsonl", *rows), Outside(judge="elsewhere", kind=JudgeKind.HUMAN)
    if kind is StudyKind.ASSIGNMENT:
        import_assignments(campaign=world.campaign, sources=[source], origin=Origin.EDITED, **outside)
        found = report("scores", "--condition", "E/M")
    else:
        scratch = SupportCondition.SCRATCH
        import_support(campaign=world.campaign, sources=[source], condition=scratch, **outside)
        found = report("support", "--condition", "scratch")
    assert found["runs"]  # one judge fits, as before
    assert Judge.objects.get(name="elsewhere").aside


def test_who_gave_labels_made_the_nuggets_or_has_it_gets_none(world: JudgingWorld) -> None:
    study = make_study(world)

    def code(username: str) -> str:
        return refusal(lambda: hand_study(world, study, username))

    world.hand(SUPPORT_SCRATCH, "ben")
    assert code("ben") == "nothing_to_hand_out"
    assert code("rita") == "nothing_to_hand_out"
    assert code("sam") == "not_assessor"
    hand_study(world, study, "ann")
    assert code("ann") == "nothing_to_hand_out"


def test_whom_a_study_compares_gets_none_of_it(world: JudgingWorld) -> None:
    ann = judge_of(world.people["ann"])
    Judge.objects.filter(pk=ann.pk).update(user=None)
    Judge.objects.filter(name=EXPERT).update(user=world.people["ann"])
    study = make_study(world)
    Assignment.objects.filter(judge__name=EXPERT).delete()
    assert refusal(lambda: hand_study(world, study, "ann")) == "nothing_to_hand_out"


def test_only_topics_of_the_study_are_handed_out(world: JudgingWorld) -> None:
    study, olga = make_study(world), world.people["olga"]
    topics = [world.topic("t2").public_id]
    assert (
        refusal(lambda: hand_out_study(study=study, assessor="ann", actor=olga, topics=topics)) == "no_such_topic"
    )


def test_ordinary_work_goes_on_beside_it(world: JudgingWorld) -> None:
    hand_study(world, make_study(world), "ann")
    order = Order(ASSIGN, (world.topic().public_id,), nuggets="edited")
    made = hand_out(campaign=world.campaign, order=order, actor=world.people["olga"])
    assert current_task(made.tasks[0]).assessor == world.people["ben"]
    finish(current_task(made.tasks[0]))
    assert Assignment.objects.filter(judge=judge_of(world.people["ben"])).count() == 9


def test_reassigned_it_is_a_new_task_of_the_same_pairs(world: JudgingWorld) -> None:
    old = hand_study(world, make_study(world))
    judge_drawn(window_of(world, old))
    revision = Campaign.objects.get(pk=world.campaign.pk).revision
    new = current_task(
        reassign(
            campaign=world.campaign,
            task=old.public_id,
            assessor="ben",
            reason="Ann is away.",
            actor=world.people["olga"],
        )
    )
    assert progress_of([new])[new.pk] == Progress(labels=6, answers=3)
    assert new.study_id == old.study_id
    assert not Assignment.objects.filter(judge__study__name=STUDY, stands=True).exists()
    assert Campaign.objects.get(pk=world.campaign.pk).revision > revision
    judge_drawn(window_of(world, new), "not_support")
    assert Assignment.objects.filter(judge__study__name=STUDY, stands=True).count() == 6


def test_reopened_and_submitted_again_the_second_labels_stand(world: JudgingWorld) -> None:
    task = hand_study(world, make_study(world))
    window = window_of(world, task)
    judge_drawn(window)
    world.reopen(task)
    judge_drawn(window, "not_support")
    labels = Assignment.objects.filter(judge__study__name=STUDY)
    assert set(labels.filter(stands=True).values_list("label", "submission")) == {(0, 2)}
    assert labels.count() == 12


@pytest.mark.parametrize("kind", BOTH)
def test_new_runs_add_nothing_to_it(world: JudgingWorld, kind: StudyKind) -> None:
    task = hand_study(world, make_study(world, kind))
    judge_drawn(window_of(world, task), "support" if kind is StudyKind.ASSIGNMENT else "no_support")
    world.run("late", ("A late answer.", [0]))
    reloaded = current_task(task.public_id)
    assert reloaded.state == TaskState.SUBMITTED
    assert TaskAnswer.objects.filter(task=task).count() == TaskAnswer.objects.filter(task=reloaded).count() < 4


def test_equal_study_names_in_two_campaigns_have_own_judges(world: JudgingWorld) -> None:
    Judge.objects.create(name=f"ann, study {STUDY}", kind=JudgeKind.HUMAN)
    judge_drawn(window_of(world, hand_study(world, make_study(world))))
    assert Judge.objects.get(study__name=STUDY).name.startswith(f"ann, study {STUDY} (")


def test_an_answer_that_was_drawn_cannot_be_replaced(world: JudgingWorld) -> None:
    make_study(world)
    Assignment.objects.all().delete()
    SupportJudgment.objects.all().delete()
    with pytest.raises(Refused, match="2 labels"):
        world.run("alpha", ("Other words.", []), replace=True)
