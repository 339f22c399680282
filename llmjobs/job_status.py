"""LLM jobs as organizers look at them: the list, progress, cost, and why items failed."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet, Subquery, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from accounts.models import User
from evaluation.campaigns.access import may_see, unblinded, within
from evaluation.models import (
    AnswerProvenance,
    Assignment,
    Campaign,
    Event,
    Judge,
    NuggetSet,
    Run,
    Sentence,
    SupportJudgment,
    Topic,
    Verdict,
)
from evaluation.terms import JudgeKind
from jobs import queue
from jobs.models import Job, Notice, WorkItem
from jobs.queue import JobProgress
from llmjobs.budget import announced_price, without_counts_q
from llmjobs.client import default_endpoint
from llmjobs.models import Attempt, Call, CallUse, LlmJob, Prompt
from llmjobs.simulator.answering import MODEL as SIMULATED_MODEL
from llmjobs.steps.asking import RE_ASK
from llmjobs.steps.parsing import REFUSED_BY

REASONS_SHOWN = 20
SETTLES = timedelta(minutes=5)
EXAMPLES = 3
JUDGE_MADE = "judge.made"
NO_WORKER = "No worker is running. Ask an administrator to start one."


@dataclass(frozen=True, slots=True)
class JobListRow:
    """A job in the list. `simulated`: it was the simulated LLM that answered."""

    llm: LlmJob
    progress: JobProgress
    simulated: bool


@dataclass(frozen=True, slots=True)
class About:
    item: int
    key: str
    topic: Topic | None
    run: Run | None


@dataclass(frozen=True, slots=True)
class Failure:
    reason: str
    count: int
    examples: tuple[About, ...]


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls behind the ended items. Those that were answered before the job are reused and cost nothing.

    `uncounted`: answered in the job without a number of tokens.
    """

    all: int
    reused: int
    uncounted: int
    models: tuple[str, ...]
    attempts: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class JobReport:
    llm: LlmJob
    progress: JobProgress
    waiting_for: str
    failures: tuple[Failure, ...]
    calls: Calls

    @property
    def standing(self) -> str:
        waits = self.waiting_for and self.llm.job.state == Job.State.RUNNING
        return "waiting" if waits else str(self.llm.job.state)

    @property
    def is_moving(self) -> bool:
        """Return whether figures may still change: replies to calls under way come in, and are paid, after a stop."""
        job = self.llm.job
        stopped = job.state == Job.State.CANCELLED and job.ended_at and timezone.now() - job.ended_at < SETTLES
        return bool(job.state == Job.State.RUNNING or self.progress.leased or stopped)

    @property
    def paid(self) -> Decimal | None:
        return paid_for(self.llm, uncounted=self.calls.uncounted > 0)

    @property
    def simulated(self) -> bool:
        return SIMULATED_MODEL in (self.llm.judge.model, *self.calls.models)


def callable_judges_for(viewer: User, campaign: Campaign) -> list[Judge]:
    """Return the LLM judges that can be called: those of campaigns that the viewer sees, and those of no campaign.

    Left out is a judge that was made or works in other campaigns alone, whose name and model are theirs, and one with
    a prompt that the viewer may not read: its calls would show the wording.
    """
    if not may_see(viewer, campaign):
        return []
    hidden = {str(prompt) for prompt in Prompt.objects.exclude(pk__in=prompts_for(viewer))}
    judges = Judge.objects.filter(kind=JudgeKind.LLM, aside=False).exclude(model="")
    # The installation's own model is offered by its name to everybody.
    free = ~at_work_q(Campaign.objects.all()) | Q(name=default_endpoint().model)
    seen = unblinded(viewer)
    makings = Event.objects.filter(kind=JUDGE_MADE)
    here = set(makings.filter(campaign__in=seen).values_list("payload__name", flat=True))
    elsewhere = set(makings.exclude(campaign__in=seen).values_list("payload__name", flat=True)) - here
    judges = judges.filter(at_work_q(seen) | Q(name__in=here) | free & ~Q(name__in=elsewhere))
    return [judge for judge in judges if hidden.isdisjoint(map(str, judge.prompt_versions.values()))]


