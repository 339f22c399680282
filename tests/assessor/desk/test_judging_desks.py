"""Judging desks over real requests: labels are saved once, checked, undone, submitted and counted."""

from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from assessor.models import Desk, Operation, WorkingAssignment, WorkingSupport
from evaluation.labels import AssignmentLabel, SupportLabel
from evaluation.models import Assignment, SupportJudgment, Task, TaskAnswer
from evaluation.tasks.changes import Change, TaskChange, change_tasks
from tests.assessor.desk_client import Window
from tests.worlds.judging_desk import JudgeWorld, make_judge_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def judging(db: None, tmp_path: Path) -> JudgeWorld:
    """Four answers, three nuggets."""
    return make_judge_world(tmp_path)


@pytest.fixture
def ann(judging: JudgeWorld) -> Window:
    return Window(judging.client("ann"), judging.assign).open()


@pytest.fixture
def shown(judging: JudgeWorld) -> Window:
    """Ann, who sees the machine's labels."""
    return Window(judging.client("ann"), judging.shown).open()


@pytest.fixture
def scratch(judging: JudgeWorld) -> Window:
    return Window(judging.client("ben"), judging.scratch).open()


def keys_of(window: Window) -> list[str]:
    state = window.state()
    if "pairs" in state:
        return [pair["key"] for pair in state["pairs"] if pair["judgeable"]]
    return [f"{answer['id']}/{nugget['key']}" for answer in state["answers"] for nugget in state["nuggets"]]


def judge_all(window: Window, label: str) -> None:
    for key in keys_of(window):
        assert window.do("label", key=key, label=label)["status"] == "applied"


def row(window: Window, key: str) -> dict[str, Any]:
    found: dict[str, Any] = next(candidate for candidate in window.state()["rows"] if candidate["key"] == key)
    return found


def test_a_label_is_kept_with_its_place_and_its_version(ann: Window) -> None:
    key = keys_of(ann)[0]
    receipt = ann.do("label", {key: 0}, key=key, label="partial_support", sentence=1)
    assert receipt["rows"][key] == {
        "key": key,
        "version": 1,
        "label": "partial_support",
        "reason": "",
        "sentence": 1,
        "first_label": None,
    }
    stored = WorkingAssignment.objects.get()
    assert (stored.label, stored.sentence) == (AssignmentLabel.PARTIAL_SUPPORT, 1)
    assert ann.do("locate", key=key, sentence=0)["rows"][key]["sentence"] == 0
    assert row(ann, key)["version"] == 2


def test_sending_a_label_twice_has_one_effect(ann: Window) -> None:
    op = ann.op("label", {keys_of(ann)[0]: 0}, key=keys_of(ann)[0], label="support")
    first, repeated = ann.send(op), ann.send(op)
    assert first == repeated
    assert Operation.objects.filter(kind="label").count() == 1


def test_a_label_that_another_window_gave_meanwhile_is_a_conflict(ann: Window) -> None:
    key = keys_of(ann)[0]
    ann.do("label", {key: 0}, key=key, label="support")
    receipt = ann.do("label", {key: 0}, key=key, label="not_support")
    assert (receipt["status"], receipt["rows"][key]["label"]) == ("conflict", "support")


def test_cant_judge_needs_a_reason(ann: Window) -> None:
    key = keys_of(ann)[0]
    assert ann.do("label", key=key, label="cant_judge")["code"] == "no_reason"
    assert (
        ann.do("label", key=key, label="cant_judge", reason="  in Klingon ")["rows"][key]["reason"] == "in Klingon"
    )


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("label", {"label": "full_support"}),
        ("label", {"label": "failed"}),
        ("label", {"label": "support", "accepted": True}),
        ("label", {"label": "support", "shown_ms": 5}),
        ("locate", {"sentence": 0}),
        ("evidence", {"sentence": 0}),
        ("decide", {"decision": "kept"}),
        ("label", {"label": 1}),
    ],
)
def test_what_the_desk_does_not_know_is_refused_and_not_logged(
    ann: Window, kind: str, payload: dict[str, Any]
) -> None:
    before = Operation.objects.count()
    assert ann.do(kind, key=keys_of(ann)[0], **payload)["status"] == "refused"
    assert (Operation.objects.count(), WorkingAssignment.objects.count()) == (before, 0)


