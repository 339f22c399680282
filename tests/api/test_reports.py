"""Reports that compare two conditions, over the API: whose names are read and what is refused."""

from pathlib import Path

import pytest

from tests.api.conftest import program_of
from tests.api.reading import Program
from tests.reports.conditions.test_people_together import share_lists
from tests.worlds.campaign import World
from tests.worlds.imported import report

pytestmark = pytest.mark.django_db
CORRELATION, CONFUSION = "reports/correlation/?campaign=river", "reports/confusion/?campaign=river"


@pytest.fixture
def olga_of_lists(world: World, tmp_path: Path) -> Program:
    """A program of the organizer's, in a campaign with lists and labels of two people."""
    share_lists(world, tmp_path)
    return program_of(world, "olga")


def test_a_side_may_name_its_list_and_its_judge(olga_of_lists: Program) -> None:
    sides = "&rows=M/M&columns=M/M"
    ada = "".join(f"&{side}_nugget_set=manual-Ada&{side}_judge=Ada" for side in ("rows", "columns"))
    assert olga_of_lists.json(f"{CONFUSION}{sides}")["pairs"] == 3
    assert olga_of_lists.json(f"{CONFUSION}{sides}{ada}")["pairs"] == 2
    problem = olga_of_lists.problem(f"{CONFUSION}{sides}&rows_judge=Nobody", 422)
    assert problem["detail"] == "Nobody has no labels under M/M; there are: Ada, Bob."


def test_topics_of_each_condition_are_a_choice_that_says_so(olga_of_lists: Program) -> None:
    for topics in ("common", "all"):
        document = olga_of_lists.json(f"{CORRELATION}&x=A/A&y=M/M&topics={topics}")
        assert document == report("correlation", "--x", "A/A", "--y", "M/M", "--topics", topics)
        assert document["policies"]["topics"] == topics
    assert olga_of_lists.json(f"{CORRELATION}&x=A/A&y=M/M")["policies"]["topics"] == "common"


def test_what_makes_no_sense_is_refused_by_its_name(olga_of_lists: Program) -> None:
    assert set(olga_of_lists.problem(CORRELATION, 400)["errors"]) == {"x", "y"}
    assert set(olga_of_lists.problem(f"{CORRELATION}&x=A/A&y=nowhere", 400)["errors"]) == {"y"}
    assert set(olga_of_lists.problem(f"{CORRELATION}&x=A/A&y=M/M&topics=some", 400)["errors"]) == {"topics"}
    assert set(olga_of_lists.problem(f"{CONFUSION}&rows=M/M&columns=M/M&tag=x", 400)["errors"]) == {"tag"}
