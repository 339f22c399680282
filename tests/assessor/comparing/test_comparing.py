"""Battles by people: dealt by topic in their walk, judged side by side, and frozen as verdicts."""

import json
import re
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from assessor.progress.pipeline import StepState, pipeline_for
from evaluation.battles import BattleOrder, draw_battles
from evaluation.errors import Refused
from evaluation.judges import judge_of
from evaluation.labels import BattleLabel
from evaluation.models import (
    AnswerProvenance,
    Battle,
    BattleSet,
    Event,
    Judge,
    Protocol,
    SampledBattle,
    Segment,
    Task,
    TaskAnswer,
    Verdict,
)
from evaluation.stages import BATTLE, SUPPORT_POST_EDIT
from evaluation.tasks.hand_out import hand_out, reassign
from evaluation.tasks.plan import plan_hand_out
from evaluation.tasks.units import Order
from evaluation.terms import BattleShow, JudgeKind
from reports.methods.report import battle_sentences
from tests.assessor.desk_client import Window
from tests.worlds.battles import judge_battles
from tests.worlds.imported import load, refuse, report, write
from tests.worlds.judging import NUGGETS, JudgingWorld, current_task, load_machine, make_judging_world

pytestmark = pytest.mark.django_db

RUNS = [f"run-{number}" for number in range(1, 6)]


@pytest.fixture
def world(tmp_path: Path) -> JudgingWorld:
    """Five more runs answer t1; all pairs of them meet, which is ten battles."""
    world = make_judging_world(tmp_path)
    for run in RUNS:
        world.run(run, (f"**Text** of {run[-1]} bends [1].", [0]), (f"- Sand of {run[-1]}.", [1]))
    draw(world, runs=tuple(RUNS), topics=("t1",))
    return world


def draw(world: JudgingWorld, **order: Any) -> None:
    draw_battles(campaign=world.campaign, order=BattleOrder(seed="demo", **order))


def window(world: JudgingWorld, name: str, **more: Any) -> Window:
    return open_window(world, world.hand(BATTLE, name, **more))


def open_window(world: JudgingWorld, task: Task) -> Window:
    client = Client()
    client.force_login(world.people[task.assessor.username])
    return Window(client, task).open()


def protocol(world: JudgingWorld, **settings: Any) -> None:
    Protocol.objects.filter(campaign=world.campaign).update(**settings)


def battles_of(desk: Window) -> list[TaskAnswer]:
    return list(TaskAnswer.objects.filter(task=desk.task).select_related("battle").order_by("position"))


def keys(desk: Window) -> list[str]:
    return [f"{answer['id']}/battle" for answer in desk.state()["answers"]]


def judge(desk: Window, label: str = "left", **more: Any) -> None:
    for key in keys(desk):
        receipt = desk.do("label", key=key, label=label, **more)
        assert receipt["status"] == "applied", receipt


def submit(desk: Window) -> None:
    response = desk.post("submit/", {"window": desk.window, "seq": desk.state()["seq"]})
    assert response.status_code == 200, response.content


def text_of(desk: Window, key: str) -> str:
    html = desk.client.get(desk.url(f"answers/{key.partition('/')[0]}/")).json()["html"]
    assert isinstance(html, str)
    return html


def test_a_sample_alone_is_handed_out(world: JudgingWorld) -> None:
    machine = Judge.objects.create(name="robot", kind=JudgeKind.LLM)
    sampled = [battle.pk for battle in Battle.objects.all()[:4]]
    for battle in Battle.objects.all():
        SampledBattle.objects.create(
            battle=battle, judge=machine, points=1.0, chance=0.4 if battle.pk in sampled else None
        )
    olga = Client()
    olga.force_login(world.people["olga"])
    ticking = {"stage": BATTLE, "sample": "robot", "choose": "all"}
    page = olga.post(reverse("organizer:hand_out", args=["river"]), ticking).content.decode()
    assert '<option value="robot" selected>' in page
    assert re.search(r'<td class="n">4</td>', page)
    with pytest.raises(Refused, match="no sample of battles for other; there are: robot"):
        world.hand(BATTLE, "ann", sample="other")
    desk = window(world, "ann", sample="robot")
    assert {row.battle_id for row in battles_of(desk)} == set(sampled)
    judge(desk)
    submit(desk)
    assert set(Verdict.objects.values_list("battle", flat=True)) == set(sampled)
    with pytest.raises(Refused):
        world.hand(BATTLE, "ben", sample="robot")
    rest = window(world, "ben")
    assert len(battles_of(rest)) == 6


