"""The one Celery task: do what is due."""

from threading import Event

from celery import shared_task

from jobs.lanes import lane_of

# Shared with the dispatcher, which lives in the same process: threads are the worker's pool.
stopping = Event()


@shared_task(ignore_result=True)
def work(worker: str, kind: str) -> None:
    lane = lane_of(kind)
    lane.woken.clear()
    if not lane.at_work.acquire(blocking=False):
        return
    try:
        lane.runner(worker, stopping)
    finally:
        lane.at_work.release()
