"""Inside a Celery worker: look for due items, keep the leases alive, and wake the task that does the work.

The task goes to a queue of this worker's own, so that each worker runs only what it claims itself, whatever the broker.
"""

import logging
import os
import socket
from threading import Thread
from typing import Any

from celery.signals import worker_ready, worker_shutting_down
from django.db import DatabaseError, close_old_connections, connections

from jobs import queue
from jobs.tasks import idle, stopping, work

LOOK_EVERY = 0.5
RENEW_EVERY = 5.0
log = logging.getLogger(__name__)


def worker_name() -> str:
    """Return a name that no other live worker has."""
    return f"{socket.gethostname()}.{os.getpid()}"


@worker_ready.connect
def start(sender: Any, **_signal: Any) -> None:
    """Start the two watching threads when the worker can take tasks."""
    name = worker_name()
    sender.app.control.add_consumer(name, reply=False, destination=[sender.hostname])
    Thread(target=_keep_alive, args=(name,), daemon=True, name="leases").start()
    Thread(target=_dispatch, args=(name,), daemon=True, name="dispatch").start()


@worker_shutting_down.connect
def stop(**_signal: Any) -> None:
    """Let the work at hand come to rest: what is left goes back into the queue."""
    stopping.set()


def _dispatch(name: str) -> None:
    while not stopping.wait(LOOK_EVERY):
        if idle.is_set() and _due():
            idle.clear()
            work.apply_async(args=[name], queue=name)


def _keep_alive(name: str) -> None:
    while True:
        try:
            queue.renew(name)
        except DatabaseError as error:
            log.warning("leases not renewed: %s", error)
        finally:
            connections.close_all()
        if stopping.wait(RENEW_EVERY):
            return


def _due() -> bool:
    try:
        return queue.anything_due()
    except DatabaseError as error:
        log.warning("queue not read: %s", error)
        return False
    finally:
        close_old_connections()
