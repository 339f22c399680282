"""`evaluate` and its sisters: what they do, refuse and foretell, and how they exit."""

import time

import pytest
from django.core.management import call_command

from evaluation.models import Assignment, Event, Judge, Segment, Topic
from evaluation.terms import Origin
from jobs.models import Job
from llmjobs.models import Call
from loadtest.servers.simulator import LoggedSimulator
from tests.worlds.imported import Outcome, run
from tests.worlds.llm import grade_segments, in_thread, list_nuggets, make_world

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("transactional_db", "_quick_retries"),
]


def evaluate(*options: str) -> Outcome:
    return run("evaluate", "--campaign", "river", *options)


def rows() -> tuple[int, ...]:
    return tuple(model._default_manager.count() for model in (Job, Call, Judge, Event, Assignment))


def test_evaluate_waits_and_shows_the_leaderboard(simulator: LoggedSimulator) -> None:
    make_world(runs=2)
    outcome = evaluate("--condition", "A/A", "--wait")
    assert outcome.code == 0, outcome.err
    assert "r1" in outcome.out
    assert "vital_strict" in outcome.out
    assert Assignment.objects.count() == 6
    repeated = evaluate("--condition", "A/A", "--wait")
    assert (repeated.code, Job.objects.count()) == (0, 1)
    assert "Nothing to do: 2 done already." in repeated.err


def test_an_endpoint_that_comes_back_is_waited_for(simulator: LoggedSimulator) -> None:
    simulator.chooser.switch({"down": "503"})
    make_world(runs=2)

    def come_back() -> None:
        time.sleep(1.5)
        simulator.chooser.switch({"down": ""})

    with in_thread(come_back):
        outcome = evaluate("--condition", "A/A", "--wait")
    assert outcome.code == 0, outcome.err
    assert Assignment.objects.count() == 6


def test_labels_that_failed_are_exit_3_with_the_reasons(simulator: LoggedSimulator) -> None:
    simulator.chooser.switch({"next": ["bad_request"]})
    make_world(runs=2)
    outcome = evaluate("--condition", "A/A", "--wait")
    assert outcome.code == 3
    assert "1 of 2 items failed" in outcome.err
    assert "bad_request" in outcome.err
    assert "vital_strict" in outcome.out


def test_a_dry_run_writes_nothing_and_counts_what_is_reused(simulator: LoggedSimulator) -> None:
    make_world(runs=2)
    Judge.objects.filter(name="word-overlap-simulator").update(name="elsewhere")
    before = rows()
    outcome = evaluate(
        "--condition", "A/A", "--dry-run", "--judge", "elsewhere", "--nuggets", "auto-word-overlap-simulator"
    )
    assert (outcome.code, rows()) == (0, before), outcome.err
    figures = dict(line.rsplit(None, 1) for line in outcome.out.splitlines())
    assert (figures["items"], figures["calls"], figures["reused"]) == ("2", "2", "0")
    assert int(figures["tokens"]) > 100
    fresh = evaluate("--condition", "A/A", "--dry-run", "--nuggets", "auto-word-overlap-simulator")
    assert (fresh.code, rows()) == (0, before), fresh.err


def test_a_dry_run_counts_answers_that_are_there(simulator: LoggedSimulator) -> None:
    make_world(runs=3)
    assert evaluate("--condition", "A/A", "--wait").code == 0
    Assignment.objects.all().delete()
    outcome = evaluate("--condition", "A/A", "--dry-run")
    assert "reused          3" in outcome.out
    assert "items           3" in outcome.out


@pytest.mark.parametrize("condition", ["E/M", "M/M", "A/M"])
def test_what_people_do_is_wrong_usage(simulator: LoggedSimulator, condition: str) -> None:
    make_world()
    before = rows()
    outcome = evaluate("--condition", condition)
    assert (outcome.code, rows()) == (2, before)
    assert "people assign" in outcome.err


def test_autonuggets_without_qrels_are_refused(simulator: LoggedSimulator) -> None:
    make_world(nuggets=0)
    Judge.objects.all().delete()
    before = rows()
    outcome = evaluate("--condition", "A/A")
    assert (outcome.code, rows()) == (1, before)
    assert "No passage is graded yet: load graded passages, or have an LLM grade them." in outcome.err


def test_which_qrels_must_be_said_where_several_fit(simulator: LoggedSimulator) -> None:
    world = make_world(nuggets=0)
    grade_segments(world, 1, "NIST")
    world.campaign.qrel_sources.create(name="OTHER")
    outcome = evaluate("--condition", "A/A")
    assert outcome.code == 2
    assert "NIST, OTHER" in outcome.err
    assert evaluate("--condition", "A/A", "--qrels", "NIST", "--dry-run").code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [(("--judge", "nobody"), "no judge nobody"), (("--judge", "Ann"), "no LLM")],
    ids=["unknown", "a person"],
)
def test_a_judge_that_cannot_be_called_is_refused(
    simulator: LoggedSimulator, options: tuple[str, ...], message: str
) -> None:
    make_world()
    Judge.objects.create(name="Ann", kind="human")
    outcome = evaluate("--condition", "A/A", *options)
    assert outcome.code == 1
    assert message in outcome.err