def at_work_q(campaigns: QuerySet[Campaign]) -> Q:
    by_this = {"judge": OuterRef("pk")}
    return Q(
        Exists(LlmJob.objects.filter(campaign__in=campaigns, **by_this))
        | Exists(NuggetSet.objects.filter(campaign__in=campaigns, **by_this))
        | Exists(Assignment.objects.filter(answer__topic__campaign__in=campaigns, **by_this))
        | Exists(SupportJudgment.objects.filter(segment__campaign__in=campaigns, **by_this))
        | Exists(Verdict.objects.filter(battle__battle_set__campaign__in=campaigns, **by_this))
    )


def prompts_for(viewer: User) -> QuerySet[Prompt]:
    """Prompts that a viewer may read: common ones, and those of campaigns they see unblinded."""
    return Prompt.objects.filter(Q(campaign=None) | Q(campaign__in=unblinded(viewer)))


def jobs_for(viewer: User, campaign: Campaign) -> QuerySet[LlmJob]:
    jobs = LlmJob.objects.filter(campaign__in=within(viewer, campaign))
    return jobs.select_related("job__made_by", "judge").order_by("-job_id")


def job_for(viewer: User, campaign: Campaign, pk: int) -> LlmJob:
    # By the job's own key: a number that no key can be is then nobody's, and no error.
    return jobs_for(viewer, campaign).get(job__id=pk)


def any_job_for(viewer: User, pk: int) -> LlmJob:
    return LlmJob.objects.filter(campaign__in=unblinded(viewer)).select_related("job", "campaign").get(job__id=pk)


def why_none_moves(viewer: User, campaign: Campaign) -> str:
    """Reason why no running job moves; empty where none runs or a worker lives."""
    running = LlmJob.objects.filter(campaign__in=within(viewer, campaign), job__state=Job.State.RUNNING)
    return NO_WORKER if running.exists() and not queue.live_workers() else ""


def job_rows(jobs: Iterable[LlmJob]) -> list[JobListRow]:
    page = {llm.pk: llm for llm in jobs}
    progress = queue.progress_by_job(page)
    first_use = CallUse.objects.filter(item__job=OuterRef("pk")).order_by().values("call__model_answered")[:1]
    answered = dict(Job.objects.filter(pk__in=page).order_by().values_list("pk", Subquery(first_use)))
    return [
        JobListRow(llm, progress[pk], SIMULATED_MODEL in (llm.judge.model, answered.get(pk)))
        for pk, llm in page.items()
    ]


def report_of(llm: LlmJob) -> JobReport:
    job, waiting_for = llm.job, llm.job.waiting_for
    if job.state == Job.State.RUNNING and not waiting_for and not queue.live_workers():
        waiting_for = NO_WORKER
    return JobReport(llm, queue.progress_of(job), waiting_for, _failures(job), _calls(llm))


def _failures(job: Job) -> tuple[Failure, ...]:
    failed = WorkItem.objects.filter(job=job, state=WorkItem.State.FAILED).order_by()
    grouped = failed.values_list("reason").annotate(n=Count("pk"), first=Min("pk")).order_by("-n", "first")
    reasons = {reason: count for reason, count, _ in grouped[:REASONS_SHOWN]}
    numbered = failed.filter(reason__in=reasons).annotate(
        number=Window(RowNumber(), partition_by=F("reason"), order_by=F("pk").asc())
    )
    items = list(numbered.filter(number__lte=EXAMPLES).order_by("pk"))
    examples: dict[str, list[About]] = defaultdict(list)
    for item, about in zip(items, _about(items), strict=True):
        examples[item.reason].append(about)
    return tuple(Failure(reason, count, tuple(examples[reason])) for reason, count in reasons.items())


