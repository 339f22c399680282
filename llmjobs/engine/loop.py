"""One thread that decides and writes, and a pool of threads that wait for replies.

A look claims items, starts their steps and finds each call that they ask for: a recorded call is replayed and never
paid again. All that happened since the last look is written in one short transaction. While a call is under way, no
database connection is held.
"""

import logging
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Event as Signal

import structlog
from django.conf import settings
from django.db import close_old_connections, transaction

from evaluation.errors import Refused
from jobs import queue
from jobs.models import Job, WorkItem
from llmjobs import budget
from llmjobs.apps import JOB_KIND
from llmjobs.budget import TokenBound
from llmjobs.client import CallRefusal, Completion, Endpoint, endpoint_at
from llmjobs.engine import calls as engine_calls
from llmjobs.engine.calls import NewCall, call_for, kept_calls
from llmjobs.engine.limits import Limiter
from llmjobs.engine.outcomes import DATABASE_TROUBLE, SetAside, begin_items, end_items, set_aside
from llmjobs.engine.send import Sender, Sending, probe_call
from llmjobs.kinds import ItemOutcome, Stepping
from llmjobs.models import Attempt, Call, LlmJob
from llmjobs.steps.asking import Ask, LlmReply

# Seconds for which a look waits for replies: the more come together, the fewer transactions they cost.
GROUP_SECONDS = 0.1
CLAIM = 64
ENDED = (Job.State.CANCELLED, Job.State.DONE)
# The database may be away for a while; every trouble costs a longer pause, and none of them an answer.
MOST_TROUBLES = 20
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
log = logging.getLogger(__name__)
events = structlog.stdlib.get_logger(__name__)


@dataclass(slots=True)
class Running:
    """One claimed item: its step, the calls it has used, and the hashes of usable calls of earlier tries."""

    item: WorkItem
    llm: LlmJob
    endpoint: Endpoint
    step: Stepping
    kept: frozenset[str]
    uses: list[tuple[str, Call]] = field(default_factory=list)


@dataclass(slots=True)
class Result:
    """Result of one sending; `final` where it is not tried again."""

    sending: Sending
    # Kept apart from the sending: a round that is rolled back may have given that another attempt.
    attempt: Attempt
    reply: Completion | CallRefusal
    final: bool


@dataclass(slots=True)
class Round:
    """Outcomes that one look has to write, and questions to look up."""

    ended: list[ItemOutcome] = field(default_factory=list)
    asks: list[tuple[Running, Ask]] = field(default_factory=list)


def run(worker: str, stopping: Signal) -> None:
    """Work until nothing is due or the worker stops. Replies under way are still awaited and stored."""
    engine = Engine(worker, settings.LLM_CONCURRENCY)
    try:
        engine.work(stopping)
    finally:
        engine.close()


