"""Prompts on trial: the same pairs for each, through the queue, and nothing of it in any table of labels."""

from pathlib import Path

import pytest

from evaluation.errors import Refused
from evaluation.models import Assignment, Judge, SupportJudgment
from jobs.models import Job
from llmjobs.budget import Budget
from llmjobs.models import Call, Trial, TriedLabels
from llmjobs.prompts import ASSIGN, Task
from llmjobs.queries import callable_judges_for
from llmjobs.simulator import Simulator
from llmjobs.simulator.answering import MODEL
from llmjobs.stored_prompts import save_prompt
from llmjobs.trials import TrialWish, outcome_of, start_trial
from tests.llmjobs.test_budget import work_until_it_rests
from tests.llmjobs.worlds import work_on
from tests.organizer.world import World, make_world

pytestmark = pytest.mark.usefixtures("transactional_db")

LIKE = Judge(name=MODEL, kind="llm", model=MODEL)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """People have labelled three nuggets of two answers, and a citation."""
    return make_world(tmp_path)


def wish(task: Task = "assign", *refs: str, of: str = "auto-robot", **more: object) -> TrialWish:
    return TrialWish(task, refs or ("assign@1",), LIKE, of, **more)  # type: ignore[arg-type]


def test_prompts_are_compared_on_the_same_pairs_and_nothing_counts(world: World, simulator: Simulator) -> None:
    save_prompt(task="assign", name="loose", system=ASSIGN.system, user=f"Be kind.\n{ASSIGN.user}")
    labels = Assignment.objects.count()
    trial = start_trial(world.campaign, wish("assign", "assign@1", "loose@1"), world.people["olga"])
    work_on()
    one, other = outcome_of(trial)
    assert (one.prompt, other.prompt, trial.pairs) == ("assign@1", "loose@1", 3)
    assert one.people == other.people
    assert sorted(one.people) == [0, 0, 2]
    # "Sand moves" is said in so many words by one answer, and not by the other.
    assert one.said == one.people
    assert (one.calls, one.tokens > 0, str(one.cost)) == (2, True, "0.000000")
    assert (Assignment.objects.count(), TriedLabels.objects.count()) == (labels, 4)
    assert callable_judges_for(world.people["olga"], world.campaign) == []
    assert set(Judge.objects.filter(model=MODEL).values_list("aside", flat=True)) == {True}


def test_a_trial_again_costs_nothing_and_makes_no_other_judge(world: World, simulator: Simulator) -> None:
    for _ in range(2):
        trial = start_trial(world.campaign, wish(), None)
        work_on()
    assert len(simulator.log.served()) == Call.objects.count() == 2
    assert Judge.objects.filter(aside=True).count() == 1
    assert outcome_of(trial)[0].said == outcome_of(trial)[0].people


def test_support_is_tried_too_with_json(world: World, simulator: Simulator) -> None:
    supported = SupportJudgment.objects.count()
    trial = start_trial(world.campaign, wish("support", "support@1", of="scratch", structured=True), None)
    work_on()
    [tried] = outcome_of(trial)
    assert (tried.people, tried.said) == ((2,), (2,))
    assert Call.objects.get().reply == '{"label": "full_support"}'
    assert SupportJudgment.objects.count() == supported


def test_a_label_that_failed_is_said_so_and_one_that_is_pending_too(world: World, simulator: Simulator) -> None:
    trial = start_trial(world.campaign, wish(), None)
    assert outcome_of(trial)[0].said == (None, None, None)
    simulator.chooser.switch({"rates": {"bad_request": 1.0}})
    work_on()
    assert set(outcome_of(trial)[0].said) == {9}


def test_a_budget_is_that_of_each_prompt(world: World, simulator: Simulator) -> None:
    trial = start_trial(world.campaign, wish(budget=Budget(calls=1)), None)
    assert work_until_it_rests(trial.jobs.get().llm.job) == Job.State.PAUSED
    assert len(simulator.log.served()) == 1


def test_the_seed_alone_decides_what_is_drawn(world: World) -> None:
    first = [start_trial(world.campaign, wish(pairs=1, seed=seed), None) for seed in (0, 0, 1, 2, 3)]
    keys = [one.jobs.get().llm.job.items.get().key for one in first]
    assert keys[0] == keys[1]
    assert len(set(keys)) > 1


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (wish(of="nobody's"), "People have labelled nothing of nobody's yet"),
        (wish("assign", "lost@1"), "There is no prompt lost@1 for the task assign"),
        (wish("assign", "support@1"), "There is no prompt support@1 for the task assign"),
        (wish(pairs=0), "Pairs lie between 1 and 200"),
        (wish("assign", *(f"p@{n}" for n in range(7))), "Choose from 1 to 6 prompts."),
    ],
)
def test_what_cannot_be_tried_is_refused_and_nothing_written(world: World, asked: TrialWish, said: str) -> None:
    with pytest.raises(Refused) as refusal:
        start_trial(world.campaign, asked, None)
    assert said in refusal.value.message
    assert not Trial.objects.exists()
    assert not Job.objects.exists()
