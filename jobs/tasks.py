"""The one Celery task: do what is due."""

from threading import Event

from celery import shared_task

from jobs.registry import runners

# Shared with the dispatcher, which lives in the same process: threads are the worker's pool.
stopping = Event()
idle = Event()
idle.set()


@shared_task(ignore_result=True)
def work(worker: str) -> None:
    """Claim and run items until none is due or the worker stops."""
    try:
        for runner in runners():
            runner(worker, stopping)
    finally:
        idle.set()
