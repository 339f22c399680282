"""The demo campaign: loaded by the same imports that everybody uses, with an account for each role.

Its finished LLM job was asked in our prompts and answered by the simulated LLM, at an invented price.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.invitations import ensure_demo_user
from accounts.models import User
from assessor.blind.desk import desk_state
from assessor.desk.apply_op import apply_op
from assessor.desk.context import context_of, open_desk
from assessor.desk.submit import submit
from assessor.desk.task_labels import SEPARATOR, pairs_of, read_task
from assessor.models import PracticeItem, TimeSegment
from assessor.practice.imports import import_practice
from assessor.practice.items import answer_practice, practice_of
from assessor.practice.rules import word_of
from assessor.rules.op_schemas import Op
from evaluation.campaigns.create import add_member, create_campaign, read_campaign_file, set_hourly_rate
from evaluation.campaigns.people import set_languages
from evaluation.formats.source import Source, read_source
from evaluation.imports.assignments import import_assignments
from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.runs import RunOptions, import_runs
from evaluation.imports.segments import import_segments
from evaluation.imports.support import import_support
from evaluation.imports.topics import import_qrels, import_topics
from evaluation.judges import add_judge
from evaluation.models import (
    Assignment,
    Campaign,
    Judge,
    ListedNugget,
    NuggetList,
    Submission,
    SupportJudgment,
    Task,
)
from evaluation.models.fields import ids_from, new_uuid
from evaluation.tasks.changes import Change, TaskChange, change_tasks
from evaluation.tasks.hand_out import hand_out
from evaluation.tasks.plan import Order
from evaluation.tasks.remarks import remark
from evaluation.terms import (
    AssignmentLabel,
    Condition,
    JudgeKind,
    Origin,
    PracticeKind,
    RagTask,
    RemarkKind,
    Role,
    SegmentKind,
    Stage,
    SupportCondition,
    SupportLabel,
)
from jobs import queue
from jobs.models import Job, WorkItem
from llmjobs.client import Completion, Endpoint
from llmjobs.engine.calls import NewCall, insert_calls, note_answers, note_sending
from llmjobs.job_plan import assign_items, nugget_items
from llmjobs.job_service import JobRequest, judge_for, plan_evaluation, plan_support, start
from llmjobs.kinds import KINDS
from llmjobs.models import Call, CallUse, LlmJob
from llmjobs.prompt_store import BUILT_IN_PROMPTS
from llmjobs.simulator.server import CompletionRequest, SimulatedCompletion, complete
from llmjobs.steps.asking import Ask, LlmReply

SLIPS = {"ann": {"full_support": "partial_support"}, "ben": {"okay": "vital", "partial_support": "support"}}
"""What each of them answers once where something else is known."""


def practise(campaign: Campaign) -> None:
    slips = {name: dict(words) for name, words in SLIPS.items()}
    for task in Task.objects.filter(campaign=campaign).select_related("assessor").order_by("pk"):
        for pk in practice_of(task.assessor, [campaign.pk]).left(task):
            item = PracticeItem.objects.get(pk=pk)
            known = word_of(PracticeKind(item.kind), item.label)
            label = slips[task.assessor.username].pop(known, known)
            answer_practice(task=task.public_id, user=task.assessor, item=item.public_id, label=label)


DRAFTS, QRELS = "draft", "NIST"
DUE_IN = timedelta(days=10)
POST_EDIT = {
    "river-02": "ann",
    "river-03": "ann",
    "river-01": "ben",
    "river-05": "ben",
    "river-06": "ben",
    "river-07": "ben",
}
MANUAL = {"river-01": "ann", "river-05": "ann", "river-07": "ann", "river-02": "ben", "river-04": "ben"}
# Ben assigns the list that he submits here, Ann a machine's. Neither judges support under the condition of which the
# files already have labels of theirs.
JUDGING = (
    (Stage.ASSIGN, "river-01", "ben", "edited-Ben Brook"),
    (Stage.ASSIGN, "river-07", "ann", "auto"),
    (Stage.SUPPORT_SCRATCH, "river-03", "ben", ""),
    (Stage.SUPPORT_POST_EDIT, "river-01", "ann", ""),
)
JUDGED = (
    (Stage.ASSIGN, "river-05", "ben", "edited-Ben Brook"),
    (Stage.ASSIGN, "river-02", "ann", "auto"),
    (Stage.ASSIGN, "river-04", "ann", "auto"),
    (Stage.SUPPORT_SCRATCH, "river-01", "ben", ""),
    (Stage.SUPPORT_SCRATCH, "river-02", "ben", ""),
    (Stage.SUPPORT_SCRATCH, "river-05", "ben", ""),
    (Stage.SUPPORT_POST_EDIT, "river-02", "ann", ""),
    (Stage.SUPPORT_POST_EDIT, "river-04", "ann", ""),
    (Stage.SUPPORT_POST_EDIT, "river-07", "ann", ""),
)
"""Judging that is done and submitted."""
OTHERWISE = 7
"""Every so many labels a person says otherwise than the machine."""
UNKNOWN = ("support", "not_support", "partial_support")
"""Labels in turn, of nuggets that the machine did not label."""
BY_HAND = (
    "Streams were buried in pipes to gain building land and to carry sewage away",
    "An open stream cools its street in summer",
    "Pipes overflow in heavy rain; an open bed has room",
)


class DemoDesk:
    """One person at one task, in a window of the demo's own."""

    def __init__(self, task: str, user: User) -> None:
        self.task, self.user, self.window, self.seq = task, user, str(new_uuid()), 0
        open_desk(task=task, user=user)

    def do(self, kind: str, **payload: Any) -> None:
        fields = {key.rstrip("_"): value for key, value in payload.items()}
        op = Op(op_id=new_uuid(), step=new_uuid(), kind=kind, payload=fields, client_at=timezone.now())
        receipt = apply_op(task=self.task, user=self.user, window=self.window, op=op)
        if receipt.status != "applied":
            raise RuntimeError(f"{kind}: {receipt.message}")
        self.seq = receipt.seq

    def submit(self) -> None:
        submit(task=self.task, user=self.user, window=self.window, seq=self.seq)


