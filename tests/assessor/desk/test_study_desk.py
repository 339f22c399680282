"""The desk of a study: it asks what was drawn and nothing else, and says nothing of what the study is about."""

import re
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evaluation.models import Assignment, Judge, StudyPair, Task
from evaluation.stages import ASSIGN, SUPPORT_SCRATCH
from evaluation.terms import StudyKind
from reports.random_checks.drawing import RandomCheckOrder, create_random_check, grow_random_check
from tests.assessor.desk_client import Window
from tests.worlds.judging import JudgingWorld
from tests.worlds.study import hand_study, judge_drawn, keys_of, make_study, make_study_world, window_of

NAMES = ("", "state/", "review/", "history/", "guidelines/")


@pytest.fixture
def world(db: None, tmp_path: Path) -> JudgingWorld:
    """An expert and a machine differ on six pairs of three answers, two a piece."""
    return make_study_world(tmp_path)


@pytest.fixture
def ann(world: JudgingWorld) -> Window:
    return window_of(world, hand_study(world, make_study(world)))


@pytest.fixture
def cited(world: JudgingWorld) -> Window:
    return window_of(world, hand_study(world, make_study(world, StudyKind.SUPPORT)))


def test_each_answer_has_the_nuggets_that_were_drawn_for_it(ann: Window) -> None:
    state = ann.state()
    assert [len(answer["nuggets"]) for answer in state["answers"]] == [2, 2, 2]
    pairs = StudyPair.objects.values_list("answer__public_id", "nugget_version__nugget__public_id")
    assert set(keys_of(ann)) == {f"{answer}/{nugget}" for answer, nugget in pairs}
    assert len(state["nuggets"]) == 3
    order = [nugget["key"] for nugget in state["nuggets"]]
    assert all(answer["nuggets"] == sorted(answer["nuggets"], key=order.index) for answer in state["answers"])


def test_another_nugget_of_the_same_answer_is_not_asked(ann: Window) -> None:
    answer = ann.state()["answers"][0]
    [other] = {nugget["key"] for nugget in ann.state()["nuggets"]} - set(answer["nuggets"])
    assert ann.do("label", key=f"{answer['id']}/{other}", label="support")["code"] == "no_such_pair"
    key = f"{answer['id']}/{answer['nuggets'][0]}"
    assert ann.do("label", key=key, label="support")["status"] == "applied"
    assert ann.undo()["rows"][key]["label"] is None


def test_the_review_names_what_is_missing_and_then_all_is_judged(ann: Window) -> None:
    first, *_ = keys_of(ann)
    ann.do("label", key=first, label="not_support")
    page = ann.client.get(ann.url("review/")).content.decode()
    assert "Labels are missing in 3 answers" in page
    assert "1 of 6" in page
    assert ann.submit().json()["code"] == "undecided"
    judge_drawn(ann)
    assert Task.objects.get().state == "submitted"
    assert "6 labels" in ann.client.get(ann.url("history/")).content.decode()


def test_there_is_no_sweep(ann: Window) -> None:
    for key in keys_of(ann):
        ann.do("label", key=key, label="support")
    assert ann.state()["sweep"] is False
    assert ann.do("sweep")["code"] == "bad_operation"
    op = ann.op("label", key=keys_of(ann)[0], label="not_support") | {"source": "sweep"}
    assert ann.send(op)[0]["code"] == "bad_operation"


def test_only_the_citations_that_were_drawn_are_asked(cited: Window) -> None:
    pairs = cited.state()["pairs"]
    assert len(pairs) == 2
    assert {pair["judgeable"] for pair in pairs} == {True}
    drawn = StudyPair.objects.values_list("answer__public_id", "sentence__index")
    assert {(pair["answer"], pair["sentence"]) for pair in pairs} == set(drawn)
    assert all("machine" not in pair for pair in pairs)


def test_a_citation_that_was_not_drawn_is_not_asked(world: JudgingWorld, cited: Window) -> None:
    whole = window_of(world, world.hand(SUPPORT_SCRATCH, "ben"))
    others = {pair["key"] for pair in whole.state()["pairs"] if pair["judgeable"]}
    left = others - set(keys_of(cited))
    assert left
    for key in left:
        assert cited.do("label", key=key, label="no_support")["code"] == "no_such_pair"


def test_what_was_drawn_is_asked_whatever_the_protocol_says_since(world: JudgingWorld, cited: Window) -> None:
    before = keys_of(cited)
    protocol = world.campaign.protocol
    protocol.first_citations = None
    protocol.save()
    assert keys_of(cited) == before


