"""Who works on claimed items, and who looks after jobs. Rooms above register here: this one knows none of them."""

from collections.abc import Callable
from threading import Event

Runner = Callable[[str, Event], None]
"""Works, as a named worker, until nothing is due or the event is set."""

Watcher = Callable[[], None]
"""Looks from time to time for what has to be told."""

_runners: list[Runner] = []
_watchers: list[Watcher] = []


def register(runner: Runner) -> None:
    """Have a runner work on items whenever some are due."""
    _runners.append(runner)


def runners() -> tuple[Runner, ...]:
    """Return the runners in the order of their registration."""
    return tuple(_runners)


def register_watcher(watcher: Watcher) -> None:
    """Have every worker call a watcher from time to time."""
    _watchers.append(watcher)


def watchers() -> tuple[Watcher, ...]:
    """Return the watchers in the order of their registration."""
    return tuple(_watchers)