def load_work(campaign: Campaign) -> None:
    """Hand out tasks and do a part: three of each stage submitted, two under way, one blocked, the rest not begun.

    Judging tasks come last, because they may be about lists that are submitted here.
    """
    people = {name: User.objects.get(username=name) for name in ("olga", "ann", "ben")}
    tasks = {
        (stage, topic): _hand_out(campaign, people["olga"], stage, topic, assessor)
        for stage, given in ((Stage.POST_EDIT, POST_EDIT), (Stage.MANUAL, MANUAL))
        for topic, assessor in given.items()
    }
    submitted = [*_submitted_lists(campaign, tasks, people)]
    begun = [
        DemoDesk(tasks[Stage.POST_EDIT, "river-03"], people["ann"]),
        DemoDesk(tasks[Stage.MANUAL, "river-04"], people["ben"]),
    ]
    _half_edited(begun[0])
    _begun_by_hand(begun[1])
    blocked = tasks[Stage.POST_EDIT, "river-07"]
    text = "Two passages are about footbridges only. Shall I count them?"
    remark(task=blocked, user=people["ben"], kind=RemarkKind.FLAG, about="river-07", text=text)
    wish = TaskChange(Change.BLOCK, (blocked,), reason="The qrels of this topic are being looked at again.")
    change_tasks(campaign=campaign, wish=wish, actor=people["olga"])
    for stage, topic, assessor, nuggets in JUDGED:
        task = _hand_out(campaign, people["olga"], stage, topic, assessor, nuggets)
        submitted.append(_judged(DemoDesk(task, people[assessor])))
    for stage, topic, assessor, nuggets in JUDGING:
        _hand_out(campaign, people["olga"], stage, topic, assessor, nuggets)
    record_times(submitted, [_task(desk) for desk in begun])