def test_keys_of_other_tasks_are_refused(ann: Window, scratch: Window) -> None:
    foreign, own = keys_of(scratch)[0], keys_of(ann)[0]
    answer, nugget = own.split("/")
    for key in (foreign, f"{nugget}/{answer}", f"{answer}/{answer}", "nothing", f"{answer}/"):
        assert ann.do("label", key=key, label="support")["code"] == "no_such_pair"
    assert scratch.do("label", key=own, label="no_support")["code"] == "no_such_pair"


def test_undo_and_redo_after_a_reload(ann: Window) -> None:
    key = keys_of(ann)[0]
    ann.do("label", key=key, label="support")
    ann.do("label", key=key, label="not_support")
    assert ann.undo()["rows"][key]["label"] == "support"
    assert ann.undo()["rows"][key]["label"] is None
    assert ann.redo()["rows"][key]["label"] == "support"
    assert [step["label"] for step in ann.state()["undo"]] == ["Label"]


def test_answers_stand_in_an_order_of_their_own_for_each_task(ann: Window, scratch: Window) -> None:
    orders = [[entry["id"] for entry in window.state()["answers"]] for window in (ann, ann, scratch)]
    assert orders[0] == orders[1]
    assert sorted(orders[0]) == sorted(orders[2])
    stored = TaskAnswer.objects.filter(task=ann.task).order_by("position")
    assert orders[0] == list(stored.values_list("answer__public_id", flat=True))


def test_an_answer_is_seen_when_it_was_opened_not_when_it_was_fetched(ann: Window) -> None:
    answer = ann.state()["answers"][1]["id"]
    assert ann.client.get(ann.url(f"answers/{answer}/")).status_code == 200
    assert [entry["seen"] for entry in ann.state()["answers"]] == [False] * 4
    ann.do("open", answer=answer)
    assert [entry["seen"] for entry in ann.state()["answers"]] == [False, True, False, False]


def test_an_answer_is_shown_as_written_and_its_run_is_not_named(ann: Window) -> None:
    answer = ann.state()["answers"][0]["id"]
    html = ann.client.get(ann.url(f"answers/{answer}/")).json()["html"]
    assert "**Rivers** of answer" in html
    assert "canary" not in html


def test_nothing_is_submitted_while_labels_are_missing(ann: Window) -> None:
    ann.do("label", key=keys_of(ann)[0], label="support")
    response = ann.submit()
    assert (response.status_code, response.json()["code"]) == (422, "undecided")
    assert "11 labels" in response.json()["message"]
    assert not Assignment.objects.filter(event__kind="task.submitted").exists()
    part = ann.client.get(ann.url("review/?part")).content.decode()
    assert f'data-first="{keys_of(ann)[1]}"' in part


def test_submitted_labels_count_until_a_reopened_version_does(ann: Window, judging: JudgeWorld) -> None:
    judge_all(ann, "support")
    assert ann.submit().json() == {"version": 1, "labels": 12}
    assert set(Assignment.objects.values_list("label", "stands")) == {(AssignmentLabel.SUPPORT, True)}
    assert ann.do("label", key=keys_of(ann)[0], label="not_support")["code"] == "not_open"
    reopen(judging, judging.assign)
    ann.do("label", key=keys_of(ann)[0], label="not_support")
    assert ann.submit().json()["version"] == 2
    standing = Assignment.objects.filter(stands=True)
    assert (standing.count(), Assignment.objects.count()) == (12, 24)
    assert standing.filter(label=AssignmentLabel.NOT_SUPPORT).count() == 1


def reopen(judging: JudgeWorld, task: Task) -> None:
    order = TaskChange(Change.REOPEN, (task.public_id,), "look again")
    change_tasks(campaign=judging.campaign, order=order, actor=judging.people["olga"])


