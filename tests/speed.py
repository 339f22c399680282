"""Limits of computing time that a slow machine keeps too, by a yardstick that is measured beside them."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

REFERENCE = 0.02
"""Seconds that the yardstick takes on the machine on which limits are set."""

_uncounted: list[float] = []


def counted_seconds() -> float:
    """Seconds of the processor that this process and its children spent, but for what is `uncounted`."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system - sum(_uncounted)


@contextmanager
def uncounted() -> Iterator[None]:
    """What every later test of the process uses too is not counted for the test that comes first."""
    before = counted_seconds()
    yield
    _uncounted.append(counted_seconds() - before)


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
