"""Threads that wait for replies, and the rules of waiting. Nothing here uses the database."""

import hashlib
import queue
import random
import secrets
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import count
from typing import TypeVar

from llmjobs.client import CallRefusal, Completion, Endpoint, back_off, send
from llmjobs.engine.calls import NewCall
from llmjobs.models import Attempt, Call
from llmjobs.prompts.template import Message
from llmjobs.steps.asking import Ask

T = TypeVar("T")


class Turns:
    """Number of turns each job has had at one endpoint, among those that wait there."""

    def __init__(self) -> None:
        self.had: Counter[int] = Counter()

    def in_order(self, waiting: Iterable[T], job_of: Callable[[T], int], priorities: Mapping[int, int]) -> list[T]:
        """Waiting calls in the order in which they go; calls of the same job in their own order."""
        by_job: dict[int, list[T]] = defaultdict(list)
        for call in waiting:
            by_job[job_of(call)].append(call)
        before = [self.had[job] for job in by_job if job in self.had]
        # A new job begins with the fewest turns of all, or it would go alone until it had caught up.
        self.had = Counter({job: self.had.get(job, min(before, default=0)) for job in by_job})
        numbered = [
            (-priorities.get(job, 0), self.had[job] + number, job, call)
            for job, own in by_job.items()
            for number, call in enumerate(own)
        ]
        return [call for *_, call in sorted(numbered, key=lambda row: row[:3])]

    def take(self, job: int) -> None:
        self.had[job] += 1


MOST_ATTEMPTS = 8
# Too many requests, cut connections and answers of gateways are hardly the fault of the call that was refused.
MOST_PATIENT_ATTEMPTS = 30
PATIENT_WITH = {"rate_limited", "unreachable"}
# So many calls refused and none answered say that an endpoint is down, whatever status it answers with.
DOWN_AFTER = 5
LONGEST_PROBE_WAIT = 15.0


@dataclass(slots=True)
class Sending:
    """One call on its way: how often it was tried, when it failed last, and its attempt of this moment.

    `job` pays for it. `control`: no item waits for it; it asks an endpoint only whether it answers.
    """

    call: Call
    wanted: NewCall
    campaign: int
    job: int
    tries: int = 0
    failed_at: float = 0.0
    attempt: Attempt | None = None
    control: bool = False


@dataclass(slots=True)
class Circuit:
    """State of one endpoint. Down, it gets a single request from time to time, until one succeeds.

    That `probe` is one of the waiting calls, and every other time a control.
    """

    failing: set[int] = field(default_factory=set)
    failures: int = 0
    reason: str = ""
    probe_at: float = 0.0
    probe: int = 0
    wants_control: bool = False
    answered_at: float = 0.0

    @property
    def down(self) -> bool:
        return bool(self.reason)

    def answered(self) -> None:
        self.close()
        self.answered_at = time.monotonic()

    def close(self) -> None:
        self.failures, self.reason, self.probe, self.wants_control = 0, "", 0, False
        self.failing.clear()

    def failed(self, refusal: CallRefusal, sending: Sending) -> None:
        """Note a refusal; open the circuit where it speaks for the whole endpoint."""
        if sending.call.pk == self.probe:
            self.probe, self.wants_control = 0, not sending.control
        if refusal.kind in {"rate_limited", "bad_request"} and not refusal.whole_endpoint:
            if refusal.status is not None:
                self.close()  # whoever refuses for such a reason is there
            return
        self.failures += 1
        self.failing.add(sending.call.pk)
        if (refusal.whole_endpoint and not self.answered_since(sending)) or len(self.failing) >= DOWN_AFTER:
            # To probe with a call that has failed before would tell nothing.
            self.wants_control |= not self.down and sending.failed_at > 0
            self.probe_at = time.monotonic() + min(LONGEST_PROBE_WAIT, 0.5 * 2 ** min(self.failures, 10))
            name = sending.wanted.endpoint.name
            self.reason = f"{name} does not answer: {refusal.message} Trying again from time to time."

    def answered_since(self, sending: Sending) -> bool:
        return 0 < sending.failed_at < self.answered_at

    def is_to_blame(self, sending: Sending) -> bool:
        """Say that the endpoint is down, and not only for a call that it refuses while it answers others.

        Some servers break off at one certain request, or their gateway refuses it with a 503 or a 403. One failure
        says nothing. Two with an answer between them do, and no call is given up for less than its tries of those.
        """
        return self.down and (sending.control or not self.answered_since(sending))