def test_the_sweep_comes_after_the_last_label_and_keeps_the_first(ann: Window) -> None:
    keys = keys_of(ann)
    assert ann.do("sweep")["code"] == "unfinished"
    judge_all(ann, "support")
    assert ann.state()["sweep"] == "offered"
    assert ann.do("sweep")["status"] == "applied"
    assert ann.state()["sweep"] == "begun"
    op = ann.op("label", key=keys[0], label="not_support") | {"source": "sweep"}
    assert ann.send(op)[0]["rows"][keys[0]]["first_label"] == "support"
    ann.submit()
    changed = Assignment.objects.get(label=AssignmentLabel.NOT_SUPPORT)
    assert changed.first_label == AssignmentLabel.SUPPORT


def test_nothing_of_the_machine_is_in_the_pairs_judged_from_scratch(scratch: Window) -> None:
    state = scratch.state()
    assert {tuple(pair) for pair in state["pairs"]} == {
        ("key", "answer", "sentence", "citation", "passage", "judgeable")
    }
    scratch.do("label", key=keys_of(scratch)[0], label="full_support")
    assert {tuple(entry) for entry in scratch.state()["rows"]} == {
        ("key", "version", "label", "reason", "evidence")
    }


def test_a_citation_without_a_text_is_shown_and_not_asked(scratch: Window) -> None:
    pairs = scratch.state()["pairs"]
    (unjudgeable,) = [pair for pair in pairs if not pair["judgeable"]]
    assert unjudgeable["passage"] is None
    assert scratch.do("label", key=unjudgeable["key"], label="no_support")["code"] == "no_such_pair"
    judge_all(scratch, "no_support")
    assert scratch.submit().json()["labels"] == len(pairs) - 1


def test_accepting_the_machines_label_stores_how_long_it_was_shown(shown: Window) -> None:
    pair = next(candidate for candidate in shown.state()["pairs"] if candidate["judgeable"])
    wrong = next(label for label in ("full_support", "no_support") if label != pair["machine"])
    assert shown.do("label", key=pair["key"], label=wrong, accepted=True)["code"] == "not_shown"
    accepted = shown.do("label", key=pair["key"], label=pair["machine"], accepted=True, shown_ms=1234)
    assert accepted["rows"][pair["key"]]["accepted"] is True
    later = shown.do("label", key=pair["key"], label=wrong, shown_ms=9999)["rows"][pair["key"]]
    assert (later["accepted"], later["shown_ms"], later["shown_label"]) == (False, 1234, pair["machine"])
    stored = WorkingSupport.objects.get()
    assert (stored.shown_ms, stored.accepted) == (1234, False)


def test_the_machines_quote_is_shown_with_its_label_alone(scratch: Window, shown: Window) -> None:
    SupportJudgment.objects.filter(condition="llm").update(evidence=2, quote="words of the machine")
    pairs = [pair for pair in shown.state()["pairs"] if pair["judgeable"]]
    assert {(pair["quoted"], pair["quote"]) for pair in pairs} == {(2, "words of the machine")}
    assert all(not {"quoted", "quote"} & pair.keys() for pair in scratch.state()["pairs"])
    assert "words of the machine" not in scratch.client.get(scratch.url("")).content.decode()


def test_what_was_shown_is_frozen_with_the_label(shown: Window) -> None:
    for pair in shown.state()["pairs"]:
        if pair["judgeable"]:
            shown.do("label", key=pair["key"], label=pair["machine"], accepted=True, shown_ms=700)
    assert shown.submit().status_code == 200
    frozen = SupportJudgment.objects.filter(condition="post-edit")
    assert set(frozen.values_list("shown_ms", "accepted")) == {(700, True)}
    assert all(judgment.label == judgment.shown_label for judgment in frozen)