def test_what_a_desk_knows_of_a_verdict_comes_back_from_its_file(world: JudgingWorld, tmp_path: Path) -> None:
    desk = window(world, "ann")
    for key in keys(desk):
        desk.do("open", answer=key.partition("/")[0])
    judge(desk)
    submit(desk)
    path = tmp_path / "verdicts.jsonl"
    by_people = ("--condition", "B/M")
    load("export", "battles", *by_people, "--output", path)
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert sorted(row["place"] for row in rows) == list(range(1, 11))
    assert any(row.get("stayed") for row in rows)
    assert "Nothing changed" in load("import_battles", "--by", "human", path).err
    load("import_battles", "--by", "human", "--set", "imported", path)
    few = ("--least-topics", "1", "--least-battles", "1")
    here, there = (report("battles", *by_people, "--set", name, *few) for name in ("battles", "imported"))
    assert here["stayed"]["value"] is not None
    assert there["stayed"] == here["stayed"]
    assert [row.seconds for row in Verdict.objects.order_by("pk")[:10]] == [
        row.seconds for row in Verdict.objects.order_by("pk")[10:]
    ]


def test_a_submitted_verdict_is_replaced_by_no_file(world: JudgingWorld, tmp_path: Path) -> None:
    desk = window(world, "ann")
    judge(desk)
    submit(desk)
    path = tmp_path / "verdicts.jsonl"
    load("export", "battles", "--condition", "B/M", "--output", path)
    path.write_text(path.read_text("utf-8").replace('"verdict": "left"', '"verdict": "tie"', 2), "utf-8")
    said = refuse("import_battles", "--by", "human", "--replace", path)
    assert "2 of these labels were submitted here; reopen the task to change them." in said
    assert set(Verdict.objects.values_list("label", "stands")) == {(BattleLabel.LEFT, True)}


def test_a_topics_battles_are_handed_out_in_their_walk(world: JudgingWorld) -> None:
    desk = window(world, "ann")
    rows = battles_of(desk)
    assert len(rows) == 10
    answers = [{row.battle.left_id, row.battle.right_id} for row in rows if row.battle]
    assert all(one & other for one, other in pairwise(answers[:6]))
    assert desk.task.expected_minutes == pytest.approx(12, abs=1)
    assert [answer["id"] for answer in desk.state()["answers"]] == [
        row.battle.public_id for row in rows if row.battle
    ]


def test_tasks_have_at_most_forty_battles(world: JudgingWorld) -> None:
    for number in range(6, 12):
        world.run(f"run-{number}", (f"Text of {number}.", []))
    draw(world, name="more", runs=tuple(f"run-{number}" for number in range(1, 12)), topics=("t1",), rounds=11)
    order = Order(BATTLE, (world.topic().public_id,), "ann", battles="more")
    receipt = hand_out(campaign=world.campaign, order=order, actor=world.people["olga"])
    tasks = [current_task(task) for task in receipt.tasks]
    assert [TaskAnswer.objects.filter(task=task).count() for task in tasks] == [40, 15]
    assert {task.assessor.username for task in tasks} == {"ann"}
    assert TaskAnswer.objects.filter(task__in=tasks).values("battle").distinct().count() == 55


def test_nobody_gets_a_battle_that_somebody_has_but_for_a_second_opinion(world: JudgingWorld) -> None:
    window(world, "ann")
    with pytest.raises(Refused, match="no battle of it is left to hand out"):
        world.hand(BATTLE, "ben")
    with pytest.raises(Refused, match="ann has it already"):
        world.hand(BATTLE, "ann", again=True)


