"""The demo's finished LLM job: asked in our prompts, answered by the simulated LLM, at an invented price."""

from collections.abc import Iterator
from decimal import Decimal

from django.utils import timezone

from evaluation.models import Campaign, Judge, NuggetList
from evaluation.terms import Origin
from jobs import queue
from jobs.models import Job, WorkItem
from llmjobs.calls import NewCall, insert_calls, note_answers, note_sending
from llmjobs.client import Completion, Endpoint
from llmjobs.kinds import KINDS
from llmjobs.models import Call, CallUse, LlmJob
from llmjobs.planning import assign_items, nugget_items
from llmjobs.simulator.completion import CompletionRequest, SimulatedCompletion, complete
from llmjobs.steps.asking import Ask, LlmReply
from llmjobs.ways import BUILT_IN_PROMPTS

TITLE = "AutoNuggets and labels, at an invented price"
ENDPOINT = Endpoint("https://llm.example/v1")
PROMPT_PRICE, COMPLETION_PRICE = Decimal("0.15"), Decimal("0.60")
LABELLED = "river-01"
LATENCY_MS = 640


def load_done_job(campaign: Campaign, judge: Judge) -> None:
    """Store a finished job: a nugget list for each topic, and the labels of one topic's answers."""
    job = Job.objects.create(kind="llm", title=TITLE, state=Job.State.DONE, ended_at=timezone.now())
    llm = LlmJob.objects.create(
        job=job,
        campaign=campaign,
        judge=judge,
        price_table="demo",
        currency="USD",
        prompt_price=PROMPT_PRICE,
        completion_price=COMPLETION_PRICE,
    )
    source = campaign.qrel_sources.get(name="UMBRELA")
    lists = NuggetList.objects.filter(nugget_set__campaign=campaign, nugget_set__origin=Origin.AUTO)
    runs = list(campaign.runs.values_list("pk", flat=True))
    made = nugget_items(campaign, campaign.topics.all(), source, "nuggets").items
    labelled = assign_items(lists.filter(topic__topic_id=LABELLED), runs, campaign.protocol.batch_size)
    queue.add_items(job, [*made, *labelled])
    for item in job.items.order_by("pk"):
        _do(item, llm)
    llm.save()


def _do(item: WorkItem, llm: LlmJob) -> None:
    for number, (ask, completion) in enumerate(_calls(item)):
        call = _call(ask, completion, llm)
        CallUse.objects.create(item=item, call=call, number=number, part=ask.part)
        llm.sent_calls += 1
        llm.prompt_tokens += completion.prompt_tokens
        llm.completion_tokens += completion.completion_tokens
    WorkItem.objects.filter(pk=item.pk).update(state=WorkItem.State.DONE, attempt=1, ended_at=timezone.now())


def _calls(item: WorkItem) -> Iterator[tuple[Ask, SimulatedCompletion]]:
    step = KINDS[item.kind].begin([item], [BUILT_IN_PROMPTS])[0]
    ask = next(step)
    while True:
        messages = tuple((one.role, one.content) for one in ask.messages)
        completion = complete(CompletionRequest("", messages, None, None), "")
        yield ask, completion
        try:
            ask = step.send(LlmReply(completion.text))
        except StopIteration:
            return


def _call(ask: Ask, completion: SimulatedCompletion, llm: LlmJob) -> Call:
    wanted = NewCall(ask, ENDPOINT, llm.judge.model, 0)
    call = insert_calls([(wanted.sha256, wanted)], "")[wanted.sha256]
    [attempt] = note_sending([call], {call.pk: 1})
    answered = Completion(
        text=completion.text,
        model=llm.judge.model,
        finish_reason=completion.finish_reason,
        prompt_tokens=completion.prompt_tokens,
        completion_tokens=completion.completion_tokens,
        latency_ms=LATENCY_MS,
    )
    note_answers([(call, attempt, answered)], {call.pk: llm.campaign_id})
    return call
