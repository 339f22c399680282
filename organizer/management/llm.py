"""Shared parts of the commands that start LLM jobs: options, dry run, waiting, exit codes."""

import sys
import time
from argparse import ArgumentTypeError
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from threading import Event, Thread
from typing import Any, ClassVar

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from evaluation.errors import Refused
from evaluation.management.base import AssayCommand, add_campaign, the_campaign
from jobs import queue
from jobs.models import Job, WorkItem
from jobs.queue import JobProgress
from jobs.worker import run_until
from llmjobs.budget import Budget, forecast_rows
from llmjobs.job_plan import JobPlan
from llmjobs.job_service import ExpectedCost, JobOrder, JobRequest, Work, estimate, judge_for, start
from web.text import plural

LOOK_EVERY = 0.5


def wait_for(job: Job, tell: Callable[[JobProgress, str], None]) -> JobProgress:
    """Wait until a job ends, telling progress and why nothing moves; return how it ended.

    Without a live worker this process works by itself, in a thread of its own.
    """
    stopping = Event()
    helper = None
    try:
        while True:
            job.refresh_from_db()
            progress = queue.progress_of(job)
            tell(progress, job.waiting_for if job.state == Job.State.RUNNING else "")
            if job.state != Job.State.RUNNING:  # a paused one waits for somebody who is not here
                return progress
            # Workers come and die while this waits, so it looks again each time.
            if not queue.live_workers() and (helper is None or not helper.is_alive()):
                helper = Thread(target=run_until, args=(stopping, job.kind), daemon=True)
                helper.start()
            time.sleep(LOOK_EVERY)
    finally:
        stopping.set()
        if helper is not None:
            helper.join()


def stopped(job: Job) -> str:
    """Return why a job does no more, in words; '' where it did all."""
    progress = queue.progress_of(job)
    match job.state:
        case Job.State.PAUSED:
            left = f"{progress.left:,} {plural(progress.left, 'item is', 'items are')} left"
            return f"Job {job.pk} is paused: {job.waiting_for} {left}."
        case Job.State.CANCELLED:
            items = f"{progress.cancelled:,} {plural(progress.cancelled, 'item')}"
            return f"Job {job.pk} was cancelled: {items} will not be done."
    return ""


RUNS = {"--runs": {"nargs": "+", "default": [], "metavar": "RUN", "help": "only these runs"}}
# 1 and 2 are every command's: refused, and used wrongly.
EXIT_FAILED_LABELS = 3
EXIT_STOPPED = 4
PRIORITIES = range(-100, 101)
REASONS_SHOWN = 5


def _amount(text: str) -> Decimal:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("nan")
    # NaN and infinity are decimals too, and no cost is above them.
    if not amount.is_finite():
        raise ArgumentTypeError("an amount of money is a number such as 12.50")
    return amount


def _order(work: Work, request: JobRequest, options: dict[str, Any]) -> JobOrder:
    """Order as the jobs page has it."""
    values = {name: options[name] for name in ("qrels", "nuggets", "source", "set", "orders") if options.get(name)}
    return JobOrder(work, **values, topics=request.topics, runs=request.runs)


