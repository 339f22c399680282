"""Admission of this worker's calls to endpoints with limits. All workers share each limit."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from llmjobs.client import CallRefusal, Completion, Endpoint
from llmjobs.engine.limits import GONE_AFTER, AwayError, Limits, LimitState, limits_of, shared_uses
from llmjobs.engine.send import Sending
from llmjobs.forecast import REPLY_TOKENS, TOKENS_PER_WORD

SOONEST, LATEST = 0.1, 1.0
"""Seconds after which a limit is asked about again. What is let go reaches ahead by more than the first."""

HELD_FOR = 5.0
"""Seconds for which a job is said to be held back after it was: a pace is not told anew with each request."""

# What a reply says about a kind of call counts so much beside what was expected of it.
LEARNS = 0.2


class Limiter:
    """One worker's view of its endpoints' limits. An endpoint without any costs nothing."""

    def __init__(self, worker: str) -> None:
        self.worker = worker
        self.limits: dict[str, Limits] = {}
        self._retry_at: dict[str, float] = {}
        self._held: dict[str, float] = {}
        self._away_until: dict[str, float] = {}
        self._unsettled: Counter[str] = Counter()
        self._factors: dict[tuple[str, str], float] = {}
        self._reserved: dict[int, int] = {}
        self._reported: dict[str, tuple[int, float]] = {}

    def know(self, endpoints: Iterable[Endpoint]) -> None:
        self.limits = limits_of({endpoint.name for endpoint in endpoints})

    def waiting(self) -> set[str]:
        # Asked before that time, the limit would give the same answer.
        now = time.monotonic()
        return {name for name, retry_at in self._retry_at.items() if retry_at > now and name in self.limits}

    def may_go(self, sendings: Sequence[Sending], under_way: Mapping[str, int]) -> list[Sending]:
        """Calls that may go now, the first ones of each limited endpoint. `under_way`: calls by endpoint."""
        limited: dict[str, list[Sending]] = defaultdict(list)
        going = list[Sending]()
        for sending in sendings:
            name = sending.wanted.endpoint.name
            (limited[name] if name in self.limits else going).append(sending)
        for name in sorted(limited):  # in one order everywhere: two workers must not wait for each other
            going += self._first_of(name, limited[name], under_way.get(name, 0))
        return going

    def _first_of(self, name: str, asking: list[Sending], under_way: int) -> list[Sending]:
        costs = [self._cost(one) for one in asking]
        gone, wait = self._visit(name, under_way, costs) or (0, LATEST)
        if gone < len(asking):
            self._held[name] = now = time.monotonic()
            # Where another request's end is waited for, that may be in the next look.
            self._retry_at[name] = now + (min(max(wait, SOONEST), LATEST) if wait else 0.0)
        self._reserved |= {one.call.pk: cost for one, cost in zip(asking[:gone], costs, strict=False)}
        return asking[:gone]

    def book_tokens(self, sending: Sending, reply: Completion | CallRefusal) -> None:
        """Book a call's real tokens."""
        # A refused call reports none, so its estimate stays booked.
        expected = self._reserved.pop(sending.call.pk, None)
        if expected is None or isinstance(reply, CallRefusal) or reply.prompt_tokens is None:
            return
        cost = reply.prompt_tokens + (reply.completion_tokens or 0)
        kind = _kind(sending)
        self._unsettled[kind[0]] += cost - expected
        self._factors[kind] = self._factor(kind) * (1 - LEARNS + LEARNS * cost / max(1, expected))

    def keep_up(self, under_way: Mapping[str, int]) -> None:
        """Report fewer calls under way at once, and the same number from time to time."""
        # A number that is too old counts as that of a dead worker.
        for name, limits in self.limits.items():
            number, reported_at = self._reported.get(name, (0, 0.0))
            now = under_way.get(name, 0)
            old = now and time.monotonic() - reported_at > GONE_AFTER / 4
            if limits.at_once is not None and (now < number or old):
                self._visit(name, now, [])

    def close(self) -> None:
        # Other workers would wait for the calls of this one until they are too old.
        for name in self.limits:
            if self._unsettled[name] or self._reported.get(name, (0, 0.0))[0]:
                self._visit(name, 0, [])

    def why_waiting(self, name: str) -> str:
        if time.monotonic() - self._held.get(name, float("-inf")) > HELD_FOR or name not in self.limits:
            return ""
        if name in self._away_until:
            return f"The broker, which counts for the limits of {name}, does not answer."
        return f"Held back by the limit of {name}: {self.limits[name]}, for all workers."

    def _cost(self, sending: Sending) -> int:
        """Estimated tokens of a call and its reply, corrected by earlier calls of its template."""
        wanted = sending.wanted
        words = sum(len(content.split()) for _, content in wanted.request.messages)
        guess = words * TOKENS_PER_WORD + REPLY_TOKENS.get(wanted.ask.task, 0)
        return round(guess * self._factor(_kind(sending)))

    def _factor(self, kind: tuple[str, str]) -> float:
        return self._factors.get(kind, 1.0)

    def _visit(self, name: str, under_way: int, costs: Sequence[int]) -> tuple[int, float] | None:
        """Ask the shared state how many may go, and book what ended; None where it is away, then nothing may go."""
        if time.monotonic() < self._away_until.get(name, 0.0):
            return None
        limits, tokens = self.limits[name], self._unsettled[name]

        def act(use: LimitState, now: float) -> tuple[int, float]:
            use.book_tokens(limits, tokens)
            return use.admit(limits, self.worker, under_way, costs, now)

        try:
            gone, wait = shared_uses().visit(name, act)
        except AwayError:
            self._away_until[name] = time.monotonic() + LATEST
            return None
        self._away_until.pop(name, None)
        self._unsettled[name] -= tokens
        self._reported[name] = (under_way + gone, time.monotonic())
        return gone, wait


def _kind(sending: Sending) -> tuple[str, str]:
    return sending.wanted.endpoint.name, sending.wanted.ask.template
