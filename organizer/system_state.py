"""State of the installation in words for an administrator; `/readyz` gives it to programs."""

from collections.abc import Iterator
from dataclasses import dataclass

from evaluation.triggers import missing_triggers
from jobs.health import QueueState, queue_state
from web import audit

LATE = 600.0  # seconds


@dataclass(frozen=True, slots=True)
class SystemPart:
    """A part of the installation. `well`: nobody has to act."""

    name: str
    text: str
    well: bool


def system_state() -> list[SystemPart]:
    """State of queue, workers and logs, in four short queries."""
    queue = queue_state()
    return [*_queue(queue), _workers(queue), _audit_log(), _append_only()]


def _queue(queue: QueueState) -> Iterator[SystemPart]:
    lag = queue.oldest_due_seconds or 0.0
    ended = queue.last_ended_seconds if queue.last_ended_seconds is not None else LATE + 1
    text = f"{queue.due:,} due, the oldest for {_time(lag)}" if queue.due else "0 due"
    yield SystemPart("LLM queue", text, not queue.due or min(lag, ended) < LATE)
    if queue.failed:
        failed = f"{queue.failed:,}, of all jobs"
        yield SystemPart("Failed items", failed, True)


def _workers(queue: QueueState) -> SystemPart:
    beat = queue.newest_heartbeat_seconds
    text = f"{queue.workers} alive" if beat is None else f"{queue.workers} alive, seen {_time(beat)} ago"
    return SystemPart("Workers", text, bool(queue.workers) or not queue.due)


def _audit_log() -> SystemPart:
    try:
        audit.ensure_writable()
    except audit.AuditUnwritableError as error:
        return SystemPart("Audit log", str(error), False)
    return SystemPart("Audit log", "can be written", True)


def _append_only() -> SystemPart:
    missing = missing_triggers()
    text = "append-only"
    if missing:
        text = f"can be changed: {', '.join(missing)}"
    return SystemPart("Events and operations", text, not missing)


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