class Engine:
    def __init__(self, worker: str, concurrency: int) -> None:
        self.worker = worker
        self.sender = Sender(concurrency)
        self.limiter = Limiter(worker)
        self.bounds = budget.TokenBounds()
        self.running: dict[int, Running] = {}
        # By hash: items of several jobs may wait for one call.
        self.waiting: dict[str, list[tuple[Running, Ask]]] = {}
        self.llm_jobs: dict[int, LlmJob] = {}
        # By judge: its endpoint, or the reason why its address is refused.
        self.endpoints: dict[int, Endpoint | str] = {}
        self.open: set[int] = set()
        self.unwritten: list[Result] = []
        self.reasons: dict[int, str] = {}
        self.renewed = float("-inf")
        self.troubles = 0

    def work(self, stopping: Signal) -> None:
        while self._look_or_start_over(stopping):
            close_old_connections()

    def close(self) -> None:
        self.sender.close()
        self.limiter.close()
        engine_calls.release(self.open, self.worker)
        queue.hand_back(self.worker)

    def _look_or_start_over(self, stopping: Signal) -> bool:
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
        """Write the replies that came in, and hand all items back: nobody knows how far their steps are."""
        # Calls under way stay so: an item that needs such a call again waits for it.
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
        if time.monotonic() - self.renewed > queue.RENEW_EVERY:
            queue.renew(self.worker)
            self._drop_stopped()
            self._know_limits()
            self.renewed = time.monotonic()
        if stopping:
            self.sender.forget_unsent()
        claimed = [] if stopping else self._claim()
        self._collect(0.0 if claimed else GROUP_SECONDS)
        self._round(claimed, stopping)
        self.limiter.keep_up(self.sender.under_way_at())
        return bool(self.sender.out or (self.running and not stopping))

    def _collect(self, timeout: float) -> None:
        for sending, reply in self.sender.collect(timeout):
            if sending.attempt is None:
                raise RuntimeError("a call was sent without being written first")
            final = self.sender.settled(sending, reply)
            self.limiter.book_tokens(sending, reply)
            self.bounds.learn(sending.call, reply)
            self.unwritten.append(Result(sending, sending.attempt, reply, final))

    def _drop_stopped(self) -> None:
        """Drop items of jobs that do not run any more, and unsent calls for which only they wait."""
        jobs = {running.item.job_id for running in self.running.values()}
        rows = list(Job.objects.filter(pk__in=jobs).values_list("pk", "state", "priority"))
        states = {pk: state for pk, state, _ in rows}
        self.sender.priorities |= {pk: priority for pk, _, priority in rows}
        unsent = {sending.call.sha256 for sending in self.sender.unsent()}
        # An item of a paused job is kept while its call is under way: its reply is paid.
        busy = {
            running.item.pk
            for sha256, waiting in self.waiting.items()
            if sha256 not in unsent
            for running, _ in waiting
        }
        items = [running.item for running in self.running.values()]
        idle = [item for item in items if states[item.job_id] == Job.State.PAUSED and item.pk not in busy]
        queue.postpone(idle, seconds=0)
        dropped = idle + [item for item in items if states[item.job_id] in ENDED]
        for item in dropped:
            del self.running[item.pk]
        forgotten = self.sender.forget_unless(self._is_awaited) if dropped else []
        for sending in forgotten:
            self.waiting.pop(sending.call.sha256, None)
        self._release({sending.call.pk for sending in forgotten})

    def _release(self, calls: set[int]) -> None:
        if calls:
            engine_calls.release(calls, self.worker)
            self.open -= calls

    def _is_awaited(self, call: Call) -> bool:
        return any(self._is_current(running) for running, _ in self.waiting.get(call.sha256, []))

    def _is_current(self, running: Running) -> bool:
        return self.running.get(running.item.pk) is running

    def _claim(self) -> list[WorkItem]:
        # Items of an endpoint that is down or slow, or of which enough wait for a limit, keep no others out.
        most = max(CLAIM, 4 * self.sender.concurrency)
        unsent, enough = self.sender.unsent(), most // 2
        waiting = Counter(sending.job for sending in unsent)
        stuck = {job for job in self.endpoints if self._why_down(job) or waiting[job] >= enough}
        # Several jobs may fill an endpoint together. At one with limits each has its turns, and so its own share.
        names = (sending.wanted.endpoint.name for sending in unsent if sending.job not in stuck)
        full = {name for name, calls in Counter(names).items() if calls >= enough} - set(self.sender.apart)
        stuck |= {job for job, at in self.endpoints.items() if isinstance(at, Endpoint) and at.name in full}
        room = most - sum(running.item.job_id not in stuck for running in self.running.values())
        return queue.claim(self.worker, room, kind=JOB_KIND, besides=stuck) if room >= CLAIM // 2 else []

    def _round(self, claimed: list[WorkItem], stopping: bool) -> None:
        round_, out, stopped = Round(), list[Sending](), dict[int, str]()
        with transaction.atomic():
            self._write_results()
            self._begin(claimed, round_)
            for result in self.unwritten:
                if result.final:
                    self._deliver(result.sending.call, round_)
            self._resolve(round_)
            if not stopping:
                self._ask_controls()
                out, stopped = self._choose()
            attempts = engine_calls.note_sending([sending.call for sending in out]) if out else []
            for sending, attempt in zip(out, attempts, strict=True):
                sending.attempt = attempt
            # A budget that is used up is the better reason: it holds whatever else the job is limited by.
            uncounted = ((result.sending.job, result.reply) for result in self.unwritten)
            stopped = budget.stopped_without_counts(uncounted) | stopped
        self.unwritten.clear()
        # After the commit: a call whose row was lost could be sent, and paid, a second time.
        for sending in out:
            self.sender.submit(sending)
        if round_.ended:
            end_items(sorted(round_.ended, key=lambda ended: ended.item.pk))
        if stopped:
            self._stop(stopped)
        self._show_why_waiting()

    def _choose(self) -> tuple[list[Sending], dict[int, str]]:
        """Calls to send, counted in their jobs' budgets; and jobs that may not, with the budget that is used up."""
        due = self.sender.due(self.limiter.waiting())
        for sending in due:
            sending.job = self._payer(sending)
        left = budget.lock_budgets((sending.job for sending in due), self.worker) if due else {}
        payable, unpaid, bounds = list[Sending](), list[Sending](), dict[int, TokenBound]()
        for sending in due:
            bound = bounds[sending.call.pk] = self.bounds.of(sending.wanted)
            (payable if left[sending.job].take(bound) else unpaid).append(sending)
        # Limits come after the budgets in every worker: their rows are locked in this order, or two would deadlock.
        out = self.limiter.admit(payable, self.sender.under_way_at())
        budget.note_sent(sending.job for sending in out)
        sent = ((sending.job, sending.call.pk, bounds[sending.call.pk]) for sending in out)
        budget.reserve(left, self.worker, sent)
        going = {sending.call.pk for sending in out}
        held_back = [sending for sending in payable if sending.call.pk not in going]
        self._release(self.sender.put_back(held_back, unpaid))
        return out, {sending.job: left[sending.job].used_up for sending in unpaid if left[sending.job].closed}

    def _payer(self, sending: Sending) -> int:
        # Several jobs may wait for one call: the first of them pays.
        waiting = (
            running.item.job_id
            for running, _ in self.waiting.get(sending.call.sha256, [])
            if self._is_current(running)
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
            (result.sending.call, result.attempt, result.reply)
            for result in self.unwritten
            if isinstance(result.reply, Completion)
        ]
        refused = [(result, result.reply) for result in self.unwritten if isinstance(result.reply, CallRefusal)]
        campaigns = {result.sending.call.pk: result.sending.campaign for result in self.unwritten}
        engine_calls.note_answers(answered, campaigns)
        budget.note_tokens([(result.sending.job, result.reply) for result in self.unwritten])
        jobs = {result.sending.job for result in self.unwritten}
        budget.give_back(jobs, self.worker, [result.sending.call.pk for result in self.unwritten])
        engine_calls.note_refusals([(result.attempt, refusal) for result, refusal in refused])
        engine_calls.note_given_up(
            [(result.sending.call, refusal) for result, refusal in refused if result.final], campaigns
        )

    def _begin(self, claimed: list[WorkItem], round_: Round) -> None:
        self._know({item.job_id for item in claimed})
        kept = dict(zip((item.pk for item in claimed), kept_calls(claimed), strict=True))
        by_kind: dict[str, list[WorkItem]] = {}
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
                self.endpoints[llm.pk] = endpoint_at(llm.judge.base_url)
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
        if call.state == Call.State.ANSWERED:
            reply = LlmReply(call.reply, finish=call.finish_reason)
        else:
            attempt = call.attempts.last()
            reply = LlmReply(None, f"{attempt.error}: {attempt.message}" if attempt else "given up")
        self.open.discard(call.pk)
        for running, ask in self.waiting.pop(call.sha256, []):
            running.uses.append((ask.part, call))
            self._advance(running, reply, round_)

    def _resolve(self, round_: Round) -> None:
        # A replayed reply may lead to another ask, hence the loop.
        while round_.asks:
            asks, round_.asks = round_.asks, []
            calls: dict[str, NewCall] = {}
            for running, ask in asks:
                try:
                    call = call_for(running.item, ask, running.endpoint, running.llm.judge.model, running.kept)
                    sha256 = call.sha256
                except ValueError as error:  # text that cannot be sent
                    self._finish(running, set_aside(running.item, error), round_)
                    continue
                calls[sha256] = call
                self.waiting.setdefault(sha256, []).append((running, ask))
            rows = engine_calls.find_calls(calls)
            new = [(sha256, call) for sha256, call in calls.items() if sha256 not in rows]
            rows |= engine_calls.insert_calls(new, self.worker) if new else {}
            self._replay_or_send(rows, calls, round_)

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
            new_call = probe_call(waiting.wanted)
            call = engine_calls.insert_calls([(new_call.sha256, new_call)], self.worker)[new_call.sha256]
            self.open.add(call.pk)
            self.sender.ready.append(Sending(call, new_call, waiting.campaign, waiting.job, control=True))

    def _take_over(self, call: Call) -> bool:
        """Take a call whose worker is gone; with a live worker the items come back later."""
        if not queue.is_alive(call.holder):
            # Of two workers that find the same dead holder only one gets the row, and sends.
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
        if isinstance(endpoint, str):
            return ""
        return self.sender.why_waiting(endpoint, self.llm_jobs[job].judge.model)

    def _show_why_waiting(self) -> None:
        # Only on a change, or after trouble, when nobody knows what the row holds.
        for job in {running.item.job_id for running in self.running.values()}:
            endpoint = self.endpoints[job]
            held = "" if isinstance(endpoint, str) else self.limiter.why_waiting(endpoint.name)
            reason = self._why_down(job) or held
            if self.reasons.get(job) != reason:
                queue.wait_for([job], reason)
                self.reasons[job] = reason
