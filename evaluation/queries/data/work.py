"""Tasks as rows: everybody's for those who may see a campaign unblinded, and to an assessor their own."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import Max, Q, QuerySet
from django.db.models.fields.json import KT

from evaluation.blind.own import OwnTask, own_tasks
from evaluation.models import Campaign, Event, Submission, Task
from evaluation.queries.data.reading import Reader, Row, Values
from evaluation.terms import TASK_EVENTS, Stage

BLINDED = (
    *("topic_id", "assessor", "nugget_set", "drafts", "qrels", "machine", "study", "second_opinion"),
    *("priority", "expected_minutes", "created_at", "opened_at", "submitted_at"),
)
"""What is null in an assessor's own tasks: the type that they come in has no field for it."""


class Tasks(Reader):
    """What was handed out. Own tasks are read through the assessors' door, whoever else one is."""

    values = (
        *("public_id", "campaign", "topic__topic_id", "topic__text", "stage", "state", "version", "due"),
        *("blocked_reason", "reopened_reason", "assessor", "nugget_set", "drafts__nugget_set", "qrels__name"),
        *("machine", "study__name", "second_opinion", "priority", "expected_minutes", "created_at", "opened_at"),
    )
    row_path = "public_id"

    @cached_property
    def own(self) -> dict[str, OwnTask]:
        """The viewer's own tasks, by their ids."""
        return {one.public_id: one for one in own_tasks(self.viewer)}

    @cached_property
    def addressable(self) -> list[Campaign]:
        """The viewer's campaigns, and those in which they have work themselves."""
        slugs = {one.campaign for one in self.own.values()}
        return [*self.campaigns, *(Campaign.objects.using(self.alias).filter(slug__in=slugs) if slugs else ())]

    def rows(self) -> QuerySet[Task]:
        """Return the tasks of the viewer's campaigns, and the viewer's own."""
        own = [one.public_id for one in self.own.values() if self.scope in (None, one.campaign)]
        return Task.objects.using(self.alias).filter(Q(campaign__in=self.seen) | Q(public_id__in=own))

    def of_topics(self, rows: QuerySet[Any], topics: Iterable[int]) -> QuerySet[Any]:
        """Keep the tasks about some topics."""
        return rows.filter(topic__in=topics)

    def of_people(self, rows: QuerySet[Any], users: Iterable[int]) -> QuerySet[Any]:
        """Keep what was handed to some people."""
        return rows.filter(assessor__in=users, campaign__in=self.seen)

    def at_stage(self, rows: QuerySet[Any], stage: Stage) -> QuerySet[Any]:
        """Keep the tasks of one stage."""
        return rows.filter(stage=stage)

    def since(self, rows: QuerySet[Any], start: datetime) -> QuerySet[Any]:
        """Keep the tasks of which something was recorded from a moment on."""
        log = Event.objects.filter(kind__in=TASK_EVENTS, at__gte=start).values_list(KT("payload__task"))
        return rows.filter(public_id__in=log)

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        """Yield tasks. Of own ones nothing is told but what the assessors' door gives."""
        submissions = Submission.objects.using(self.alias).filter(task__in=[one[0] for one in chunk]).order_by()
        submitted = dict(submissions.values_list("task").annotate(Max("at")))
        for one in chunk:
            own = self.own.get(one[1])
            yield self._own_row(own) if own else self._row(one, submitted.get(one[0]))

    def _own_row(self, own: OwnTask) -> Row:
        row = asdict(own)
        return {"id": row.pop("public_id"), **row, **dict.fromkeys(BLINDED)}

    def _row(self, values: Values, submitted: datetime | None) -> Row:
        _, public_id, campaign, topic_id, topic, stage, state, version, due, *rest = values
        blocked, reopened, assessor, made, drafts, qrels, machine, study, second, *rest = rest
        priority, minutes, created_at, opened_at = rest
        names = self.names
        return {
            "id": public_id,
            "campaign": names.slug(campaign),
            "topic": topic,
            "stage": stage,
            "state": state,
            "version": version,
            "due": due,
            "blocked_reason": names.clean(campaign, blocked),
            "reopened_reason": names.clean(campaign, reopened),
            "topic_id": topic_id,
            "assessor": names.person(campaign, assessor),
            "nugget_set": names.nugget_set(made),
            "drafts": names.nugget_set(drafts),
            "qrels": qrels,
            "machine": names.judge(campaign, machine),
            "study": study,
            "second_opinion": second,
            "priority": priority,
            "expected_minutes": minutes,
            "created_at": created_at,
            "opened_at": opened_at,
            "submitted_at": submitted,
        }
