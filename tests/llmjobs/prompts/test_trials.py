"""Prompts on trial: the same pairs for each, through the queue, and nothing of it in any table of labels."""

from dataclasses import replace
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from evaluation.battles import BattleOrder, draw_battles
from evaluation.errors import Refused
from evaluation.imports.assignments import answer_texts
from evaluation.imports.nuggets import import_nuggets
from evaluation.judges import JSON_SCHEMA, REPLY_FORM
from evaluation.labels import BattleLabel
from evaluation.models import (
    Assignment,
    Battle,
    Event,
    Judge,
    ListedNugget,
    Qrel,
    QrelSource,
    Segment,
    SupportJudgment,
    Topic,
    Verdict,
)
from evaluation.terms import JudgeKind, Origin
from jobs.models import Job
from llmjobs.budget import Budget
from llmjobs.job_status import callable_judges_for
from llmjobs.kinds import WINNERS
from llmjobs.models import Call, Text, Trial, TriedLabels
from llmjobs.prompt_store import new_wording, save_prompt
from llmjobs.prompts.template import PromptTask
from llmjobs.prompts.texts import ASSIGN
from llmjobs.simulator.answering import MODEL
from llmjobs.trials import TrialOrder, draw, labelled_by_people, outcome_of, start_trial
from loadtest.servers.simulator import LoggedSimulator
from organizer.prompts.trial_report import trial_report
from tests.llmjobs.conftest import PointAt
from tests.worlds.campaign import World, make_world
from tests.worlds.cast import write_source
from tests.worlds.llm import scripted_endpoint, work_on, work_until_it_rests

pytestmark = pytest.mark.usefixtures("transactional_db")

LIKE = Judge(name=MODEL, kind="llm", model=MODEL)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """People have labelled three nuggets of two answers, and a citation."""
    return make_world(tmp_path)


def order(task: PromptTask = "assign", *refs: str, of: str = "auto-robot", **more: object) -> TrialOrder:
    return TrialOrder(task, refs or ("assign@1",), LIKE, of, **more)  # type: ignore[arg-type]


def test_prompts_are_compared_on_the_same_pairs_and_nothing_counts(
    world: World, simulator: LoggedSimulator
) -> None:
    save_prompt(new_wording("assign", "loose", ASSIGN.system, f"Be kind.\n{ASSIGN.user}"))
    labels = Assignment.objects.count()
    trial = start_trial(world.campaign, order("assign", "assign@1", "loose@1"), world.people["olga"])
    work_on()
    built_in, loose = outcome_of(trial)
    assert (built_in.prompt, loose.prompt, trial.pairs) == ("assign@1", "loose@1", 3)
    assert built_in.people == loose.people
    assert sorted(built_in.people) == [0, 0, 2]
    # "Sand moves" is said in so many words by one answer, and not by the other.
    assert built_in.labels == built_in.people
    assert (built_in.calls, built_in.tokens > 0, str(built_in.cost)) == (2, True, "0.000000")
    assert (Assignment.objects.count(), TriedLabels.objects.count()) == (labels, 4)
    assert callable_judges_for(world.people["olga"], world.campaign) == []
    assert set(Judge.objects.filter(model=MODEL).values_list("aside", flat=True)) == {True}


def test_a_trial_again_costs_nothing_and_makes_no_other_judge(world: World, simulator: LoggedSimulator) -> None:
    for _ in range(2):
        trial = start_trial(world.campaign, order(), None)
        work_on()
    assert len(simulator.log.served()) == Call.objects.count() == 2
    assert Judge.objects.filter(aside=True).count() == 1
    assert outcome_of(trial)[0].labels == outcome_of(trial)[0].people


def test_the_prompt_that_the_judge_uses_is_tried_beside_it(world: World, simulator: LoggedSimulator) -> None:
    for name in ("loose", "strict"):
        save_prompt(new_wording("assign", name, ASSIGN.system, f"Be {name}.\n{ASSIGN.user}"))
    like = Judge(name="own", kind="llm", model=MODEL, prompt_versions={"assign": "strict@1"})
    trial = start_trial(world.campaign, replace(order("assign", "loose@1"), like=like), None)
    work_on()
    tried = outcome_of(trial)
    assert [each.prompt for each in tried] == ["strict@1", "loose@1"]
    assert {each.people for each in tried} == {tried[0].people}
    assert set(Call.objects.values_list("template", flat=True)) == {"strict", "loose"}


