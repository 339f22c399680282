"""People share a campaign's topics: each topic's list and labels are those of whoever was handed it."""

from pathlib import Path
from typing import Any

import pytest

from evaluation.campaigns.create import add_member
from evaluation.errors import Refused
from evaluation.judges import add_judge
from evaluation.labelling import touch
from evaluation.models import Assignment, Event, Finding, Judge, Protocol, SupportJudgment, Task
from evaluation.stages import ASSIGN, SUPPORT_SCRATCH
from evaluation.tasks.hand_out import reassign
from evaluation.terms import Condition, FindingCode, JudgeKind, Origin, Role, TaskState
from llmjobs.job_service import JobRequest, plan_evaluation
from tests.worlds.imported import load, report, run
from tests.worlds.judging import BENDS, JudgingWorld, finish, load_nuggets
from tests.worlds.shared_topics import make_list, make_shared_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(tmp_path: Path) -> JudgingWorld:
    """Ann has edited the drafts of t1, Ben those of t2; what was imported are drafts."""
    return make_shared_world(tmp_path)


def assign(world: JudgingWorld, username: str, topic: str, label: int, **more: Any) -> Task:
    task = world.hand(ASSIGN, username, topic, **more)
    finish(task, label)
    return task


def scores(*words: object) -> dict[str, float | None]:
    found = report("scores", "--condition", "E/M", *words)
    return {row["run_id"]: row["vital_strict"] for row in found["runs"]}


def test_a_condition_is_what_each_assessor_did_of_their_own_topics(world: JudgingWorld) -> None:
    assign(world, "ann", "t1", 2)
    assign(world, "ben", "t2", 2)
    found = report("scores", "--condition", "E/M")
    assert found["topics"] == 2
    assert found["judge"] == "ann, ben"
    assert {row["run_id"]: row["judged"] for row in found["runs"]} == {
        "alpha": 2, "beta": 2, "gamma": 2, "mute": 2, "delta": 1,
    }  # fmt: skip


def test_a_topic_that_is_not_judged_yet_is_unjudged(world: JudgingWorld) -> None:
    assign(world, "ann", "t1", 2)
    found = report("scores", "--condition", "E/M", "--unjudged", "zero", "--missing", "skip")
    assert found["topics"] == 2
    assert {row["run_id"]: row["unjudged"] for row in found["runs"]}["alpha"] == 0
    assert scores("--missing", "skip")["alpha"] == 1


def test_a_second_opinion_enters_no_score_unless_it_is_named(world: JudgingWorld) -> None:
    assign(world, "ann", "t1", 2)
    assign(world, "ben", "t2", 2)
    before = scores()
    second = assign(world, "ben", "t1", 0, again=True)
    assert second.second_opinion
    assert scores() == before
    named = scores("--judge", "ben", "--nuggets", "edited-ann", "--missing", "skip")
    assert named["alpha"] == 0


def test_a_second_opinion_given_first_waits_for_the_labels_that_count(world: JudgingWorld) -> None:
    world.hand(ASSIGN, "ann", "t1")
    assign(world, "ben", "t1", 2, again=True)
    assert scores() == dict.fromkeys(("alpha", "beta", "gamma", "mute", "delta"))


def test_another_s_list_of_the_same_topic_is_not_the_one_that_counts(world: JudgingWorld) -> None:
    make_list(world, "ben", "t1", "something else", second=True)
    assign(world, "ann", "t1", 2)
    assert report("scores", "--condition", "E/M")["nuggets"] == "edited-ann, edited-ben"
    assert scores("--missing", "skip")["alpha"] == 1


def test_citations_are_judged_by_whoever_was_handed_the_topic(world: JudgingWorld) -> None:
    world.run("epsilon", (BENDS, [0]), topic="t2")
    finish(world.hand(SUPPORT_SCRATCH, "ann", "t1"), 2)
    finish(world.hand(SUPPORT_SCRATCH, "ben", "t2"), 1)
    finish(world.hand(SUPPORT_SCRATCH, "ben", "t1", again=True), 0)
    found = report("support", "--condition", "scratch", "--missing", "skip")
    precision = {row["run_id"]: row["weighted_precision"] for row in found["runs"]}
    assert (precision["alpha"], precision["epsilon"], found["topics"]) == (1, 0.5, 2)