@dataclass(slots=True)
class Sender:
    """Sends calls on `concurrency` threads an endpoint. Those waiting to be tried again stand in `later`.

    An endpoint with limits is one of `apart`: no call waits for a thread there, so that one that may go goes at
    once. `out` says of each call under way which endpoint it went to.
    """

    concurrency: int
    ready: deque[Sending] = field(default_factory=deque)
    later: list[tuple[float, int, Sending]] = field(default_factory=list)
    circuits: dict[tuple[str, str], Circuit] = field(default_factory=dict)
    results: "queue.SimpleQueue[tuple[Sending, Completion | CallRefusal]]" = field(
        default_factory=queue.SimpleQueue
    )
    out: dict[int, str] = field(default_factory=dict)
    apart: Collection[str] = ()
    priorities: dict[int, int] = field(default_factory=dict)
    _turns: dict[str, Turns] = field(default_factory=lambda: defaultdict(Turns))
    _pools: dict[str, ThreadPoolExecutor] = field(default_factory=dict)
    _numbers: "count[int]" = field(default_factory=count)

    def under_way_at(self) -> Counter[str]:
        return Counter(self.out.values())

    def circuit(self, sending: Sending) -> Circuit:
        return self.circuits.setdefault(_target(sending), Circuit())

    def due(self, waiting: Collection[str] = ()) -> list[Sending]:
        """Take the calls that may go out now: as many as keep the threads busy until the next look.

        Nothing goes to the endpoints that are `waiting` for their limits.
        """
        now = time.monotonic()
        while self.later and self.later[0][0] <= now:
            self.ready.append(heappop(self.later)[2])
        sendings = self._due_apart(now, waiting) if self.apart else []
        under_way = self.under_way_at()
        for _ in range(len(self.ready)):
            sending = self.ready.popleft()
            name = sending.wanted.endpoint.name
            # A queue as long as the pool waits behind it, so that a thread never waits for a commit.
            has_room = name not in self.apart and under_way[name] < 2 * self.concurrency
            if has_room and self._may_go(sending, now):
                sendings.append(sending)
                under_way[name] += 1
            else:
                self.ready.append(sending)
        return sendings

    def _due_apart(self, now: float, waiting: Collection[str]) -> list[Sending]:
        """Calls to limited endpoints, no more than their threads, each job in its turn."""
        due: dict[str, list[Sending]] = defaultdict(list)
        for sending in self.ready:
            name = sending.wanted.endpoint.name
            if name in self.apart and name not in waiting:
                due[name].append(sending)
        chosen, under_way = list[Sending](), self.under_way_at()
        for name, sendings in due.items():
            free = self.concurrency - under_way[name]
            for sending in self._turns[name].in_order(sendings, lambda sending: sending.job, self.priorities):
                if free > 0 and self._may_go(sending, now):
                    chosen.append(sending)
                    free -= 1
        taken = {sending.call.pk for sending in chosen}
        self.ready = deque(sending for sending in self.ready if sending.call.pk not in taken)
        return chosen

    def put_back(self, held_back: Sequence[Sending], unpaid: Sequence[Sending]) -> set[int]:
        """Take back chosen calls that must not go: those that a limit holds back before all that waits.

        Unpaid controls are dropped and their calls returned: another is made where a job may pay for it.
        """
        for sending in (*held_back, *unpaid):
            circuit = self.circuit(sending)
            if circuit.probe == sending.call.pk:
                circuit.probe = 0
        self.ready.extendleft(reversed(held_back))
        # Behind all that waits: where they wait for their own job's replies, other jobs' calls go meanwhile.
        self.ready.extend(sending for sending in unpaid if not sending.control)
        return {sending.call.pk for sending in unpaid if sending.control}

    def _may_go(self, sending: Sending, now: float) -> bool:
        circuit = self.circuit(sending)
        if not circuit.down:
            return True
        if circuit.probe or now < circuit.probe_at or sending.control != circuit.wants_control:
            return False
        circuit.probe = sending.call.pk
        return True

    def lacking_controls(self) -> list[Sending]:
        """A waiting call of each endpoint and model that is due for a probe."""
        now = time.monotonic()
        due = {
            target
            for target, circuit in self.circuits.items()
            if circuit.down and circuit.wants_control and not circuit.probe and now >= circuit.probe_at
        }
        waiting = [sending for sending in self.unsent() if _target(sending) in due] if due else []
        served = {_target(sending) for sending in waiting if sending.control}
        by_target = {_target(sending): sending for sending in waiting}
        return [sending for target, sending in by_target.items() if target not in served]

    def unsent(self) -> list[Sending]:
        return [*self.ready, *(sending for _, _, sending in self.later)]

    def submit(self, sending: Sending) -> None:
        name = sending.wanted.endpoint.name
        self.out[sending.call.pk] = name
        if name in self.apart:
            self._turns[name].take(sending.job)
        if name not in self._pools:
            # Threads of its own: an endpoint that keeps calls waiting holds no other endpoint's calls up.
            self._pools[name] = ThreadPoolExecutor(self.concurrency, thread_name_prefix="llm")
        self._pools[name].submit(self._send, sending)

    def _send(self, sending: Sending) -> None:
        started = time.monotonic()
        try:
            reply = send(sending.wanted.endpoint, sending.wanted.request)
        except Exception as error:  # without a result the call would be waited for for ever
            latency_ms = round((time.monotonic() - started) * 1000)
            message = f"The request failed: {type(error).__name__}."
            reply = CallRefusal("bad_request", None, message, None, latency_ms)
        self.results.put((sending, reply))

    def collect(self, timeout: float) -> list[tuple[Sending, Completion | CallRefusal]]:
        """Wait for a result, and return it with all others that are there.

        While more calls are out than threads can carry, the wait goes on to its end: the threads have enough to do,
        and the more results are taken at once, the fewer transactions they cost.
        """
        found, ends = [], time.monotonic() + timeout
        try:
            found.append(self.results.get(timeout=timeout))
            while True:
                busy = len(self.out) - len(found) > self.concurrency
                found.append(self.results.get(timeout=max(0.0, ends - time.monotonic()) * busy))
        except queue.Empty:
            pass
        for sending, _ in found:
            self.out.pop(sending.call.pk, None)
        return found

    def settled(self, sending: Sending, reply: Completion | CallRefusal) -> bool:
        """Take a result in; False where its call will be tried again."""
        circuit = self.circuit(sending)
        if isinstance(reply, Completion):
            circuit.answered()
            return True
        circuit.failed(reply, sending)
        # An endpoint that is down is nobody's failed try: the call waits with its job.
        waits = circuit.is_to_blame(sending)
        sending.failed_at = time.monotonic()
        sending.tries += 0 if waits else 1
        if not waits and (sending.control or sending.tries >= _most_tries(reply)):
            return True
        wait = 0.0 if waits else back_off(sending.tries, reply.retry_after, random.random)
        heappush(self.later, (time.monotonic() + wait, next(self._numbers), sending))
        return False

    def why_waiting(self, endpoint: Endpoint, model: str) -> str:
        circuit = self.circuits.get((endpoint.name, model))
        return circuit.reason if circuit else ""

    def forget_unless(self, awaited: Callable[[Call], bool]) -> list[Sending]:
        forgotten = [sending for sending in self.unsent() if not awaited(sending.call)]
        gone = {sending.call.pk for sending in forgotten}
        self.ready = deque(sending for sending in self.ready if sending.call.pk not in gone)
        self.later = [row for row in self.later if row[2].call.pk not in gone]
        heapify(self.later)
        return forgotten

    def forget_unsent(self) -> None:
        # A dropped call may be the probe of an endpoint that is down: the next call may go then.
        self.ready.clear()
        self.later.clear()
        for circuit in self.circuits.values():
            circuit.probe = 0

    def close(self) -> None:
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)


def _target(sending: Sending) -> tuple[str, str]:
    return sending.wanted.endpoint.name, sending.wanted.model


def _most_tries(refusal: CallRefusal) -> int:
    if refusal.whole_endpoint or refusal.kind in PATIENT_WITH:
        return MOST_PATIENT_ATTEMPTS
    return MOST_ATTEMPTS if refusal.worth_retrying else 1


VERSION = 1
TEXT = "Reply with the word ok and nothing else."


def probe_call(wanted: NewCall) -> NewCall:
    # A random part in the text: a cache in front of the endpoint would answer for it.
    text = f"{TEXT}\n(Request {secrets.token_hex(8)}.)"
    sha256 = hashlib.sha256(TEXT.encode()).hexdigest()
    ask = Ask(
        *("control", (Message("user", text),), "control", VERSION, "control", sha256),
        # A model that takes none of these would refuse the control, too.
        temperature=wanted.ask.temperature,
        parameters=wanted.ask.parameters,
    )
    return NewCall(ask, wanted.endpoint, wanted.model, 0)
