"""Threads that wait for replies, and the rules of waiting: no database here."""

import queue
import random
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import count

from llmjobs.calls import Wanted
from llmjobs.client import Answered, Endpoint, Refusal, back_off, send
from llmjobs.models import Attempt, Call

MOST_ATTEMPTS = 8
# Too many requests and cut connections are hardly the fault of the one that was refused.
MOST_PATIENT_ATTEMPTS = 30
PATIENT_WITH = {"rate_limited", "unreachable"}
# So many calls refused and none answered say that an endpoint is down, whatever status it answers with.
DOWN_AFTER = 5
LONGEST_PROBE_WAIT = 15.0


@dataclass(slots=True)
class Sending:
    """One call on its way: how often it was tried, and its attempt of this moment."""

    call: Call
    wanted: Wanted
    campaign: int
    tries: int = 0
    failing_since: float = 0.0
    attempt: Attempt | None = None


@dataclass(slots=True)
class Circuit:
    """What is known of one endpoint. Down, it gets a single request from time to time, until one succeeds."""

    failing: set[int] = field(default_factory=set)
    failures: int = 0
    reason: str = ""
    probe_at: float = 0.0
    probing: bool = False
    answered_at: float = 0.0

    @property
    def down(self) -> bool:
        """Say whether the endpoint is taken to be down."""
        return bool(self.reason)

    def answered(self) -> None:
        """Close the circuit."""
        self.failures, self.reason, self.probing = 0, "", False
        self.failing.clear()
        self.answered_at = time.monotonic()

    def failed(self, refusal: Refusal, sending: Sending) -> None:
        """Note a refusal; open the circuit when it speaks for the whole endpoint."""
        self.probing = False
        if refusal.kind in {"rate_limited", "bad_request"}:
            if refusal.status is not None:
                self.answered()  # whoever refuses for such a reason is there
            return
        self.failures += 1
        self.failing.add(sending.call.pk)
        if refusal.whole_endpoint or len(self.failing) >= DOWN_AFTER:
            self.probe_at = time.monotonic() + min(LONGEST_PROBE_WAIT, 0.5 * 2 ** min(self.failures, 10))
            name = sending.wanted.endpoint.name
            self.reason = f"{name} does not answer: {refusal.message} Trying again from time to time."

    def is_to_blame(self, refusal: Refusal, sending: Sending) -> bool:
        """Say that the endpoint is down, and not only for a call that it refuses while it answers others.

        Some servers break off at one certain request. Only a dead connection can be such a case, not a 503 or a 401.
        """
        answered_others = 0 < sending.failing_since < self.answered_at
        speaks_for_all = refusal.whole_endpoint and refusal.kind != "unreachable"
        return self.down and (speaks_for_all or not answered_others)


@dataclass(slots=True)
class Sender:
    """Sends calls on `concurrency` threads. Those waiting to be tried again stand in `later`."""

    concurrency: int
    ready: deque[Sending] = field(default_factory=deque)
    later: list[tuple[float, int, Sending]] = field(default_factory=list)
    circuits: dict[str, Circuit] = field(default_factory=dict)
    results: "queue.SimpleQueue[tuple[Sending, Answered | Refusal]]" = field(default_factory=queue.SimpleQueue)
    out: set[int] = field(default_factory=set)
    _pool: ThreadPoolExecutor = field(init=False)
    _numbers: "count[int]" = field(default_factory=count)

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(self.concurrency, thread_name_prefix="llm")

    @property
    def under_way(self) -> int:
        """Count the calls whose reply is waited for."""
        return len(self.out)

    def circuit(self, sending: Sending) -> Circuit:
        """Return what is known of the endpoint of a call."""
        return self.circuits.setdefault(sending.wanted.endpoint.name, Circuit())

    def due(self) -> list[Sending]:
        """Take the calls that may go out now: as many as keep the threads busy until the next look."""
        now = time.monotonic()
        while self.later and self.later[0][0] <= now:
            self.ready.append(heappop(self.later)[2])
        chosen: list[Sending] = []
        for _ in range(len(self.ready)):
            # A queue as long as the pool waits behind it, so that a thread never waits for a commit.
            if self.under_way + len(chosen) >= 2 * self.concurrency:
                break
            sending = self.ready.popleft()
            if self._may_go(sending, now):
                chosen.append(sending)
            else:
                self.ready.append(sending)
        return chosen

    def _may_go(self, sending: Sending, now: float) -> bool:
        circuit = self.circuit(sending)
        if not circuit.down:
            return True
        if circuit.probing or now < circuit.probe_at:
            return False
        circuit.probing = True
        return True

    def submit(self, sending: Sending) -> None:
        """Send one call; what comes of it goes to `results`."""
        self.out.add(sending.call.pk)
        self._pool.submit(self._send, sending)

    def _send(self, sending: Sending) -> None:
        started = time.monotonic()
        try:
            said = send(sending.wanted.endpoint, sending.wanted.request)
        except Exception as error:  # without a result the call would be waited for for ever
            latency_ms = round((time.monotonic() - started) * 1000)
            said = Refusal("bad_request", None, f"The request failed: {type(error).__name__}.", None, latency_ms)
        self.results.put((sending, said))

    def collect(self, timeout: float) -> list[tuple[Sending, Answered | Refusal]]:
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
        self.out -= {sending.call.pk for sending, _ in found}
        return found

    def settled(self, sending: Sending, said: Answered | Refusal) -> bool:
        """Take a result in; return False when its call will be tried again."""
        if isinstance(said, Refusal):
            return not self.try_again(sending, said)
        self.circuit(sending).answered()
        return True

    def try_again(self, sending: Sending, refusal: Refusal) -> bool:
        """Plan the next try of a refused call; return False when it is given up."""
        circuit = self.circuit(sending)
        circuit.failed(refusal, sending)
        # An endpoint that is down is nobody's failed try: the call waits with its job.
        waits = circuit.is_to_blame(refusal, sending)
        sending.failing_since = sending.failing_since or time.monotonic()
        sending.tries += 0 if waits else 1
        most = MOST_PATIENT_ATTEMPTS if refusal.kind in PATIENT_WITH else MOST_ATTEMPTS
        if not waits and not (refusal.worth_retrying and sending.tries < most):
            return False
        wait = 0.0 if waits else back_off(sending.tries, refusal.retry_after, random.random)
        heappush(self.later, (time.monotonic() + wait, next(self._numbers), sending))
        return True

    def why_waiting(self, endpoint: Endpoint) -> str:
        """Return why calls to an endpoint wait; nothing where it is not down."""
        circuit = self.circuits.get(endpoint.name)
        return circuit.reason if circuit else ""

    def forget(self, unwanted: Callable[[Sending], bool]) -> list[Sending]:
        """Drop what has not been sent and is unwanted; return it."""
        unsent = [*self.ready, *(sending for _, _, sending in self.later)]
        self.ready = deque(sending for sending in self.ready if not unwanted(sending))
        self.later = [one for one in self.later if not unwanted(one[2])]
        heapify(self.later)
        return [sending for sending in unsent if unwanted(sending)]

    def forget_unsent(self) -> None:
        """Drop all that has not been sent. A probe may be among it, so the next one may go."""
        self.ready.clear()
        self.later.clear()
        for circuit in self.circuits.values():
            circuit.probing = False

    def close(self) -> None:
        """Let the threads go."""
        self._pool.shutdown(wait=False, cancel_futures=True)
