"""One thread that decides and writes, and a pool of threads that wait for replies.

Items are claimed, their steps asked what they want to know, and calls looked up before they are sent: what was answered
once is never asked again. Everything that happened since the last look is written in one short transaction, and no
database connection is held while a call is under way.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Event as Signal

from django.conf import settings
from django.db import close_old_connections, transaction
from django.db.models import Max

from evaluation.services.labelling import touch
from jobs import queue, registry
from jobs.models import Job, WorkItem
from llmjobs import calls
from llmjobs.calls import Wanted
from llmjobs.client import Answered, Refusal
from llmjobs.endpoints import endpoint_of
from llmjobs.kinds import KINDS, Ended, Stepping
from llmjobs.models import Attempt, Call, CallUse, LlmJob
from llmjobs.sending import Sender, Sending
from llmjobs.steps.asking import Ask, Reply

GROUP_SECONDS = 0.1
RENEW_SECONDS = 5.0
CLAIM = 64


@dataclass(slots=True)
class Running:
    """One claimed item: its step, and the calls it has used."""

    item: WorkItem
    llm: LlmJob
    step: Stepping
    uses: list[tuple[str, Call]] = field(default_factory=list)


@dataclass(slots=True)
class _Round:
    """What one look has to write, and what goes out after the commit."""

    ended: list[Ended] = field(default_factory=list)
    asks: list[tuple[Running, Ask]] = field(default_factory=list)
    out: list[Sending] = field(default_factory=list)


def offer() -> None:
    """Have the workers run this engine."""
    registry.register(run)


def run(worker: str, stopping: Signal) -> None:
    """Work until nothing is due, or until told to stop: then what is under way is still waited for and kept."""
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
        self.running: dict[int, Running] = {}
        self.waiting: dict[str, list[tuple[Running, Ask]]] = {}
        self.llm_jobs: dict[int, LlmJob] = {}
        self.open: set[int] = set()
        self.said = ""
        self.renewed = 0.0

    def work(self, stopping: Signal) -> None:
        """Look again and again, until there is nothing left to wait for."""
        while self._look(stopping.is_set()):
            close_old_connections()

    def close(self) -> None:
        """Give back what is not finished."""
        self.sender.close()
        queue.hand_back(self.worker)

    def _look(self, stopping: bool) -> bool:
        """Do one round; return whether another is needed."""
        self._renew()
        if stopping:
            self.sender.forget_unsent()
        claimed = [] if stopping else self._claim()
        results = self.sender.collect(0.0 if claimed else GROUP_SECONDS)
        self._round(claimed, results)
        return bool(self.sender.under_way) if stopping else bool(self.running)

    def _renew(self) -> None:
        if time.monotonic() - self.renewed > RENEW_SECONDS:
            queue.renew(self.worker)
            self._drop_cancelled()
            self.renewed = time.monotonic()

    def _drop_cancelled(self) -> None:
        wanted = set(
            Job.objects.filter(pk__in=self.llm_jobs, state=Job.State.RUNNING).values_list("pk", flat=True)
        )
        for pk in [pk for pk, one in self.running.items() if one.item.job_id not in wanted]:
            del self.running[pk]

    def _claim(self) -> list[WorkItem]:
        room = max(CLAIM, 4 * self.sender.concurrency) - len(self.running)
        return queue.claim(self.worker, room) if room >= CLAIM // 2 else []

    def _round(self, claimed: list[WorkItem], results: list[tuple[Sending, Answered | Refusal]]) -> None:
        round_ = _Round()
        with transaction.atomic():
            self._begin(claimed, round_)
            self._take_in(results, round_)
            self._resolve(round_)
            round_.out = self.sender.due()
            self._note_sending(round_.out)
            self._end(round_.ended)
        for sending in round_.out:
            self.sender.submit(sending)
        self._say_why_waiting()

    def _begin(self, claimed: list[WorkItem], round_: _Round) -> None:
        for item in claimed:
            if item.job_id not in self.llm_jobs:
                self.llm_jobs[item.job_id] = LlmJob.objects.select_related("judge", "campaign").get(pk=item.job_id)
        by_kind: dict[str, list[WorkItem]] = {}
        for item in claimed:
            by_kind.setdefault(item.kind, []).append(item)
        for kind, items in by_kind.items():
            for item, step in zip(items, KINDS[kind].begin(items), strict=True):
                running = Running(item, self.llm_jobs[item.job_id], step)
                self.running[item.pk] = running
                self._advance(running, None, round_)

    def _advance(self, running: Running, reply: Reply | None, round_: _Round) -> None:
        """Give a step the reply it waited for, and note what it asks next or how it ends."""
        if running.item.pk not in self.running:
            return  # cancelled meanwhile; the reply is kept all the same
        try:
            ask = next(running.step) if reply is None else running.step.send(reply)
        except StopIteration as stop:
            round_.ended.append(Ended(running.item, running.llm, stop.value, tuple(running.uses)))
            del self.running[running.item.pk]
        else:
            round_.asks.append((running, ask))

    def _take_in(self, results: list[tuple[Sending, Answered | Refusal]], round_: _Round) -> None:
        answered = [(one.call, _attempt(one), said) for one, said in results if isinstance(said, Answered)]
        refused = [(one, said) for one, said in results if isinstance(said, Refusal)]
        calls.note_answers(answered, {call.pk: self._campaign_of(call) for call, _, _ in answered})
        calls.note_refusals([(_attempt(one), said) for one, said in refused])
        for one, said in results:
            if isinstance(said, Answered):
                self.sender.circuit(one).succeeded()
                self._deliver(one.call, Reply(said.text), round_)
        given_up = [(one, said) for one, said in refused if not self.sender.try_again(one, said)]
        campaigns = {one.call.pk: self._campaign_of(one.call) for one, _ in given_up}
        calls.note_given_up([(one.call, said) for one, said in given_up], campaigns)
        for one, said in given_up:
            self._deliver(one.call, Reply(None, f"{said.kind}: {said.message}"), round_)

    def _campaign_of(self, call: Call) -> int:
        return self.waiting[call.sha256][0][0].llm.campaign_id

    def _deliver(self, call: Call, reply: Reply, round_: _Round) -> None:
        """Hand a reply to every item that waits for this call."""
        self.open.discard(call.pk)
        for running, ask in self.waiting.pop(call.sha256, []):
            running.uses.append((ask.part, call))
            self._advance(running, reply, round_)

    def _resolve(self, round_: _Round) -> None:
        """Answer asks from the record; have the others sent. A replayed reply may lead to another ask."""
        while round_.asks:
            asks, round_.asks = round_.asks, []
            wanted = {}
            for running, ask in asks:
                one = _wanted(running, ask)
                wanted[one.sha256] = one
                self.waiting.setdefault(one.sha256, []).append((running, ask))
            known = calls.find_calls(wanted)
            new = [(sha256, one) for sha256, one in wanted.items() if sha256 not in known]
            known |= calls.insert_calls(new, self.worker) if new else {}
            self._replay_or_send(known, wanted, {sha256 for sha256, _ in new}, round_)

    def _replay_or_send(
        self, known: dict[str, Call], wanted: dict[str, Wanted], new: set[str], round_: _Round
    ) -> None:
        for sha256, call in known.items():
            if call.pk in self.open:
                continue  # under way already: whoever asks now waits with the others
            if call.state == Call.State.ANSWERED:
                self._deliver(call, Reply(call.reply), round_)
            elif call.state == Call.State.FAILED:
                self._deliver(call, Reply(None, _last_error(call)), round_)
            elif sha256 in new or self._take_over(call):
                self.open.add(call.pk)
                self.sender.ready.append(Sending(call, wanted[sha256]))

    def _take_over(self, call: Call) -> bool:
        """Take a call whose worker is gone; leave it with one that lives, and come back later."""
        if call.holder != self.worker and queue.is_alive(call.holder):
            waiting = [running for running, _ in self.waiting.pop(call.sha256)]
            queue.postpone([running.item for running in waiting], seconds=2)
            for running in waiting:
                self.running.pop(running.item.pk, None)
            return False
        taken = Call.objects.filter(pk=call.pk, holder=call.holder).update(holder=self.worker)
        call.holder = self.worker
        return bool(taken)

    def _note_sending(self, out: list[Sending]) -> None:
        fresh = [one.call.pk for one in out if one.attempt is None]
        last = dict(
            Attempt.objects.filter(call__in=fresh).values_list("call").annotate(n=Max("number")).order_by()
        )
        numbers = {
            one.call.pk: (one.attempt.number if one.attempt else last.get(one.call.pk, 0)) + 1 for one in out
        }
        attempts = calls.note_sending([one.call for one in out], numbers) if out else []
        for one, attempt in zip(out, attempts, strict=True):
            one.attempt = attempt

    def _end(self, ended: list[Ended]) -> None:
        """Write outcomes; one whose lease went to another attempt changes nothing."""
        held = [one for one in ended if queue.end(one.item, failed=one.outcome.failure)]
        by_kind: dict[str, list[Ended]] = {}
        for one in held:
            by_kind.setdefault(one.item.kind, []).append(one)
        CallUse.objects.bulk_create(_uses(held), batch_size=calls.BATCH, ignore_conflicts=True)
        for kind, some in by_kind.items():
            KINDS[kind].record(some)
        queue.settle({one.item.job_id for one in held})
        for campaign in {one.llm.campaign_id for one in held}:
            touch(campaign)

    def _say_why_waiting(self) -> None:
        reason = " ".join(self.sender.reasons())
        if reason != self.said:
            queue.wait_for({one.item.job_id for one in self.running.values()}, reason)
            self.said = reason


def _wanted(running: Running, ask: Ask) -> Wanted:
    judge = running.llm.judge
    return Wanted(ask, endpoint_of(judge), judge.model, int(running.item.payload.get("replicate", 0)))


def _attempt(sending: Sending) -> Attempt:
    if sending.attempt is None:
        raise RuntimeError("a call was sent without being written first")
    return sending.attempt


def _last_error(call: Call) -> str:
    attempt = call.attempts.last()
    return f"{attempt.error}: {attempt.message}" if attempt else "given up"


def _uses(ended: Iterable[Ended]) -> list[CallUse]:
    return [
        CallUse(item=one.item, call=call, number=number, part=part[:200], notes=_notes(one, number))
        for one in ended
        for number, (part, call) in enumerate(one.uses)
    ]


def _notes(one: Ended, ask: int) -> list[str]:
    return [f"{note.kind}: {note.text}" for note in one.outcome.notes if note.ask == ask]
