"""Threads that wait for replies, and the rules of waiting: no database here."""

import queue
import random
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from llmjobs.calls import Wanted
from llmjobs.client import Answered, Refusal, back_off, send
from llmjobs.models import Attempt, Call

MOST_ATTEMPTS = 8
# So many refusals of its own in a row say that an endpoint is down, whatever status it answers with.
DOWN_AFTER = 5
LONGEST_PROBE_WAIT = 15.0


@dataclass(slots=True)
class Sending:
    """One call on its way: how often it was tried, and its attempt of this moment."""

    call: Call
    wanted: Wanted
    tries: int = 0
    attempt: Attempt | None = None


@dataclass(slots=True)
class Circuit:
    """What is known of one endpoint. Down, it gets a single request from time to time, until one succeeds."""

    failures: int = 0
    reason: str = ""
    probe_at: float = 0.0
    probing: bool = False

    @property
    def down(self) -> bool:
        """Say whether the endpoint is taken to be down."""
        return bool(self.reason)

    def succeeded(self) -> None:
        """Close the circuit."""
        self.failures, self.reason, self.probing = 0, "", False

    def failed(self, refusal: Refusal, endpoint: str) -> None:
        """Note a refusal; open the circuit when it speaks for the whole endpoint."""
        self.probing = False
        if refusal.kind in {"rate_limited", "bad_request"}:
            return
        self.failures += 1
        if refusal.whole_endpoint or self.failures >= DOWN_AFTER:
            self.probe_at = time.monotonic() + min(LONGEST_PROBE_WAIT, 0.5 * 2 ** min(self.failures, 10))
            self.reason = f"{endpoint} does not answer: {refusal.message} Trying again from time to time."


@dataclass(slots=True)
class Sender:
    """Sends calls on `concurrency` threads. Those waiting to be tried again stand in `later`."""

    concurrency: int
    ready: deque[Sending] = field(default_factory=deque)
    later: list[tuple[float, int, Sending]] = field(default_factory=list)
    circuits: dict[str, Circuit] = field(default_factory=dict)
    results: "queue.SimpleQueue[tuple[Sending, Answered | Refusal]]" = field(default_factory=queue.SimpleQueue)
    under_way: int = 0
    _pool: ThreadPoolExecutor = field(init=False)
    _numbers: "count[int]" = field(default_factory=count)

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(self.concurrency, thread_name_prefix="llm")

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
        self.under_way += 1
        self._pool.submit(self._send, sending)

    def _send(self, sending: Sending) -> None:
        self.results.put((sending, send(sending.wanted.endpoint, sending.wanted.request)))

    def collect(self, timeout: float) -> list[tuple[Sending, Answered | Refusal]]:
        """Wait for a result, and return it with all others that are there."""
        found = []
        try:
            found.append(self.results.get(timeout=timeout))
            while True:
                found.append(self.results.get_nowait())
        except queue.Empty:
            pass
        self.under_way -= len(found)
        return found

    def try_again(self, sending: Sending, refusal: Refusal) -> bool:
        """Plan the next try of a refused call; return False when it is given up."""
        circuit = self.circuit(sending)
        circuit.failed(refusal, sending.wanted.endpoint.name)
        # An endpoint that is down is nobody's failed try: the call waits with its job.
        sending.tries += 0 if circuit.down else 1
        if not circuit.down and not (refusal.worth_retrying and sending.tries < MOST_ATTEMPTS):
            return False
        wait = 0.0 if circuit.down else back_off(sending.tries, refusal.retry_after, random.random)
        heappush(self.later, (time.monotonic() + wait, next(self._numbers), sending))
        return True

    def reasons(self) -> list[str]:
        """Return why calls wait, one sentence per endpoint that is down."""
        return [circuit.reason for circuit in self.circuits.values() if circuit.down]

    def forget_unsent(self) -> None:
        """Drop what has not been sent."""
        self.ready.clear()
        self.later.clear()

    def close(self) -> None:
        """Let the threads go."""
        self._pool.shutdown(wait=False, cancel_futures=True)
