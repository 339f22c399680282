"""The demo's finished LLM job: asked in our prompts, answered by the simulated LLM, at an invented price."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal

from django.utils import timezone

from assessor.models import TimeSegment
from evaluation.models import Campaign, Judge, NuggetList, Submission, Task
from evaluation.terms import Origin, SegmentKind, Stage
from jobs import queue
from jobs.models import Job, WorkItem
from llmjobs.client import Completion, Endpoint
from llmjobs.engine.calls import NewCall, insert_calls, note_answers, note_sending
from llmjobs.job_plan import assign_items, nugget_items
from llmjobs.kinds import KINDS
from llmjobs.models import Call, CallUse, LlmJob
from llmjobs.prompt_store import BUILT_IN_PROMPTS
from llmjobs.simulator.server import CompletionRequest, SimulatedCompletion, complete
from llmjobs.steps.asking import Ask, LlmReply

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
        messages = tuple((message.role, message.content) for message in ask.messages)
        completion = complete(CompletionRequest("", messages, None, None), "")
        yield ask, completion
        try:
            ask = step.send(LlmReply(completion.text))
        except StopIteration:
            return


def _call(ask: Ask, completion: SimulatedCompletion, llm: LlmJob) -> Call:
    wanted = NewCall(ask, ENDPOINT, llm.judge.model, 0)
    call = insert_calls([(wanted.sha256, wanted)], "")[wanted.sha256]
    [attempt] = note_sending([call])
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


MINUTES = {
    Stage.POST_EDIT: 52,
    Stage.MANUAL: 118,
    Stage.ASSIGN: 64,
    Stage.SUPPORT_SCRATCH: 38,
    Stage.SUPPORT_POST_EDIT: 26,
}
"""Active minutes of a whole task, before anybody's own pace."""
PACE = {"ann": 94, "ben": 112}
"""Per cent of them that each person takes."""
STRETCHES = (95, 210, 64, 141, 180, 77, 120)
"""Seconds of one reading or writing after the other."""
WORDS = 420
BREAK, INTERRUPTION = timedelta(seconds=48), timedelta(minutes=19)


def record_times(submitted: list[Task], begun: list[Task]) -> None:
    """Store the stretches of each task, one task a morning or an afternoon, the last one yesterday.

    A task that is only begun has a third of its time. The third submitted one was interrupted.
    """
    tasks = [*submitted, *begun]
    today = timezone.localtime().replace(hour=9, minute=0, second=0, microsecond=0)
    for place, task in enumerate(tasks):
        half_days = len(tasks) - place
        start = today - timedelta(days=(half_days + 1) // 2, hours=-5 * (half_days % 2))
        share = 1 if task in submitted else 3
        end = _record(task, start, share, interrupted=place == 2)
        Task.objects.filter(pk=task.pk).update(created_at=start - timedelta(days=1), opened_at=start)
        Submission.objects.filter(task=task).update(at=end)


def _record(task: Task, start: datetime, share: int, *, interrupted: bool) -> datetime:
    rows = list(_stretches(task, start, share, interrupted))
    TimeSegment.objects.bulk_create(rows)
    return rows[-1].ended_at


def _stretches(task: Task, start: datetime, share: int, interrupted: bool) -> Iterator[TimeSegment]:
    left = MINUTES[Stage(task.stage)] * 60 * PACE[task.assessor.username] // 100 // share
    number = 0
    while left > 0:
        seconds = min(left, STRETCHES[number % len(STRETCHES)])
        kind = SegmentKind.EDITING if number % 3 == 1 else SegmentKind.READING
        yield _row(task, number, kind, start, start + timedelta(seconds=seconds))
        start, left, number = start + timedelta(seconds=seconds), left - seconds, number + 1
        if number % 8 == 0 and left > 0:
            pause = INTERRUPTION if interrupted and number == 8 else BREAK
            yield _row(task, number, SegmentKind.GAP, start, start + pause)
            start, number = start + pause, number + 1


def _row(task: Task, number: int, kind: SegmentKind, start: datetime, end: datetime) -> TimeSegment:
    gap_answer = "away" if end - start == INTERRUPTION else ""
    return TimeSegment(
        task=task,
        submission=1,
        window=f"demo-{task.pk}",
        number=number,
        kind=kind,
        started_at=start,
        ended_at=end,
        words=WORDS,
        gap_answer=gap_answer,
    )