def test_the_start_page_says_that_not_everything_is_asked(world: JudgingWorld) -> None:
    task = hand_study(world, make_study(world))
    window = window_of(world, task)
    Task.objects.update(state="not started", opened_at=None)
    page = " ".join(window.client.get(window.url()).content.decode().split())
    assert "Each answer has a few nuggets of its own" in page
    assert "All answers have the same nuggets" not in page


@pytest.mark.parametrize("kind", list(StudyKind))
def test_the_start_page_says_the_same_of_a_second_look_and_of_a_random_check(
    world: JudgingWorld, kind: StudyKind
) -> None:
    order = RandomCheckOrder("canary-check", kind, per_run=2, least=1, seed="s")
    check = create_random_check(campaign=world.campaign, order=order)
    pages = []
    for study, name in ((make_study(world, kind), "ann"), (check, "ben")):
        window = window_of(world, hand_study(world, study, name))
        Task.objects.update(state="not started", opened_at=None)
        main = window.client.get(window.url()).content.decode().partition("<main")[2].partition("</main>")[0]
        pages.append(re.sub(r'value="[^"]+"|/desk/[^"]+', "", main))
    assert pages[0] == pages[1] != ""


@pytest.mark.parametrize("kind", list(StudyKind))
def test_the_desk_tells_nothing_of_the_study_judges_or_labels(world: JudgingWorld, kind: StudyKind) -> None:
    window = window_of(world, hand_study(world, make_study(world, kind, decoys=33)))
    addresses = ["/desk/", *(window.url(name) for name in NAMES)]
    addresses += [window.url(f"answers/{answer['id']}/") for answer in window.state()["answers"]]

    def bodies() -> list[bytes]:
        changing = rb'name="csrfmiddlewaretoken" value="[^"]+|data-csrf="[^"]+|"server_time": "[^"]+|"age_s": \d+'
        return [re.sub(changing, b"", window.client.get(address).content) for address in addresses]

    before = bodies()
    telling = rb"canary|decoy|disagree|independent|drawn|sampled|\bstudies\b"
    assert re.findall(telling, b"".join(before).lower()) == []
    decoys = set(StudyPair.objects.decoys())
    assert 0 < len(decoys) < StudyPair.objects.count()
    for pair in StudyPair.objects.all():
        # Decoys become disputed, and the others decoys.
        pair.person_label, pair.judge_label = (1, 2) if pair in decoys else (0, 0)
        pair.save()
    Judge.objects.filter(study=None).update(prompt_versions={"a": 2})
    assert bodies() == before


@pytest.mark.parametrize("kind", list(StudyKind))
def test_the_desk_of_an_audit_tells_nothing_of_it(world: JudgingWorld, kind: StudyKind) -> None:
    study = create_random_check(
        campaign=world.campaign, order=RandomCheckOrder("canary-check", kind, per_run=2, least=1, seed="s")
    )
    window = window_of(world, hand_study(world, study))
    addresses = ["/desk/", *(window.url(name) for name in NAMES)]
    addresses += [window.url(f"answers/{answer['id']}/") for answer in window.state()["answers"]]
    shown = b"".join(window.client.get(address).content for address in addresses).lower()
    shown += str(window.state()).lower().encode()
    assert re.findall(rb"canary|decoy|audit|random check|stratum|sampled|drawn|\bstudies\b", shown) == []
    assert len(keys_of(window)) == StudyPair.objects.filter(study=study).count()
    judge_drawn(window, "support" if kind is StudyKind.ASSIGNMENT else "no_support")
    assert Task.objects.get(study=study).state == "submitted"


def test_a_grown_audit_reopens_its_tasks_with_the_new_pairs(world: JudgingWorld) -> None:
    order = RandomCheckOrder("canary-check", StudyKind.ASSIGNMENT, per_run=1, least=1, seed="s")
    study = create_random_check(campaign=world.campaign, order=order)
    window = window_of(world, hand_study(world, study))
    judge_drawn(window)
    before = set(keys_of(window))
    grow_random_check(study=study, per_run=3)
    assert Task.objects.get(study=study).state == "reopened"
    assert before < set(keys_of(window))
    judge_drawn(window, "not_support")
    assert Assignment.objects.current().filter(judge__study=study).count() == StudyPair.objects.count()


def test_a_label_costs_as_many_statements_as_at_any_desk(world: JudgingWorld, ann: Window) -> None:
    other = window_of(world, world.hand(ASSIGN, "ben", nuggets="edited"))
    state = other.state()
    keys = [f"{state['answers'][0]['id']}/{nugget['key']}" for nugget in state["nuggets"]]

    def count(window: Window, key: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            window.do("label", key=key, label="support")
        return len(captured)

    counts = {
        (count(ann, keys_of(ann)[0]), count(ann, keys_of(ann)[1])),
        (count(other, keys[0]), count(other, keys[1])),
    }
    assert len(counts) == 1
