"""A limit of requests of desks: far above what hands and browsers send, and below what fills a disk."""

from time import monotonic

WINDOW_SECONDS = 60
MOST = 6000
"""Requests of an account in a minute, for each process. Counted in memory: a save must not cost a second write."""


class Flood:
    """Requests of each account since the minute began."""

    def __init__(self) -> None:
        self._began = 0.0
        self._counts: dict[int, int] = {}

    def takes(self, account: int) -> bool:
        """Count a request; return whether it is within the limit."""
        moment = monotonic()
        if moment - self._began > WINDOW_SECONDS:
            self._began, self._counts = moment, {}
        self._counts[account] = self._counts.get(account, 0) + 1
        return self._counts[account] <= MOST


FLOOD = Flood()
