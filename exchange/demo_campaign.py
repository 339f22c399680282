"""The demo campaign: loaded by the same imports that everybody uses, with an account for each role.

Its LLM jobs are answered by the simulated LLM at invented prices: one done, one retried, one paused.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.utils import timezone

from accounts.invitations import ensure_demo_user
from accounts.models import User
from assessor.practice.imports import import_practice
from evaluation.campaigns.create import add_member, create_campaign, read_campaign_file, set_hourly_rate
from evaluation.campaigns.people import set_languages
from evaluation.campaigns.protocol import change_protocol, protocol_hash, settings_of
from evaluation.domain.counted_pairs import counted_citations
from evaluation.formats.source import Source, read_source
from evaluation.imports.assignments import import_assignments
from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.runs import RunOptions, import_runs
from evaluation.imports.segments import import_segments
from evaluation.imports.support import import_support
from evaluation.imports.topics import import_qrels, import_topics
from evaluation.judges import add_judge
from evaluation.labels import CITATION_LABELS, NUGGET_LABELS
from evaluation.models import AnswerProvenance, Campaign, Judge, NuggetList
from evaluation.models.fields import ids_from
from evaluation.terms import Condition, JudgeKind, Origin, RagTask, Role, SupportCondition
from exchange.demo_work import FILES, draw_studies, judge_answers, make_lists, mark_read, practise, record_times
from exchange.snapshots.pack import SnapshotContents
from exchange.snapshots.service import take_snapshot
from jobs import queue
from jobs.models import Job, WorkItem
from jobs.queue import NewItem
from llmjobs.client import CallRefusal, Completion, Endpoint
from llmjobs.engine.calls import NewCall, insert_calls, note_answers, note_given_up, note_refusals, note_sending
from llmjobs.job_plan import assign_items, nugget_items
from llmjobs.job_service import JobRequest, Work, judge_for, pause, plan_evaluation, plan_support, retry, start
from llmjobs.kinds import KINDS
from llmjobs.models import Call, CallUse, LlmJob
from llmjobs.prompt_store import BUILT_IN_PROMPTS
from llmjobs.simulator.server import CompletionRequest, SimulatedCompletion, complete
from llmjobs.steps.asking import Ask, LlmReply

ENDPOINT = Endpoint("https://llm.example/v1")
TIMEOUT = CallRefusal("timeout", None, "No answer within 60 s.", None, 60_000)


@dataclass(frozen=True, slots=True)
class DemoJob:
    """A job about one topic's answers. `done`: items that are done, None for all; `failed`: items that failed at first.

    Prices are per million tokens of prompts and of replies.
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


def _load_job(planned: DemoJob, campaign: Campaign, organizer: User) -> None:
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
        nugget_set__campaign=campaign, nugget_set__name=planned.origin, topic__topic_id=planned.topic
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


SLUG, EMPTY_SLUG = "river-study", "delta-study"
PASSWORD = "river-study-demo"  # noqa: S105 - published on purpose; the deployment check refuses such accounts
ADMINISTRATOR = ("admin", "Ada Admin")
PEOPLE = {
    "olga": ("Olga Organizer", Role.ORGANIZER),
    "ann": ("Ann Archer", Role.ASSESSOR),
    "ben": ("Ben Brook", Role.ASSESSOR),
    "cleo": ("Cleo Carver", Role.ASSESSOR),
    "dalal": ("Dalal Dawoud", Role.ASSESSOR),
    "ewan": ("Ewan Eddy", Role.ASSESSOR),
    "rita": ("Rita Researcher", Role.RESEARCHER),
    "audrey": ("Audrey Auditor", Role.AUDITOR),
}
HOURLY_RATE = Decimal("24.00")
LANGUAGES = {"ann": "en", "ben": "en ar", "cleo": "en", "dalal": "ar", "ewan": "en"}
LAST_VISIT = timedelta(days=1)
JUDGES = {
    "word-overlap": "word-overlap (scripted)",
    "alder": "alder-70b (scripted)",
    "reed": "reed-1b (scripted)",
    "ann": "Ann Archer",
    "ben": "Ben Brook",
}
"""Names of the judges by the names of their files: a good LLM, a middling one, and one that is weak at partial labels
and at Arabic.
"""
LLMS = ("word-overlap", "alder", "reed")
RUNS = {
    "otter-rag-large": RunOptions("otter", RagTask.RAG, 1),
    "heron-rag-small": RunOptions("heron", RagTask.RAG, 1),
    "beaver-rag-fusion": RunOptions("beaver", RagTask.RAG, 1),
    "stork-rag-hybrid": RunOptions("stork", RagTask.RAG, 1),
    "kingfisher-ag": RunOptions("kingfisher", RagTask.AG, 1),
    "dipper-ag-short": RunOptions("dipper", RagTask.AG, 1),
    "baseline-lead": RunOptions("organizers", RagTask.AG, 1, control=True),
}
NUGGETS = {str(code): word for code, word in NUGGET_LABELS.choices} | {"~": "support (mostly)"}
"""Labels by their characters in the files; one is in free words, as other tools may write."""
CITATIONS = {str(code): word for code, word in CITATION_LABELS.choices}


