"""Work inside a Celery worker: a lane runs when a message or the worker's own timer finds something due.

The rows decide. The timer makes up for a lost message, a doubled message meets the lane's lock, and a killed worker's
items fall due again when its leases run out.
"""

import logging
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Event, Thread
from typing import Any

from celery.signals import worker_ready, worker_shutdown, worker_shutting_down
from django.db import close_old_connections, connections

from jobs import queue
from jobs.health import note_stuck
from jobs.lanes import lane_of, lanes, watchers

LOOK_EVERY, LOOK_EVERY_WITH_BROKER = 0.5, 2.0
WATCH_EVERY = 15.0
log = logging.getLogger(__name__)
stopping = Event()
_running: dict[str, Thread] = {}


@cache
def worker_name() -> str:
    # A restarted container has the same host name and process id, so a random part tells them apart.
    return f"{socket.gethostname()}.{os.getpid()}.{secrets.token_hex(4)}"


def run_lane(kind: str) -> None:
    """Run a lane until nothing is due. If it runs already, its runner looks once more before it ends."""
    lane = lane_of(kind)
    lane.again.set()
    # Checked after each release: a message that met the lock just before the runner ended would be lost otherwise.
    while lane.again.is_set() and lane.at_work.acquire(blocking=False):
        try:
            lane.again.clear()
            lane.runner(worker_name(), stopping)
        finally:
            lane.at_work.release()


def run_until(ended: Event, kind: str) -> None:
    """Run a lane in a process that is no Celery worker, such as a command that waits for its job."""
    name = f"{worker_name()}.waiting"
    try:
        while not ended.wait(LOOK_EVERY):
            lane_of(kind).runner(name, ended)
    finally:
        queue.leave(name)
        connections.close_all()


@contextmanager
def _surviving(trouble: str) -> Iterator[None]:
    """Log an error, and give the thread's connections back."""
    try:
        yield
    except Exception as error:
        log.warning("%s: %s", trouble, error)
    finally:
        connections.close_all()


@worker_ready.connect
def start(**_signal: Any) -> None:
    Thread(target=renew_leases, args=(worker_name(),), daemon=True, name="leases").start()
    Thread(target=look, daemon=True, name="look").start()
    Thread(target=watch, daemon=True, name="watch").start()


@worker_shutting_down.connect
def stop(**_signal: Any) -> None:
    stopping.set()


@worker_shutdown.connect
def leave(**_signal: Any) -> None:
    # Celery waits for the lanes that a message started; those of the timer store their last replies here.
    for thread in list(_running.values()):
        thread.join()
    # Otherwise pages would count the worker as alive until its heartbeat is too old.
    with _surviving("worker not signed off"):
        queue.leave(worker_name())


def look() -> None:
    """Start lanes with due items: after lost messages, expired leases and waits that ended; without a broker, all."""
    every = LOOK_EVERY_WITH_BROKER if queue.has_broker() else LOOK_EVERY
    while not stopping.wait(every):
        for lane in lanes():
            if not lane.at_work.locked() and _due(lane.kind):
                thread = Thread(target=_run, args=(lane.kind,), daemon=True, name=f"lane {lane.kind}")
                _running[lane.kind] = thread
                thread.start()


def _run(kind: str) -> None:
    try:
        run_lane(kind)
    except Exception:
        log.exception("lane failed: %s", kind)
    finally:
        connections.close_all()


def renew_leases(name: str) -> None:
    while True:
        with _surviving("leases not renewed"):
            queue.renew(name)
        if stopping.wait(queue.RENEW_EVERY):
            return


def watch() -> None:
    # A thread of its own: a slow mail server must not keep leases from being renewed.
    while not stopping.wait(WATCH_EVERY):
        for watcher in (note_stuck, *watchers()):
            with _surviving("watcher failed"):
                watcher()


def _due(kind: str) -> bool:
    try:
        return queue.anything_due(kind)
    except Exception as error:
        log.warning("queue not read: %s", error)
        return False
    finally:
        close_old_connections()
