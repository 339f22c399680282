"""Jobs and calls for the small world, written as the engine writes them."""

from typing import Any

from django.utils import timezone

from evaluation.battles import BattleOrder, draw_battles
from evaluation.labelling import give_verdicts
from evaluation.labels import AssignmentLabel, BattleLabel, SupportLabel
from evaluation.models import Assignment, Event, Judge, SupportJudgment, Verdict
from evaluation.terms import JudgeKind, SupportCondition
from jobs.models import Job, WorkItem
from llmjobs.models import Attempt, Call, CallUse, LlmJob, Text
from tests.worlds.campaign import World

MODEL = "word-overlap-simulator"


def make_judge(name: str = "machine", model: str = "some-model") -> Judge:
    return Judge.objects.get_or_create(name=name, defaults={"kind": JudgeKind.LLM, "model": model})[0]


def make_job(world: World, judge: Judge | None = None, **fields: Any) -> LlmJob:
    job = Job.objects.create(kind="llm", title="AutoAssign A/A", made_by=world.people["olga"], **fields)
    return LlmJob.objects.create(job=job, campaign=world.campaign, judge=judge or make_judge())


def make_item(llm: LlmJob, key: str, state: str = WorkItem.State.QUEUED, **fields: Any) -> WorkItem:
    return WorkItem.objects.create(job=llm.job, key=key, kind="assign", state=state, **fields)


def make_call(item: WorkItem, name: str = "a" * 64, reply: str = '["partial_support"]', number: int = 0) -> Call:
    """Make an answered call that an item used: refused once, then answered."""
    text, _ = Text.objects.get_or_create(sha256="t" * 64, defaults={"content": "Label <b>each</b> nugget. שלום"})
    event = Event.objects.create(campaign=item.job.llm.campaign, kind="llm.call", payload={"call": name})
    call = Call.objects.create(
        sha256=name,
        base_url="http://llm.example/v1",
        model="some-model",
        parameters={"temperature": 0.0},
        messages=[{"role": "user", "sha256": text.sha256}],
        template="assign",
        template_version=7,
        template_sha256="f" * 64,
        state=Call.State.ANSWERED,
        reply=reply,
        model_answered=MODEL,
        finish_reason="stop",
        prompt_tokens=1234,
        completion_tokens=5,
        latency_ms=200,
        event=event,
    )
    now = timezone.now()
    Attempt.objects.create(
        call=call, number=1, sent_at=now, ended_at=now, error="rate_limited", status=429, message="Slow down."
    )
    Attempt.objects.create(call=call, number=2, sent_at=now, ended_at=now, status=200, latency_ms=200)
    CallUse.objects.create(
        item=item, call=call, number=number, part="batch 1 of 1", notes=["tolerated: a code fence"]
    )
    return call


def label_by(call: Call, judge: Judge) -> Assignment:
    """Give a label that rests on a call: where the imported robot said something, this judge says partial."""
    robot = Assignment.objects.filter(judge__name="robot").order_by("pk")[0]
    return Assignment.objects.create(
        judge=judge,
        answer=robot.answer,
        nugget_version=robot.nugget_version,
        label=AssignmentLabel.PARTIAL_SUPPORT,
        given_at=timezone.now(),
        event=call.event,
    )


def support_by(call: Call, judge: Judge) -> SupportJudgment:
    person = SupportJudgment.objects.get()
    return SupportJudgment.objects.create(
        judge=judge,
        condition=SupportCondition.LLM,
        sentence=person.sentence,
        segment=person.segment,
        label=SupportLabel.NO_SUPPORT,
        given_at=timezone.now(),
        event=call.event,
    )


def verdict_by(call: Call, judge: Judge) -> Verdict:
    """Give a verdict that rests on a call, on a battle that is drawn for it."""
    assert call.event
    assert call.event.campaign
    battle = draw_battles(campaign=call.event.campaign, order=BattleOrder(rounds=1)).battle_set.battles.all()[0]
    give_verdicts(
        judge, [Verdict(battle=battle, left_id=battle.right_id, label=BattleLabel.LEFT, event=call.event)]
    )
    return Verdict.objects.get()