def test_on_a_topic_handed_out_labels_from_outside_count_by_name(world: JudgingWorld, tmp_path: Path) -> None:
    assign(world, "ann", "t1", 2)
    given = [
        {"text": text, "importance": "vital", "assignment": "not_support"} for text in ("bends grow", "sand moves")
    ]
    source = world.source("outside.jsonl", {"query": "q", "qid": "t1", "run_id": "alpha", "nuggets": given})
    named = ("--judge", "outside", "--by", "human", "--nuggets", "edited-ann")
    before = scores()
    load("import_assignments", source.name, "--origin", "edited", *named)
    assert scores() == before
    assert scores("--judge", "outside", "--nuggets", "edited-ann", "--unjudged", "zero")["alpha"] == 0
    assert Finding.objects.get(code=FindingCode.LABELLED_BY_OTHERS).topic_id == "t1"


def test_an_llm_assigns_the_lists_of_all_assessors(world: JudgingWorld) -> None:
    plan = plan_evaluation(
        JobRequest(world.campaign, add_judge(name="robot", kind=JudgeKind.LLM, model="robot")[0]), Condition.EA
    )
    assert not plan.blocked
    assert len(plan.items) == 4  # three answers to t1 with words, one to t2


def test_exported_shared_topics_give_the_same_scores_elsewhere(world: JudgingWorld, tmp_path: Path) -> None:
    assign(world, "ann", "t1", 2)
    assign(world, "ben", "t2", 1)
    before = report("scores", "--condition", "E/M")["runs"]
    for what in ("nuggets", "assignments"):
        done = run(
            "export", what, "--campaign", "river", "--condition", "E/M", "--output", tmp_path / f"{what}.out"
        )
        assert done.code == 0, done.err
    assert run("create_campaign", "copy", "--name", "Copy").code == 0
    copy = ("--campaign", "copy")
    for command, files in (("import_topics", ["t"]), ("import_run", ["alpha", "beta", "gamma", "mute", "delta"])):
        for name in files:
            words = ("--group", f"of {name}") if command == "import_run" else ()
            assert run(command, *copy, tmp_path / f"{name}.jsonl", *words).code == 0
    named = ("--origin", "edited", "--judge", "all", "--by", "human")
    for command, what in (("import_nuggets", "nuggets"), ("import_assignments", "assignments")):
        done = run(command, *copy, tmp_path / f"{what}.out", *named)
        assert done.code == 0, done.err
    after = run("report", "scores", *copy, "--condition", "E/M", "--format", "json").json()["runs"]
    assert after == before


def test_no_more_assessors_than_the_campaign_asks_for(world: JudgingWorld) -> None:
    Protocol.objects.update(overlap=2)
    add_member(campaign=world.campaign, user=world.people["sam"], role=Role.ASSESSOR)
    first = world.hand(ASSIGN, "ann", "t1")
    assert not first.second_opinion
    second = world.hand(ASSIGN, "ben", "t1")
    assert second.second_opinion
    for repeated in (False, True):
        with pytest.raises(Refused, match="the campaign asks for 2 and no more"):
            world.hand(ASSIGN, "sam", "t1", again=repeated)


def test_what_is_handed_on_counts_as_it_did(world: JudgingWorld) -> None:
    Protocol.objects.update(overlap=1)
    first = world.hand(ASSIGN, "ann", "t1")
    olga = world.people["olga"]
    new = reassign(campaign=world.campaign, task=first.public_id, assessor="ben", reason="Ann is ill.", actor=olga)
    assert not Task.objects.get(public_id=new).second_opinion


def test_assessors_share_an_automatic_list(world: JudgingWorld) -> None:
    load_nuggets(world, "auto", Origin.AUTO, "t1")
    load_nuggets(world, "auto", Origin.AUTO, "t2")
    named = {"nuggets": "auto"}
    assign(world, "ann", "t1", 2, **named)
    assign(world, "ben", "t2", 2, **named)
    found = report("scores", "--condition", "A/M")
    assert (found["nuggets"], found["judge"], found["topics"]) == ("auto", "ann, ben", 2)


