"""The demo's LLM jobs, answered by the simulated LLM at invented prices: one done, one retried, one paused."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.utils import timezone

from accounts.models import User
from evaluation.models import Campaign, Judge, NuggetList
from evaluation.terms import Origin
from jobs import queue
from jobs.models import Job, WorkItem
from jobs.queue import NewItem
from llmjobs.client import CallRefusal, Completion, Endpoint
from llmjobs.engine.calls import NewCall, insert_calls, note_answers, note_given_up, note_refusals, note_sending
from llmjobs.job_plan import assign_items, nugget_items
from llmjobs.job_service import pause, retry
from llmjobs.kinds import ITEM_KINDS
from llmjobs.models import Call, CallUse, LlmJob
from llmjobs.prompt_store import BUILT_IN_PROMPTS
from llmjobs.simulator.server import CompletionRequest, SimulatedCompletion, complete
from llmjobs.steps.asking import Ask, LlmReply

ENDPOINT = Endpoint("https://llm.example/v1")
TIMEOUT = CallRefusal("timeout", None, "No answer within 60 s.", None, 60_000)


@dataclass(frozen=True, slots=True)
class DemoJob:
    """A job about one topic's answers. `done`: items that are done, None for all; `failed`: items that failed at first.

    Prices are per million tokens of prompts and of replies. `nuggets`: the set, where its name is not its origin.
    """

    title: str
    judge: str
    origin: Origin
    topic: str
    days_ago: int
    prices: tuple[str, str]
    latency_ms: int
    makes_lists: bool = False
    done: int | None = None
    failed: int = 0
    nuggets: str = ""


JOBS = (
    DemoJob(
        "Make nuggets and label answers, at an invented price",
        *("word-overlap (scripted)", Origin.AUTO, "river-01", 6, ("0.15", "0.60"), 640),
        makes_lists=True,
    ),
    DemoJob(
        "Labels of edited nuggets, retried after a timeout",
        *("alder-70b (scripted)", Origin.EDITED, "river-02", 3, ("0.80", "0.80"), 2_300),
        failed=2,
    ),
    DemoJob(
        "Labels of edited nuggets, at a slow endpoint",
        *("reed-1b (scripted)", Origin.EDITED, "river-03", 1, ("0.04", "0.04"), 41_000),
        done=4,
    ),
)
HARBOUR_JOB = DemoJob(
    "Labels of the rubric, at an invented price",
    *("alder-70b (scripted)", Origin.MANUAL, "harbour-01", 15, ("0.80", "0.80"), 2_100),
    nuggets="rubric",
)


def load_job(planned: DemoJob, campaign: Campaign, organizer: User) -> None:
    job = Job.objects.create(kind="llm", title=planned.title, made_by=organizer)
    prompt_price, completion_price = map(Decimal, planned.prices)
    llm = LlmJob.objects.create(
        job=job,
        campaign=campaign,
        judge=Judge.objects.get(name=planned.judge),
        price_table="demo",
        currency="USD",
        prompt_price=prompt_price,
        completion_price=completion_price,
    )
    queue.add_items(job, _items(planned, campaign))
    items = list(job.items.order_by("pk")[: planned.done])
    for item in items[: planned.failed]:
        _fail(item, llm)
    for item in items[planned.failed :]:
        _answer(item, llm, planned.latency_ms)
    if planned.failed:
        queue.finish_jobs([job.pk], notify=False)
        retry(llm, organizer)
        for item in job.items.filter(state=WorkItem.State.QUEUED).order_by("pk"):
            _answer(item, llm, planned.latency_ms)
    llm.save()
    queue.finish_jobs([job.pk], notify=False)
    if planned.done:
        pause(llm, organizer)
    began = timezone.now() - timedelta(days=planned.days_ago)
    Job.objects.filter(pk=job.pk).update(made_at=began)
    Job.objects.filter(pk=job.pk, ended_at__isnull=False).update(ended_at=began + timedelta(minutes=4))


def _items(planned: DemoJob, campaign: Campaign) -> list[NewItem]:
    lists = NuggetList.objects.filter(
        nugget_set__campaign=campaign,
        nugget_set__name=planned.nuggets or planned.origin,
        topic__topic_id=planned.topic,
    )
    runs = list(campaign.runs.values_list("pk", flat=True))
    labelled = assign_items(lists, runs, campaign.protocol.batch_size)
    if not planned.makes_lists:
        return labelled
    source = campaign.qrel_sources.get(name="UMBRELA")
    return [*nugget_items(campaign, campaign.topics.all(), source, "nuggets").items, *labelled]


def _answer(item: WorkItem, llm: LlmJob, latency_ms: int) -> None:
    first = item.call_uses.count()
    for number, (ask, completion) in enumerate(_conversation(item), start=first):
        answer = Completion(
            text=completion.text,
            model=llm.judge.model,
            finish_reason=completion.finish_reason,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            latency_ms=latency_ms,
        )
        call = _call(item, ask, llm, number)
        note_answers([(call, note_sending([call])[0], answer)], {call.pk: llm.campaign_id})
        llm.prompt_tokens += completion.prompt_tokens
        llm.completion_tokens += completion.completion_tokens
    _end(item, WorkItem.State.DONE)


def _fail(item: WorkItem, llm: LlmJob) -> None:
    ask, _ = next(_conversation(item))
    call = _call(item, ask, llm, 0, notes=["failed: timeout"])
    note_refusals([(note_sending([call])[0], TIMEOUT)])
    note_given_up([(call, TIMEOUT)], {call.pk: llm.campaign_id})
    _end(item, WorkItem.State.FAILED, f"timeout: {TIMEOUT.message}")


def _conversation(item: WorkItem) -> Iterator[tuple[Ask, SimulatedCompletion]]:
    [step] = ITEM_KINDS[item.kind].begin([item], [BUILT_IN_PROMPTS])
    ask = next(step)
    while True:
        messages = tuple((message.role, message.content) for message in ask.messages)
        completion = complete(CompletionRequest("", messages, None, None), "")
        yield ask, completion
        try:
            ask = step.send(LlmReply(completion.text))
        except StopIteration:
            return


def _call(item: WorkItem, ask: Ask, llm: LlmJob, number: int, notes: list[str] | None = None) -> Call:
    new_call = NewCall(ask, ENDPOINT, llm.judge.model, item.payload.get("replicate", 0))
    call = insert_calls([(new_call.sha256, new_call)], "")[new_call.sha256]
    CallUse.objects.create(item=item, call=call, number=number, part=ask.part, notes=notes or [])
    llm.sent_calls += 1
    return call


def _end(item: WorkItem, state: WorkItem.State, reason: str = "") -> None:
    attempt = 1 + item.payload.get("replicate", 0)
    WorkItem.objects.filter(pk=item.pk).update(
        state=state, attempt=attempt, reason=reason, ended_at=timezone.now()
    )
