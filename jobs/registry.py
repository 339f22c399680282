"""Who works on claimed items. Rooms above register here, because this one knows none of them."""

from collections.abc import Callable
from threading import Event

Runner = Callable[[str, Event], None]
"""Works, as a named worker, until nothing is due or the event is set."""

_runners: list[Runner] = []


def register(runner: Runner) -> None:
    """Have a runner work on items whenever some are due."""
    _runners.append(runner)


def runners() -> tuple[Runner, ...]:
    """Return the runners in the order of their registration."""
    return tuple(_runners)