class LlmCommand(AssayCommand):
    """A command that plans an LLM job and starts it, unless it is a dry run."""

    work: ClassVar[Work | None] = None
    title = ""
    audited = "job.start"
    own_options: ClassVar[dict[str, dict[str, Any]]] = {}

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        parser.add_argument(
            "--judge", default="", metavar="NAME", help="an LLM judge; the endpoint's own if unsaid"
        )
        parser.add_argument("--topics", nargs="+", default=[], metavar="TOPIC", help="only these topics")
        parser.add_argument("--max-calls", type=int, metavar="N", help="pause when so many requests were sent")
        meaning = "pause when so many tokens of prompts and replies were paid"
        parser.add_argument("--max-tokens", type=int, metavar="N", help=meaning)
        meaning = "pause when this was paid, in the currency of the price table"
        parser.add_argument("--max-cost", type=_amount, metavar="AMOUNT", help=meaning)
        meaning = "jobs of a higher priority come first; 0 if unsaid"
        parser.add_argument("--priority", type=int, default=0, choices=PRIORITIES, metavar="N", help=meaning)
        parser.add_argument("--dry-run", action="store_true", help="say what it would cost, and do nothing")
        meaning = "wait for the end; exit 3 if labels failed, 4 if paused or cancelled"
        parser.add_argument("--wait", action="store_true", help=meaning)
        for name, option in self.own_options.items():
            parser.add_argument(name, **option)

    def act(self, options: dict[str, Any]) -> None:
        request = self.request_of(options)
        plan = self.plan(request, options)
        if options["dry_run"]:
            self.show(estimate(plan, request.judge), request)
            return
        self.name_blocked(plan)
        if not plan.items:
            self.say(f"Nothing to do: {plan.judged:,} done already.")
            self.finish(request, options)
            return
        work = self.work_of(options)
        title = work.job_title if work else self.title.format(**options)
        job = start(request, title, plan, order=_order(work, request, options).payload if work else None)
        retried = f" ({plan.retried:,} again, for what failed)" if plan.retried else ""
        self.say(
            f"Job {job.pk}, {len(plan.items):,} items{retried}, {plan.judged:,} done already, by {request.judge.name}."
        )
        if options["wait"]:
            self.wait(job, request, options)

    def work_of(self, options: dict[str, Any]) -> Work | None:
        """Work as the jobs page has it; None for a second look, whose job cannot be given to another judge."""
        return self.work

    def request_of(self, options: dict[str, Any]) -> JobRequest:
        return JobRequest(
            campaign=the_campaign(options["campaign"]),
            judge=judge_for(options["judge"]),
            topics=tuple(options["topics"]),
            runs=tuple(options.get("runs", ())),
            budget=Budget(options["max_calls"], options["max_tokens"], options["max_cost"]),
            priority=options["priority"],
        )

    def plan(self, request: JobRequest, options: dict[str, Any]) -> JobPlan:
        if self.work is None:
            raise CommandError(f"{type(self).__module__} plans nothing")
        return self.work.plan(request, _order(self.work, request, options))

    def finish(self, request: JobRequest, options: dict[str, Any]) -> None:
        """Print the results to stdout."""

    def show(self, expected: ExpectedCost, request: JobRequest) -> None:
        self.stdout.write(f"judge           {request.judge.name}")
        for name in ("items", "again", "calls", "reused", "tokens", "judged", "without_text"):
            self.stdout.write(f"{name.replace('_', ' '):<16}{getattr(expected, name):,}")
        for name, value in forecast_rows(expected.forecast):
            self.stdout.write(f"{name:<16}{value}")
        for topic, reason in expected.blocked.items():
            self.stdout.write(f"blocked         {topic}: {reason}")

    def name_blocked(self, plan: JobPlan) -> None:
        """Name the topics that cannot be judged, and the number of skipped segments."""
        for topic, reason in plan.blocked.items():
            self.say(f"Blocked: {topic}: {reason}.")
        if plan.without_text:
            self.say(f"Skipped: {plan.without_text:,} segments without text.")

    def wait(self, job: Job, request: JobRequest, options: dict[str, Any]) -> None:
        """Show progress until the job ends; exits with 3 where labels failed, with 4 where it was stopped."""
        # `None`: no bar where stderr is no terminal, as under cron.
        with tqdm(total=0, unit="item", disable=None) as bar:
            progress = wait_for(job, lambda now, reason: self.tell(bar, now, reason))
        try:
            self.finish(request, options)
        except Refused as refusal:  # where every item failed there is nothing to show
            self.say(refusal.command_message)
        if progress.failed:
            self.name_failed(job, progress)
        job.refresh_from_db()
        if words := stopped(job):
            self.say(words)
            sys.exit(EXIT_STOPPED)
        if progress.failed:
            sys.exit(EXIT_FAILED_LABELS)

    def name_failed(self, job: Job, progress: JobProgress) -> None:
        self.say(f"{progress.failed:,} of {progress.total:,} items failed:")
        for item in job.items.filter(state=WorkItem.State.FAILED).order_by("pk")[:REASONS_SHOWN]:
            self.say(f"  {item.key}: {item.reason}")

    def tell(self, bar: "tqdm[Any]", progress: JobProgress, reason: str) -> None:
        """Move the bar; print a reason for waiting only when it changes."""
        bar.total, bar.n = progress.total, progress.ended
        bar.set_postfix(failed=progress.failed, refresh=True)
        if reason and reason != getattr(self, "waiting_reason", ""):
            # stdout is for the results, which somebody may pipe.
            bar.write(f"Waiting: {reason}", file=sys.stderr)
        self.waiting_reason = reason
