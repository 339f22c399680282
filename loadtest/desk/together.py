"""Everybody at work at once, each in a thread."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event as Signal
from typing import Protocol


class Worker(Protocol):
    """Somebody who works until the time is over."""

    def run(self) -> None:
        """Work."""


def work(workers: Sequence[Worker], stopped: Signal) -> None:
    """Let all of them work, until the time is over; one that fails, or Ctrl+C, stops the others as well."""
    with ThreadPoolExecutor(len(workers)) as pool:
        working = [pool.submit(one.run) for one in workers]
        try:
            for one in working:
                one.result()
        finally:
            stopped.set()