def test_topics_without_a_segment_with_text_are_blocked_and_named(simulator: LoggedSimulator) -> None:
    world = make_world(topics=2, nuggets=0)
    grade_segments(world, 3)
    Segment.objects.filter(docid="d01").update(has_text=False, text="")
    outcome = evaluate("--condition", "A/A", "--dry-run")
    assert "blocked         t2: no passage with text that UMBRELA grades 1 or more" in outcome.out
    assert "without text    1" in outcome.out
    started = evaluate("--condition", "A/A")
    assert "Blocked: t2:" in started.err
    assert "Skipped: 1 segments" in started.err
    assert Job.objects.get().items.get().payload["topic"] == Topic.objects.get(topic_id="t1").pk


def test_edited_lists_that_are_missing_block_their_topics(simulator: LoggedSimulator) -> None:
    world = make_world(topics=2, nuggets=0)
    event = Event.objects.create(campaign=world.campaign, kind="made")
    list_nuggets(world.campaign, world.judge, world.topics[0], 2, event, Origin.EDITED)
    outcome = evaluate("--condition", "E/A", "--wait")
    assert outcome.code == 0, outcome.err
    assert "Blocked: t2: no edited nugget list." in outcome.err
    assert Assignment.objects.count() == 4


def test_drafts_are_made_once(simulator: LoggedSimulator) -> None:
    world = make_world(nuggets=0)
    grade_segments(world, 3, "NIST")
    Segment.objects.update(text="A topic1 is a river. Rivers carry topic1 sand to the sea.")
    outcome = run("draft_nuggets", "--campaign", "river", "--qrels", "NIST", "--wait")
    assert outcome.code == 0, outcome.err
    assert world.campaign.nugget_sets.get().origin == Origin.DRAFT
    repeated = run("draft_nuggets", "--campaign", "river", "--qrels", "NIST", "--wait")
    assert "Nothing to do: 1 done already." in repeated.err


def test_segments_are_graded_under_the_name_that_was_said(simulator: LoggedSimulator) -> None:
    world = make_world(nuggets=0)
    grade_segments(world, 3, "NIST")
    outcome = run("judge_relevance", "--campaign", "river", "--source", "UMBRELA", "--wait")
    assert outcome.code == 0, outcome.err
    assert world.campaign.qrel_sources.get(name="UMBRELA").qrels.count() == 3


def test_each_command_shows_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("evaluate", "draft_nuggets", "judge_support", "judge_relevance", "fetch_segments"):
        with pytest.raises(SystemExit) as ended:
            call_command(name, "--help")
        assert ended.value.code == 0
        words = " ".join(capsys.readouterr().out.split())
        assert f"manage.py {name} --campaign" in words
        assert "failed, 4 if paused or cancelled" in words


def test_a_budget_pauses_the_job_and_says_so(simulator: LoggedSimulator) -> None:
    make_world(runs=4)
    outcome = evaluate("--condition", "A/A", "--max-calls", "2", "--wait")
    assert outcome.code == 4, outcome.err
    assert "is paused: The budget of 2 requests is used up. 2 items are left." in outcome.err
    assert len(simulator.log.served()) == 2


@pytest.mark.parametrize(
    "wrong", [("--max-calls", "0"), ("--max-cost", "much"), ("--max-tokens", "-5"), ("--priority", "1000")]
)
def test_a_budget_that_makes_no_sense_starts_nothing(simulator: LoggedSimulator, wrong: tuple[str, str]) -> None:
    make_world()
    before = rows()
    assert evaluate("--condition", "A/A", *wrong).code in (1, 2)
    assert rows() == before


def test_jobs_are_listed_and_changed_at_the_terminal(simulator: LoggedSimulator) -> None:
    make_world(runs=3)
    evaluate("--condition", "A/A")
    job = Job.objects.get()

    def act(*arguments: str) -> str:
        done = run("job", "--campaign", "river", *arguments)
        assert done.code == 0, done.err
        return done.out

    assert "running" in act()
    assert "paused" in act("pause", str(job.pk))
    assert run("job", "--campaign", "river", "pause", str(job.pk)).code == 1
    assert "running" in act("resume", str(job.pk))
    act("prefer", str(job.pk), "--priority", "5")
    job.refresh_from_db()
    assert job.priority == 5
    assert "cancelled" in act("cancel", str(job.pk))
    assert run("job", "--campaign", "river", "pause").code == 2
    assert run("job", "--campaign", "river", "cancel", "999").code == 1
    kinds = ["job.started", "job.paused", "job.resumed", "job.priority", "job.cancelled"]
    assert (
        list(Event.objects.filter(kind__startswith="job.").order_by("pk").values_list("kind", flat=True)) == kinds
    )