def _about(items: Sequence[WorkItem]) -> list[About]:
    sentences = _payload_ids(items, "sentence")
    answer_of = dict(Sentence.objects.filter(pk__in=sentences).values_list("pk", "answer"))
    answers = [*_payload_ids(items, "answer"), *answer_of.values()]
    sources = AnswerProvenance.objects.filter(pk__in=answers).select_related("run", "topic").in_bulk()
    topics = Topic.objects.in_bulk(_payload_ids(items, "topic"))
    abouts = []
    for item in items:
        answer = item.payload.get("answer") or answer_of.get(item.payload.get("sentence", 0))
        source = sources.get(answer or 0)
        topic = source.topic if source else topics.get(item.payload.get("topic", 0))
        abouts.append(About(item.pk, item.key, topic, source.run if source else None))
    return abouts


def _payload_ids(items: Iterable[WorkItem], key: str) -> list[int]:
    return [item.payload[key] for item in items if item.payload.get(key)]


def paid_for(llm: LlmJob, *, uncounted: bool) -> Decimal | None:
    """Cost of all replies so far, by the price that the job was announced with; None where nobody knows it."""
    price = announced_price(llm)
    return price.of(llm.prompt_tokens, llm.completion_tokens) if price and not uncounted else None


def priced_without_counts(jobs: Iterable[LlmJob]) -> set[int]:
    """Return those of the jobs with a price that paid for a reply without its number of tokens."""
    priced = [llm.pk for llm in jobs if announced_price(llm)]
    own = _own_q(F("uses__item__job__made_at"))
    calls = Call.objects.filter(own, without_counts_q(), uses__item__job__in=priced)
    return set(calls.values_list("uses__item__job", flat=True).distinct())


def _own_q(job_made_at: datetime | F) -> Q:
    # A call that another job began, and that was answered in this one, is this one's to pay.
    return Q(made_at__gte=job_made_at) | Q(ended_at__gte=job_made_at)


def _calls(llm: LlmJob) -> Calls:
    job = llm.job
    calls = Call.objects.filter(pk__in=CallUse.objects.filter(item__job=job).order_by().values("call"))
    fresh = _own_q(job.made_at)
    sums = calls.aggregate(
        all=Count("pk"),
        reused=Count("pk", filter=~fresh),
        uncounted=Count("pk", filter=fresh & without_counts_q()),
    )
    models = calls.exclude(model_answered="").order_by("model_answered")
    attempts = Attempt.objects.filter(call__in=calls.filter(fresh)).order_by().values_list("error")
    by_error = {error or "answered": count for error, count in attempts.annotate(n=Count("pk")).order_by("-n")}
    return Calls(
        all=sums["all"],
        reused=sums["reused"],
        uncounted=sums["uncounted"],
        models=tuple(models.values_list("model_answered", flat=True).distinct()),
        attempts=tuple(by_error.items()),
    )


@dataclass(slots=True)
class Replies:
    """Replies behind the ended items. Each number is of questions, re-asks not counted as such.

    `failed`: without a usable reply in the end. `refused`: the endpoint would not answer because of the prompt.
    `shortened`: with the best paragraphs of a passage in place of it. `dropped`: the quote is not in the passage.
    """

    questions: int = 0
    reasked: int = 0
    split: int = 0
    failed: int = 0
    refused: int = 0
    shortened: int = 0
    dropped: int = 0

    @property
    def shares(self) -> list[tuple[str, int, float | None]]:
        counts = {
            "asked again": self.reasked,
            "split in two": self.split,
            "refused": self.refused,
            "failed": self.failed,
            "asked of a shortened passage": self.shortened,
            "answered with a quote that is not in the passage": self.dropped,
        }
        return [
            (outcome, count, count / self.questions if self.questions else None)
            for outcome, count in counts.items()
        ]


