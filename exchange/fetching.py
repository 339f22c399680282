"""Fetching texts of passages that have none, from a source of `TEXT_SOURCES`: a job with an item for each text.

A text that came is kept with its item until it is loaded, so that a worker which dies between the two costs no second
request. A batch is loaded as one import of passages, in the transaction that ends its items.
"""

import hashlib
import random
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from itertools import groupby
from threading import Event as Signal

import httpx2
import structlog
from django.db import transaction
from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet
from django.utils import timezone

from accounts.models import User
from evaluation.errors import Refused
from evaluation.formats.source import Source
from evaluation.imports.base import written_with
from evaluation.imports.segments import import_segments
from evaluation.models import Campaign, Citation, Qrel
from exchange.background import UNEXPECTED
from exchange.text_sources import NOT_THERE, Outcome, TextReply, ask, open_source, source_named
from jobs import lanes, queue
from jobs.models import Job, WorkItem
from jobs.queue import JobProgress, NewItem
from llmjobs.client import back_off
from web.outbound import TextSource

JOB_KIND = "texts"
DOCIDS_A_BATCH, MOST_BYTES_A_BATCH = 50, 2**25
MOST_TRIES = 5
"""Of a text whose request fails. Rest that a source asks for by `Retry-After` is no try."""

LONGEST_REST = 86_400.0
State = WorkItem.State
log = structlog.stdlib.get_logger(__name__)


def register() -> None:
    lanes.register(JOB_KIND, run)


class Wanted(StrEnum):
    """Passages whose texts are wanted: those that answers cite, those with a grade, or both and all others."""

    CITED = "cited"
    QRELS = "qrels"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class FetchPlan:
    """Docids to ask a source for. `not_there`: it said already that it has none; `under_way`: another job fetches."""

    docids: tuple[str, ...]
    not_there: int
    under_way: int


def fetches_of(campaign: Campaign) -> QuerySet[Job]:
    return Job.objects.filter(kind=JOB_KIND, options__campaign=campaign.pk)


def plan_fetch(campaign: Campaign, source: TextSource, wanted: Wanted) -> FetchPlan:
    missing = campaign.segments.filter(has_text=False)
    named_by = {Wanted.CITED: Citation, Wanted.QRELS: Qrel}.get(wanted)
    if named_by:
        missing = missing.filter(Exists(named_by._default_manager.filter(segment=OuterRef("pk"))))
    docids = list(missing.order_by("pk").values_list("docid", flat=True))
    items = WorkItem.objects.filter(job__in=fetches_of(campaign))
    asked = items.filter(state=State.FAILED, reason=NOT_THERE, job__options__source=source.name)
    not_there = set(asked.values_list("key", flat=True))
    under_way = set(items.filter(state__in=(State.QUEUED, State.LEASED)).values_list("key", flat=True))
    return FetchPlan(
        docids=tuple(docid for docid in docids if docid not in not_there | under_way),
        not_there=sum(docid in not_there for docid in docids),
        under_way=sum(docid in under_way for docid in docids),
    )


def start_fetch(*, campaign: Campaign, source: TextSource, wanted: Wanted, actor: User | None) -> Job:
    """Queue what a source may have. Raises `Refused` where there is nothing to ask it for."""
    with transaction.atomic():
        # Two that start at once would ask for the same texts.
        locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
        plan = plan_fetch(locked, source, wanted)
        if not plan.docids:
            raise Refused("nothing_missing", f"There is no text to ask {source.name} for.")
        options = {"campaign": campaign.pk, "source": source.name} | queue.request_context()
        title = f"Texts of {campaign.slug} from {source.name}"
        job = Job.objects.create(kind=JOB_KIND, title=title[:200], made_by=actor, options=options)
        queue.add_items(job, (NewItem(docid, "text", {}) for docid in plan.docids))
    return job


@dataclass(frozen=True, slots=True)
class FetchFailure:
    reason: str
    count: int
    example: str