def test_more_rounds_are_handed_out_apart(world: JudgingWorld) -> None:
    draw(world, name="grown", runs=tuple(RUNS), topics=("t1",), rounds=1)
    first = world.hand(BATTLE, "ann", battles="grown")
    draw_battles(campaign=world.campaign, order=BattleOrder("grown", rounds=3))
    second = world.hand(BATTLE, "ann", battles="grown")
    counts = [TaskAnswer.objects.filter(task=task).count() for task in (first, second)]
    assert counts == [2, 4]


def test_a_second_person_has_the_overlap_with_the_sides_changed(world: JudgingWorld) -> None:
    ann, ben = window(world, "ann"), window(world, "ben", again=True)
    assert ben.task.second_opinion
    assert len(battles_of(ben)) == 2  # .15 of 10, rounded up
    for key in keys(ben):
        one, other = text_of(ann, key), text_of(ben, key)
        assert sides(one) == sides(other)[::-1]
        assert sides(one)[0] != sides(one)[1]


@pytest.mark.parametrize(("rounds", "more"), [(2, 0), (3, 0), (4, 1), (5, 1)])
def test_what_was_judged_twice_stays_among_the_overlap_of_a_set_that_grew(
    world: JudgingWorld, rounds: int, more: int
) -> None:
    """Of 2, 4, 6, 8 and 10 battles 1, 1, 1, 2 and 2 are judged twice; the one of 2 would not be that of 4."""
    draw(world, name="grown", runs=tuple(RUNS), topics=("t1",), rounds=1)
    for name, again in (("ann", False), ("ben", True)):
        world.hand(BATTLE, name, battles="grown", again=again)
    draw(world, name="grown", rounds=rounds)
    world.hand(BATTLE, "ann", battles="grown")
    if more:
        world.hand(BATTLE, "ben", battles="grown", again=True)
    with pytest.raises(Refused, match="no battle of it is left"):
        world.hand(BATTLE, "ben", battles="grown", again=True)
    assert TaskAnswer.objects.filter(task__second_opinion=True).count() == 1 + more


def sides(html: str) -> list[str]:
    return [part.split("side-text")[1] for part in html.split("</section>")[:2]]


def test_a_battle_is_read_without_citations_runs_and_ids_of_answers(world: JudgingWorld) -> None:
    desk = window(world, "ann")
    page = desk.client.get(desk.url("")).content.decode()
    for text in (page, json.dumps(desk.state()), *(text_of(desk, key) for key in keys(desk))):
        assert "run-" not in text
        assert "[1]" not in text
        for row in battles_of(desk):
            assert row.battle is not None
            assert row.battle.left.public_id not in text
            assert row.battle.right.public_id not in text
    html = text_of(desk, keys(desk)[0])
    assert html.index("Answer on the left") < html.index("Answer on the right")
    assert "<strong>Text</strong>" in html
    assert " bends.</span>" in html


def test_a_set_may_show_citations_and_the_passages_behind_them(world: JudgingWorld) -> None:
    shown = {}
    for show in ("citations", "passages"):
        draw(world, name=show, runs=tuple(RUNS), topics=("t1",), rounds=1, show=show)
        desk = window(world, "ann", battles=show)
        key = keys(desk)[0]
        shown[show] = text_of(desk, key)
        assert 'data-reason="evidence"' in desk.client.get(desk.url("")).content.decode()
        assert desk.do("label", key=key, label="left", extras={"reasons": ["evidence"]})["status"] == "applied"
        judge(desk)
        submit(desk)
    one, other = sides(shown["citations"])
    for side in (one, other):
        assert " bends.</span>" in side  # the run's own mark is gone
        assert [side.count(f"[{number}]") for number in (1, 2)] == [1, 1]
    assert "<details" not in one
    text = Segment.objects.get(docid="d1").text
    assert text not in shown["citations"]
    assert shown["passages"].count(text) == 2
    assert [
        "who saw citations and the cited passages;" in words for words in battle_sentences(world.campaign)
    ] == [
        False,
        True,
    ]
    with pytest.raises(Refused, match="show passages: these stay"):
        draw_battles(campaign=world.campaign, order=BattleOrder("passages", rounds=2, show=BattleShow.ANSWER))


