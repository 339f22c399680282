"""A second LLM over a study's pairs, through real jobs and real HTTP."""

from pathlib import Path

import pytest

from evaluation.domain.conditions import judges_of
from evaluation.judges import add_judge
from evaluation.models import Assignment, Judge, StudyPair, SupportJudgment
from evaluation.terms import JudgeKind, StudyKind
from jobs.models import Job, WorkItem
from llmjobs.job_service import judge_for
from llmjobs.models import Call
from llmjobs.simulator.answering import MODEL
from loadtest.servers.simulator import LoggedSimulator
from tests.worlds.imported import Outcome, run
from tests.worlds.judging import JudgingWorld
from tests.worlds.study import MACHINE, STUDY, make_study, make_study_world

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("transactional_db", "_quick_retries"),
]
OWN = f"second, study {STUDY}"


@pytest.fixture
def world(transactional_db: None, tmp_path: Path, simulator: LoggedSimulator) -> JudgingWorld:
    """Labels of an expert and a machine, and a second LLM that can be called."""
    world = make_study_world(tmp_path)
    add_judge(name="second", kind=JudgeKind.LLM, model=MODEL)
    return world


def judge_study(*options: str) -> Outcome:
    return run("judge_study", "--campaign", "river", "--study", STUDY, *options)


def test_just_the_pairs_are_judged_under_a_judge_of_the_study(world: JudgingWorld) -> None:
    study = make_study(world, decoys=33)
    before = list(judges_of(study.nugget_set)) if study.nugget_set else []
    dry = judge_study("--judge", "second", "--dry-run")
    assert (dry.code, Job.objects.count(), Judge.objects.filter(study=study).exists()) == (0, 0, False), dry.err
    assert "items           3" in dry.out
    outcome = judge_study("--judge", "second", "--wait")
    assert outcome.code == 0, outcome.err
    labels = Assignment.objects.filter(judge__name=OWN)
    pairs = StudyPair.objects.counted().filter(study=study)
    assert pairs.count() == 6 < StudyPair.objects.count()
    assert set(labels.values_list("answer", "nugget_version")) == set(
        pairs.values_list("answer", "nugget_version")
    )
    assert not Assignment.objects.filter(judge__name="second").exists()
    assert list(judges_of(study.nugget_set) if study.nugget_set else []) == before
    assert OWN in outcome.out
    assert [len(item.payload["nuggets"]) for item in WorkItem.objects.all()] == [2, 2, 2]
    repeated = judge_study("--judge", "second", "--wait")
    assert "Nothing to do: 3 done already." in repeated.err


def test_calls_that_were_answered_before_are_not_paid_again(world: JudgingWorld) -> None:
    assert run("judge_support", "--campaign", "river", "--judge", "second", "--wait").code == 0
    study, calls = make_study(world, StudyKind.SUPPORT, judge=MACHINE), Call.objects.count()
    outcome = judge_study("--judge", "second", "--wait")
    assert outcome.code == 0, outcome.err
    own = SupportJudgment.objects.filter(judge__name=OWN)
    drawn = StudyPair.objects.filter(study=study).values_list("sentence", "segment")
    assert (set(own.values_list("sentence", "segment")), Call.objects.count()) == (set(drawn), calls)
    ordinary = SupportJudgment.objects.filter(judge__name="second").values_list("sentence", "segment", "label")
    assert set(own.values_list("sentence", "segment", "label")) <= set(ordinary)


def test_who_may_not_judge_a_study_is_refused(world: JudgingWorld) -> None:
    Judge.objects.filter(name=MACHINE).update(model=MODEL)
    make_study(world)
    assert judge_study("--judge", "second", "--wait").code == 0
    for name, reason in ((MACHINE, "whom the study compares"), (OWN, "no LLM that can be called")):
        outcome = judge_study("--judge", name)
        assert (outcome.code, Job.objects.count()) == (1, 1)
        assert reason in outcome.err
    assert judge_for("second").name == "second"
    assert OWN in {judge.name for judge in Judge.objects.filter(aside=True)}
