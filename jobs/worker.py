"""Inside a Celery worker: look for due items, keep the leases alive, and wake the task that does the work.

The task goes to a queue of this worker's own, so that each worker runs only what it claims itself, whatever the broker.
"""

import logging
import os
import secrets
import socket
import time
from functools import cache
from threading import Thread
from typing import Any

from celery.signals import celeryd_after_setup, worker_ready, worker_shutdown, worker_shutting_down
from django.db import close_old_connections, connections

from jobs import queue
from jobs.lanes import Lane, lanes, watchers
from jobs.notices import note_stuck
from jobs.tasks import stopping, work

LOOK_EVERY = 0.5
WATCH_EVERY = 15.0
# A wake-up that came to nothing in this time is taken for lost, and sent again.
LOST_AFTER = 10.0
log = logging.getLogger(__name__)


@cache
def worker_name() -> str:
    # A restarted container has the same host name and process id, so a random part tells them apart.
    return f"{socket.gethostname()}.{os.getpid()}.{secrets.token_hex(4)}"


@celeryd_after_setup.connect
def listen(instance: Any, **_signal: Any) -> None:
    # From the very start: wake-ups of this worker go to its own queue.
    instance.app.amqp.queues.select_add(worker_name())


@worker_ready.connect
def start(**_signal: Any) -> None:
    name = worker_name()
    Thread(target=_keep_alive, args=(name,), daemon=True, name="leases").start()
    Thread(target=_dispatch, args=(name,), daemon=True, name="dispatch").start()
    Thread(target=_watch, daemon=True, name="watch").start()


@worker_shutting_down.connect
def stop(**_signal: Any) -> None:
    stopping.set()


@worker_shutdown.connect
def say_goodbye(**_signal: Any) -> None:
    # Otherwise pages would count the worker as alive until its heartbeat is too old.
    try:
        queue.leave(worker_name())
    except Exception as error:
        log.warning("worker not signed off: %s", error)
    finally:
        connections.close_all()


def _dispatch(name: str) -> None:
    sent: dict[str, float] = {}
    while not stopping.wait(LOOK_EVERY):
        for lane in lanes():
            on_its_way = lane.woken.is_set() and time.monotonic() - sent.get(lane.kind, 0.0) < LOST_AFTER
            if not on_its_way and not lane.at_work.locked() and _due(lane.kind):
                sent[lane.kind] = time.monotonic()
                _wake(name, lane)


def _wake(name: str, lane: Lane) -> None:
    lane.woken.set()
    try:
        work.apply_async(args=[name, lane.kind], queue=name, expires=LOST_AFTER)
    except Exception as error:
        lane.woken.clear()
        log.warning("broker does not take messages: %s", error)


def _keep_alive(name: str) -> None:
    while True:
        try:
            queue.renew(name)
        except Exception as error:
            log.warning("leases not renewed: %s", error)
        finally:
            connections.close_all()
        if stopping.wait(queue.RENEW_EVERY):
            return


def _watch() -> None:
    # A thread of its own: a slow mail server must not keep leases from being renewed.
    while not stopping.wait(WATCH_EVERY):
        for watch in (note_stuck, *watchers()):
            try:
                watch()
            except Exception as error:
                log.warning("not told of jobs: %s", error)
            finally:
                connections.close_all()


def _due(kind: str) -> bool:
    try:
        return queue.anything_due(kind)
    except Exception as error:
        log.warning("queue not read: %s", error)
        return False
    finally:
        close_old_connections()
