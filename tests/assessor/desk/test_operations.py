"""What an assessor does at the desk is written once, in order, with what was before and after."""

import uuid
from dataclasses import replace
from typing import Any

import pytest

from assessor.models import MarkedPassage, Operation, WorkingNugget
from assessor.rules.nugget_ops import Row, put_back
from evaluation.models import ListedNugget, Task
from evaluation.terms import Making
from tests.assessor.desk_client import Window
from tests.worlds.desk import DeskWorld

pytestmark = pytest.mark.postgresql


@pytest.fixture
def ann(world: DeskWorld) -> Window:
    return Window(world.client(), world.post_edit).open()


def test_drafts_start_undecided_and_without_importance(ann: Window) -> None:
    rows = ann.state()["rows"]
    assert [row["text"] for row in rows] == [f"draft fact number {n}" for n in range(1, 6)]
    assert {row["decision"] for row in rows} == {"undecided"}
    assert {row["importance"] for row in rows} == {0}


def test_a_decision_is_kept_with_what_was_before(ann: Window) -> None:
    receipt = ann.do("decide", base={"d1": 1}, key="d1", decision="kept")
    assert (receipt["status"], receipt["seq"]) == ("applied", 1)
    assert WorkingNugget.objects.get(task=ann.task, key="d1").decision == "kept"
    logged = Operation.objects.get()
    assert (logged.before["d1"]["decision"], logged.after["d1"]["decision"]) == ("undecided", "kept")
    assert logged.source == "key"


def test_a_draft_is_kept_with_its_importance_in_one_operation(ann: Window) -> None:
    ann.do("decide", base={"d1": 1}, key="d1", decision="kept", importance=2)
    row = WorkingNugget.objects.get(task=ann.task, key="d1")
    assert (row.decision, row.importance, row.version) == ("kept", 2, 2)
    ann.undo()
    row.refresh_from_db()
    assert (row.decision, row.importance) == ("undecided", 0)


def test_taking_a_decision_back_takes_the_importance_with_it(ann: Window) -> None:
    ann.do("decide", key="d1", decision="kept", importance=2)
    ann.do("decide", key="d1", decision="undecided")
    row = WorkingNugget.objects.get(task=ann.task, key="d1")
    assert (row.decision, row.importance) == ("undecided", 0)


def test_the_same_operation_twice_has_one_effect_and_no_error(ann: Window) -> None:
    op = ann.op("add", key="a", text="a fact")
    first, second = ann.send(op)[0], ann.send(op)[0]
    assert first == second
    assert Operation.objects.count() == 1
    assert ann.texts().count("a fact") == 1


def test_operations_out_of_order_are_a_conflict_and_change_nothing(ann: Window) -> None:
    first = ann.op("edit", {"d1": 1}, key="d1", text="one")
    second = ann.op("edit", {"d1": 2}, key="d1", text="two")
    assert ann.send(second)[0]["status"] == "conflict"
    assert [receipt["status"] for receipt in ann.send(first, second)] == ["applied", "applied"]
    assert ann.texts()[0] == "two"


def test_a_conflict_shows_the_row_as_it_is(ann: Window) -> None:
    ann.do("edit", key="d2", text="theirs")
    receipt = ann.do("edit", base={"d2": 1}, key="d2", text="mine")
    assert receipt["status"] == "conflict"
    assert receipt["rows"]["d2"]["text"] == "theirs"
    assert ann.texts()[1] == "theirs"


def test_a_batch_stops_at_the_first_that_cannot_be_applied(ann: Window) -> None:
    receipts = ann.send(
        ann.op("decide", key="d1", decision="kept"),
        ann.op("edit", key="d2", text="   "),
        ann.op("decide", key="d3", decision="kept"),
    )
    assert [receipt["status"] for receipt in receipts] == ["applied", "refused"]
    assert WorkingNugget.objects.filter(task=ann.task, decision="kept").count() == 1


def test_editing_a_proposal_keeps_it(ann: Window) -> None:
    ann.do("edit", key="d1", text="a better fact")
    row = ann.state()["rows"][0]
    assert (row["decision"], row["text"], row["draft"]) == ("kept", "a better fact", "draft fact number 1")