def test_evidence_may_come_before_its_label_and_stays_with_it(scratch: Window) -> None:
    key, *others = keys_of(scratch)
    marked = scratch.do("evidence", {key: 0}, key=key, sentence=4)["rows"][key]
    assert (marked["label"], marked["evidence"]) == (None, 4)
    assert scratch.do("evidence", {key: 0}, key=key, sentence=5)["status"] == "conflict"
    assert scratch.do("label", key=key, label="no_support")["rows"][key]["evidence"] == 4
    assert scratch.do("evidence", key=key, sentence=None)["rows"][key]["evidence"] is None
    assert scratch.undo()["rows"][key]["evidence"] == 4
    page = scratch.client.get(scratch.url("history/")).content.decode()
    assert "Evidence in S5 of the passage" in page
    assert "Evidence taken away" in page
    for other in others:
        scratch.do("label", key=other, label="no_support")
    answer = scratch.submit()
    assert answer.status_code == 200, answer.content
    assert set(SupportJudgment.objects.filter(condition="scratch").values_list("evidence", flat=True)) == {4, None}


def test_a_mark_of_evidence_reaches_no_other_person(judging: JudgeWorld, scratch: Window, shown: Window) -> None:
    key, before = keys_of(scratch)[0], shown.state()
    assert key in keys_of(shown)
    scratch.do("evidence", key=key, sentence=4)
    scratch.do("label", key=key, label="no_support")
    judge_all(scratch, "no_support")
    assert scratch.submit().status_code == 200
    assert shown.state() | {"server_time": ""} == before | {"server_time": ""}


def test_a_task_waits_for_the_machines_labels_and_says_so(judging: JudgeWorld) -> None:
    SupportJudgment.objects.filter(condition="llm", label=SupportLabel.FULL_SUPPORT).delete()
    window = Window(judging.client("ann"), judging.shown)
    answer = window.client.post(window.url("start/"), follow=True)
    assert "labels that this task shows are not there yet" in answer.content.decode()
    judging.shown.refresh_from_db()
    assert judging.shown.state == "not started"


def test_the_history_tells_what_was_done(ann: Window) -> None:
    key = keys_of(ann)[0]
    ann.do("label", key=key, label="cant_judge", reason="no idea")
    ann.do("search", words="sand")
    page = ann.client.get(ann.url("history/")).content.decode()
    for phrase in ("Answer 1, N1", "judge: no idea", "Searched for “sand”"):
        assert phrase in page


def opened(window: Window) -> Any:
    return window.client.get(window.url()).context["first"]


def test_the_page_begins_with_the_first_pair_without_a_label(scratch: Window) -> None:
    first, second = keys_of(scratch)[:2]
    assert (opened(scratch).pair.key, opened(scratch).pair.number) == (first, 1)
    scratch.do("label", key=first, label="full_support")
    assert (opened(scratch).pair.key, opened(scratch).pair.number) == (second, 2)


def test_the_page_begins_where_the_last_visit_was_left(scratch: Window) -> None:
    pairs = [pair for pair in scratch.state()["pairs"] if pair["judgeable"]]
    place = {
        "answers": {"answer": pairs[-1]["answer"]},
        "labels": {"row": pairs[-1]["key"]},
        "shell": {"shown": "rows"},
    }
    Desk.objects.update(place=place, holder_page="left")
    assert (opened(scratch).pair.key, opened(scratch).pane) == (pairs[-1]["key"], "rows")
    # Of a window that did not say that it was left the newest place is not known.
    Desk.objects.update(holder=scratch.window, held_at=timezone.now(), holder_page="visible")
    assert (opened(scratch).pair.key, opened(scratch).pane) == (pairs[0]["key"], "rows")


@pytest.mark.parametrize(
    "place", [{"labels": 1}, {"labels": {"row": ["x"]}}, {"answers": {"answer": "?"}, "shell": []}]
)
def test_a_place_that_is_none_is_no_place(scratch: Window, place: dict[str, Any]) -> None:
    Desk.objects.update(place=place, holder_page="left")
    assert (opened(scratch).pair.key, opened(scratch).pane) == (keys_of(scratch)[0], "passages")


def test_the_page_holds_a_passage_once(shown: Window) -> None:
    first = opened(shown)
    page = shown.client.get(shown.url()).content.decode()
    assert page.count(f'data-passage="{first.pair.passage.public_id}"') == 1
    assert "canary" not in page


def test_the_page_of_answers_to_label_begins_with_no_pair(ann: Window) -> None:
    assert (opened(ann).answer.number, opened(ann).pair, opened(ann).pane) == (1, None, "passages")
