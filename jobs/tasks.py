"""The one Celery task: do what is due."""

from threading import Event, Lock

from celery import shared_task

from jobs.registry import runners

# Shared with the dispatcher, which lives in the same process: threads are the worker's pool.
stopping = Event()
woken = Event()
at_work = Lock()


@shared_task(ignore_result=True)
def work(worker: str) -> None:
    """Claim and run items until none is due or the worker stops. A second wake-up changes nothing."""
    woken.clear()
    if not at_work.acquire(blocking=False):
        return
    try:
        for runner in runners():
            runner(worker, stopping)
    finally:
        at_work.release()
