"""One thread that decides and writes, and a pool of threads that wait for replies.

Items are claimed, their steps asked what they want to know, and calls looked up before they are sent: what was answered
once is never asked again. Everything that happened since the last look is written in one short transaction, and no
database connection is held while a call is under way.
"""

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event as Signal

import structlog
from django.conf import settings
from django.db import close_old_connections, transaction
from django.db.models import Max

from evaluation.errors import Refused
from jobs import lanes, queue
from jobs.models import Job, WorkItem
from llmjobs import budget
from llmjobs.client import CallRefusal, Completion, Endpoint
from llmjobs.endpoints import endpoint_of
from llmjobs.engine import calls as engine_calls
from llmjobs.engine.calls import NewCall
from llmjobs.engine.limiter import Limiter
from llmjobs.engine.outcomes import DATABASE_TROUBLE, SetAside, begin_items, end_items, set_aside
from llmjobs.engine.replicates import kept_calls, wanted_by
from llmjobs.engine.send import Sender, Sending, probe_call
from llmjobs.kinds import ItemOutcome, Stepping
from llmjobs.models import Attempt, Call, LlmJob
from llmjobs.steps.asking import Ask, LlmReply


@dataclass(slots=True)
class Running:
    """One claimed item: its step, the calls it has used, and the hashes of those that earlier tries got right."""

    item: WorkItem
    llm: LlmJob
    endpoint: Endpoint
    step: Stepping
    kept: frozenset[str]
    uses: list[tuple[str, Call]] = field(default_factory=list)


@dataclass(slots=True)
class Result:
    """Result of one sending; `final` where it is not tried again. Written before anything follows from it."""

    sending: Sending
    attempt: Attempt
    reply: Completion | CallRefusal
    final: bool


@dataclass(slots=True)
class Round:
    """Rows that one look has to write, and calls that go out after the commit."""

    ended: list[ItemOutcome] = field(default_factory=list)
    asks: list[tuple[Running, Ask]] = field(default_factory=list)
    out: list[Sending] = field(default_factory=list)
    stopped: dict[int, str] = field(default_factory=dict)


def note_sending(out: Sequence[Sending]) -> None:
    fresh = [one.call.pk for one in out if one.attempt is None]
    last = dict(Attempt.objects.filter(call__in=fresh).values_list("call").annotate(n=Max("number")).order_by())
    numbers = {one.call.pk: (one.attempt.number if one.attempt else last.get(one.call.pk, 0)) + 1 for one in out}
    attempts = engine_calls.note_sending([one.call for one in out], numbers) if out else []
    for one, attempt in zip(out, attempts, strict=True):
        one.attempt = attempt


def attempt_of(sending: Sending) -> Attempt:
    if sending.attempt is None:
        raise RuntimeError("a call was sent without being written first")
    return sending.attempt


def last_error(call: Call) -> str:
    attempt = call.attempts.last()
    return f"{attempt.error}: {attempt.message}" if attempt else "given up"


JOB_KIND = "llm"
GROUP_SECONDS = 0.1
CLAIM = 64
ENDED = (Job.State.CANCELLED, Job.State.DONE)
# The database may be away for a while; every trouble costs a longer pause, and none of them an answer.
MOST_TROUBLES = 20
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
log = logging.getLogger(__name__)
events = structlog.stdlib.get_logger(__name__)


def offer() -> None:
    lanes.register(JOB_KIND, run)


def run(worker: str, stopping: Signal) -> None:
    """Work until nothing is due or the worker stops. Replies under way are still awaited and stored."""
    engine = Engine(worker, settings.LLM_CONCURRENCY)
    try:
        engine.work(stopping)
    finally:
        engine.close()


