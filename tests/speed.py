"""Limits of computing time that a slow machine keeps too, by a yardstick that is measured beside them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

REFERENCE = 0.02
"""Seconds that the yardstick takes on the machine on which limits are set."""


def slowness() -> float:
    """How many times as long as there this machine computes just now; at least 1."""
    began = time.thread_time()
    total = 0
    for number in range(300_000):
        total += number % 7
    return max(1.0, (time.thread_time() - began) / REFERENCE)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    before, began = slowness(), time.thread_time()
    yield
    spent = time.thread_time() - began
    assert spent < seconds * max(before, slowness()), f"{spent:.1f} s of the processor"
