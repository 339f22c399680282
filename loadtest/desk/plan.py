"""Conditions that all assessors of a load test share, and the times of their requests."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event as Signal
from threading import Thread
from typing import Protocol

LABEL_EVERY = 2.0  # seconds


@dataclass(slots=True)
class Times:
    """Moments and durations of answered requests by kind, filled by every assessor's thread."""

    found: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    unanswered: list[tuple[float, float, str]] = field(default_factory=list)
    """When a request without a good answer was sent, when it failed, and why."""

    def add(self, kind: str, seconds: float) -> None:
        self.found[kind].append((time.monotonic(), seconds))

    @contextmanager
    def timing(self, kind: str) -> Iterator[None]:
        """Record how long the block takes, if it succeeds."""
        started = time.monotonic()
        yield
        self.add(kind, time.monotonic() - started)


@dataclass(frozen=True, slots=True)
class Plan:
    """Where the server is and until when assessors work. `failed` hears of answers of 5xx, `violation` of all else.

    `every`: seconds between two labels at a judging desk. `rounds`: of work on a list of nuggets, of which the share
    `finished` is submitted. `sessions_end`: sessions run out in the middle of the work.
    """

    address: str
    ends: float
    violation: Callable[[str], None]
    failed: Callable[[str], None]
    starts: float = 0.0
    every: float = LABEL_EVERY
    rounds: tuple[int, int] = (20, 160)
    finished: float = 0.85
    sessions_end: bool = True
    times: Times = field(default_factory=Times)
    stopped: Signal = field(default_factory=Signal)

    @property
    def is_over(self) -> bool:
        return self.stopped.is_set() or time.monotonic() > self.ends


@contextmanager
def alongside(act: Callable[[], object], end: Callable[[], object]) -> Iterator[None]:
    """Do something in a thread while the block runs. `end`: has it stop."""
    thread = Thread(target=act)
    thread.start()
    try:
        yield
    finally:
        end()
        thread.join()


class Worker(Protocol):
    def run(self) -> None:
        """Work."""


def run_all(workers: Sequence[Worker], stopped: Signal) -> None:
    """Run each worker in a thread until the time is over; one that fails, or Ctrl+C, stops the others as well."""
    with ThreadPoolExecutor(len(workers)) as pool:
        running = [pool.submit(worker.run) for worker in workers]
        try:
            for done in running:
                done.result()
        finally:
            stopped.set()