class Engine:
    """The state of one worker's work."""

    def __init__(self, worker: str, concurrency: int) -> None:
        self.worker = worker
        self.sender = Sender(concurrency)
        self.limiter = Limiter(worker)
        self.running: dict[int, Running] = {}
        self.waiting: dict[str, list[tuple[Running, Ask]]] = {}
        self.llm_jobs: dict[int, LlmJob] = {}
        self.endpoints: dict[int, Endpoint | str] = {}
        self.open: set[int] = set()
        self.unwritten: list[Result] = []
        self.reasons: dict[int, str] = {}
        self.renewed = float("-inf")
        self.troubles = 0

    def work(self, stopping: Signal) -> None:
        while self._looked(stopping):
            close_old_connections()

    def close(self) -> None:
        self.sender.close()
        self.limiter.close()
        engine_calls.release(self.open, self.worker)
        queue.hand_back(self.worker)

    def _looked(self, stopping: Signal) -> bool:
        try:
            if self.troubles:
                self._start_over()
            more = self._look(stopping.is_set())
        except Exception as error:
            self.troubles += 1
            if self.troubles > MOST_TROUBLES:
                raise
            log.warning("LLM jobs start over: %s", error, exc_info=not isinstance(error, DATABASE_TROUBLE))
            time.sleep(min(LONGEST_PAUSE, FIRST_PAUSE * 2**self.troubles))
            return True
        self.troubles = 0
        return more

    def _start_over(self) -> None:
        """After trouble nobody knows how far the steps are: write what came in, and give all items back.

        What is under way stays so: an item that asks for it again waits for it.
        """
        self.running.clear()
        self.waiting.clear()
        self.reasons.clear()
        self.sender.forget_unsent()
        engine_calls.release(self.open - self.sender.out.keys(), self.worker)
        self.open = set(self.sender.out)
        with transaction.atomic():
            self._write_results()
        self.unwritten.clear()
        queue.hand_back(self.worker)

    def _look(self, stopping: bool) -> bool:
        self._renew()
        if stopping:
            self.sender.forget_unsent()
        claimed = [] if stopping else self._claim()
        self._collect(0.0 if claimed else GROUP_SECONDS)
        self._round(claimed, stopping)
        self.limiter.keep_up(self.sender.under_way_at())
        return bool(self.sender.under_way or (self.running and not stopping))

    def _collect(self, timeout: float) -> None:
        for sending, reply in self.sender.collect(timeout):
            final = self.sender.settled(sending, reply)
            self.limiter.book_tokens(sending, reply)
            self.unwritten.append(Result(sending, attempt_of(sending), reply, final))

    def _renew(self) -> None:
        if time.monotonic() - self.renewed > queue.RENEW_EVERY:
            queue.renew(self.worker)
            self._drop_stopped()
            self._know_limits()
            self.renewed = time.monotonic()

    def _drop_stopped(self) -> None:
        """Let go of items of jobs that do not run any more, and of unsent calls for which only they wait.

        Where a job is only paused, an item whose call is under way is kept: its reply is paid.
        """
        jobs = {one.item.job_id for one in self.running.values()}
        found = list(Job.objects.filter(pk__in=jobs).values_list("pk", "state", "priority"))
        states = {pk: state for pk, state, _ in found}
        self.sender.priorities |= {pk: priority for pk, _, priority in found}
        paused = [one for one in self.running.values() if states[one.item.job_id] == Job.State.PAUSED]
        idle = self._without_call_under_way(paused)
        queue.postpone([one.item for one in idle], seconds=0)
        ended = [one for one in self.running.values() if states[one.item.job_id] in ENDED]
        for one in [*idle, *ended]:
            del self.running[one.item.pk]
        dropped = self.sender.forget(lambda one: not self._is_awaited(one.call)) if idle or ended else []
        if dropped:
            for sending in dropped:
                self.waiting.pop(sending.call.sha256, None)
            engine_calls.release([one.call.pk for one in dropped], self.worker)
            self.open -= {one.call.pk for one in dropped}

    def _without_call_under_way(self, some: Iterable[Running]) -> list[Running]:
        unsent = {one.call.sha256 for one in self.sender.unsent()}
        busy = {
            running.item.pk
            for sha256, waiting in self.waiting.items()
            if sha256 not in unsent
            for running, _ in waiting
        }
        return [one for one in some if one.item.pk not in busy]

    def _is_awaited(self, call: Call) -> bool:
        return any(self._is_current(running) for running, _ in self.waiting.get(call.sha256, []))

    def _is_current(self, running: Running) -> bool:
        return self.running.get(running.item.pk) is running

    def _claim(self) -> list[WorkItem]:
        """Claim as many items as keep the threads busy.

        Those of an endpoint that is down, or of which enough wait for a limit, keep no others out.
        """
        most = max(CLAIM, 4 * self.sender.concurrency)
        waiting = self.sender.waiting_apart()
        stuck = {job for job in self.endpoints if self._why_down(job) or waiting[job] >= most // 2}
        moving = sum(one.item.job_id not in stuck for one in self.running.values())
        room = most - moving
        return queue.claim(self.worker, room, kind=JOB_KIND, besides=stuck) if room >= CLAIM // 2 else []

    def _round(self, claimed: list[WorkItem], stopping: bool) -> None:
        round_ = Round()
        with transaction.atomic():
            self._write_results()
            self._begin(claimed, round_)
            for one in self.unwritten:
                if one.final:
                    self._deliver(one.sending.call, round_)
            self._resolve(round_)
            if not stopping:
                self._ask_controls()
                self._choose(round_)
            note_sending(round_.out)
        self.unwritten.clear()
        for sending in round_.out:
            self.sender.submit(sending)
        if round_.ended:
            end_items(sorted(round_.ended, key=lambda one: one.item.pk))
        if round_.stopped:
            self._stop(round_.stopped)
        self._say_why_waiting()

    def _choose(self, round_: Round) -> None:
        due = self.sender.due(self.limiter.waiting())
        for one in due:
            one.job = self._payer(one)
        under_way = self.sender.under_way_at()
        chosen = budget.choose(due, lambda some: self.limiter.may_go(some, under_way))
        round_.out, round_.stopped = chosen.out, chosen.stopped
        self.sender.put_back(chosen.later)
        controls = self.sender.hold(chosen.held)
        engine_calls.release(controls, self.worker)
        self.open -= controls

    def _payer(self, sending: Sending) -> int:
        # Several jobs may wait for one call: the first of them pays.
        waiting = (
            one.item.job_id for one, _ in self.waiting.get(sending.call.sha256, []) if self._is_current(one)
        )
        return next(waiting, sending.job)

    def _stop(self, jobs: Mapping[int, str]) -> None:
        for job, used_up in sorted(jobs.items()):
            if used_up:
                queue.pause(job, used_up)
        self._drop_stopped()

    def _write_results(self) -> None:
        # Nothing follows from these rows yet, so that the round may be repeated after database trouble.
        answered = [
            (one.sending.call, one.attempt, one.reply)
            for one in self.unwritten
            if isinstance(one.reply, Completion)
        ]
        refused = [(one, one.reply) for one in self.unwritten if isinstance(one.reply, CallRefusal)]
        campaigns = {one.sending.call.pk: one.sending.campaign for one in self.unwritten}
        engine_calls.note_answers(answered, campaigns)
        budget.note_tokens([(one.sending.job, one.reply) for one in self.unwritten])
        engine_calls.note_refusals([(one.attempt, refusal) for one, refusal in refused])
        engine_calls.note_given_up(
            [(one.sending.call, refusal) for one, refusal in refused if one.final], campaigns
        )

    def _begin(self, claimed: list[WorkItem], round_: Round) -> None:
        self._know({item.job_id for item in claimed})
        by_kind: dict[str, list[WorkItem]] = {}
        kept = dict(zip((item.pk for item in claimed), kept_calls(claimed), strict=True))
        for item in claimed:
            by_kind.setdefault(item.kind, []).append(item)
        for kind, items in by_kind.items():
            for item, step in begin_items(kind, items, self.llm_jobs):
                llm, endpoint = self.llm_jobs[item.job_id], self.endpoints[item.job_id]
                if isinstance(step, SetAside) or isinstance(endpoint, str):
                    outcome = step if isinstance(step, SetAside) else SetAside(str(endpoint))
                    round_.ended.append(ItemOutcome(item, llm, outcome, ()))
                    continue
                running = self.running[item.pk] = Running(item, llm, endpoint, step, kept[item.pk])
                self._advance(running, None, round_)

    def _know(self, jobs: set[int]) -> None:
        new = jobs - self.llm_jobs.keys()
        for llm in LlmJob.objects.select_related("judge", "campaign", "job").filter(pk__in=new):
            self.llm_jobs[llm.pk] = llm
            events.info("job_taken_up", job=llm.pk, worker=self.worker, **llm.job.options)
            try:
                self.endpoints[llm.pk] = endpoint_of(llm.judge)
            except Refused as refusal:
                self.endpoints[llm.pk] = refusal.message
            self.sender.priorities[llm.pk] = llm.job.priority
        if new:
            self._know_limits()

    def _know_limits(self) -> None:
        # Read again from time to time: an administrator may change limits while jobs run.
        self.limiter.know(endpoint for endpoint in self.endpoints.values() if isinstance(endpoint, Endpoint))
        self.sender.apart = self.limiter.limits

    def _advance(self, running: Running, reply: LlmReply | None, round_: Round) -> None:
        if not self._is_current(running):
            return  # cancelled meanwhile, or begun again; the reply is kept all the same
        try:
            ask = next(running.step) if reply is None else running.step.send(reply)
        except StopIteration as stop:
            self._finish(running, stop.value, round_)
        except Exception as error:
            self._finish(running, set_aside(running.item, error), round_)
        else:
            round_.asks.append((running, ask))

    def _finish(self, running: Running, outcome: object, round_: Round) -> None:
        round_.ended.append(ItemOutcome(running.item, running.llm, outcome, tuple(running.uses)))
        del self.running[running.item.pk]

    def _deliver(self, call: Call, round_: Round) -> None:
        reply = LlmReply(call.reply) if call.state == Call.State.ANSWERED else LlmReply(None, last_error(call))
        self.open.discard(call.pk)
        for running, ask in self.waiting.pop(call.sha256, []):
            running.uses.append((ask.part, call))
            self._advance(running, reply, round_)

    def _resolve(self, round_: Round) -> None:
        # A replayed reply may lead to another ask, hence the loop.
        while round_.asks:
            asks, round_.asks = round_.asks, []
            wanted: dict[str, NewCall] = {}
            for running, ask in asks:
                try:
                    one = _wanted(running, ask)
                    sha256 = one.sha256
                except ValueError as error:  # text that cannot be sent
                    self._finish(running, set_aside(running.item, error), round_)
                    continue
                wanted[sha256] = one
                self.waiting.setdefault(sha256, []).append((running, ask))
            known = engine_calls.find_calls(wanted)
            new = [(sha256, one) for sha256, one in wanted.items() if sha256 not in known]
            known |= engine_calls.insert_calls(new, self.worker) if new else {}
            self._replay_or_send(known, wanted, round_)

    def _replay_or_send(self, known: dict[str, Call], wanted: dict[str, NewCall], round_: Round) -> None:
        for sha256, call in known.items():
            if call.pk in self.open:
                continue  # under way already: whoever asks now waits with the others
            if call.state != Call.State.SENT:
                self._deliver(call, round_)
            elif call.holder == self.worker or self._take_over(call):
                self.open.add(call.pk)
                llm = self.waiting[sha256][0][0].llm
                self.sender.ready.append(Sending(call, wanted[sha256], llm.campaign_id, llm.pk))

    def _ask_controls(self) -> None:
        # No item waits for a probe: if it is answered, the endpoint works and the items' calls are to blame.
        for waiting in self.sender.lacking_controls():
            wanted = probe_call(waiting.wanted)
            call = engine_calls.insert_calls([(wanted.sha256, wanted)], self.worker)[wanted.sha256]
            self.open.add(call.pk)
            self.sender.ready.append(Sending(call, wanted, waiting.campaign, waiting.job, control=True))

    def _take_over(self, call: Call) -> bool:
        """Take a call whose worker is gone; with a live worker the items come back later."""
        if not queue.is_alive(call.holder):
            abandoned = Call.objects.filter(pk=call.pk, holder=call.holder, state=Call.State.SENT)
            if abandoned.update(holder=self.worker):
                call.holder = self.worker
                return True
        waiting = [running for running, _ in self.waiting.pop(call.sha256) if self._is_current(running)]
        queue.postpone([running.item for running in waiting], seconds=2)
        for running in waiting:
            del self.running[running.item.pk]
        return False

    def _why_down(self, job: int) -> str:
        endpoint = self.endpoints[job]
        return (
            "" if isinstance(endpoint, str) else self.sender.why_waiting(endpoint, self.llm_jobs[job].judge.model)
        )

    def _why_waiting(self, job: int) -> str:
        endpoint = self.endpoints[job]
        held = "" if isinstance(endpoint, str) else self.limiter.why_waiting(endpoint.name)
        return self._why_down(job) or held

    def _say_why_waiting(self) -> None:
        # Only on a change, or after trouble, when nobody knows what the row holds.
        for job in {one.item.job_id for one in self.running.values()}:
            reason = self._why_waiting(job)
            if self.reasons.get(job) != reason:
                queue.wait_for([job], reason)
                self.reasons[job] = reason


def _wanted(running: Running, ask: Ask) -> NewCall:
    return wanted_by(running.item, ask, running.endpoint, running.llm.judge.model, running.kept)