def test_the_edits_of_all_assessors_are_one_report(world: JudgingWorld) -> None:
    make_list(world, "ben", "t1", "something else", second=True)
    found = report("edits", "--drafts", "edited")
    assert (found["nuggets"], found["topics"]) == ("edited-ann, edited-ben", 1)


def test_labels_are_not_compared_with_themselves(world: JudgingWorld) -> None:
    assign(world, "ann", "t1", 2)
    assign(world, "ben", "t2", 2)
    assign(world, "ben", "t1", 0, again=True)
    of_ben = ("--columns-judge", "ben", "--columns-nuggets", "edited-ann")
    both = ("report", "confusion", "--campaign", "river", "--rows", "E/M", "--columns", "E/M")
    found = report(
        "confusion",
        "--rows",
        "E/M",
        "--columns",
        "E/M",
        *of_ben,
        "--rows-judge",
        "ann",
        "--rows-nuggets",
        "edited-ann",
    )
    assert (found["pairs"], found["agreement"]) == (6, 0)
    refused = run(*both, "--columns-judge", "ben", "--columns-nuggets", "edited-ben")
    assert refused.code == 2
    assert "In 1 topic both sides are the labels of ben" in refused.err


def test_another_assessor_s_submission_drops_no_outside_labels(world: JudgingWorld) -> None:
    assign(world, "ann", "t1", 2)
    assign(world, "ben", "t2", 2)
    judge = Judge.objects.get(name="ann")
    given = Assignment.objects.filter(judge__name="ben")
    given.update(judge=judge)
    Task.objects.filter(assessor__username="ben", stage=ASSIGN).update(state=TaskState.WITHDRAWN)
    assert scores("--missing", "skip")["delta"] == 1
    second = make_list(world, "ben", "t1", "a second list", second=True)
    assign(world, "ben", "t1", 2, nuggets=second.name, again=True)
    touch(world.campaign.pk)
    assert scores("--missing", "skip")["delta"] == 1


def test_a_second_opinion_counts_once_the_first_is_withdrawn(world: JudgingWorld) -> None:
    first = world.hand(ASSIGN, "ann", "t1")
    second = assign(world, "ben", "t1", 2, again=True)
    world.withdraw(first)
    second.refresh_from_db()
    assert not second.second_opinion
    assert scores("--missing", "skip")["alpha"] == 1
    assert Event.objects.filter(kind="task.counts", payload__instead=first.public_id).exists()


def test_support_of_shared_topics_returns_as_one_judge_s(world: JudgingWorld, tmp_path: Path) -> None:
    world.run("epsilon", (BENDS, [0]), topic="t2")
    finish(world.hand(SUPPORT_SCRATCH, "ann", "t1"), 2)
    finish(world.hand(SUPPORT_SCRATCH, "ben", "t2"), 1)
    before = report("support", "--condition", "scratch")["runs"]
    out = tmp_path / "support.out"
    assert run("export", "support", "--campaign", "river", "--condition", "scratch", "--output", out).code == 0
    Task.objects.filter(stage=SUPPORT_SCRATCH).update(state=TaskState.WITHDRAWN)
    SupportJudgment.objects.update(stands=False)
    named = ("--judge", "all", "--by", "human", "--condition", "scratch")
    done = run("import_support", "--campaign", "river", out, *named)
    assert done.code == 0, done.err
    assert report("support", "--condition", "scratch")["runs"] == before


def test_with_fewer_assessors_asked_for_work_is_still_handed_on(world: JudgingWorld) -> None:
    add_member(campaign=world.campaign, user=world.people["sam"], role=Role.ASSESSOR)
    first = world.hand(ASSIGN, "ann", "t1")
    world.hand(ASSIGN, "ben", "t1", again=True)
    Protocol.objects.update(overlap=1)
    olga = world.people["olga"]
    assert reassign(
        campaign=world.campaign, task=first.public_id, assessor="sam", reason="Ann is ill.", actor=olga
    )
