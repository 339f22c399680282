"""The history: everything submitted and everything done can be read again, and every version brought back."""

from typing import Any

from django.test import Client

from assessor.blind.desk import desk_page
from assessor.blind.history import OPERATIONS_A_PAGE, History, history_of
from assessor.models import WorkingNugget
from tests.assessor.desk_client import Window
from tests.worlds.desk import DeskWorld, draft_of


def at_desk(world: DeskWorld) -> Window:
    return Window(world.client(), world.post_edit).open()


def history(world: DeskWorld, page: int = 1) -> History:
    return history_of(world.post_edit.public_id, world.people["ann"], page)


def log_texts(world: DeskWorld) -> list[str]:
    return [deed.line.text for deed in history(world).deeds]


def test_the_log_calls_nuggets_by_their_own_numbers(world: DeskWorld) -> None:
    ann = at_desk(world)
    ann.do("edit", key="d1", text="rivers bend where sand is")
    ann.do("decide", key="d2", decision="rejected")
    ann.do("merge", key="m", from_=["d3", "d4"], text="three and four", importance=2, evidence=[])
    ann.do("importance", key="d5", importance=1)
    ann.do("move", key="d5", after="d1")
    assert log_texts(world) == [
        "N5 moved",
        "N5 is okay",
        "N3 and N4 merged",
        "N2 rejected",
        "N1 reworded",
    ]
    line = history(world).deeds[-1].line
    assert (line.old, line.new) == (draft_of(1), "rivers bend where sand is")


def test_links_marks_splits_and_undo_are_told(world: DeskWorld) -> None:
    ann = at_desk(world)
    passage = world.segments()[0].public_id
    number = number_of(world, passage)
    ann.do("link", key="d1", segment=passage, sentence=1)
    ann.do("unlink", key="d1", segment=passage, sentence=1)
    ann.do("mark", segment=passage, mark="read")
    parts: list[dict[str, Any]] = [
        {"key": key, "text": key, "importance": 0, "evidence": []} for key in ("left", "right")
    ]
    ann.do("split", from_="d2", into=parts)
    ann.undo()
    ann.redo()
    assert log_texts(world) == [
        "Redone: split",
        "Undone: split",
        "N2 split",
        f"{number} read",
        f"Link of N1 to {number} S2 removed",
        f"N1 linked to {number} S2",
    ]


def number_of(world: DeskWorld, passage: str) -> str:
    page = desk_page(world.post_edit.public_id, world.people["ann"])
    return next(f"P{candidate.number}" for candidate in page.passages if candidate.public_id == passage)


def test_older_pages_of_the_log_keep_their_numbers(world: DeskWorld) -> None:
    ann = at_desk(world)
    ann.do("importance", key="d5", importance=1)
    ann.do("move", key="d5", after=None)
    for n in range(OPERATIONS_A_PAGE):
        ann.do("importance", key="d5", importance=n % 2)
    newest, oldest = history(world, 1), history(world, 2)
    assert (newest.pages, newest.total) == (2, OPERATIONS_A_PAGE + 2)
    assert [deed.line.text for deed in newest.deeds][-1].startswith("N5 is")
    assert [deed.line.text for deed in oldest.deeds] == ["N5 moved", "N5 is okay"]


def test_every_version_of_a_nugget_is_listed_once(world: DeskWorld) -> None:
    ann = at_desk(world)
    step = ann.op("edit", key="d1", text="rivers")
    ann.send(step)
    ann.send({**ann.op("edit", key="d1", text="rivers bend"), "step": step["step"]})
    ann.do("importance", key="d1", importance=2)
    ann.do("move", key="d1", after="d3")
    nugget = next(row for row in history(world).nuggets if row.key == "d1")
    assert [(version.text, version.importance) for version in nugget.versions] == [
        ("rivers bend", "vital"),
        ("rivers bend", "neither vital nor okay"),
        (draft_of(1), "neither vital nor okay"),
    ]
    assert [version.is_now for version in nugget.versions] == [True, False, False]


def test_a_version_is_restored_and_restoring_can_be_undone(world: DeskWorld) -> None:
    ann = at_desk(world)
    first = ann.do("edit", key="d1", text="the first wording")
    ann.do("edit", key="d1", text="the second wording")
    response = ann.client.post(ann.url("history/restore/"), {"key": "d1", "seq": first["seq"]}, follow=True)
    assert "The nugget is as it was then." in response.content.decode()
    assert ann.texts()[0] == "the first wording"
    assert log_texts(world)[0] == "N1 set back to an earlier version"
    ann.undo()
    assert ann.texts()[0] == "the second wording"


def test_the_proposal_s_own_wording_comes_back(world: DeskWorld) -> None:
    ann = at_desk(world)
    ann.do("edit", key="d1", text="another wording")
    ann.client.post(ann.url("history/restore/"), {"key": "d1", "seq": 0, "text": draft_of(1)})
    assert ann.texts()[0] == draft_of(1)


def test_what_is_no_version_is_refused_in_words(world: DeskWorld) -> None:
    ann = at_desk(world)
    for wrong in ({"key": "d1", "seq": 99}, {"key": "d1", "seq": "x"}, {}):
        response = ann.client.post(ann.url("history/restore/"), wrong, follow=True)
        assert response.status_code == 200
        assert "version" in response.content.decode()
    assert WorkingNugget.objects.get(task=world.post_edit, key="d1").version == 1


def test_a_submitted_version_is_readable_and_nothing_can_be_set_back(world: DeskWorld) -> None:
    ann = at_desk(world)
    edited = ann.do("edit", key="d1", text="reworded")
    ann.finish()
    assert ann.submit().status_code == 200
    shown = history(world)
    assert [submission.version for submission in shown.submissions] == [1]
    assert [nugget.text for nugget in shown.submissions[0].nuggets] == ["reworded", *map(draft_of, range(2, 6))]
    assert [nugget.name for nugget in shown.submissions[0].nuggets] == ["N1", "N2", "N3", "N4", "N5"]
    page = ann.client.get(ann.url("history/")).content.decode()
    assert "<b>Version 1</b>" in page
    assert "/restore/" not in page
    response = ann.client.post(ann.url("history/restore/"), {"key": "d1", "seq": edited["seq"]}, follow=True)
    assert "nothing in it can be changed now" in response.content.decode()


def test_the_history_is_its_assessor_s_alone(world: DeskWorld) -> None:
    at_desk(world)
    for name in ("ben", "olga", "sam"):
        client: Client = world.client(name)
        for address in ("history/", "review/", "review/?part"):
            assert client.get(f"/desk/{world.post_edit.public_id}/{address}").status_code == 404
        response = client.post(f"/desk/{world.post_edit.public_id}/history/restore/", {"key": "d1", "seq": 0})
        assert response.status_code == 404


def test_by_hand_the_history_knows_no_proposals(world: DeskWorld) -> None:
    ann = Window(world.client(), world.manual).open()
    ann.do("add", key="own", text="dams crack", importance=0, evidence=[], after=None)
    ann.do("decide", key="own", decision="rejected")
    page = ann.client.get(ann.url("history/")).content.decode()
    assert "N1 deleted" in page
    assert "propos" not in page
    assert "rejected" not in page.lower()
