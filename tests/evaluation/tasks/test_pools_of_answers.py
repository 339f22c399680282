"""Which answers a judging task asks for, in which order, and what becomes of that when more is imported."""

from pathlib import Path

import pytest

from assessor.desk.task_progress import progress_of
from evaluation.errors import Refused
from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.segments import import_segments
from evaluation.models import (
    AnswerProvenance,
    Assignment,
    Event,
    NuggetList,
    NuggetVersion,
    Protocol,
    Task,
    TaskAnswer,
)
from evaluation.rules.text import shuffled
from evaluation.stages import ASSIGN, SUPPORT_POST_EDIT, SUPPORT_SCRATCH, Stage
from evaluation.tasks.pooling import add_new_answers, renew_assigning
from evaluation.terms import Origin, TaskState
from tests.worlds.judging import (
    BENDS,
    SAND,
    JudgingWorld,
    current_task,
    finish,
    give,
    load_machine,
    make_judging_world,
)


@pytest.fixture
def world(db: None, tmp_path: Path) -> JudgingWorld:
    return make_judging_world(tmp_path)


def runs_of(task: Task) -> list[str]:
    answers = TaskAnswer.objects.filter(task=task).values_list("answer", flat=True)
    runs = dict(AnswerProvenance.objects.values_list("answer", "run__run_id"))
    return [runs[answer] for answer in answers]


def change_protocol(world: JudgingWorld, **settings: object) -> None:
    Protocol.objects.filter(campaign=world.campaign).update(**settings)


def submit_list(task: Task, *wordings: NuggetVersion) -> None:
    version = NuggetList.objects.filter(nugget_set=task.nuggets).count() + 1
    further = NuggetList.objects.create(nugget_set=task.nuggets, topic=task.topic, version=version)
    for position, wording in enumerate(wordings):
        further.items.create(nugget_version=wording, position=position)
    renew_assigning(task.nuggets, task.topic)


def test_the_order_is_the_task_s_own_shuffle_each_time_the_same(world: JudgingWorld) -> None:
    for number in range(7):
        world.run(f"more-{number}", (f"Text {number}.", []))
    tasks = [world.hand(ASSIGN, "ann"), world.hand(ASSIGN, "ben", again=True)]
    orders = [
        list(TaskAnswer.objects.filter(task=task).values_list("answer__public_id", flat=True)) for task in tasks
    ]
    assert orders[0] != orders[1]
    assert orders == [shuffled(task.public_id, order) for task, order in zip(tasks, orders, strict=True)]
    assert add_new_answers(tasks[0]) == []
    assert list(TaskAnswer.objects.filter(task=tasks[0]).values_list("answer__public_id", flat=True)) == orders[0]


def test_an_answer_without_a_word_is_never_asked(world: JudgingWorld) -> None:
    assert sorted(runs_of(world.hand(ASSIGN, "ann"))) == ["alpha", "beta", "gamma"]


def test_support_is_asked_of_answers_that_cite_something_with_a_text(world: JudgingWorld) -> None:
    assert sorted(runs_of(world.hand(SUPPORT_SCRATCH, "ann"))) == ["alpha", "gamma"]


def test_only_runs_of_the_judging_pool_are_judged(world: JudgingWorld) -> None:
    change_protocol(world, pool_depth=1)
    world.campaign.runs.update(group="one group")
    assert runs_of(world.hand(ASSIGN, "ann")) == ["alpha"]


@pytest.mark.parametrize(("once", "judged"), [(True, 2), (False, 3)])
def test_equal_answers_are_judged_once_if_the_campaign_says_so(
    world: JudgingWorld, once: bool, judged: int
) -> None:
    change_protocol(world, identical_once=once)
    task = world.hand(ASSIGN, "ann")
    shown = TaskAnswer.objects.filter(task=task, same_as=None)
    assert shown.count() == judged
    assert progress_of([task])[task.pk].labels == judged * 3
    for repeated in TaskAnswer.objects.filter(task=task, same_as__isnull=False):
        assert shown.get(answer=repeated.same_as).position < repeated.position


def test_the_same_text_with_other_citations_is_another_pair(world: JudgingWorld) -> None:
    change_protocol(world, identical_once=True)
    world.run("twin", (BENDS, [0]), (SAND, [1, 0]))
    world.run("sister", (BENDS, [1]), (SAND, [1, 0]))
    task = world.hand(SUPPORT_SCRATCH, "ann")
    given = TaskAnswer.objects.filter(task=task)
    assert (given.count(), given.filter(same_as=None).count()) == (4, 3)


def test_a_new_run_reopens_submitted_tasks_for_its_answers_only(
    world: JudgingWorld,
) -> None:
    done, begun = world.hand(ASSIGN, "ann"), world.hand(ASSIGN, "ben", again=True)
    finish(done)
    before = runs_of(done)
    world.run("new", ("A new answer.", [0]))
    done, begun = current_task(done.public_id), current_task(begun.public_id)
    assert (done.state, done.version) == (TaskState.REOPENED, 2)
    assert done.reopened_reason == "New answers to judge: 1"
    assert (begun.state, begun.version) == (TaskState.NOT_STARTED, 1)
    assert runs_of(done) == [*before, "new"]
    assert runs_of(begun)[-1] == "new"
    progress = progress_of([done])[done.pk]
    assert progress.labels - progress.judged == 3
    [event] = Event.objects.filter(kind="task.reopened")
    assert (event.actor, event.payload["version"]) == (None, 2)


