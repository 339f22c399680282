"""Which nugget set is meant: reports, LLM jobs, edits, studies and hand-out go by one rule and ask alike."""

from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.domain.conditions import nugget_sets_of, resolve, set_of_origin
from evaluation.errors import Refused
from evaluation.imports.assignments import import_assignments
from evaluation.judges import add_judge
from evaluation.models import Campaign, ConditionDefault, Judge, NuggetSet
from evaluation.studies import StudyOrder, create_study
from evaluation.terms import Condition, JudgeKind, Origin, StudyKind
from llmjobs.job_service import JobRequest, plan_evaluation
from reports.nuggets.descriptives import edit_report
from tests.worlds.judging import NUGGETS, JudgingWorld, load_nuggets, make_judging_world

pytestmark = pytest.mark.django_db

SEVERAL = "Several nugget sets fit {}; choose one: edited, other."


@pytest.fixture
def world(tmp_path: Path) -> JudgingWorld:
    """Two edited sets of t1, and the drafts of both."""
    world = make_judging_world(tmp_path)
    load_nuggets(world, "other", Origin.EDITED)
    load_nuggets(world, "drafts", Origin.DRAFT)
    add_judge(name="robot", kind=JudgeKind.LLM, model="robot")
    return world


def label(world: JudgingWorld, nuggets: str, judge: str, kind: JudgeKind, origin: Origin = Origin.EDITED) -> None:
    listed = [{"text": text, "importance": "vital", "assignment": "support"} for text in NUGGETS]
    row = {"query": "q", "qid": "t1", "run_id": "alpha", "nuggets": listed}
    import_assignments(
        campaign=world.campaign,
        sources=[world.source(f"{nuggets}-{judge}.jsonl", row)],
        origin=origin,
        judge=judge,
        kind=kind,
        nuggets=nuggets,
    )
    world.campaign.refresh_from_db()


def job(campaign: Campaign, condition: Condition = Condition.EA, nuggets: str = "") -> str:
    request = JobRequest(campaign, Judge.objects.get(name="robot"), topics=("t1",))
    plan = plan_evaluation(request, condition, nuggets=nuggets)
    wordings = {pk for item in plan.items for pk in item.payload["nuggets"]}
    sets = NuggetSet.objects.filter(lists__items__nugget_version__in=wordings).distinct()
    return ", ".join(sets.values_list("name", flat=True))


def study(campaign: Campaign) -> object:
    return create_study(campaign=campaign, order=StudyOrder("s", StudyKind.ASSIGNMENT))


ASKED: dict[str, tuple[str, str, Callable[[Campaign], object]]] = {
    "report": ("E/M", "nuggets", lambda campaign: resolve(campaign, Condition.EM)),
    "job": ("E/A", "nuggets", job),
    "edits": ("E/M", "nuggets", edit_report),
    "hand-out": (
        "origin edited",
        "drafts",
        lambda campaign: set_of_origin(campaign, Origin.EDITED, "", "drafts"),
    ),
}


@pytest.mark.parametrize("place", ASKED)
def test_each_place_asks_alike_where_several_sets_fit(world: JudgingWorld, place: str) -> None:
    what, field, ask = ASKED[place]
    with pytest.raises(Refused) as refused:
        ask(world.campaign)
    assert refused.value.code == "ambiguous"
    assert refused.value.message == SEVERAL.format(what)
    assert (refused.value.field, refused.value.choices) == (field, ("edited", "other"))


def test_a_study_asks_alike_where_several_sets_fit(world: JudgingWorld) -> None:
    for nuggets in ("edited", "other"):
        label(world, nuggets, "ann", JudgeKind.HUMAN)
        label(world, nuggets, "robot", JudgeKind.LLM)
    with pytest.raises(Refused) as refused:
        study(world.campaign)
    assert refused.value.message == SEVERAL.format("a study")


def test_a_job_labels_the_list_that_the_report_shows(world: JudgingWorld) -> None:
    label(world, "other", "m", JudgeKind.LLM)
    shown = resolve(world.campaign, Condition.EA).nugget_sets
    assert [nugget_set.name for nugget_set in shown] == ["other"]
    assert job(world.campaign) == "other"


def test_a_job_goes_on_with_the_list_that_its_judge_has_labelled(world: JudgingWorld) -> None:
    label(world, "other", "m", JudgeKind.LLM)
    label(world, "edited", "robot", JudgeKind.LLM)
    assert [
        nugget_set.name for nugget_set in resolve(world.campaign, Condition.EA, judge="robot").nugget_sets
    ] == ["edited"]
    assert job(world.campaign) == "edited"


def test_a_job_goes_on_with_its_own_unlabelled_list(world: JudgingWorld) -> None:
    load_nuggets(world, "auto-m", Origin.AUTO)
    load_nuggets(world, "auto-robot", Origin.AUTO)
    label(world, "auto-m", "m", JudgeKind.LLM, Origin.AUTO)
    assert job(world.campaign, Condition.AA) == "auto-robot"


def test_a_set_that_is_not_there_is_refused_and_makes_no_job(world: JudgingWorld) -> None:
    with pytest.raises(Refused, match="E/A has no nugget set typo in river; there are: edited, other"):
        job(world.campaign, nuggets="typo")


def test_edits_are_those_of_the_set_that_people_labelled(world: JudgingWorld) -> None:
    label(world, "other", "ann", JudgeKind.HUMAN)
    assert [nugget_set.name for nugget_set, _ in nugget_sets_of(world.campaign, Condition.EM)] == ["other"]
    assert edit_report(world.campaign).nuggets == "other"


def test_a_default_that_names_no_set_is_passed_over(world: JudgingWorld) -> None:
    for condition in (Condition.EM, Condition.EA):
        ConditionDefault.objects.create(campaign=world.campaign, condition=condition, nuggets="gone")
    label(world, "other", "ann", JudgeKind.HUMAN)
    label(world, "other", "m", JudgeKind.LLM)
    assert edit_report(world.campaign).nuggets == job(world.campaign) == "other"
