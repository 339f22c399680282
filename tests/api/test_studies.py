"""Studies and the scores that they correct, a report: the digits of the report, to whom, and how refusals read."""

from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.urls import reverse

from evaluation.campaigns.pseudonyms import pseudonym_of
from evaluation.models import Campaign, Judge, Study
from evaluation.terms import StudyKind
from reports.random_checks.drawing import RandomCheckOrder, create_random_check
from tests.api.conftest import program_of
from tests.api.reading import Program
from tests.metrics.random_check.test_example import CORRECTED
from tests.worlds.campaign import World
from tests.worlds.cast import make_cast
from tests.worlds.imported import load, run
from tests.worlds.random_checks import FIVE, PEOPLE, add_labels, corrected, judge, make_example, people_rows

pytestmark = pytest.mark.postgresql
LOOSE = "least_judged=1"


@pytest.fixture
def example(db: None, tmp_path: Path) -> World:
    """The example that is counted by hand: five pairs of each of two runs are drawn, none is judged."""
    cache.clear()
    make_example(tmp_path)
    assert run(*FIVE).code == 0
    campaign = Campaign.objects.get()
    return World(campaign, make_cast(campaign))


def program_and_place(world: World, name: str = "olga") -> tuple[Program, str]:
    return program_of(world, name), "reports/corrected/?campaign=river&study=check"


def values_of(document: Any) -> list[float | None]:
    return [row[kind]["value"] for row in document["runs"] for kind in ("people", "corrected")]


def test_a_study_is_a_row(example: World, tmp_path: Path) -> None:
    judge(tmp_path, people_rows()[:4])
    olga = program_of(example, "olga")
    [row] = olga.rows("studies?campaign=river")
    assert row == olga.json(f"studies/{row['id']}/")
    del row["id"], row["made_at"]
    assert row == {
        "campaign": "river",
        "name": "check",
        "kind": "assignment",
        "draw": "random",
        "person": None,
        "judge": "llm",
        "nugget_set": "edited-people",
        "condition": None,
        "seed": "demo",
        "per_run": {"A": 5, "B": 5},
        "per_topic": None,
        "stratified": None,
        "drawn": 10,
        "judged": 4,
        "decoys": 0,
        "made_by": None,
    }


def test_a_second_look_is_a_row_without_corrected_scores(example: World, tmp_path: Path) -> None:
    add_labels(tmp_path, PEOPLE, "--by", "human", judge="expert")
    load("create_study", "who-is-right", "--kind", "assignment", "--per-topic", "9")
    olga = program_of(example, "olga")
    row = olga.rows("studies")[-1]
    assert (row["draw"], row["per_run"], row["per_topic"], row["seed"]) == ("disagreements", None, 9, "0")
    assert (row["drawn"], row["judged"], row["person"]) == (3, 0, "expert")
    problem = olga.problem("reports/corrected/?campaign=river&study=who-is-right", 422)
    assert problem["code"] == "no_random_check"
    assert "who-is-right is a second look at disagreements" in problem["detail"]


@pytest.mark.parametrize("target", ["these", "new"])
def test_corrected_scores_have_the_digits_of_the_report(example: World, tmp_path: Path, target: str) -> None:
    judge(tmp_path, people_rows())
    olga, place = program_and_place(example)
    judges = {"judges": [f"{pseudonym_of(example.campaign, example.people['ann'].pk)}, study check"]}
    for score in CORRECTED:
        expected = corrected("--score", score, "--target", target, "--least-judged", "1")
        assert olga.json(f"{place}&score={score}&target={target}&{LOOSE}") == expected | judges
    assert olga.json(place) == corrected() | judges
    skipping = corrected("--unjudged", "zero", "--missing", "skip", "--no-vital", "skip")
    assert olga.json(f"{place}&unjudged=zero&missing=skip&no_vital=skip") == skipping | judges


def people_in_file(world: World, name: str) -> list[bool]:
    """Whether each run lacks people's score in the file of a check's page."""
    study = Study.objects.get(name="check")
    file = world.client(name).get(reverse("reports:study_table", args=[study.campaign.slug, study.pk, "json"]))
    return [row["people"]["value"] is None for row in file.json()["runs"]]


def test_others_read_corrected_scores_once_all_are_judged(example: World, tmp_path: Path) -> None:
    rows = people_rows()
    judge(tmp_path, rows[1:])
    olga, place = program_and_place(example)
    own = olga.json(f"{place}&{LOOSE}")
    assert values_of(own)[:2] == [None, None]
    assert None not in values_of(own)[2:]
    for name in ("rita", "audrey"):
        document = program_of(example, name).json(f"{place}&{LOOSE}")
        assert values_of(document) == [None] * 4
        assert [row["reason"] for row in document["runs"]] == ["4 of 5 judged", "other runs are not all judged"]
        assert (document["differences"], document["tau"]["value"], document["alpha"]) == ([], None, None)
        assert [row["rank"] for row in document["runs"]] == [None, None]
    assert [people_in_file(example, name) for name in ("olga", "rita")] == [[True, False], [True, True]]
    judge(tmp_path, rows[:1])
    assert people_in_file(example, "rita") == [False, False]
    for name in ("rita", "audrey"):
        assert program_of(example, name).json(f"{place}&{LOOSE}") == olga.json(f"{place}&{LOOSE}")


def test_assessors_and_strangers_find_no_study(example: World) -> None:
    for name in ("ann", "sam"):
        program, place = program_and_place(example, name)
        assert program.rows("studies") == []
        nothing = program.problem("reports/corrected/?campaign=nowhere&study=check", 400)
        assert program.problem(place, 400) == nothing


def test_who_judged_a_study_goes_by_a_pseudonym(example: World, tmp_path: Path) -> None:
    judge(tmp_path, people_rows())
    ann = example.people["ann"]
    Judge.objects.filter(name="ann, study check").update(user=ann)
    olga, place = program_and_place(example)
    judges = olga.json(place)["judges"]
    assert judges == [f"{pseudonym_of(example.campaign, ann.pk)}, study check"]


def test_what_was_asked_before_is_answered_with_304(example: World, tmp_path: Path) -> None:
    judge(tmp_path, people_rows()[1:])
    olga, place = program_and_place(example)
    tag = olga.get(place)["ETag"]
    assert olga.get(place, **{"If-None-Match": tag}).status_code == 304
    judge(tmp_path, people_rows()[:1])
    assert olga.get(place, **{"If-None-Match": tag}).status_code == 200


WRONG = [
    ("score=length", "score"),
    ("score=weighted_precision", "score"),
    ("target=those", "target"),
    ("least_judged=0", "least_judged"),
    ("least_judged=few", "least_judged"),
    ("missing=never", "missing"),
    ("format=xml", "format"),
    ("nothing=1", "nothing"),
    ("score=all&score=vital", "score"),
]


def test_what_makes_no_sense_is_a_problem(example: World) -> None:
    olga, place = program_and_place(example)
    for query, name in WRONG:
        assert list(olga.problem(f"{place}&{query}", 400)["errors"]) == [name], query


def test_a_list_of_many_studies_takes_no_more_queries(example: World) -> None:
    olga = program_of(example, "olga")
    olga.get("studies")
    few = olga.queries("studies")
    for number in range(3):
        order = RandomCheckOrder(f"more {number}", StudyKind.ASSIGNMENT, per_run=2, least=1)
        create_random_check(campaign=example.campaign, order=order)
    assert (len(olga.rows("studies")), olga.queries("studies")) == (4, few)