def test_a_withdrawn_task_gets_nothing_more(world: JudgingWorld) -> None:
    task = world.hand(ASSIGN, "ann")
    world.withdraw(task)
    world.run("new", ("A new answer.", [0]))
    assert "new" not in runs_of(task)


def test_a_run_that_says_nothing_new_to_support_reopens_nothing(world: JudgingWorld) -> None:
    task = world.hand(SUPPORT_SCRATCH, "ann")
    finish(task)
    world.run("new", ("A new answer.", []))
    task.refresh_from_db()
    assert task.state == TaskState.SUBMITTED


def test_a_text_loaded_later_reopens_support_of_what_cites_it(world: JudgingWorld) -> None:
    task = world.hand(SUPPORT_SCRATCH, "ann")
    finish(task)
    text = world.source("late.jsonl", {"docid": "d3", "segment": "The text of d3."})
    import_segments(campaign=world.campaign, sources=[text])
    task.refresh_from_db()
    assert (task.state, task.version) == (TaskState.REOPENED, 2)
    assert task.reopened_reason == "Citations to judge whose text came later: 1"


def test_a_new_answer_of_a_judged_text_needs_only_a_submission(world: JudgingWorld) -> None:
    change_protocol(world, identical_once=True)
    task = world.hand(ASSIGN, "ann")
    finish(task)
    world.run("twin", (BENDS, [0]), (SAND, [1, 0]))
    task.refresh_from_db()
    assert "Submit again, so that they get those labels." in task.reopened_reason
    progress = progress_of([task])[task.pk]
    assert progress.labels == progress.judged


def test_replacing_an_unjudged_run_leaves_nothing_of_its_answer(world: JudgingWorld) -> None:
    change_protocol(world, identical_once=True)
    task = world.hand(ASSIGN, "ann")
    world.run("alpha", ("Quite another answer.", []), replace=True)
    assert sorted(runs_of(task)) == ["alpha", "beta", "gamma"]
    assert runs_of(task)[-1] == "alpha"
    assert not TaskAnswer.objects.filter(task=task, same_as__isnull=False).exists()


@pytest.mark.parametrize("stage", [ASSIGN, SUPPORT_SCRATCH])
def test_a_run_is_not_replaced_while_labels_in_the_making_hang_on_it(world: JudgingWorld, stage: Stage) -> None:
    task = world.hand(stage, "ann")
    give(task)
    with pytest.raises(Refused, match="labels hang on it"):
        world.run("alpha", ("Quite another answer.", []), replace=True)
    assert "alpha" in runs_of(task)


def test_a_text_is_not_replaced_while_labels_in_the_making_hang_on_it(world: JudgingWorld) -> None:
    give(world.hand(SUPPORT_SCRATCH, "ann"))
    text = world.source("other.jsonl", {"docid": "d1", "segment": "Another text of d1."})
    with pytest.raises(Refused, match="labels hang on it"):
        import_segments(campaign=world.campaign, sources=[text], replace=True)


def test_a_list_is_not_replaced_while_it_is_assigned(world: JudgingWorld) -> None:
    give(world.hand(ASSIGN, "ann"))
    with pytest.raises(Refused, match="labels hang on it"):
        import_nuggets(
            campaign=world.campaign,
            source=world.source("n.jsonl", {"qid": "t1", "nuggets": [{"text": "else", "importance": "vital"}]}),
            origin=Origin.EDITED,
            judge="by edited",
            name="edited",
            replace=True,
        )


def test_a_further_list_reopens_assigning_where_nuggets_are_new(world: JudgingWorld) -> None:
    task = world.hand(ASSIGN, "ann")
    finish(task)
    renew_assigning(task.nuggets, task.topic)
    assert current_task(task.public_id).state == TaskState.SUBMITTED
    first = NuggetList.objects.get(nugget_set=task.nuggets)
    kept = first.items.select_related("nugget_version__nugget")[0].nugget_version
    reworded = kept.nugget.versions.create(number=2, text="bends grow wider")
    submit_list(task, kept, reworded)
    task.refresh_from_db()
    assert (task.state, task.version) == (TaskState.REOPENED, 2)
    assert task.reopened_reason == "The list of nuggets has changed. Labels to give: 3"


def test_a_nugget_that_comes_back_into_a_list_is_assigned_again(world: JudgingWorld) -> None:
    task = world.hand(ASSIGN, "ann")
    finish(task)
    first = NuggetList.objects.get(nugget_set=task.nuggets)
    bends, sand, banks = (item.nugget_version for item in first.items.select_related("nugget_version__nugget"))
    reworded = bends.nugget.versions.create(number=2, text="bends grow wider")
    submit_list(task, reworded, sand)
    finish(current_task(task.public_id))
    submit_list(task, reworded, sand, banks)
    assert current_task(task.public_id).reopened_reason == "The list of nuggets has changed. Labels to give: 3"
    finish(current_task(task.public_id))
    assert Assignment.objects.filter(nugget_version=banks, stands=True).count() == 3


def test_a_task_with_the_label_shown_asks_for_the_same_answers(world: JudgingWorld) -> None:
    load_machine(world, ("alpha", 0, "d1", "full_support"))
    assert sorted(runs_of(world.hand(SUPPORT_POST_EDIT, "ann"))) == ["alpha", "gamma"]