@dataclass(frozen=True, slots=True)
class FetchRow:
    """A job of fetching as pages show it."""

    job: Job
    progress: JobProgress
    failures: tuple[FetchFailure, ...]

    @property
    def acts(self) -> tuple[str, ...]:
        if self.job.has_ended:
            return ("retry",) if self.progress.failed else ()
        return "pause" if self.job.state == Job.State.RUNNING else "resume", "cancel"


def fetch_rows(jobs: Iterable[Job]) -> list[FetchRow]:
    there = list(jobs)
    progress = queue.progress_by_job(job.pk for job in there)
    failed = WorkItem.objects.filter(job__in=there, state=State.FAILED).order_by()
    counts = list(
        failed.values_list("job", "reason")
        .annotate(count=Count("pk"), example=Min("key"))
        .order_by("-count", "reason")
    )
    return [
        FetchRow(job, progress[job.pk], tuple(FetchFailure(*rest) for pk, *rest in counts if pk == job.pk))
        for job in there
    ]


def run(worker: str, stopping: Signal) -> None:
    holder = queue.holder_in(worker, JOB_KIND)
    try:
        while not stopping.is_set() and (claimed := queue.claim(holder, DOCIDS_A_BATCH, kind=JOB_KIND)):
            for _, items in groupby(sorted(claimed, key=lambda item: item.job_id), key=lambda item: item.job_id):
                _do(worker, list(items), stopping)
    finally:
        queue.hand_back(holder)


def _do(worker: str, items: list[WorkItem], stopping: Signal) -> None:
    job = items[0].job
    try:
        _carry_on(worker, job, items, stopping)
    except Exception:
        # Handed back they would be due at once, and so for ever.
        log.exception("texts not fetched", job=job.pk)
        queue.pause(job.pk, UNEXPECTED)
        queue.postpone(items, 0)


def _carry_on(worker: str, job: Job, items: list[WorkItem], stopping: Signal) -> None:
    campaign = Campaign.objects.get(pk=job.options["campaign"])
    try:
        source = source_named(job.options["source"])
    except Refused as refusal:
        queue.pause(job.pk, refusal.message)
        queue.postpone(items, 0)
        return
    docids = [item.key for item in items]
    missing = set(campaign.segments.filter(has_text=False, docid__in=docids).values_list("docid", flat=True))
    # Others have been loaded since they were ordered.
    _end(job, [(item, "") for item in items if item.key not in missing])
    textless = [item for item in items if item.key in missing]
    batch = _Batch(worker, job, source, kept=[item for item in textless if "line" in item.payload])
    batch.fetch([item for item in textless if "line" not in item.payload], stopping)
    _load(job, campaign, batch.kept)


