"""The demo's clock: what the desks would have recorded of its work, on the days before it is loaded."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.utils import timezone

from evaluation.models import Submission, Task, TimeSegment
from evaluation.terms import SegmentKind, Stage

MINUTES = {
    Stage.POST_EDIT: 52,
    Stage.MANUAL: 118,
    Stage.ASSIGN: 64,
    Stage.SUPPORT_SCRATCH: 38,
    Stage.SUPPORT_POST_EDIT: 26,
}
"""Active minutes of a whole task, before anybody's own pace."""
PACE = {"ann": 94, "ben": 112}
"""Per cent of them that each person takes."""
STRETCHES = (95, 210, 64, 141, 180, 77, 120)
"""Seconds of one reading or writing after the other."""
WORDS = 420
BREAK, INTERRUPTION = timedelta(seconds=48), timedelta(minutes=19)


def record_times(submitted: list[Task], begun: list[Task]) -> None:
    """Store the stretches of each task, one task a morning or an afternoon, the last one yesterday.

    A task that is only begun has a third of its time. The third submitted one was interrupted.
    """
    tasks = [*submitted, *begun]
    today = timezone.localtime().replace(hour=9, minute=0, second=0, microsecond=0)
    for place, task in enumerate(tasks):
        half_days = len(tasks) - place
        start = today - timedelta(days=(half_days + 1) // 2, hours=-5 * (half_days % 2))
        share = 1 if task in submitted else 3
        end = _record(task, start, share, interrupted=place == 2)
        Task.objects.filter(pk=task.pk).update(created_at=start - timedelta(days=1), opened_at=start)
        Submission.objects.filter(task=task).update(at=end)


def _record(task: Task, start: datetime, share: int, *, interrupted: bool) -> datetime:
    rows = list(_stretches(task, start, share, interrupted))
    TimeSegment.objects.bulk_create(rows)
    return rows[-1].ended_at


def _stretches(task: Task, start: datetime, share: int, interrupted: bool) -> Iterator[TimeSegment]:
    left = MINUTES[Stage(task.stage)] * 60 * PACE[task.assessor.username] // 100 // share
    number = 0
    while left > 0:
        seconds = min(left, STRETCHES[number % len(STRETCHES)])
        kind = SegmentKind.EDITING if number % 3 == 1 else SegmentKind.READING
        yield _row(task, number, kind, start, start + timedelta(seconds=seconds))
        start, left, number = start + timedelta(seconds=seconds), left - seconds, number + 1
        if number % 8 == 0 and left > 0:
            pause = INTERRUPTION if interrupted and number == 8 else BREAK
            yield _row(task, number, SegmentKind.GAP, start, start + pause)
            start, number = start + pause, number + 1


def _row(task: Task, number: int, kind: SegmentKind, start: datetime, end: datetime) -> TimeSegment:
    gap_answer = "away" if end - start == INTERRUPTION else ""
    return TimeSegment(
        task=task,
        submission=1,
        window=f"demo-{task.pk}",
        number=number,
        kind=kind,
        started_at=start,
        ended_at=end,
        words=WORDS,
        said=gap_answer,  # the name of the column
    )
