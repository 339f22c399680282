"""The one Celery task. A message holds a lane's name and no more, because the rows decide."""

from celery import shared_task

from jobs.worker import run_lane


@shared_task(name="jobs.work", ignore_result=True)
def work(kind: str) -> None:
    run_lane(kind)
