"""How many requests may go to an endpoint now: arithmetic over one small state, which all workers share.

A pace, not a log: each request takes up its part of a minute, and may go when what went before is taken up, but for
BURST. So requests go evenly, and the state is two numbers however many they are. In no 60 s more than the limit reach
the endpoint: were it one more, the others would take up PERIOD, and the last leave over 60 s + SLACK after the first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

WINDOW = 60.0
# Seconds within which a request that may go reaches its endpoint: written to the database first, then sent.
SLACK = 1.0
# Seconds for which requests may go ahead of their pace: longer than from one look of a worker to its next.
BURST = 0.5
PERIOD = WINDOW + SLACK + BURST
# After so long without a word from a worker its requests are not under way any more.
GONE_AFTER = 30.0
# What is ahead of the clock by more was written before the clock was set back.
LONGEST_AHEAD = 5 * PERIOD


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that an endpoint takes: requests a minute, tokens a minute, requests at once; None is no limit."""

    requests: int | None = None
    tokens: int | None = None
    at_once: int | None = None

    def __bool__(self) -> bool:
        return any(most is not None for most in (self.requests, self.tokens, self.at_once))

    def __str__(self) -> str:
        limits = [
            (self.requests, "requests a minute"),
            (self.tokens, "tokens a minute"),
            (self.at_once, "requests at once"),
        ]
        return ", ".join(f"{most:,} {what}" for most, what in limits if most is not None) or "no limit"

    def seconds_for(self, requests: int, tokens: int) -> float:
        """Least seconds for so many requests and tokens."""
        return PERIOD * max(
            requests / self.requests if self.requests else 0, tokens / self.tokens if self.tokens else 0
        )


@dataclass(slots=True)
class LimitState:
    """How an endpoint is used by all workers. Times are seconds of one clock that they share.

    `requests_until`, `tokens_until`: until when what went so far takes up the limit. `under_way`: of each worker, how
    many requests it waits for, and when it said so.
    """

    requests_until: float = 0.0
    tokens_until: float = 0.0
    under_way: dict[str, tuple[int, float]] = field(default_factory=dict)

    def book_tokens(self, limits: Limits, tokens: int) -> None:
        """Book tokens beyond the estimate; a negative number is below it."""
        if limits.tokens:
            self.tokens_until += tokens * PERIOD / limits.tokens

    def admit(
        self, limits: Limits, worker: str, under_way: int, costs: Sequence[int], now: float
    ) -> tuple[int, float]:
        """Return how many of a worker's requests may go, in their order, and in how many seconds the next one may.

        `costs` are their estimated tokens, `under_way` is how many the worker waits for already. The seconds are 0
        where all may go, and where the next one waits for another's end.
        """
        room = self._room(limits, worker, under_way, now)
        self.requests_until = min(self.requests_until, now + LONGEST_AHEAD)
        self.tokens_until = min(self.tokens_until, now + LONGEST_AHEAD)
        gone, wait = 0, 0.0
        for cost in costs[:room]:
            wait = max(0.0, self.requests_until - BURST - now, self.tokens_until - BURST - now)
            if wait:
                break
            self._take_up(limits, cost, now)
            gone += 1
        if limits.at_once is not None:
            self.under_way[worker] = (under_way + gone, now)
        return gone, wait

    def _room(self, limits: Limits, worker: str, under_way: int, now: float) -> int | None:
        """How many more requests may be under way; None for any number. Dead workers are forgotten."""
        self.under_way = {
            name: (number, reported_at)
            for name, (number, reported_at) in self.under_way.items()
            if number and now - reported_at < GONE_AFTER and name != worker
        }
        if limits.at_once is None:
            return None
        return max(0, limits.at_once - under_way - sum(number for number, _ in self.under_way.values()))

    def _take_up(self, limits: Limits, cost: int, now: float) -> None:
        if limits.requests:
            self.requests_until = max(self.requests_until, now) + PERIOD / limits.requests
        if limits.tokens:
            # As many of such requests a minute as are whole; one that alone is over the limit goes alone.
            self.tokens_until = max(self.tokens_until, now) + PERIOD / max(1, limits.tokens // max(1, cost))
