"""Registry of lanes and watchers. Rooms above register here, so that this room knows none of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Lock

Runner = Callable[[str, Event], None]
"""Works, as a named worker, until nothing is due or the event is set."""

Watcher = Callable[[], None]
"""Called from time to time: looks for jobs to write notices of, or mails to send."""


@dataclass(frozen=True, eq=False, slots=True)
class Lane:
    """Jobs of one kind, and who does them. Lanes do not wait for each other: an export is done beside LLM calls.

    `at_work`: held while the runner runs. `again`: it looks once more before it ends.
    """

    kind: str
    runner: Runner
    at_work: Lock = field(default_factory=Lock)
    again: Event = field(default_factory=Event)


_lanes: dict[str, Lane] = {}
_watchers: list[Watcher] = []


def register(kind: str, runner: Runner) -> None:
    """Have a runner work on jobs of that kind whenever some of their items are due."""
    _lanes[kind] = Lane(kind, runner)


def lanes() -> tuple[Lane, ...]:
    return tuple(_lanes.values())


def lane_of(kind: str) -> Lane:
    return _lanes[kind]


def register_watcher(watcher: Watcher) -> None:
    _watchers.append(watcher)


def watchers() -> tuple[Watcher, ...]:
    return tuple(_watchers)