def _submitted_lists(
    campaign: Campaign, tasks: dict[tuple[Stage, str], str], people: dict[str, User]
) -> Iterator[Task]:
    desk = DemoDesk(tasks[Stage.POST_EDIT, "river-01"], people["ben"])
    _submitted(desk)
    yield _task(desk)
    for topic, assessor in (("river-02", "ann"), ("river-05", "ben")):
        desk = DemoDesk(tasks[Stage.POST_EDIT, topic], people[assessor])
        _kept(desk)
        yield _task(desk)
    for topic, assessor in (("river-01", "ann"), ("river-07", "ann"), ("river-02", "ben")):
        desk = DemoDesk(tasks[Stage.MANUAL, topic], people[assessor])
        _written(desk, campaign, topic)
        yield _task(desk)


def _task(desk: DemoDesk) -> Task:
    return Task.objects.select_related("assessor", "topic", "protocol").get(public_id=desk.task)


def _kept(desk: DemoDesk) -> None:
    drafts = [row["key"] for row in desk_state(desk.task, desk.user)["rows"]]
    for number, key in enumerate(drafts, start=1):
        desk.do("decide", key=key, decision="kept" if number % 5 else "rejected")
        if number % 5:
            desk.do("importance", key=key, importance=2 if number % 3 else 1)
    desk.submit()


def _written(desk: DemoDesk, campaign: Campaign, topic: str) -> None:
    # In other words of the same facts as the file's list by hand.
    listed = ListedNugget.objects.filter(
        nugget_list__nugget_set__campaign=campaign,
        nugget_list__nugget_set__name=Origin.MANUAL,
        nugget_list__topic__topic_id=topic,
    )
    rows = listed.order_by("position").values_list("nugget_version__text", "importance")
    for number, (text, importance) in enumerate(rows[:9], start=1):
        desk.do("add", key=f"n{number}", text=text, importance=importance or 1)
    desk.submit()


def _judged(desk: DemoDesk) -> Task:
    # Every seventh label differs from the machine's.
    task = _task(desk)
    known = _assigned(task) if task.stage == Stage.ASSIGN else _supported(task)
    for number, key in enumerate(read_task(context_of(task)).judgeable, start=1):
        label = known.get(key, UNKNOWN[number % 3] if task.stage == Stage.ASSIGN else "no_support")
        desk.do("label", key=key, label="partial_support" if number % OTHERWISE == 0 else label)
    desk.submit()
    return task


def _assigned(task: Task) -> dict[str, str]:
    given = Assignment.objects.filter(answer__topic=task.topic, judge__kind=JudgeKind.LLM, label__lte=2)
    fields = ("answer__public_id", "nugget_version__nugget__public_id", "label")
    return {
        f"{answer}{SEPARATOR}{nugget}": AssignmentLabel(label).name.lower()
        for answer, nugget, label in given.values_list(*fields)
    }


def _supported(task: Task) -> dict[str, str]:
    given = SupportJudgment.objects.filter(
        sentence__answer__topic=task.topic, judge__kind=JudgeKind.LLM, label__lte=2
    )
    labels = {
        (sentence, segment): label
        for sentence, segment, label in given.values_list("sentence", "segment", "label")
    }
    return {
        pair.key: SupportLabel(label).name.lower()
        for pair in pairs_of(context_of(task))
        if (label := labels.get((pair.sentence_pk, pair.segment_pk or 0))) is not None
    }


def _hand_out(
    campaign: Campaign, organizer: User, stage: Stage, topic: str, assessor: str, nuggets: str = ""
) -> str:
    order = Order(
        stage=stage,
        topics=(campaign.topics.get(topic_id=topic).public_id,),
        assessor=assessor,
        drafts=DRAFTS if stage is Stage.POST_EDIT else "",
        qrels=QRELS,
        due=timezone.localdate() + DUE_IN,
        nuggets=nuggets,
    )
    return hand_out(campaign=campaign, order=order, actor=organizer).tasks[0]


