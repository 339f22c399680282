"""Submitting freezes the list as it is shown, with where each nugget comes from."""

import pytest

from evaluation.models import ListedNugget, NuggetLineage, NuggetList, NuggetVersion, Submission, Task
from tests.assessor.desk_client import Window
from tests.worlds.desk import DeskWorld

pytestmark = pytest.mark.postgresql


@pytest.fixture
def ann(world: DeskWorld) -> Window:
    return Window(world.client(), world.post_edit).open()


def lineage() -> dict[str, list[tuple[str, str]]]:
    newest = Submission.objects.latest("version").frozen_list
    wordings = [item.nugget_version for item in newest.items.select_related("nugget_version")]
    rows = NuggetLineage.objects.filter(child__in=wordings).select_related("parent").order_by("parent_id")
    return {
        w.text: [(row.relation, row.parent.text[-1]) for row in rows if row.child_id == w.pk] for w in wordings
    }


def test_nothing_undecided_is_submitted(ann: Window) -> None:
    response = ann.submit()
    assert (response.status_code, response.json()["code"]) == (422, "undecided")
    assert not NuggetList.objects.filter(nugget_set=ann.task.nugget_set).exists()


def test_every_nugget_has_an_importance(ann: Window) -> None:
    ann.finish()
    ann.do("importance", key="d1", importance=0)
    assert ann.submit().json()["code"] == "no_importance"


def test_a_list_is_frozen_with_its_lineage_and_evidence(ann: Window, world: DeskWorld) -> None:
    segment = world.segments()[0]
    ann.do("edit", key="d1", text="one, reworded")
    ann.do("merge", key="m", from_=["d2", "d3"], text="two and three", importance=1)
    ann.do("split", from_="d4", into=[{"key": "x", "text": "four a"}, {"key": "y", "text": "four b"}])
    ann.do("decide", key="d5", decision="rejected")
    ann.do("add", key="n", text="all new", importance=2, evidence=[[segment.public_id, 1]])
    ann.finish()
    response = ann.submit()
    assert response.json() == {"version": 1, "nuggets": 5}
    assert lineage() == {
        "one, reworded": [("edited", "1")],
        "two and three": [("merged", "2"), ("merged", "3")],
        "four a": [("split", "4")],
        "four b": [("split", "4")],
        "all new": [],
    }
    wording = NuggetVersion.objects.get(text="all new")
    assert list(wording.evidence.values_list("segment__docid", "sentence")) == [(segment.docid, 1)]
    assert Task.objects.get(pk=ann.task.pk).state == "submitted"


def test_the_same_submission_sent_again_is_answered_the_same(ann: Window) -> None:
    ann.finish()
    seq = ann.state()["seq"]
    assert ann.submit(seq).json() == ann.submit(seq).json()
    assert Submission.objects.count() == 1


def test_a_submitted_list_cannot_be_changed(ann: Window) -> None:
    ann.finish()
    ann.submit()
    assert ann.do("decide", key="d1", decision="rejected")["code"] == "not_open"


def test_what_the_page_does_not_show_is_not_frozen(ann: Window) -> None:
    ann.finish()
    assert ann.submit(seq=1).json()["code"] == "changed"
    assert not Submission.objects.exists()


def test_another_window_cannot_submit(ann: Window) -> None:
    ann.finish()
    other = Window(ann.client, ann.task)
    assert other.submit().json()["code"] == "moved"


def test_version_2_keeps_the_wordings_that_did_not_change(ann: Window) -> None:
    ann.finish()
    ann.submit()
    Task.objects.filter(pk=ann.task.pk).update(state="reopened", version=2)
    ann.do("edit", key="d1", text="one, reworded")
    assert ann.submit().json() == {"version": 2, "nuggets": 5}
    first, second = (
        list(
            ListedNugget.objects.filter(nugget_list=submission.nugget_list).values_list(
                "nugget_version", flat=True
            )
        )
        for submission in Submission.objects.order_by("version")
    )
    assert first[1:] == second[1:]
    assert first[0] != second[0]
    assert NuggetVersion.objects.get(pk=second[0]).nugget == NuggetVersion.objects.get(pk=first[0]).nugget


def test_what_was_done_before_a_submission_is_not_undone_after_it(ann: Window) -> None:
    ann.finish()
    ann.submit()
    Task.objects.filter(pk=ann.task.pk).update(state="reopened", version=2)
    assert ann.state()["undo"] == []


def test_a_list_by_hand_has_the_limit_of_the_campaign(world: DeskWorld) -> None:
    desk = Window(world.client(), world.manual).open()
    for number in range(21):
        desk.do("add", key=f"n{number}", text=f"fact {number}", importance=1)
    assert desk.submit().json()["code"] == "over_limit"
    desk.do("decide", key="n20", decision="rejected")
    assert desk.submit().json() == {"version": 1, "nuggets": 20}
    assert NuggetLineage.objects.count() == 0