def test_the_protocol_says_what_a_set_shows_unless_its_draw_does(world: JudgingWorld) -> None:
    protocol(world, battle_show="citations", battle_markdown="plain")
    order = {"runs": tuple(RUNS), "topics": ("t1",), "rounds": 1}
    draw(world, name="as agreed", **order)
    draw(world, name="own", show="passages", **order)
    protocol(world, battle_show="answer", battle_markdown="alike")
    draw_battles(campaign=world.campaign, order=BattleOrder("as agreed", rounds=2))
    designs = dict(BattleSet.objects.values_list("name", "design"))
    assert [designs[name]["show"] for name in ("battles", "as agreed", "own")] == [
        "answer",
        "citations",
        "passages",
    ]
    desk = window(world, "ann", battles="as agreed")
    html = text_of(desk, keys(desk)[0])
    assert html.count("[1]") == 2
    assert "<strong>" not in html
    assert "- Sand" not in html
    assert re.search(r">Text of \d bends\.</span>", html)
    assert re.search(r'prewrap"[^>]*>\nSand of \d\.</span>', html)


def test_verdicts_that_the_protocol_leaves_out_are_not_offered(world: JudgingWorld) -> None:
    protocol(world, battle_ties=False, battle_both_bad=False, battle_refuse=False, battle_reasons=False)
    desk = window(world, "ann")
    page = desk.client.get(desk.url("")).content.decode()
    for word in ('value="tie"', 'value="bad"', 'data-do="cant"', "data-reason"):
        assert word not in page
    key = keys(desk)[0]
    for label, reason in (("tie", ""), ("bad", ""), ("cant_judge", "It is in Latin.")):
        assert desk.do("label", key=key, label=label, reason=reason)["code"] == "no_such_label"
    refused = desk.do("label", key=key, label="left", extras={"reasons": ["accuracy"]})
    assert (refused["code"], "none are asked for" in refused["message"]) == ("no_such_label", True)
    assert desk.do("label", key=key, label="left")["status"] == "applied"


def test_nuggets_stand_beside_the_answers_where_the_protocol_says_so(world: JudgingWorld) -> None:
    draw(world, name="bare", runs=tuple(RUNS), topics=("t1",), rounds=1)
    protocol(world, battle_rubric="nuggets")
    draw(world, name="rubric", runs=tuple(RUNS), topics=("t1",), rounds=1)
    bare, rubric = window(world, "ann", battles="bare"), window(world, "ann", battles="rubric")
    assert bare.state()["rubric"] == []
    assert rubric.state()["rubric"] == list(NUGGETS)
    page = rubric.client.get(rubric.url("")).content.decode()
    assert "Nuggets of this topic: 3" in page
    assert "Nuggets of this topic" not in bare.client.get(bare.url("")).content.decode()


def test_tasks_order_and_overlap_are_the_protocols(world: JudgingWorld) -> None:
    protocol(world, battle_task=4, battle_order="shuffled", battle_overlap=0.5)
    order = Order(BATTLE, (world.topic().public_id,), "ann")
    receipt = hand_out(campaign=world.campaign, order=order, actor=world.people["olga"])
    tasks = [current_task(task) for task in receipt.tasks]
    rows = [list(TaskAnswer.objects.filter(task=task).order_by("position")) for task in tasks]
    assert [len(of_task) for of_task in rows] == [4, 4, 2]
    runs = dict(AnswerProvenance.objects.values_list("answer", "run__run_id"))
    pairs = [{row.battle.left_id, row.battle.right_id} for of_task in rows for row in of_task if row.battle]
    assert not all(one & other for one, other in pairwise(pairs[:6]))
    digests = [
        sha256("\n".join(["demo", "walk", "t1", *sorted(runs[key] for key in pair)]).encode()).hexdigest()
        for pair in pairs
    ]
    assert digests == sorted(digests)
    again = Order(BATTLE, (world.topic().public_id,), "ben", again=True)
    second = hand_out(campaign=world.campaign, order=again, actor=world.people["olga"])
    assert TaskAnswer.objects.filter(task__public_id__in=second.tasks).count() == 5