def _submitted(desk: DemoDesk) -> None:
    desk.do(
        "merge",
        key="m1",
        from_=["d3", "d4"],
        text="Natural levees grow until the river stands above its plain",
        importance=2,
    )
    desk.do(
        "split",
        from_="d6",
        into=[
            {"key": "s1", "text": "A new course is steeper than the old one", "importance": 2},
            {"key": "s2", "text": "A new course is a shorter way to the sea", "importance": 1},
        ],
    )
    desk.do("edit", key="d1", text="A river that suddenly leaves its course makes an avulsion")
    for number in (1, 2, 5, *range(7, 18)):
        desk.do("decide", key=f"d{number}", decision="kept")
        desk.do("importance", key=f"d{number}", importance=2 if number % 3 else 1)
    for number in range(18, 25):
        desk.do("decide", key=f"d{number}", decision="rejected")
    desk.do("add", key="a1", text="Levees put off a change of course and make it larger", importance=2)
    desk.submit()


def _half_edited(desk: DemoDesk) -> None:
    for number in range(1, 9):
        desk.do("decide", key=f"d{number}", decision="rejected" if number in (4, 7) else "kept")
        desk.do("importance", key=f"d{number}", importance=2 if number % 2 else 1)
    desk.do("edit", key="d9", text="Salmon return by themselves, without being stocked")
    desk.do(
        "merge", key="m1", from_=["d10", "d11"], text="Insects and birds of fast water return and lake fish go"
    )


def _begun_by_hand(desk: DemoDesk) -> None:
    for number, text in enumerate(BY_HAND, start=1):
        desk.do("add", key=f"n{number}", text=text, importance=2 if number == 1 else 1)


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
        rows = [*_stretches(task, start, share, interrupted=place == 2)]
        TimeSegment.objects.bulk_create(rows)
        Task.objects.filter(pk=task.pk).update(created_at=start - timedelta(days=1), opened_at=start)
        Submission.objects.filter(task=task).update(at=rows[-1].ended_at)


def _stretches(task: Task, start: datetime, share: int, *, interrupted: bool) -> Iterator[TimeSegment]:
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


SLUG = "river-study"
PASSWORD = "river-study-demo"  # noqa: S105 - published on purpose; the deployment check refuses such accounts
FILES = Path(__file__).parent / "demo"
ADMINISTRATOR = ("admin", "Ada Admin")
PEOPLE = {
    "olga": ("Olga Organizer", Role.ORGANIZER),
    "ann": ("Ann Archer", Role.ASSESSOR),
    "ben": ("Ben Brook", Role.ASSESSOR),
    "rita": ("Rita Researcher", Role.RESEARCHER),
    "audrey": ("Audrey Auditor", Role.AUDITOR),
}
HOURLY_RATE = Decimal("24.00")
LANGUAGES = {"ann": "en", "ben": "en ar"}
LLM = "word-overlap (scripted)"
RUNS = {
    "otter-rag-large": RunOptions("otter", RagTask.RAG, 1),
    "heron-rag-small": RunOptions("heron", RagTask.RAG, 1),
    "beaver-rag-fusion": RunOptions("beaver", RagTask.RAG, 1),
    "kingfisher-ag": RunOptions("kingfisher", RagTask.AG, 1),
    "dipper-ag-short": RunOptions("dipper", RagTask.AG, 1),
    "baseline-lead": RunOptions("organizers", RagTask.AG, 1, control=True),
}


def load_demo() -> bool:
    """Load the demo with its accounts, all or nothing; return whether it was missing."""
    with transaction.atomic(), ids_from(SLUG):
        if Campaign.objects.filter(slug=SLUG).exists():
            return False
        file = read_campaign_file(FILES / "campaign.toml")
        file.protocol.guidelines = (FILES / "guidelines.md").read_text(encoding="utf-8")
        campaign, _ = create_campaign(slug=SLUG, name=file.name, file=file)
        _make_people(campaign)
        _load_corpus(campaign)
        _load_nuggets(campaign)
        _load_assignments(campaign)
        _load_support(campaign)
        load_work(campaign)
        import_practice(campaign=campaign, source=_source("practice.jsonl"))
        practise(campaign)
        load_done_job(campaign, Judge.objects.get(name=LLM))
        set_hourly_rate(campaign=campaign, rate=HOURLY_RATE, actor=User.objects.get(username="olga"))
    return True


