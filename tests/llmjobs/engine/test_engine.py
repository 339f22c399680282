"""A job from its first item to its last label, over real HTTP: one outcome an item, one event a call, nothing twice."""

import pytest
from django.db import transaction
from pytest_django.fixtures import Settings

from evaluation.judges import add_judge
from evaluation.labelling import give_assignments
from evaluation.labels import AssignmentLabel
from evaluation.models import AnswerProvenance, Assignment, Event, Sentence, Topic
from evaluation.terms import Condition, JudgeKind
from jobs import queue
from jobs.models import Job, WorkItem
from llmjobs import kinds as llmjobs_kinds
from llmjobs.client import Completion
from llmjobs.engine import calls as engine_calls
from llmjobs.job_service import JobRequest, plan_evaluation, start
from llmjobs.models import Attempt, Call, CallUse, Text
from llmjobs.simulator.answering import MODEL
from loadtest.servers.simulator import LoggedSimulator
from tests.llmjobs.conftest import PointAt
from tests.worlds.llm import (
    assert_calls_are_sound,
    make_world,
    scripted_endpoint,
    start_assigning,
    states_of,
    work_on,
)

pytestmark = [pytest.mark.postgresql, pytest.mark.usefixtures("transactional_db")]


def test_every_nugget_gets_one_label_and_every_call_one_event(simulator: LoggedSimulator) -> None:
    world = make_world(topics=2, runs=3, nuggets=12)
    job = start_assigning(world)
    work_on()
    job.refresh_from_db()
    assert (job.state, job.waiting_for) == (Job.State.DONE, "")
    assert states_of(job) == {"done": 12}
    assert Assignment.objects.count() == 2 * 3 * 12
    assert Call.objects.count() == len(simulator.log.served()) == 12
    assert_calls_are_sound()


def test_a_label_leads_to_all_that_it_rests_on(simulator: LoggedSimulator) -> None:
    start_assigning(make_world(runs=1))
    simulator.chooser.switch({"next": ["wrapped"]})
    work_on()
    label = Assignment.objects.first()
    assert label
    assert label.event
    call = Call.objects.get(event=label.event)
    texts = [Text.objects.get(sha256=message["sha256"]).content for message in call.messages]
    assert (call.template, call.template_version, len(call.template_sha256)) == ("assign", 1, 64)
    assert "says word" in texts[1]
    assert (call.model, call.model_answered, call.parameters) == (MODEL, MODEL, {"temperature": 0.0})
    assert call.reply.startswith("Sure!")
    assert call.prompt_tokens
    assert call.completion_tokens
    assert call.latency_ms is not None
    use = CallUse.objects.get(call=call)
    assert (use.part, use.number) == ("batch 1 of 1", 0)
    assert "tolerated: code fence" in use.notes
    assert label.event.payload["call"] == call.sha256


def test_what_was_answered_is_not_asked_again(simulator: LoggedSimulator) -> None:
    world = make_world(runs=3)
    start_assigning(world)
    work_on()
    Assignment.objects.all().delete()
    repeated = start_assigning(world)
    work_on()
    assert states_of(repeated) == {"done": 3}
    assert Assignment.objects.count() == 9
    assert len(simulator.log.served()) == 3


def test_what_two_items_ask_alike_is_asked_once(simulator: LoggedSimulator) -> None:
    world = make_world(runs=5)
    Sentence.objects.update(text="All say the same.")
    start_assigning(world)
    work_on()
    assert Assignment.objects.count() == 15
    assert Call.objects.count() == len(simulator.log.served()) == 1
    assert CallUse.objects.count() == 5


def test_a_judge_with_an_address_of_its_own_is_called_there(
    simulator: LoggedSimulator, point_at: PointAt, settings: Settings
) -> None:
    settings.LLM_ALLOWED_HOSTS = [simulator.base_url.removeprefix("http://").removesuffix("/v1")]
    point_at("http://127.0.0.1:9/v1")
    world = make_world(runs=1)
    start_assigning(world)
    world.judge.base_url = simulator.base_url
    world.judge.save()
    work_on()
    assert Call.objects.get().base_url == simulator.base_url


def test_an_address_that_is_none_fails_its_items_with_the_reason() -> None:
    world = make_world(runs=1)
    world.judge.base_url = "http://"
    world.judge.save()
    job = start_assigning(world)
    work_on()
    assert states_of(job) == {"failed": 1}
    assert "not an http" in job.items.get().reason


def test_an_item_that_cannot_begin_is_set_aside_alone(simulator: LoggedSimulator) -> None:
    job = start_assigning(make_world(runs=3))
    poison = job.items.earliest("pk")
    poison.payload = {"answer": 99_999, "nuggets": [1]}
    poison.save()
    work_on()
    poison.refresh_from_db()
    job.refresh_from_db()
    assert (poison.state, job.state) == ("failed", "done")
    assert "KeyError" in poison.reason
    assert Assignment.objects.count() == 6


def test_an_item_of_an_unknown_kind_is_set_aside_alone(simulator: LoggedSimulator) -> None:
    job = start_assigning(make_world(runs=2))
    WorkItem.objects.filter(pk=job.items.earliest("pk").pk).update(kind="guess")
    work_on()
    assert states_of(job) == {"failed": 1, "done": 1}


