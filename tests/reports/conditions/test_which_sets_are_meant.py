"""Which nugget sets are meant where none is named: five places decide it, side by side for the same campaigns.

Jobs and edits follow the reports. A command that loads labels, and a study, go by less, and ask sooner.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.domain.conditions import resolve, set_of_origin
from evaluation.errors import Refused
from evaluation.judges import add_judge, judge_of
from evaluation.labelling import ensure_nugget_set
from evaluation.models import Campaign, ConditionDefault, NuggetSet, NuggetVersion
from evaluation.studies import set_to_study
from evaluation.terms import Condition, JudgeKind, Origin
from llmjobs.job_service import JobRequest, plan_evaluation
from reports.nuggets.descriptives import edit_report
from tests.worlds.judging import JudgingWorld, load_nuggets, make_judging_world
from tests.worlds.shared_topics import make_list
from tests.worlds.study import EXPERT, MACHINE, load_assignments

pytestmark = pytest.mark.django_db

WHICH, NONE = "which of ", "none of "
LABELS = {"alpha": (2, 1, 0), "beta": (2, 1, 0), "gamma": (0, 0, 2)}


def outside(world: JudgingWorld) -> None:
    """Load a second edited set from a file; the first one is `edited`."""
    load_nuggets(world, "other", Origin.EDITED)


def labels(world: JudgingWorld) -> None:
    """Load a person's and a machine's labels of `edited`."""
    load_assignments(world, EXPERT, JudgeKind.HUMAN, LABELS)
    load_assignments(world, MACHINE, JudgeKind.LLM, LABELS)


def shared(world: JudgingWorld) -> None:
    make_list(world, "ann", "t1", "bends grow", "sand moves")
    make_list(world, "ben", "t2", "dams leak")


def only_shared(world: JudgingWorld) -> None:
    NuggetSet.objects.filter(name="edited").update(origin=Origin.AUTO)
    shared(world)


def empty(world: JudgingWorld) -> None:
    """Make a set without a list, as handing work out does."""
    ensure_nugget_set(world.campaign, judge_of(world.people["ann"]), Origin.EDITED)


def default(world: JudgingWorld) -> None:
    """Name `other` as what E/M means."""
    ConditionDefault.objects.create(campaign=world.campaign, condition=Condition.EM, nuggets="other")


def in_reports(campaign: Campaign, condition: Condition) -> list[str]:
    return [nugget_set.name for nugget_set in resolve(campaign, condition).nugget_sets]


def in_jobs(campaign: Campaign) -> list[str]:
    judge = add_judge(name="new", kind=JudgeKind.LLM, model="new")[0]
    items = plan_evaluation(JobRequest(campaign, judge), Condition.EA).items
    wordings = {wording for item in items for wording in item.payload["nuggets"]}
    sets = NuggetVersion.objects.filter(pk__in=wordings).values_list("nugget__nugget_set__name", flat=True)
    return sorted(set(sets))


PLACES: dict[str, Callable[[Campaign], list[str]]] = {
    "report E/M": lambda campaign: in_reports(campaign, Condition.EM),
    "report E/A": lambda campaign: in_reports(campaign, Condition.EA),
    "job E/A": in_jobs,
    "command": lambda campaign: [set_of_origin(campaign, Origin.EDITED, "", "--nuggets").name],
    "study": lambda campaign: [set_to_study(campaign, "", JudgeKind).name],
    "edits": lambda campaign: edit_report(campaign, drafts="draft").nuggets.split(", "),
}


def meant(campaign: Campaign) -> dict[str, str]:
    """Return the sets that each place takes, or the names of which it asks to choose one."""
    found = {}
    for place, ask in PLACES.items():
        try:
            found[place] = ", ".join(ask(campaign))
        except Refused as refused:
            how = {"ambiguous": WHICH, "no_such_set": NONE}[refused.code]
            found[place] = f"{how}{refused.message.rpartition(': ')[2].rstrip('.')}"
    return found


TWO, SHARED, ALL_THREE = "edited, other", "edited-ann, edited-ben", "edited, edited-ann, edited-ben"
CASES: dict[str, tuple[tuple[Callable[[JudgingWorld], None], ...], str, dict[str, str]]] = {
    "one set": ((), "edited", {}),
    "two sets": ((outside,), WHICH + TWO, {"study": NONE + TWO}),
    "two sets, labels of one": (
        (outside, labels),
        WHICH + TWO,
        dict.fromkeys(["report E/M", "report E/A", "job E/A", "study", "edits"], "edited"),
    ),
    "two sets, one by default": (
        (outside, default),
        WHICH + TWO,
        {"report E/M": "other", "edits": "other", "study": NONE + TWO},
    ),
    "two sets, labels of one, the other by default": (
        (outside, labels, default),
        WHICH + TWO,
        {"report E/M": "other", "edits": "other"} | dict.fromkeys(["report E/A", "job E/A", "study"], "edited"),
    ),
    "shared topics": ((only_shared,), SHARED, {"command": WHICH + SHARED, "study": NONE + ALL_THREE}),
    "shared topics and a set from outside": ((shared,), WHICH + ALL_THREE, {"study": NONE + ALL_THREE}),
    "shared topics and labels of a set from outside": (
        (shared, labels),
        WHICH + ALL_THREE,
        dict.fromkeys(["report E/M", "report E/A", "job E/A", "study", "edits"], "edited"),
    ),
    "one set and one without a list": (
        (empty,),
        WHICH + "edited, edited-ann",
        {"edits": "edited", "study": NONE + "edited, edited-ann"},
    ),
    "two sets and one without a list": (
        (outside, empty),
        WHICH + "edited, edited-ann, other",
        {"edits": WHICH + TWO, "study": NONE + "edited, edited-ann, other"},
    ),
}
"""What makes the campaign, which sets most places take in it, and the places that differ."""


@pytest.mark.parametrize("case", CASES)
def test_the_places_take_these_sets(case: str, tmp_path: Path) -> None:
    steps, most, differing = CASES[case]
    world = make_judging_world(tmp_path)
    load_nuggets(world, "draft", Origin.DRAFT)
    for step in steps:
        step(world)
    assert meant(world.campaign) == dict.fromkeys(PLACES, most) | differing