def start_demo_jobs() -> int:
    """Queue the automatic conditions for whatever LLM is configured; return how many jobs that are.

    The workers take them from the queue; what a job judged before is not judged again.
    """
    request = JobRequest(Campaign.objects.get(slug=SLUG), judge_for(""))
    plans = {
        f"AutoAssign {condition}": plan_evaluation(request, condition)
        for condition in (Condition.AA, Condition.EA, Condition.MA)
    }
    plans["Support of citations"] = plan_support(request)
    for title, plan in plans.items():
        start(request, title, plan)
    return len(plans)


def logins() -> list[tuple[str, str]]:
    roles = {name: str(role) for name, (_, role) in PEOPLE.items()} | {ADMINISTRATOR[0]: "administrator"}
    there = set(User.objects.filter(demo=True).values_list("username", flat=True))
    return [(name, role) for name, role in roles.items() if name in there]


def _make_people(campaign: Campaign) -> None:
    ensure_demo_user(username=ADMINISTRATOR[0], full_name=ADMINISTRATOR[1], password=PASSWORD, administrator=True)
    for username, (full_name, role) in PEOPLE.items():
        user = ensure_demo_user(username=username, full_name=full_name, password=PASSWORD)
        add_member(campaign=campaign, user=user, role=role)
        if role is Role.ASSESSOR:
            add_judge(name=full_name, kind=JudgeKind.HUMAN, user=user)
            set_languages(campaign=campaign, username=username, languages=LANGUAGES[username], actor=None)
    add_judge(name=LLM, kind=JudgeKind.LLM, model=LLM)


def load_sample(campaign: Campaign) -> None:
    """Load the demo's invented topics, runs, passages and grades, without anybody's nuggets or labels."""
    with transaction.atomic():
        _load_corpus(campaign)


def _load_corpus(campaign: Campaign) -> None:
    import_topics(campaign=campaign, source=_source("topics.jsonl"))
    for run_id, options in RUNS.items():
        import_runs(campaign=campaign, sources=[_source(f"runs/{run_id}.jsonl")], options=options)
    for name in ("NIST", "UMBRELA"):
        source = _source(f"qrels.{name.lower()}.txt")
        import_qrels(campaign=campaign, source=source, name=name)
    import_segments(campaign=campaign, sources=[_source("segments.jsonl")])


def _load_nuggets(campaign: Campaign) -> None:
    for origin, judge, drafts in (
        (Origin.AUTO, LLM, ""),
        (Origin.DRAFT, LLM, ""),
        (Origin.EDITED, "Ann Archer", "draft"),
        (Origin.MANUAL, "Ann Archer", ""),
    ):
        import_nuggets(
            campaign=campaign,
            source=_source(f"nuggets/{origin}.jsonl"),
            origin=origin,
            judge=judge,
            name=origin,
            drafts=drafts,
        )


def _load_assignments(campaign: Campaign) -> None:
    for file, origin, judge in (
        ("auto-nuggets.llm", Origin.AUTO, LLM),
        ("edited-nuggets.llm", Origin.EDITED, LLM),
        ("manual-nuggets.llm", Origin.MANUAL, LLM),
        ("edited-nuggets.ann", Origin.EDITED, "Ann Archer"),
        ("edited-nuggets.ben", Origin.EDITED, "Ben Brook"),
        ("manual-nuggets.ann", Origin.MANUAL, "Ann Archer"),
    ):
        import_assignments(
            campaign=campaign,
            sources=[_source(f"assignments/{file}.jsonl")],
            origin=origin,
            judge=judge,
            kind=_kind(judge),
        )


def _load_support(campaign: Campaign) -> None:
    for file, judge, condition in (
        ("scratch.ann", "Ann Archer", SupportCondition.SCRATCH),
        ("post-edit.ben", "Ben Brook", SupportCondition.POST_EDIT),
        ("llm", LLM, SupportCondition.LLM),
    ):
        import_support(
            campaign=campaign,
            sources=[_source(f"support/{file}.jsonl")],
            judge=judge,
            kind=_kind(judge),
            condition=condition,
        )


def _kind(judge: str) -> JudgeKind:
    return JudgeKind.LLM if judge == LLM else JudgeKind.HUMAN


def _source(name: str) -> Source:
    return read_source(FILES / name)