@dataclass(slots=True)
class _Batch:
    """Items of one job in this worker's hands. `kept`: their texts came, and wait to be loaded."""

    worker: str
    job: Job
    source: TextSource
    kept: list[WorkItem] = field(default_factory=list)

    def fetch(self, items: list[WorkItem], stopping: Signal) -> None:
        left, at_once = items, self.source.at_once
        with open_source(self.source) as client, ThreadPoolExecutor(at_once) as threads:
            while left and self._may_go_on(stopping):
                asked, left = left[:at_once], left[at_once:]
                rest = self._settle(asked, self._ask(client, threads, asked))
                if rest is not None:
                    self._rest(rest)
                    queue.postpone(left, rest)
                    return
                queue.wait_for([self.job.pk], "")
        queue.postpone(left, 0)

    def _may_go_on(self, stopping: Signal) -> bool:
        if stopping.is_set() or sum(len(item.payload["line"]) for item in self.kept) > MOST_BYTES_A_BATCH:
            return False
        return Job.objects.filter(pk=self.job.pk, state=Job.State.RUNNING).exists()

    def _ask(self, client: httpx2.Client, threads: ThreadPoolExecutor, items: list[WorkItem]) -> list[TextReply]:
        futures = [threads.submit(ask, client, self.source, item.key) for item in items]
        # A source may take longer than a lease.
        while wait(futures, timeout=queue.RENEW_EVERY).not_done:
            queue.renew(self.worker)
        return [future.result() for future in futures]

    def _settle(self, items: list[WorkItem], replies: list[TextReply]) -> float | None:
        """Keep texts, end or postpone the other items; return for how long the job must rest, None for not at all."""
        failed: list[tuple[WorkItem, str]] = []
        rests: list[float] = []
        for item, reply in zip(items, replies, strict=True):
            match reply.outcome:
                case Outcome.TEXT:
                    item.payload["line"] = reply.line
                    self.kept += [item] if _keep(item) else []
                case Outcome.NONE:
                    failed.append((item, reply.reason))
                case Outcome.AGAIN if _tries(item) + 1 >= MOST_TRIES:
                    failed.append((item, reply.reason))
                case Outcome.CLOSED:
                    rests.append(self._pause(item, reply))
                case Outcome.LATER if reply.wait is None and _tries(item) + 1 >= MOST_TRIES:
                    rests.append(self._pause(item, reply))
                case _:
                    seconds = _postpone(item, reply.wait)
                    rests += [seconds] if reply.outcome is Outcome.LATER else []
        _end(self.job, failed)
        return max(rests, default=None)

    def _pause(self, item: WorkItem, reply: TextReply) -> float:
        item.payload = {}
        _keep(item)
        queue.pause(self.job.pk, f"{self.source.name}: {reply.reason}")
        queue.postpone([item], 0)
        return 0.0

    def _rest(self, seconds: float) -> None:
        """Have no worker ask for any text of the job before."""
        until = timezone.now() + timedelta(seconds=seconds)
        earlier = Q(not_before=None) | Q(not_before__lt=until)
        self.job.items.filter(earlier, state=State.QUEUED).update(not_before=until)
        queue.wait_for([self.job.pk], f"{self.source.name} is asked again in {seconds:.0f} s.")


def _tries(item: WorkItem) -> int:
    return int(item.payload.get("tries", 0))


def _postpone(item: WorkItem, wait: float | None) -> float:
    """Have an item tried again; return after how many seconds. Where the source says when, it is no try."""
    tries = _tries(item) + (wait is None)
    item.payload["tries"] = tries
    seconds = back_off(tries, None, random.random) if wait is None else min(wait, LONGEST_REST)
    _keep(item)
    queue.postpone([item], seconds)
    return seconds


def _keep(item: WorkItem) -> bool:
    """Store what is known of an item; False where another worker has it."""
    held = WorkItem.objects.filter(pk=item.pk, attempt=item.attempt, state=State.LEASED)
    return bool(held.update(payload=item.payload))


def _load(job: Job, campaign: Campaign, items: list[WorkItem]) -> None:
    if not items:
        return
    lines = [item.payload["line"] for item in items]
    sha256 = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    source = Source(job.options["source"], sha256, tuple(enumerate(lines, 1)))
    try:
        with written_with(lambda receipt: _end_within(job, [(item, "") for item in items])):
            import_segments(campaign=campaign, sources=[source], actor=job.made_by)
    except Refused as refusal:
        # Somebody loads one of them in this moment: the next look finds it there.
        _end(job, [(item, refusal.message) for item in items if _tries(item) + 1 >= MOST_TRIES])
        for item in items:
            _postpone(item, None)


def _end(job: Job, outcomes: Sequence[tuple[WorkItem, str]]) -> None:
    if outcomes:
        with transaction.atomic():
            _end_within(job, outcomes)


def _end_within(job: Job, outcomes: Sequence[tuple[WorkItem, str]]) -> None:
    queue.lock_jobs([job.pk])
    # Loaded texts are with their passages; what failed is tried anew from nothing.
    WorkItem.objects.filter(pk__in=queue.end_all(outcomes)).update(payload={})
    queue.finish_jobs([job.pk], notify=False)