def test_merging_unites_and_undo_takes_it_apart_after_a_reload(ann: Window) -> None:
    ann.do("merge", key="m", from_=["d1", "d3"], text="one and three", importance=2)
    assert ann.texts() == ["one and three", "draft fact number 2", "draft fact number 4", "draft fact number 5"]
    assert ann.undo()["rows"]["m"] is None
    assert ann.texts() == [f"draft fact number {n}" for n in range(1, 6)]
    ann.redo()
    assert ann.texts()[0] == "one and three"
    assert WorkingNugget.objects.get(task=ann.task, key="m").parents == ["d1", "d3"]


def test_splitting_puts_the_parts_in_the_place_of_the_whole(ann: Window) -> None:
    ann.do("split", from_="d2", into=[{"key": "x", "text": "two a"}, {"key": "y", "text": "two b"}])
    assert ann.texts()[:4] == ["draft fact number 1", "two a", "two b", "draft fact number 3"]
    assert ann.texts("replaced") == ["draft fact number 2"]


def test_typing_is_undone_in_one_step(ann: Window) -> None:
    step = str(uuid.uuid4())
    for text in ("w", "wo", "word"):
        ann.send(ann.op("edit", key="d1", text=text) | {"step": step})
    ann.undo()
    assert ann.texts()[0] == "draft fact number 1"


def test_only_the_newest_step_can_be_undone(ann: Window) -> None:
    first = ann.op("decide", key="d1", decision="kept")
    ann.send(first, ann.op("decide", key="d2", decision="kept"))
    assert ann.do("undo", target=first["step"])["code"] == "not_newest"


def test_something_new_ends_what_could_be_redone(ann: Window) -> None:
    ann.do("decide", key="d1", decision="rejected")
    ann.undo()
    assert len(ann.state()["redo"]) == 1
    ann.do("decide", key="d2", decision="rejected")
    assert ann.state()["redo"] == []


def test_nuggets_are_moved(ann: Window) -> None:
    ann.do("move", key="d5", after="d1")
    ann.do("move", key="d3", after=None)
    assert [text[-1] for text in ann.texts()] == ["3", "1", "5", "2", "4"]


def test_moving_into_the_same_gap_for_ever_never_runs_out_of_room(ann: Window) -> None:
    for turn in range(80):
        ann.do("move", key="d5" if turn % 2 else "d4", after="d1")
    assert [text[-1] for text in ann.texts()] == ["1", "5", "4", "2", "3"]
    positions = [row["position"] for row in ann.state()["rows"]]
    assert len(set(positions)) == 5


def test_evidence_names_passages_of_the_campaign_only(ann: Window, world: DeskWorld) -> None:
    segment = world.segments()[0].public_id
    ann.do("link", key="d1", segment=segment, sentence=2)
    ann.do("link", key="d1", segment=segment, sentence=2)
    assert ann.state()["rows"][0]["evidence"] == [[segment, 2]]
    assert ann.do("link", key="d1", segment="nowhere", sentence=0)["code"] == "no_such_passage"
    ann.do("unlink", key="d1", segment=segment, sentence=2)
    assert ann.state()["rows"][0]["evidence"] == []


def test_passages_are_marked_and_unmarked(ann: Window, world: DeskWorld) -> None:
    segment = world.segments()[0].public_id
    ann.do("mark", segment=segment, mark="read")
    assert ann.state()["marks"] == {segment: "read"}
    ann.do("mark", segment=segment, mark="")
    assert not MarkedPassage.objects.exists()


def test_what_lies_open_in_a_composer_is_kept(ann: Window) -> None:
    ann.do("compose", slot="merge", draft={"text": "half a sen", "from": ["d1"]})
    assert ann.state()["composer"] == {"merge": {"text": "half a sen", "from": ["d1"]}}
    ann.do("compose", slot="merge", draft=None)
    assert ann.state()["composer"] == {}