def test_evidence_is_no_reason_where_no_citations_are_shown(world: JudgingWorld) -> None:
    desk = window(world, "ann")
    receipt = desk.do("label", key=keys(desk)[0], label="left", extras={"reasons": ["evidence"]})
    assert (receipt["status"], receipt["code"]) == ("refused", "no_such_label")
    assert 'data-reason="evidence"' not in desk.client.get(desk.url("")).content.decode()


def test_submitted_verdicts_say_side_place_and_what_had_stayed(world: JudgingWorld) -> None:
    desk = window(world, "ann")
    rows = battles_of(desk)
    for row in rows:
        assert row.battle is not None
        desk.do("open", answer=row.battle.public_id)
    judge(desk, "left", extras={"reasons": ["point", "accuracy"]})
    desk.do("label", key=keys(desk)[1], label="cant_judge", reason="It is in Latin.")
    submit(desk)
    verdicts = {verdict.battle_id: verdict for verdict in Verdict.objects.current()}
    assert len(verdicts) == 10
    before = set[int]()
    for place, row in enumerate(rows, start=1):
        assert row.battle is not None
        verdict = verdicts[row.battle_id or 0]
        assert (verdict.left_id, verdict.place) == (row.battle.left_id, place)
        shared = before & {row.battle.left_id, row.battle.right_id}
        assert verdict.stayed_id == next(iter(shared), None)
        before = {row.battle.left_id, row.battle.right_id}
        assert not verdict.second_opinion
        if place == 2:
            assert (verdict.label, verdict.raw, verdict.reasons) == (8, "It is in Latin.", [])
        else:
            assert (verdict.label, verdict.reasons) == (BattleLabel.LEFT, ["point", "accuracy"])
        assert verdict.event is not None
        assert verdict.event.kind == "task.submitted"


def test_the_report_has_the_points_of_what_stayed_on_the_screen(world: JudgingWorld) -> None:
    desk = window(world, "ann")
    for row in battles_of(desk):
        assert row.battle is not None
        desk.do("open", answer=row.battle.public_id)
    judge(desk, "left")
    submit(desk)
    stayed = [verdict for verdict in Verdict.objects.current() if verdict.stayed_id]
    points = [float(verdict.stayed_id == verdict.left_id) for verdict in stayed]
    document = report("battles", "--condition", "B/M", "--least-topics", "1", "--least-battles", "1")
    assert document["stayed"]["value"] == pytest.approx(fmean(points))
    assert 0 < fmean(points) < 1


def test_a_second_opinion_has_the_other_answer_on_the_left(world: JudgingWorld) -> None:
    window(world, "ann")
    ben = window(world, "ben", again=True)
    judge(ben, "bad")
    submit(ben)
    for verdict in Verdict.objects.current().select_related("battle"):
        assert verdict.second_opinion
        assert verdict.left_id == verdict.battle.right_id


def test_what_is_no_verdict_or_reason_is_refused(world: JudgingWorld) -> None:
    desk = window(world, "ann")
    [key, *_] = keys(desk)
    assert desk.do("label", key=key, label="support")["code"] == "no_such_label"
    assert desk.do("label", key="nothing/battle", label="left")["code"] == "no_such_pair"
    assert desk.do("label", key=key, label="left", extras={"reasons": ["taste"]})["status"] == "refused"
    assert desk.do("label", key=key, label="left", extras={"run": "run-1"})["status"] == "refused"
    assert desk.do("label", key=key, label="left")["rows"][key]["label"] == "left"
    assert desk.undo()["rows"][key]["label"] is None