@dataclass(slots=True)
class MoneySpent:
    """Cost of jobs: money by currency, and how many have no known price, or a reply without its number of tokens."""

    jobs: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    costs: dict[str, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    tables: set[str] = field(default_factory=set)
    unpriced: int = 0
    uncounted: int = 0

    def add(self, llm: LlmJob, *, uncounted: bool) -> None:
        self.jobs += 1
        self.prompt_tokens += llm.prompt_tokens
        self.completion_tokens += llm.completion_tokens
        paid = paid_for(llm, uncounted=uncounted)
        if paid is not None:
            self.costs[llm.currency] += paid
            self.tables.add(llm.price_table)
        elif uncounted:
            self.uncounted += 1
        else:
            self.unpriced += 1

    @property
    def sorted_costs(self) -> list[tuple[str, Decimal]]:
        return sorted(self.costs.items())


def judges_at_work(viewer: User, campaign: Campaign) -> QuerySet[Judge]:
    jobs = LlmJob.objects.filter(campaign__in=within(viewer, campaign))
    return Judge.objects.filter(pk__in=jobs.values("judge"), aside=False)


def replies_by_judge(viewer: User, campaign: Campaign) -> dict[int, Replies]:
    uses = CallUse.objects.filter(item__job__llm__campaign__in=within(viewer, campaign)).order_by()
    unwanted = Attempt.objects.filter(call=OuterRef("call"), error="bad_request")
    given_up = Q(call__state=Call.State.FAILED) & Q(Exists(unwanted))
    refused = Q(call__finish_reason__in=REFUSED_BY) | given_up
    rows = uses.values_list("item__job__llm__judge").annotate(
        questions=Count("pk", filter=~Q(part__contains=RE_ASK)),
        reasked=Count("pk", filter=Q(part__endswith=f"{RE_ASK}1")),
        refused=Count("pk", filter=refused),
    )
    replies = {
        judge: Replies(questions=questions, reasked=reasked, refused=refusals)
        for judge, questions, reasked, refusals in rows
    }
    # Read here, because Django cannot search lists in JSON on SQLite.
    noted = uses.exclude(notes=[]).values_list("item__job__llm__judge", "notes")
    for judge, notes in noted.iterator():
        kinds = {note.partition(":")[0] for note in notes}
        replies[judge].split += "split" in kinds
        replies[judge].failed += "failed" in kinds
        replies[judge].shortened += "shortened" in kinds
        replies[judge].dropped += "dropped" in kinds
    return replies


def spending_by_judge(viewer: User, campaign: Campaign) -> dict[int, MoneySpent]:
    spending: dict[int, MoneySpent] = defaultdict(MoneySpent)
    jobs = list(LlmJob.objects.filter(campaign__in=within(viewer, campaign)))
    uncounted = priced_without_counts(jobs)
    for llm in jobs:
        spending[llm.judge_id].add(llm, uncounted=llm.pk in uncounted)
    return spending


SHOWN = 50
"""The newest are shown: whoever has not read fifty looks at the list of jobs."""


@dataclass(frozen=True, slots=True)
class ShownNotice:
    notice: Notice
    progress: JobProgress


def unread_for(viewer: User, campaign: Campaign) -> QuerySet[Notice]:
    unread = Notice.objects.filter(job__llm__campaign__in=within(viewer, campaign), read_at=None)
    return unread.select_related("job__llm__judge", "job__made_by").order_by("-pk")


def shown_notices(viewer: User, campaign: Campaign) -> list[ShownNotice]:
    notices = list(unread_for(viewer, campaign)[:SHOWN])
    progress = queue.progress_by_job({notice.job_id for notice in notices})
    return [ShownNotice(notice, progress[notice.job_id]) for notice in notices]


def mark_read(viewer: User, campaign: Campaign, pk: int) -> None:
    """Note that an organizer has read a notice; again changes nothing. Raises `Notice.DoesNotExist`."""
    notice = Notice.objects.filter(job__llm__campaign__in=within(viewer, campaign)).get(pk=pk)
    Notice.objects.filter(pk=notice.pk, read_at=None).update(read_at=timezone.now())


def mark_all_read(viewer: User, campaign: Campaign, newest: int) -> int:
    unread = list(unread_for(viewer, campaign).filter(pk__lte=newest).values_list("pk", flat=True))
    return Notice.objects.filter(pk__in=unread).update(read_at=timezone.now())