def load_demo() -> bool:
    """Load the demo with its accounts, all or nothing; return whether it was missing."""
    with transaction.atomic(), ids_from(SLUG):
        if Campaign.objects.filter(slug=SLUG).exists():
            return False
        file = read_campaign_file(FILES / "campaign.toml")
        file.protocol.guidelines = (FILES / "guidelines.md").read_text(encoding="utf-8")
        campaign, _ = create_campaign(slug=SLUG, name=file.name, file=file)
        organizer = _make_people(campaign)
        _load_corpus(campaign)
        _load_nuggets(campaign)
        _load_labels(campaign)
        make_lists(campaign, organizer)
        # Labels that are given later make the snapshot out of date.
        take_snapshot(campaign=campaign, name="before-judging", contents=SnapshotContents(), actor=organizer)
        _change_protocol(campaign, organizer)
        judge_answers(campaign, organizer)
        draw_studies(campaign, organizer)
        record_times(campaign)
        mark_read(campaign)
        import_practice(campaign=campaign, source=_source("practice.jsonl"))
        practise(campaign)
        for planned in JOBS:
            _load_job(planned, campaign, organizer)
        set_hourly_rate(campaign=campaign, rate=HOURLY_RATE, actor=organizer)
        empty, _ = create_campaign(slug=EMPTY_SLUG, name="Delta study")
        add_member(campaign=empty, user=organizer, role=Role.ORGANIZER)
    return True


def start_demo_jobs() -> int:
    """Queue the automatic conditions for whatever LLM is configured; return how many jobs that are.

    The workers take them from the queue; what a job judged before is not judged again.
    """
    request = JobRequest(Campaign.objects.get(slug=SLUG), judge_for(""))
    plans = {
        Work(condition).job_title: plan_evaluation(request, condition)
        for condition in (Condition.AA, Condition.EA, Condition.MA)
    }
    plans[Work.SUPPORT.job_title] = plan_support(request)
    for title, plan in plans.items():
        start(request, title, plan)
    return len(plans)


def logins() -> list[tuple[str, str]]:
    roles = {name: str(role) for name, (_, role) in PEOPLE.items()} | {ADMINISTRATOR[0]: "administrator"}
    there = set(User.objects.filter(demo=True).values_list("username", flat=True))
    return [(name, role) for name, role in roles.items() if name in there]


def _make_people(campaign: Campaign) -> User:
    # Made once: nine hashes take a second. The salt is known because the password is.
    password = make_password(PASSWORD, salt=SLUG)
    ensure_demo_user(username=ADMINISTRATOR[0], full_name=ADMINISTRATOR[1], password=password, administrator=True)
    for username, (full_name, role) in PEOPLE.items():
        user = ensure_demo_user(username=username, full_name=full_name, password=password)
        add_member(campaign=campaign, user=user, role=role)
        if role is Role.ASSESSOR:
            add_judge(name=full_name, kind=JudgeKind.HUMAN, user=user)
            set_languages(campaign=campaign, username=username, languages=LANGUAGES[username], actor=None)
    for judge in LLMS:
        add_judge(name=JUDGES[judge], kind=JudgeKind.LLM, model=JUDGES[judge])
    return User.objects.get(username="olga")