def test_a_later_submission_takes_the_place_of_the_first(world: JudgingWorld) -> None:
    desk = window(world, "ann")
    judge(desk)
    submit(desk)
    world.reopen(desk.task)
    desk.do("label", key=keys(desk)[0], label="tie")
    submit(desk)
    assert Verdict.objects.count() == 20
    assert sorted(Verdict.objects.current().values_list("label", flat=True)) == [1] + [2] * 9


def test_verdicts_of_one_task_leave_those_of_another_alone(world: JudgingWorld) -> None:
    draw(world, name="grown", runs=tuple(RUNS), topics=("t1",), rounds=1)
    first = open_window(world, world.hand(BATTLE, "ann", battles="grown"))
    draw_battles(campaign=world.campaign, order=BattleOrder("grown", rounds=2))
    second = open_window(world, world.hand(BATTLE, "ann", battles="grown"))
    for desk in (first, second):
        judge(desk)
        submit(desk)
    assert Verdict.objects.current().count() == 4


def test_battles_of_a_withdrawn_task_can_be_handed_out_again(world: JudgingWorld) -> None:
    desk = window(world, "ann")
    judge(desk)
    submit(desk)
    world.withdraw(desk.task)
    assert not Verdict.objects.current().exists()
    assert len(battles_of(window(world, "ben"))) == 10


def test_a_task_is_handed_on_with_its_own_battles(world: JudgingWorld) -> None:
    task = world.hand(BATTLE, "ann")
    before = [*TaskAnswer.objects.filter(task=task).order_by("position").values_list("battle", flat=True)]
    new = reassign(
        campaign=world.campaign,
        task=task.public_id,
        assessor="ben",
        reason="Ann is away.",
        actor=world.people["olga"],
    )
    after = TaskAnswer.objects.filter(task__public_id=new).order_by("position").values_list("battle", flat=True)
    assert [*after] == before
    assert not current_task(new).second_opinion


def test_a_campaign_without_battles_says_so(world: JudgingWorld) -> None:
    Battle.objects.all().delete()
    BattleSet.objects.all().delete()
    with pytest.raises(Refused, match="has no battles yet"):
        plan_hand_out(world.campaign, Order(BATTLE, (world.topic().public_id,)))


def test_comparing_is_a_step_of_today_from_its_first_task_on(world: JudgingWorld) -> None:
    olga = world.people["olga"]

    def states() -> list[str]:
        of_stage = pipeline_for(olga, world.campaign).states[BATTLE]
        return [of_stage[topic.pk] for topic in world.campaign.topics.order_by("topic_id")]

    assert BATTLE not in pipeline_for(olga, world.campaign).states
    desk = window(world, "ann")
    assert states() == ["in progress", "waiting"]
    judge(desk)
    submit(desk)
    assert states() == ["done", "waiting"]


def verdict_rows(judge: str, label: str, *, second: bool = False) -> list[dict[str, Any]]:
    runs = dict(AnswerProvenance.objects.values_list("answer", "run__run_id"))
    sides = ((runs[battle.left_id], runs[battle.right_id]) for battle in Battle.objects.all())
    pairs = [pair[::-1] if second else pair for pair in sides]
    head = {"topic_id": "t1", "verdict": label, "judge": judge, "second": second}
    return [head | {"left": left, "right": right} for left, right in pairs]


def load_verdicts(
    world: JudgingWorld, *rows: dict[str, Any], by: JudgeKind = JudgeKind.HUMAN, battle_set: str = "battles"
) -> Event:
    load("import_battles", "--by", by, "--set", battle_set, write(world.folder, "verdicts.jsonl", [*rows]))
    return Event.objects.filter(kind="import.battles").latest("pk")


