"""Waiting for a job at the terminal: with the workers that are there, or as one, where none is."""

import os
import secrets
import socket
import time
from collections.abc import Callable
from threading import Event, Thread

from django.db import connections

from jobs import queue
from jobs.models import Job
from jobs.queue import JobProgress
from llmjobs.engine import run

LOOK_EVERY = 0.5


def wait_for(job: Job, tell: Callable[[JobProgress, str], None]) -> JobProgress:
    """Wait until a job ends, telling progress and why nothing moves; return how it ended.

    Without a live worker this process works by itself, in a thread of its own.
    """
    stopping = Event()
    helper = None
    try:
        while True:
            job.refresh_from_db()
            progress = queue.progress_of(job)
            tell(progress, job.waiting_for if job.state == Job.State.RUNNING else "")
            if job.state != Job.State.RUNNING:  # a paused one waits for somebody who is not here
                return progress
            if not queue.live_workers() and (helper is None or not helper.is_alive()):
                helper = Thread(target=_work, args=(stopping,), daemon=True)
                helper.start()
            time.sleep(LOOK_EVERY)
    finally:
        stopping.set()
        if helper is not None:
            helper.join()


def _work(stopping: Event) -> None:
    name = f"{socket.gethostname()}.{os.getpid()}.{secrets.token_hex(4)}.waiting"
    try:
        while not stopping.wait(LOOK_EVERY):
            run(name, stopping)
    finally:
        queue.leave(name)
        connections.close_all()