def _change_protocol(campaign: Campaign, organizer: User) -> None:
    change_protocol(
        campaign=campaign,
        settings=settings_of(campaign.protocol) | {"manual_cap": 25},
        seal=protocol_hash(campaign),
        reason="Two lists by hand were full before the last passage was read.",
        actor=organizer,
    )


def load_sample(campaign: Campaign) -> None:
    with transaction.atomic():
        _load_corpus(campaign)


def _load_corpus(campaign: Campaign) -> None:
    import_topics(campaign=campaign, source=_source("topics.jsonl"))
    for run_id, options in RUNS.items():
        import_runs(campaign=campaign, sources=[_source(f"runs/{run_id}.jsonl")], options=options)
    for name in ("NIST", "UMBRELA"):
        import_qrels(campaign=campaign, source=_source(f"qrels.{name.lower()}.txt"), name=name)
    import_segments(campaign=campaign, sources=[_source("segments.jsonl")])


def _load_nuggets(campaign: Campaign) -> None:
    for origin, judge, drafts in (
        (Origin.AUTO, "word-overlap", ""),
        (Origin.DRAFT, "word-overlap", ""),
        (Origin.EDITED, "ann", "draft"),
        (Origin.MANUAL, "ann", ""),
    ):
        import_nuggets(
            campaign=campaign,
            source=_source(f"nuggets/{origin}.jsonl"),
            origin=origin,
            judge=JUDGES[judge],
            name=origin,
            drafts=drafts,
        )


def _load_labels(campaign: Campaign) -> None:
    for path in sorted((FILES / "labels").iterdir()):
        origin, judge = path.stem.split(".")
        import_assignments(
            campaign=campaign,
            sources=[_rows_of(path, _nugget_rows(origin))],
            origin=Origin(origin),
            judge=JUDGES[judge],
            kind=_kind(judge),
        )
    for path in sorted((FILES / "support").iterdir()):
        condition, judge = path.stem.split(".")
        import_support(
            campaign=campaign,
            sources=[_rows_of(path, _citation_rows(campaign))],
            judge=JUDGES[judge],
            kind=_kind(judge),
            condition=SupportCondition(condition),
        )


Rows = Callable[[str, str, str], list[dict[str, Any]]]
"""Rows of the formats for a topic, a run, and a string with a character for each label."""


def _rows_of(path: Path, rows: Rows) -> Source:
    """Return a file of label strings as if it were written out in the format that is imported."""
    source = read_source(path)
    lines = [(number, json.dumps(row)) for number, line in source.lines for row in rows(*line.split())]
    return replace(source, lines=tuple(lines))


def _nugget_rows(origin: str) -> Rows:
    lists = [json.loads(line) for _, line in _source(f"nuggets/{origin}.jsonl").lines]
    texts = {row["qid"]: [nugget["text"] for nugget in row["nuggets"]] for row in lists}

    def rows(topic: str, run: str, labels: str) -> list[dict[str, Any]]:
        # A string may be shorter than the list: the last nuggets are then unjudged.
        pairs = zip(texts[topic], labels, strict=False)
        nuggets = [{"text": text, "assignment": NUGGETS[label]} for text, label in pairs]
        return [{"qid": topic, "run_id": run, "nuggets": nuggets}]

    return rows


def _citation_rows(campaign: Campaign) -> Rows:
    first = counted_citations(1).filter(segment__campaign=campaign)
    answers = AnswerProvenance.objects.filter(topic__campaign=campaign)
    topic_and_run = {
        pk: (topic, run) for pk, topic, run in answers.values_list("answer", "topic__topic_id", "run__run_id")
    }
    cited = {
        (*topic_and_run[answer], index): docid
        for answer, index, docid in first.values_list("sentence__answer", "sentence__index", "segment__docid")
    }

    def rows(topic: str, run: str, labels: str) -> list[dict[str, Any]]:
        return [
            {
                "topic_id": topic,
                "run_id": run,
                "sentence": index,
                "docid": cited[topic, run, index],
                "label": CITATIONS[label],
            }
            for index, label in enumerate(labels)
            if label in CITATIONS
        ]

    return rows


def _kind(judge: str) -> JudgeKind:
    return JudgeKind.LLM if judge in LLMS else JudgeKind.HUMAN


def _source(name: str) -> Source:
    return read_source(FILES / name)
