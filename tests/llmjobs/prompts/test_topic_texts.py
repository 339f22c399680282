"""What a topic says beside its title, in prompts: by name, and only where it says something."""

from dataclasses import replace

import pytest

from evaluation.models import Judge, Topic
from jobs.models import WorkItem
from llmjobs.job_plan import assign_items, nugget_items
from llmjobs.kinds import ITEM_KINDS
from llmjobs.prompt_store import BUILT_IN_PROMPTS, way_of
from llmjobs.prompts.template import NO_TEXTS, TopicTexts, Value, render
from llmjobs.prompts.texts import ASSIGN, SUPPORT, WITH_TEXTS
from llmjobs.steps.asking import Ask, LlmReply
from tests.worlds.llm import World, grade_segments, make_world

TEXTS = {"problem_statement": "Why are wings curved?", "background": "I build gliders. </background>"}
VALUES: dict[str, Value] = {"query": "wings", "passage": "See <article> 3.", "nuggets": ["lift"], "length": 1}


def first_request(item: WorkItem, judge: Judge | None = None) -> Ask:
    [step] = ITEM_KINDS[item.kind].begin([item], [way_of(judge) if judge else BUILT_IN_PROMPTS])
    return next(step)


def assign_item(world: World) -> WorkItem:
    made = world.campaign.nugget_sets.get().lists.get()
    new = assign_items([made], [run.pk for run in world.runs], 10)[0]
    return WorkItem(key=new.key, kind=new.kind, payload=new.payload)


@pytest.mark.django_db
def test_a_topic_without_texts_is_asked_about_as_ever() -> None:
    request = first_request(assign_item(make_world()))
    assert (request.template, request.version, request.template_sha256) == ("assign", 1, ASSIGN.sha256)
    assert "<background>" not in request.messages[1].content


@pytest.mark.django_db
def test_a_topic_s_texts_follow_the_query_each_in_its_tag() -> None:
    world = make_world()
    Topic.objects.update(**TEXTS)
    request = first_request(assign_item(world))
    assert (request.template, request.version) == ("assign", 2)
    assert (
        "</query>\n\n<problem_statement>\nWhy are wings curved?\n</problem_statement>\n\n"
        "<background>\nI build gliders. &lt;/background>\n</background>\n\n<passage>"
    ) in request.messages[1].content


@pytest.mark.django_db
def test_nuggets_and_their_importance_are_asked_for_with_the_texts() -> None:
    world = make_world(nuggets=0)
    grade_segments(world, 3)
    Topic.objects.update(**TEXTS)
    new = nugget_items(world.campaign, world.topics, world.campaign.qrel_sources.get(), "nuggets").items[0]
    [step] = ITEM_KINDS["nuggets"].begin(
        [WorkItem(key="k", kind=new.kind, payload=new.payload)], [BUILT_IN_PROMPTS]
    )
    requests = [next(step)]
    requests.append(step.send(LlmReply('["a fact"]')))
    assert [(request.template, request.version) for request in requests] == [("nuggetize", 2), ("importance", 2)]
    assert all("<problem_statement>\nWhy are wings curved?" in request.messages[1].content for request in requests)


@pytest.mark.django_db
def test_a_judge_that_names_its_prompt_keeps_it() -> None:
    world = make_world()
    Topic.objects.update(**TEXTS)
    world.judge.prompt_versions = {"assign": "assign@1"}
    request = first_request(assign_item(world), world.judge)
    assert request.version == 1
    assert "gliders" not in request.messages[1].content


def test_a_prompt_takes_texts_by_name_and_leaves_out_what_is_missing() -> None:
    own = replace(ASSIGN, name="own", user=ASSIGN.user + "\n{background}{article}")
    assert own.problems() == ()
    content = render(own, **VALUES, **TopicTexts(background="I build gliders.").values)[1].content
    assert content.endswith("\n<background>\nI build gliders.\n</background>")
    assert "{article}" not in content


def test_texts_belong_in_the_user_text_and_support_has_none() -> None:
    in_system = replace(ASSIGN, system=ASSIGN.system + "{background}")
    assert in_system.problems() == ("{background} belongs in the user text",)
    assert replace(SUPPORT, user=SUPPORT.user + "{article}").problems() == (
        "{article} is not a placeholder of support",
    )


def test_only_prompts_that_hold_texts_make_their_tags_plain() -> None:
    plain = render(ASSIGN, **VALUES, **NO_TEXTS.values)
    assert plain == render(ASSIGN, **VALUES)
    assert "See <article> 3." in plain[1].content
    texts = TopicTexts(article="An article.").values
    assert "See &lt;article> 3." in render(WITH_TEXTS["assign"], **VALUES, **texts)[1].content
