"""The one Celery task. A message holds the name of a lane and no more: the rows say what is to be done."""

from celery import shared_task

from jobs.worker import run_lane


@shared_task(name="jobs.work", ignore_result=True)
def work(kind: str) -> None:
    run_lane(kind)
