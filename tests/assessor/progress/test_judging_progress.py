"""How far judging tasks are, and which of them wait for a machine."""

from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from assessor.blind.tasks import progress_text
from assessor.desk.citation_labels import pairs_of
from assessor.desk.context import context_of, pairs_without_llm_label
from assessor.desk.task_progress import Progress, progress_of
from assessor.models import WorkingAssignment, WorkingSupport
from evaluation.models import Answer, Protocol, Task, TaskAnswer
from evaluation.stages import ASSIGN, BATTLE, SUPPORT_POST_EDIT, SUPPORT_SCRATCH, Stage
from tests.worlds.judging import JudgingWorld, current_task, give, load_machine, make_judging_world


@pytest.fixture
def world(db: None, tmp_path: Path) -> JudgingWorld:
    return make_judging_world(tmp_path)


def progress(task: Task) -> Progress:
    return progress_of([current_task(task.public_id)])[task.pk]


def first_answers(task: Task, number: int) -> list[int]:
    return list(TaskAnswer.objects.filter(task=task).values_list("answer", flat=True)[:number])


def test_a_task_that_nobody_touched_says_what_it_asks_for(world: JudgingWorld) -> None:
    assert progress(world.hand(ASSIGN, "ann")) == Progress(labels=9, answers=3)
    assert progress(world.hand(SUPPORT_SCRATCH, "ann")) == Progress(labels=3, answers=2)


@pytest.mark.parametrize(("stage", "labels"), [(ASSIGN, 9), (SUPPORT_SCRATCH, 3)])
def test_labels_and_finished_answers_are_counted(world: JudgingWorld, stage: Stage, labels: int) -> None:
    task = world.hand(stage, "ann")
    answers = first_answers(task, 1)
    give(task, answers=answers)
    now = progress(task)
    assert (now.labels, now.finished) == (labels, 1)
    assert 0 < now.judged < labels
    assert now.share == now.judged / labels
    give(task)
    assert progress(task) == Progress(labels=labels, judged=labels, answers=now.answers, finished=now.answers)


def test_one_of_a_kind_is_said_in_the_singular() -> None:
    said = progress_text(Task(stage=BATTLE), Progress(labels=1, answers=1))
    assert said == ("0 of 1 battle", "0 of 1 label")


def test_a_cleared_label_is_none_and_can_t_judge_is_one(world: JudgingWorld) -> None:
    task = world.hand(ASSIGN, "ann")
    give(task, 8, reason="no language of mine")
    assert progress(task).judged == 9
    cleared = WorkingAssignment.objects.filter(task=task)[0]
    cleared.label = None
    cleared.save()
    now = progress(task)
    assert (now.judged, now.finished) == (8, 2)


def test_labels_of_a_wording_that_is_listed_no_more_do_not_count(world: JudgingWorld) -> None:
    task = world.hand(ASSIGN, "ann")
    give(task)
    old = task.nuggets.lists.get()
    new = task.nuggets.lists.create(topic=task.topic, version=2)
    new.items.create(nugget_version=old.items.all()[0].nugget_version, position=0)
    assert progress(task) == Progress(labels=3, judged=3, answers=3, finished=3)


@pytest.mark.parametrize("first", [1, 2, None])
def test_what_is_counted_is_what_the_desk_asks(world: JudgingWorld, first: int | None) -> None:
    world.run("many", ("Cites much.", [2, 0, 0, 1]), ("Cites again.", [1, 1, 0]))
    Protocol.objects.update(first_citations=first)
    task = current_task(world.hand(SUPPORT_SCRATCH, "ann").public_id)
    pairs = [pair for pair in pairs_of(context_of(task)) if pair.judgeable]
    assert progress(task).labels == len(pairs) > 0


def test_more_tasks_cost_no_more_queries(world: JudgingWorld) -> None:
    load_machine(world, ("alpha", 0, "d1", "full_support"))
    stages = (ASSIGN, SUPPORT_SCRATCH, SUPPORT_POST_EDIT)

    def cost(tasks: list[Task]) -> int:
        with CaptureQueriesContext(connection) as context:
            assert len(progress_of(tasks)) == len(tasks)
        return len(context)

    per_stage = [
        current_task(world.hand(stage, "ann" if stage != stages[2] else "ben").public_id) for stage in stages
    ]
    more = [current_task(world.hand(stages[0], "ben", again=True).public_id)]
    for task in [*per_stage, *more]:
        give(task)
    assert cost([*per_stage, *more]) == cost(per_stage)


def test_a_task_waits_for_machine_labels_and_one_that_failed_is_there(world: JudgingWorld) -> None:
    load_machine(world, ("alpha", 0, "d1", "full_support"))
    task = world.hand(SUPPORT_POST_EDIT, "ann")
    assert pairs_without_llm_label([task]) == {task.pk: 2}
    load_machine(world, ("alpha", 1, "d2", "a word that is no label"), ("gamma", 1, "d2", "no_support"))
    assert pairs_without_llm_label([task]) == {}


def test_labels_of_another_machine_are_not_waited_for(world: JudgingWorld) -> None:
    load_machine(world, ("alpha", 0, "d1", "full_support"), name="other robot")
    load_machine(world, ("alpha", 0, "d1", "full_support"), ("alpha", 1, "d2", "full_support"))
    task = world.hand(SUPPORT_POST_EDIT, "ann", judge="other robot")
    assert pairs_without_llm_label([task]) == {task.pk: 2}


def test_a_task_that_shows_no_label_waits_for_none(world: JudgingWorld) -> None:
    assert pairs_without_llm_label([world.hand(SUPPORT_SCRATCH, "ann")]) == {}
    assert not WorkingSupport.objects.exists()
    assert Answer.objects.count() == 5