def test_an_outcome_that_cannot_be_written_is_set_aside_alone(
    simulator: LoggedSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(runs=3)
    job = start_assigning(world)
    poison = job.items.earliest("pk").payload["answer"]

    def give_unless_poisoned(judge: object, given: list[object]) -> None:
        give_assignments(judge, given)  # type: ignore[arg-type]
        if any(assignment.answer_id == poison for assignment in given):  # type: ignore[attr-defined]
            raise ValueError("this one\0")

    monkeypatch.setattr(llmjobs_kinds, "give_assignments", give_unless_poisoned)
    work_on()
    failed = job.items.get(state="failed")
    assert failed.payload["answer"] == poison
    assert failed.reason == "Assay could not work on it: ValueError: this one"
    assert failed.call_uses.count() == 1
    assert Assignment.objects.exclude(answer=poison).count() == Assignment.objects.count() == 6


def test_a_step_that_breaks_is_set_aside_alone(
    simulator: LoggedSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = start_assigning(make_world(runs=2))
    monkeypatch.setattr(
        "llmjobs.steps.assign.parse_labels", lambda *_, **__: (_ for _ in ()).throw(ZeroDivisionError("so it is"))
    )
    work_on()
    assert states_of(job) == {"failed": 2}
    assert "ZeroDivisionError: so it is" in job.items.earliest("pk").reason
    assert Assignment.objects.count() == 0


def test_a_request_that_breaks_is_a_refusal_and_no_hang(
    simulator: LoggedSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = start_assigning(make_world(runs=1))
    monkeypatch.setattr("llmjobs.engine.send.send", lambda *_: (_ for _ in ()).throw(RuntimeError("boom")))
    work_on()
    assert "RuntimeError" in job.items.get(state="failed").reason
    assert_calls_are_sound()


def test_a_failed_item_is_asked_anew_when_it_is_retried(simulator: LoggedSimulator) -> None:
    world = make_world(runs=1)
    simulator.chooser.switch({"rates": {"bad_request": 1.0}})
    job = start_assigning(world)
    work_on()
    assert states_of(job) == {"failed": 1}
    assert set(Assignment.objects.values_list("label", flat=True)) == {AssignmentLabel.FAILED}
    simulator.chooser.switch({"rates": {}})
    assert queue.retry_failed(job) == 1
    work_on()
    job.refresh_from_db()
    assert (job.state, states_of(job)) == ("done", {"done": 1})
    assert AssignmentLabel.FAILED not in set(Assignment.objects.values_list("label", flat=True))
    assert Assignment.objects.count() == 3
    use = CallUse.objects.get(item=job.items.get())
    assert (use.call.replicate, use.call.state) == (1, "answered")
    assert_calls_are_sound()


def test_a_completion_with_odd_figures_is_kept_as_far_as_it_fits(point_at: PointAt) -> None:
    job = start_assigning(make_world(runs=1))
    odd = {"model": "m\0" + "x" * 500, "usage": {"prompt_tokens": -1, "completion_tokens": 2**40}}
    with scripted_endpoint(lambda _: '["support", "support", "support"]', **odd) as endpoint:
        point_at(endpoint.base_url)
        work_on()
    call = Call.objects.get()
    assert states_of(job) == {"done": 1}
    assert (len(call.model_answered), call.prompt_tokens, call.completion_tokens) == (200, None, None)


def test_an_item_begun_again_by_the_same_worker_has_one_outcome(
    simulator: LoggedSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that was suspended finds its own leases run out."""
    simulator.chooser.switch({"latency_ms": 300})
    job = start_assigning(make_world(runs=3))
    monkeypatch.setattr(queue, "LEASE", queue.LEASE * 0)
    work_on(seconds=15)
    assert states_of(job) == {"done": 3}
    assert len(simulator.log.served()) == Attempt.objects.count() == 3


def test_a_reply_that_a_twin_recorded_first_stays(simulator: LoggedSimulator) -> None:
    world = make_world(runs=1)
    start_assigning(world)
    work_on()
    call = Call.objects.get()
    reply, event = call.reply, call.event
    call.state, call.event = Call.State.SENT, None
    attempt = Attempt.objects.create(call=call, number=9, sent_at=call.made_at)
    calls_campaigns = {call.pk: world.campaign.pk}
    with transaction.atomic():
        engine_calls.note_answers([(call, attempt, Completion("late", MODEL, 1, 1, 1, "stop"))], calls_campaigns)
    assert (call.state, call.reply, call.event) == (Call.State.ANSWERED, reply, event)
    call.refresh_from_db()
    assert (call.reply, call.event) == (reply, event)
    assert Event.objects.filter(kind="llm.call").count() == 1


def test_two_judges_ask_each_for_itself(simulator: LoggedSimulator) -> None:
    world = make_world(runs=1)
    other = add_judge(name="other", kind=JudgeKind.LLM, model="other")[0]

    request = JobRequest(world.campaign, other)
    start_assigning(world)
    start(request, "again", plan_evaluation(request, Condition.AA, nuggets=f"auto-{MODEL}"))
    work_on()
    assert Call.objects.count() == 2
    assert Assignment.objects.filter(judge=other).count() == 3


def test_a_job_asks_topic_by_topic_in_the_campaigns_order() -> None:
    world = make_world(topics=3, runs=1)
    for place, topic in enumerate(world.topics):
        Topic.objects.filter(pk=topic.pk).update(position=10 - place)
    plan = plan_evaluation(world.request, Condition.AA, nuggets=f"auto-{MODEL}")
    answers = AnswerProvenance.objects.order_by("answer__topic__position").values_list("answer", flat=True)
    assert [item.payload["answer"] for item in plan.items] == list(answers)