def test_an_earlier_wording_is_restored(ann: Window) -> None:
    first = ann.do("edit", key="d1", text="first wording")
    ann.do("edit", key="d1", text="second wording")
    ann.do("restore", key="d1", seq=first["seq"])
    assert ann.texts()[0] == "first wording"
    ann.undo()
    assert ann.texts()[0] == "second wording"


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("dance", {}),
        ("decide", {"key": "d1", "decision": "replaced"}),
        ("decide", {"key": "nobody", "decision": "kept"}),
        ("importance", {"key": "d1", "importance": 7}),
        ("merge", {"key": "m", "from": ["d1"], "text": "one"}),
        ("split", {"from": "d1", "into": [{"key": "x", "text": "only"}]}),
        ("add", {"key": "d1", "text": "a key that is taken"}),
        ("add", {"key": "n", "text": "x" * 2001}),
        ("edit", {"key": "d1", "text": "", "extra": 1}),
    ],
)
def test_what_makes_no_sense_is_refused_and_logged_nowhere(
    ann: Window, kind: str, payload: dict[str, Any]
) -> None:
    before = ann.state()["rows"]
    receipt = ann.send(ann.op(kind) | {"payload": payload})[0]
    assert receipt["status"] == "refused"
    assert receipt["message"]
    assert ann.state()["rows"] == before
    assert not Operation.objects.exists()


def test_another_window_is_told_that_the_desk_moved(ann: Window) -> None:
    ann.do("decide", key="d1", decision="kept")
    phone = Window(ann.client, ann.task)
    assert phone.do("decide", key="d2", decision="kept")["status"] == "moved"
    assert phone.post("hold/", {"window": phone.window}).json()["holder"] == "other"
    assert phone.post("hold/", {"window": phone.window, "want": "take"}).json()["holder"] == "mine"
    assert phone.do("decide", key="d2", decision="kept")["status"] == "applied"
    assert ann.do("decide", key="d3", decision="kept")["status"] == "moved"


def test_a_window_that_closes_lets_go(ann: Window) -> None:
    ann.do("decide", key="d1", decision="kept")
    ann.post("hold/", {"window": ann.window, "want": "release"})
    later = Window(ann.client, ann.task)
    assert later.post("hold/", {"window": later.window}).json()["holder"] == "mine"


@pytest.mark.parametrize("name", ["ben", "olga", "rita", "sam"])
@pytest.mark.parametrize("endpoint", ["", "state/"])
def test_a_task_of_somebody_else_is_not_there(world: DeskWorld, ann: Window, name: str, endpoint: str) -> None:
    other = world.client(name)
    theirs, nothing = other.get(ann.url(endpoint)), other.get(f"/desk/nothing/{endpoint}")
    assert theirs.status_code == nothing.status_code == 404
    if endpoint:
        assert theirs.content == nothing.content


def test_operations_of_somebody_else_are_not_there_either(world: DeskWorld, ann: Window) -> None:
    thief = Window(world.client("ben"), ann.task)
    response = thief.post("ops/", {"window": thief.window, "ops": [thief.op("decide", key="d1", decision="kept")]})
    assert response.status_code == 404
    assert not Operation.objects.exists()


def test_without_a_session_the_scripts_are_told_so(ann: Window) -> None:
    ann.client.logout()
    response = ann.post("ops/", {"window": ann.window, "ops": [ann.op("decide", key="d1", decision="kept")]})
    assert (response.status_code, response.json()["code"]) == (401, "signed_out")


def test_a_desk_by_hand_starts_empty_and_holds_nothing_machine_made(world: DeskWorld) -> None:
    desk = Window(world.client(), world.manual).open()
    desk.do("add", key="n", text="my own fact", importance=2)
    page = desk.client.get(desk.url("state/")).content.decode()
    assert "draft fact" not in page
    assert "drafting-machine" not in page
    assert [row["draft"] for row in desk.state()["rows"]] == [None]


def test_a_task_not_started_shows_what_it_will_record(world: DeskWorld) -> None:
    desk = Window(world.client(), world.post_edit)
    assert desk.post("ops/", {"window": desk.window, "ops": [desk.op("dance")]}).status_code == 404
    assert Task.objects.get(pk=world.post_edit.pk).state == "not started"


