"""Limits as endpoints have them: so many requests and tokens in any minute, and who asks for more is refused."""

import time
from collections import deque
from dataclasses import dataclass, field
from threading import Lock

from llmjobs.simulator.faults import Faults

MINUTE = 60.0


@dataclass(slots=True)
class Quota:
    """Requests of the last minute: when, and for how many tokens."""

    let_in: deque[tuple[float, int]] = field(default_factory=deque)
    lock: Lock = field(default_factory=Lock)

    def wait_for(self, faults: Faults, tokens: int) -> float:
        """Admit a request and return 0, or return the seconds until it may come again."""
        if not faults.requests_per_minute and not faults.tokens_per_minute:
            return 0.0
        with self.lock:
            now = time.monotonic()
            while self.let_in and self.let_in[0][0] <= now - MINUTE:
                self.let_in.popleft()
            many = 0 < faults.requests_per_minute <= len(self.let_in)
            spent = sum(one for _, one in self.let_in)
            much = bool(self.let_in) and 0 < faults.tokens_per_minute < spent + tokens
            if many or much:
                return self.let_in[0][0] + MINUTE - now
            self.let_in.append((now, tokens))
            return 0.0