def test_support_is_tried_with_json_where_the_judge_asks_for_it(world: World, simulator: LoggedSimulator) -> None:
    supported = SupportJudgment.objects.count()
    like = Judge(name="in JSON", kind="llm", model=MODEL, prompt_versions={REPLY_FORM: JSON_SCHEMA})
    trial = start_trial(world.campaign, replace(order("support", "support@1", of="scratch"), like=like), None)
    work_on()
    [tried] = outcome_of(trial)
    assert (tried.people, tried.labels) == ((2,), (2,))
    assert Call.objects.get().reply == '{"label": "full_support"}'
    assert SupportJudgment.objects.count() == supported


def test_drawing_reads_the_protocol_once_however_many_answers(world: World) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert len(draw(world.campaign, "assign", "auto-robot", 3, 1)) == 2
    assert sum('FROM "evaluation_protocol"' in query["sql"] for query in queries) == 1


def weighed(world: World, folder: Path) -> None:
    """A person's list for the first topic: two nuggets weighed, one not."""
    nuggets = [("sand moves", "vital"), ("banks erode", "okay"), ("water", "unsure")]
    rows = ", ".join(f'{{"text": "{text}", "importance": "{importance}"}}' for text, importance in nuggets)
    line = f'{{"query": "why rivers bend", "qid": "t1", "nuggets": [{rows}]}}\n'
    import_nuggets(
        campaign=world.campaign,
        source=write_source(folder, "by-hand.jsonl", line),
        origin=Origin.MANUAL,
        judge="ann",
        kind=JudgeKind.HUMAN,
    )


def test_importance_is_compared_with_what_people_found_vital(
    world: World, simulator: LoggedSimulator, tmp_path: Path
) -> None:
    weighed(world, tmp_path)
    assert labelled_by_people(world.campaign, "importance") == ["manual-ann"]
    lists = ListedNugget.objects.count()
    trial = start_trial(world.campaign, order("importance", "importance@1", of="manual-ann"), None)
    work_on()
    [tried] = outcome_of(trial)
    assert (trial.pairs, tried.people) == (2, (1, 0))
    assert set(tried.labels) <= {0, 1}
    assert Call.objects.get().template == "importance"
    assert ListedNugget.objects.count() == lists


def test_importance_without_a_usable_reply_has_failed(
    world: World, simulator: LoggedSimulator, tmp_path: Path
) -> None:
    weighed(world, tmp_path)
    trial = start_trial(world.campaign, order("importance", "importance@1", of="manual-ann"), None)
    simulator.chooser.switch({"rates": {"bad_request": 1.0}})
    work_on()
    assert outcome_of(trial)[0].labels == (-1, -1)


def test_relevance_is_compared_with_grades_that_no_call_gave(world: World, simulator: LoggedSimulator) -> None:
    source = QrelSource.objects.create(campaign=world.campaign, name="BY-LLM")
    event = Event.objects.create(campaign=world.campaign, kind="llm.call")
    topic, segment = Topic.objects.get(topic_id="t1"), Segment.objects.get(docid="d1")
    Qrel.objects.create(source=source, topic=topic, segment=segment, grade=1, event=event)
    assert labelled_by_people(world.campaign, "relevance") == ["NIST"]
    grades = Qrel.objects.count()
    trial = start_trial(world.campaign, order("relevance", "relevance@1", of="NIST"), None)
    work_on()
    [tried] = outcome_of(trial)
    # d1 has a text and is graded 3 for one topic and 1 for the other; d2 has none.
    assert (trial.pairs, sorted(tried.people), tried.top) == (2, [1, 3], 3)
    assert all(code in range(4) for code in tried.labels)
    assert Qrel.objects.count() == grades


def test_a_label_that_failed_is_said_so_and_one_that_is_pending_too(
    world: World, simulator: LoggedSimulator
) -> None:
    trial = start_trial(world.campaign, order(), None)
    assert outcome_of(trial)[0].labels == (None, None, None)
    simulator.chooser.switch({"rates": {"bad_request": 1.0}})
    work_on()
    assert set(outcome_of(trial)[0].labels) == {9}