def test_evidence_names_the_task_s_passage_and_its_sentence(ann: Window, world: DeskWorld) -> None:
    elsewhere, here = world.segments("t2")[0].public_id, world.segments("t1")[0].public_id
    assert ann.do("link", key="d1", segment=elsewhere, sentence=0)["code"] == "no_such_passage"
    assert ann.do("link", key="d1", segment=here, sentence=3)["code"] == "no_such_sentence"
    added = ann.do("add", key="n", text="a fact", evidence=[[here, 0], [elsewhere, None]])
    assert added["code"] == "no_such_passage"
    assert ann.do("mark", segment=elsewhere, mark="read")["code"] == "no_such_passage"


def test_search_words_are_noted_and_change_nothing(ann: Window) -> None:
    ann.do("decide", key="d1", decision="kept")
    assert ann.do("search", words="sediment")["status"] == "applied"
    assert Operation.objects.get(kind="search").payload == {"words": "sediment"}
    assert [step["label"] for step in ann.state()["undo"]] == ["Decision"]


def test_a_nugget_made_again_never_has_a_version_it_had_before(ann: Window) -> None:
    ann.do("add", key="n", text="a fact")
    ann.do("edit", base={"n": 1}, key="n", text="an old wording")
    ann.undo()
    ann.undo()
    ann.redo()
    row = next(row for row in ann.state()["rows"] if row["key"] == "n")
    ann.do("edit", base={"n": row["version"]}, key="n", text="a new wording")
    late = Window(ann.client, ann.task, ann.window)
    assert late.do("edit", base={"n": 2}, key="n", text="by a window that saw the old one")["status"] == "conflict"
    assert ann.texts()[-1] == "a new wording"


def test_whoever_assesses_no_more_has_no_desk(ann: Window, world: DeskWorld) -> None:
    world.campaign.memberships.filter(user=world.people["ann"]).delete()
    assert ann.client.get(ann.url()).status_code == 404
    response = ann.post("ops/", {"window": ann.window, "ops": [ann.op("decide", key="d1", decision="kept")]})
    assert response.status_code == 404


def numbers(ann: Window) -> dict[str, int]:
    return {row["key"]: row["number"] for row in ann.state()["rows"]}


def test_numbers_stay_through_merge_move_reject_and_split(ann: Window) -> None:
    drafts = {f"d{n}": n for n in range(1, 6)}
    ann.do("merge", key="m", from_=["d1", "d3"], text="one and three")
    ann.do("move", key="d5", after=None)
    ann.do("decide", key="d2", decision="rejected")
    ann.do("split", from_="d4", into=[{"key": "left", "text": "left"}, {"key": "right", "text": "right"}])
    ann.do("add", key="own", text="my own")
    assert numbers(ann) == {**drafts, "m": 6, "left": 7, "right": 8, "own": 9}


def test_a_merge_that_is_undone_and_redone_keeps_its_number(ann: Window) -> None:
    ann.do("merge", key="m", from_=["d1", "d3"], text="one and three")
    ann.undo()
    ann.redo()
    assert numbers(ann)["m"] == 6
    assert numbers(ann)["d3"] == 3


def test_a_row_that_comes_back_has_its_number_unless_another_has_it() -> None:
    first = Row(key="a", position=1, text="a", making=Making.ADDED, number=1)
    second = Row(key="b", position=2, text="b", making=Making.ADDED, number=5)
    assert put_back({"a": first}, {"b": second})["b"] == replace(second, version=2)
    assert put_back({"a": first}, {"b": replace(second, number=1)})["b"] == replace(second, number=2, version=2)


def test_a_draft_brings_its_own_importance_and_0_gives_it_back(world: DeskWorld) -> None:
    ListedNugget.objects.filter(nugget_list=world.drafts(), position=0).update(importance=1)
    ann = Window(world.client(), world.post_edit).open()
    assert [row["importance"] for row in ann.state()["rows"]] == [1, 0, 0, 0, 0]
    ann.do("decide", key="d1", decision="kept", importance=2)
    ann.do("decide", key="d1", decision="undecided")
    assert WorkingNugget.objects.get(task=ann.task, key="d1").importance == 1
