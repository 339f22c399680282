"""Hand-written replies to one topic's questions give exactly the nuggets, order, importance and labels prescribed."""

import re

import pytest

from evaluation.labels import AssignmentLabel
from evaluation.models import Assignment, ListedNugget
from evaluation.terms import Condition, Importance, Origin
from llmjobs.job_service import plan_evaluation, plan_lists, start
from llmjobs.models import CallUse, NuggetCalls
from tests.llmjobs.conftest import PointAt
from tests.worlds.llm import answer_with, grade_segments, make_world, scripted_endpoint, work_on

pytestmark = pytest.mark.usefixtures("transactional_db")
FIRST = [f"first fact {letter}" for letter in "abcdef"]
SECOND = [*FIRST[1:], "first fact a reworded", *(f"second fact {letter}" for letter in "ghijklm")]
OK, VI = "okay", "vital"
IMPORTANCE = {10: [OK, VI, OK, OK, VI, OK, OK, VI, OK, OK], 3: [VI, OK, VI]}
LABELS = {10: ["support"] * 4 + ["not_support"] * 6, 3: ["partial_support", "support", "not_support"]}


def written(items: list[str]) -> str:
    return "[" + ", ".join(f'"{item}"' for item in items) + "]"


def reply_to(texts: list[str]) -> str:
    system, user = texts[0], texts[1]
    nuggets = re.findall(r'"([^"]+)"', user.partition("<nuggets>")[2].partition("</nuggets>")[0])
    if system.startswith("You update"):
        return written(SECOND if "Text number 11." in user else FIRST)
    return written(IMPORTANCE[len(nuggets)] if "score" in system else LABELS[len(nuggets)])


def test_twelve_segments_give_thirteen_nuggets_and_their_labels(point_at: PointAt) -> None:
    world = make_world(runs=1, nuggets=0)
    grade_segments(world, 12)
    with scripted_endpoint(reply_to) as endpoint:
        point_at(endpoint.base_url)
        job = start(world.request, "A/A", plan_evaluation(world.request, Condition.AA))
        work_on()
    job.refresh_from_db()
    assert (job.state, job.items.filter(state="done").count(), job.items.count()) == ("done", 3, 3)
    words = [*IMPORTANCE[10], *IMPORTANCE[3]]
    vital = [text for text, word in zip(SECOND, words, strict=True) if word == "vital"]
    okay = [text for text, word in zip(SECOND, words, strict=True) if word == "okay"]
    listed = ListedNugget.objects.order_by("position")
    assert list(listed.values_list("nugget_version__text", flat=True)) == [*vital, *okay]
    assert list(listed.values_list("importance", flat=True)) == [Importance.VITAL] * 5 + [Importance.OKAY] * 8
    assert segments_in(endpoint.calls) == [list(range(1, 11)), [11, 12]]
    assert carried(endpoint.calls) == [[], FIRST]
    labels = dict(Assignment.objects.values_list("nugget_version", "label"))
    given = [labels[nugget.nugget_version_id] for nugget in listed]
    assert given == [AssignmentLabel[word.upper()] for word in (*LABELS[10], *LABELS[3])]
    uses = CallUse.objects.filter(item__kind="nuggets").order_by("number")
    assert [use.part for use in uses] == [
        "window 1",
        "window 2",
        "importance batch 1 of 2",
        "importance batch 2 of 2",
    ]
    part_of = dict(uses.values_list("call", "part"))
    rests = NuggetCalls.objects.order_by("listed__position").values_list(
        "listed__nugget_version__text", "worded", "weighed"
    )
    assert [(text, part_of[worded], part_of[weighed]) for text, worded, weighed in rests] == [
        (
            text,
            "window 1" if text in FIRST else "window 2",
            f"importance batch {1 if SECOND.index(text) < 10 else 2} of 2",
        )
        for text in [*vital, *okay]
    ]


def test_drafts_lead_to_the_windows_that_first_had_them(point_at: PointAt) -> None:
    world = make_world(runs=1, nuggets=0)
    grade_segments(world, 12)
    with scripted_endpoint(reply_to) as endpoint:
        point_at(endpoint.base_url)
        start(world.request, "Drafts", plan_lists(world.request, Origin.DRAFT, qrels="UMBRELA"))
        work_on()
    part_of = dict(CallUse.objects.values_list("call", "part"))
    rests = NuggetCalls.objects.order_by("listed__position").values_list("worded", "weighed")
    expected = ["window 1" if text in FIRST else "window 2" for text in SECOND]
    assert [part_of[worded] for worded, _ in rests] == expected
    assert not any(weighed for _, weighed in rests)


def segments_in(calls: list[list[str]]) -> list[list[int]]:
    questions = [texts[1] for texts in calls if texts[0].startswith("You update")]
    return [[int(number) for number in re.findall(r"Text number (\d+)\.", text)] for text in questions]


def carried(calls: list[list[str]]) -> list[list[str]]:
    questions = [texts[1].partition("<nuggets>")[2] for texts in calls if texts[0].startswith("You update")]
    return [re.findall(r'"([^".]+)"', text.partition("</nuggets>")[0]) for text in questions]


def test_labels_stand_at_the_nuggets_they_were_given_to(point_at: PointAt) -> None:
    world = make_world(runs=1, nuggets=13)
    answer_with(world.topics[0], world.campaign.runs.create(run_id="r2"), "Another.")
    lists = {"first": ["support"] * 3 + ["not_support"] * 7, "rest": ["partial_support", "support", "not_support"]}
    with scripted_endpoint(lambda texts: written(lists["first" if "thing0" in texts[1] else "rest"])) as endpoint:
        point_at(endpoint.base_url)
        start(world.request, "A/A", plan_evaluation(world.request, Condition.AA))
        work_on()
    expected = [AssignmentLabel[word.upper()] for word in (*lists["first"], *lists["rest"])]
    for answer in world.topics[0].answers.all():
        wordings = ListedNugget.objects.order_by("position").values_list("nugget_version", flat=True)
        labels = dict(Assignment.objects.filter(answer=answer).values_list("nugget_version", "label"))
        assert [labels[wording] for wording in wordings] == expected
