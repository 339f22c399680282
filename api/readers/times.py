"""How long topics took, a submission a row: the figures of `export time`, computed from the recorded stretches."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db.models import BigIntegerField, ExpressionWrapper, F, Max, QuerySet

from evaluation.models import Submission, Task, TimeSegment
from evaluation.queries.data.reading import Reader, Row, Values
from evaluation.queries.timing import FIELDS, Timed, TopicTime, stretch_of
from evaluation.rules.clock import Stretch, limit_of, measure
from evaluation.terms import Stage
from reports.timing import TIME_COLUMNS, time_row

SUBMISSIONS = 2**16
"""A row's key is made of the task's and the number of the submission."""

PLACE = ExpressionWrapper(F("task") * SUBMISSIONS + F("submission"), output_field=BigIntegerField())


class Times(Reader):
    """The times of submissions, the one that is being made too. Withdrawn work does not count."""

    key = "place"
    values = ("task", "submission", "last_at")
    chunk = 20

    def rows(self) -> QuerySet[Any]:
        """Return the submissions in the viewer's campaigns for which time was recorded."""
        seen = TimeSegment.objects.using(self.alias).filter(task__campaign__in=self.seen)
        counting = seen.filter(Task.objects.not_withdrawn_q("task__")).annotate(place=PLACE)
        return counting.values("place", "task", "submission").annotate(last_at=Max("ended_at"))

    def of_topics(self, rows: QuerySet[Any], topics: Iterable[int]) -> QuerySet[Any]:
        """Keep the times of some topics."""
        return rows.filter(task__topic__in=topics)

    def of_people(self, rows: QuerySet[Any], users: Iterable[int]) -> QuerySet[Any]:
        """Keep the times of some people."""
        return rows.filter(task__assessor__in=users)

    def at_stage(self, rows: QuerySet[Any], stage: Stage) -> QuerySet[Any]:
        """Keep the times of one stage."""
        return rows.filter(task__stage=stage)

    def since(self, rows: QuerySet[Any], start: datetime) -> QuerySet[Any]:
        """Keep what was still worked on from a moment on."""
        return rows.filter(last_at__gte=start)

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        """Yield times."""
        pks = {one[1] for one in chunk}
        tasks = {one.pk: one for one in Task.objects.using(self.alias).filter(pk__in=pks).select_related("topic")}
        submitted = set(Submission.objects.using(self.alias).filter(task__in=pks).values_list("task", "version"))
        stretches = self._stretches(pks)
        for _, pk, version, last_at in chunk:
            task, stage = tasks[pk], Stage(tasks[pk].stage)
            timed = Timed(
                campaign=self.names.slug(task.campaign_id),
                topic_id=task.topic.topic_id,
                stage=stage,
                assessor=self.names.person(task.campaign_id, task.assessor_id) or "",
                version=version,
                submitted=(pk, version) in submitted,
            )
            figures = time_row(TopicTime(timed, measure(stretches[pk, version], limit_of(stage))))
            yield {
                "task": task.public_id,
                **{name: figures[name] for name in TIME_COLUMNS},
                "last_at": last_at,
            }

    def _stretches(self, tasks: Iterable[int]) -> dict[tuple[int, int], list[Stretch]]:
        found: dict[tuple[int, int], list[Stretch]] = defaultdict(list)
        rows = (
            TimeSegment.objects.using(self.alias).filter(task__in=tasks).order_by("started_at", "window", "number")
        )
        for task, submission, *fields in rows.values_list("task", "submission", *FIELDS):
            found[task, submission].append(stretch_of(*fields))
        return found