def test_a_budget_is_that_of_each_prompt(world: World, simulator: LoggedSimulator) -> None:
    trial = start_trial(world.campaign, order(budget=Budget(calls=1)), None)
    assert work_until_it_rests(trial.jobs.get().llm.job) == Job.State.PAUSED
    assert len(simulator.log.served()) == 1


def test_the_seed_alone_decides_what_is_drawn(world: World) -> None:
    first = [start_trial(world.campaign, order(pairs=1, seed=seed), None) for seed in (0, 0, 1, 2, 3)]
    keys = [trial.jobs.get().llm.job.items.get().key for trial in first]
    assert keys[0] == keys[1]
    assert len(set(keys)) > 1


@pytest.mark.parametrize(
    ("requested", "message"),
    [
        (order(of="nobody's"), "People have labelled nothing of nobody's yet"),
        (order("assign", "lost@1"), "There is no prompt lost@1 for the task assign"),
        (order("assign", "support@1"), "There is no prompt support@1 for the task assign"),
        (order(pairs=0), "Pairs lie between 1 and 200"),
        (order("assign", *(f"p@{n}" for n in range(7))), "Choose from 1 to 6 prompts."),
    ],
)
def test_what_cannot_be_tried_is_refused_and_nothing_written(
    world: World, requested: TrialOrder, message: str
) -> None:
    with pytest.raises(Refused) as refusal:
        start_trial(world.campaign, requested, None)
    assert message in refusal.value.message
    assert not Trial.objects.exists()
    assert not Job.objects.exists()


def test_a_failed_verdict_of_a_trial_is_shown_as_failed(world: World, point_at: PointAt) -> None:
    draw_battles(campaign=world.campaign, order=BattleOrder())
    battle, person = Battle.objects.get(), Judge.objects.create(name="Ann", kind=JudgeKind.HUMAN)
    Verdict.objects.create(
        battle=battle, judge=person, left=battle.left, label=BattleLabel.LEFT, given_at=timezone.now()
    )
    with scripted_endpoint(lambda _: "either") as endpoint:
        point_at(endpoint.base_url)
        trial = start_trial(world.campaign, order("battle", "battle@1", of="battles"), None)
        work_on()
    shown = world.client("olga").get(reverse("organizer:trial", args=["river", trial.pk])).content.decode()
    assert '<b class="is-failed">1</b>' in shown


def test_a_prompt_for_battles_is_tried_on_what_people_said_of_them(
    world: World, simulator: LoggedSimulator
) -> None:
    draw_battles(campaign=world.campaign, order=BattleOrder())
    battle = Battle.objects.get()
    person = Judge.objects.create(name="Ann", kind=JudgeKind.HUMAN)
    verdict = Verdict.objects.create(
        battle=battle, judge=person, left=battle.right, label=BattleLabel.BAD, given_at=timezone.now()
    )
    assert labelled_by_people(world.campaign, "battle") == ["battles"]
    trial = start_trial(world.campaign, order("battle", "battle@1", of="battles"), None)
    work_on()
    [tried] = outcome_of(trial)
    assert (tried.people, tried.calls) == ((int(BattleLabel.TIE),), 1)
    assert Text.objects.filter(content__contains=f"<left>\n{answer_texts([battle.right_id])[battle.right_id]}")
    assert list(Verdict.objects.all()) == [verdict]
    report = trial_report(world.people["olga"], world.campaign, trial)
    assert (report.labels, report.what, report.leaning[0]) == (WINNERS, "battle", "To the left")
    shown = world.client("olga").get(reverse("organizer:trial", args=["river", trial.pk])).content.decode()
    assert "tie or both bad" in shown
    form = world.client("olga").get(
        reverse("organizer:try_prompts", args=["river"]) + "?task=battle&prompts=battle@1"
    )
    assert "battle set battles" in form.content.decode()
    with pytest.raises(Refused, match="battle-nuggets@1 asks for nuggets"):
        start_trial(world.campaign, order("battle", "battle-nuggets@1", of="battles"), None)