def test_battles_that_a_file_decided_are_not_handed_out_but_for_a_second_opinion(world: JudgingWorld) -> None:
    rows = verdict_rows(judge_of(world.people["ann"]).name, "left")
    some = load_verdicts(world, *rows[:4])
    rest = window(world, "ben")
    assert len(battles_of(rest)) == 6
    world.withdraw(rest.task)
    load("undo_import", f"e{some.pk}")
    event = load_verdicts(world, *rows)
    with pytest.raises(Refused, match="no battle of it is left to hand out"):
        world.hand(BATTLE, "ben")
    with pytest.raises(Refused, match="ann judged some of it in a file"):
        world.hand(BATTLE, "ann", again=True)
    ben = window(world, "ben", again=True)
    assert (ben.task.second_opinion, len(battles_of(ben))) == (True, 2)
    assert "this rests on it: 1 task handed out" in refuse("undo_import", f"e{event.pk}")
    world.withdraw(ben.task)
    load("undo_import", f"e{event.pk}")
    assert len(battles_of(window(world, "ben"))) == 10


@pytest.mark.parametrize(
    ("judge_name", "by", "second"),
    [("robot", JudgeKind.LLM, False), ("Guest", JudgeKind.HUMAN, True), ("Guest", JudgeKind.HUMAN, False)],
    ids=["an LLM's", "a second opinion", "a first verdict beside that of a desk"],
)
def test_verdicts_are_taken_back_from_beside_two_desks(
    world: JudgingWorld, judge_name: str, by: JudgeKind, second: bool
) -> None:
    window(world, "ann")
    window(world, "ben", again=True)
    event = load_verdicts(world, *verdict_rows(judge_name, "left", second=second), by=by)
    load("undo_import", f"e{event.pk}")
    assert not Verdict.objects.current().exists()


def test_verdicts_are_taken_back_from_beside_those_of_another_file(world: JudgingWorld) -> None:
    event = load_verdicts(world, *verdict_rows("Guest", "left"))
    window(world, "ben", again=True)
    load_verdicts(world, *verdict_rows("Visitor", "left"))
    load("undo_import", f"e{event.pk}")
    assert {verdict.judge.name for verdict in Verdict.objects.current()} == {"Visitor"}


def test_every_task_that_rests_on_verdicts_is_counted(world: JudgingWorld) -> None:
    rows = verdict_rows("robot", "left")
    event = load_verdicts(world, *rows, by=JudgeKind.LLM, battle_set="imported")
    world.hand(BATTLE, "ann", battles="imported")
    load_machine(world, ("alpha", 0, "d1", "full_support"), name="robot")
    world.hand(SUPPORT_POST_EDIT, "ben")
    assert "this rests on it: 2 tasks handed out" in refuse("undo_import", f"e{event.pk}")


def test_opposite_winners_of_files_go_to_a_third_person(world: JudgingWorld) -> None:
    load_verdicts(world, *verdict_rows("ann", "left"), *verdict_rows("Guest", "left", second=True)[:3])
    assert len(battles_of(window(world, "ben", again=True))) == 3


def test_battles_judged_elsewhere_are_done_on_today(world: JudgingWorld) -> None:
    Battle.objects.all().delete()
    BattleSet.objects.all().delete()
    judge_battles(world.campaign, "ann", "ben", "canary-llm")
    pipeline = pipeline_for(world.people["olga"], world.campaign)
    assert [topic.topic_id for topic in pipeline.topics_at(BATTLE, StepState.DONE)] == ["t1"]


def test_pages_of_organizers_know_the_stage(world: JudgingWorld) -> None:
    desk = window(world, "ann")
    judge(desk)
    submit(desk)
    olga = Client()
    olga.force_login(world.people["olga"])
    for name in ("work", "people", "today", "quality"):
        assert olga.get(reverse(f"organizer:{name}", args=["river"])).status_code == 200
    page = olga.get(reverse("organizer:work", args=["river"])).content.decode()
    assert "Compare answers" in page
    for name in ("", "review/", "history/", "guidelines/"):
        assert desk.client.get(desk.url(name)).status_code == 200
