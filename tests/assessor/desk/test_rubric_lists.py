"""Weights of a list in the making: changed, undone, told, and frozen with the list, all of it or none."""

from pathlib import Path

import pytest

from assessor.blind.history import history_of
from assessor.blind.review import review_summary
from evaluation.models import ListedNugget
from tests.assessor.desk_client import Window
from tests.worlds.desk import DeskWorld, make_desk_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(db: None, tmp_path: Path) -> DeskWorld:
    """Four drafts: two of content, two of form, the last one to avoid."""
    return make_desk_world(tmp_path, drafts=4, weights=(5, 2, 0, -3))


@pytest.fixture
def ann(world: DeskWorld) -> Window:
    return Window(world.client(), world.post_edit).open()


def test_a_weight_is_an_edit_like_others(ann: Window, world: DeskWorld) -> None:
    op = ann.op("weight", {"d1": 1}, key="d1", weight=-2.5)
    first, again = ann.send(op)[0], ann.send(op)[0]
    assert first["rows"]["d1"]["weight"] == again["rows"]["d1"]["weight"] == -2.5
    assert ann.state()["undo"][-1]["label"] == "Weight"
    deeds = history_of(world.post_edit.public_id, world.people["ann"], 1).deeds
    assert [deed.line.text for deed in deeds] == ["N1 weighs -2.5"]
    ann.undo()
    assert next(row for row in ann.state()["rows"] if row["key"] == "d1")["weight"] == 5
    ann.redo()
    assert next(row for row in ann.state()["rows"] if row["key"] == "d1")["weight"] == -2.5


@pytest.mark.parametrize("weight", [100.5, 0.0001, "heavy"])
def test_what_is_no_weight_is_refused(ann: Window, weight: object) -> None:
    assert ann.do("weight", key="d1", weight=weight)["status"] == "refused"


def test_a_list_in_which_some_have_a_weight_cannot_be_submitted(ann: Window, world: DeskWorld) -> None:
    for number in range(1, 5):
        ann.do("decide", key=f"d{number}", decision="kept")
    ann.do("weight", key="d2", weight=None)
    ann.do("importance", key="d2", importance=2)
    summary = review_summary(world.post_edit.public_id, world.people["ann"])
    assert [nugget.name for nugget in summary.without_weight] == ["N2"]
    assert "1 without a weight" in ann.client.get(ann.url("review/?part")).content.decode()
    refused = ann.submit()
    assert (refused.status_code, refused.json()["message"]) == (
        422,
        "1 nugget has no weight; the 3 others of the list have one.",
    )
    ann.do("weight", key="d2", weight=1.5)
    assert review_summary(world.post_edit.public_id, world.people["ann"]).counts.weights == 6.5
    assert ann.submit().status_code == 200
    frozen = ListedNugget.objects.filter(nugget_list__nugget_set=world.post_edit.nuggets)
    assert [(item.weight, item.group) for item in frozen] == [
        (5, "content"),
        (1.5, "content"),
        (0, "form"),
        (-3, "form"),
    ]


def test_merged_and_split_criteria_keep_group_and_the_weight_that_they_are_given(ann: Window) -> None:
    ann.do("merge", from_=["d1", "d2"], key="m", text="both", importance=0, evidence=[], weight=4)
    parts = [{"key": key, "text": key, "weight": -3} for key in ("s1", "s2")]
    ann.do("split", from_="d4", into=parts)
    rows = {row["key"]: (row["weight"], row["group"]) for row in ann.state()["rows"]}
    assert rows["m"] == (4, "content")
    assert rows["s1"] == rows["s2"] == (-3, "form")
