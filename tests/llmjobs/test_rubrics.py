"""Rubrics by LLM: criteria are asked about in words of their own, and no prompt tells a weight or its sign."""

import json
from collections.abc import Sequence

import pytest

from evaluation.labelling import GivenNugget, ensure_nugget_set, give_nugget_list
from evaluation.labels import AssignmentLabel
from evaluation.models import Assignment, Event, NuggetList, Topic
from evaluation.terms import Condition, Origin
from jobs.models import WorkItem
from llmjobs.job_plan import assign_items
from llmjobs.job_service import JobRequest, plan_evaluation, start
from llmjobs.kinds import ITEM_KINDS
from llmjobs.models import Call
from llmjobs.prompt_store import BUILT_IN_PROMPTS, PromptSet, way_of
from llmjobs.steps.asking import Ask
from loadtest.servers.simulator import LoggedSimulator
from tests.worlds.llm import World, answer_with, make_world, work_on

pytestmark = pytest.mark.django_db(transaction=True)

TEXTS = ("tells why rivers bend", "tells how stone wears and dams fail", "invents a flood")
ANSWER = "It tells why rivers bend, and that stone wears."


@pytest.fixture
def world(transactional_db: None) -> World:
    """One topic with two runs, and no nuggets yet."""
    return make_world(nuggets=0)


def list_criteria(world: World, weights: Sequence[float | None], name: str = "") -> None:
    criteria = [GivenNugget(text, weight=weight) for text, weight in zip(TEXTS, weights, strict=True)]
    nugget_set = ensure_nugget_set(world.campaign, world.judge, Origin.AUTO, name)
    assert give_nugget_list(nugget_set, world.topics[0], criteria, Event.objects.all()[0])


def asked_about(world: World, name: str = "", prompts: PromptSet = BUILT_IN_PROMPTS) -> Ask:
    """The first question about the list of a set."""
    lists = NuggetList.objects.filter(nugget_set__name=name or f"auto-{world.judge.name}")
    new = assign_items(lists, [world.runs[0].pk], 10)[0]
    [step] = ITEM_KINDS[new.kind].begin([WorkItem(key=new.key, kind=new.kind, payload=new.payload)], [prompts])
    return next(step)


def test_criteria_get_labels_of_all_three_kinds(world: World, simulator: LoggedSimulator) -> None:
    world.topics[:] = [Topic.objects.create(campaign=world.campaign, topic_id="t2", text="rivers", position=2)]
    answer = answer_with(world.topics[0], world.runs[0], ANSWER)
    list_criteria(world, (5, 2, -3))
    request = JobRequest(world.campaign, world.judge, ("t2",))
    start(request, "labels", plan_evaluation(request, Condition.AA))
    work_on()
    labels = Assignment.objects.filter(answer=answer).order_by("nugget_version")
    assert [row.label for row in labels] == [
        AssignmentLabel.SUPPORT,
        AssignmentLabel.PARTIAL_SUPPORT,
        AssignmentLabel.NOT_SUPPORT,
    ]
    assert set(Call.objects.values_list("template", flat=True)) == {"assign-rubric"}


def test_no_question_tells_a_weight_or_its_sign(world: World) -> None:
    """The same words with other weights, one of them of the other sign: the same question, letter by letter."""
    list_criteria(world, (5, 2, -3))
    list_criteria(world, (-100, 0, 99.125), "other")
    question = asked_about(world)
    assert question == asked_about(world, "other")
    assert question.template == "assign-rubric"
    assert json.dumps(list(TEXTS)) in question.messages[1].content


def test_nuggets_without_weights_are_asked_about_as_ever(world: World) -> None:
    list_criteria(world, (None, None, None))
    assert asked_about(world).template == "assign"


def test_a_judge_with_a_prompt_of_its_own_asks_by_that(world: World) -> None:
    list_criteria(world, (5, 2, -3))
    world.judge.prompt_versions = {"assign": "assign@1"}
    assert asked_about(world, prompts=way_of(world.judge)).template == "assign"
