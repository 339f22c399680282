"""How the installation stands, in a few words for an administrator; `/readyz` says the same to programs."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext

from evaluation.triggers import missing_triggers
from jobs.health import QueueState, queue_state
from web import audit

LATE = 600.0  # seconds


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the installation. `well`: whether nobody has to do anything."""

    name: str
    said: str
    well: bool


def system_state() -> list[Part]:
    """Read how the queue, the workers and the logs stand: four short queries."""
    queue = queue_state()
    return [*_queue(queue), _workers(queue), _audit_log(), _append_only()]


def _queue(queue: QueueState) -> Iterator[Part]:
    lag = queue.oldest_due_seconds or 0.0
    ended = queue.last_ended_seconds if queue.last_ended_seconds is not None else LATE + 1
    due = {"due": f"{queue.due:,}", "time": _time(lag)}
    said = gettext("%(due)s due, the oldest for %(time)s") if queue.due else gettext("%(due)s due")
    yield Part(gettext("LLM queue"), said % due, not queue.due or min(lag, ended) < LATE)
    if queue.failed:
        failed = gettext("%(count)s, of all jobs") % {"count": f"{queue.failed:,}"}
        yield Part(gettext("Failed items"), failed, True)


def _workers(queue: QueueState) -> Part:
    beat = queue.newest_heartbeat_seconds
    if beat is None:
        said = gettext("%(count)d alive") % {"count": queue.workers}
    else:
        said = gettext("%(count)d alive, seen %(time)s ago") % {"count": queue.workers, "time": _time(beat)}
    return Part(gettext("Workers"), said, bool(queue.workers) or not queue.due)


def _audit_log() -> Part:
    try:
        audit.ensure_writable()
    except audit.AuditUnwritableError as error:
        return Part(gettext("Audit log"), str(error), False)
    return Part(gettext("Audit log"), gettext("can be written"), True)


def _append_only() -> Part:
    missing = missing_triggers()
    said = gettext("append-only")
    if missing:
        said = gettext("can be changed: %(tables)s") % {"tables": ", ".join(missing)}
    return Part(gettext("Events and operations"), said, not missing)


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
