"""The event log and the findings of imports as rows, without the names of people."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from evaluation.models import Event, Finding, Run, Topic
from evaluation.queries.data.reading import Reader, Row, Values


class Events(Reader):
    """What happened."""

    values = ("campaign", "at", "kind", "actor", "payload")
    chunk = 2000

    def rows(self) -> QuerySet[Event]:
        """Return the log of the viewer's campaigns."""
        return Event.objects.using(self.alias).filter(campaign__in=self.seen)

    def of_kind(self, rows: QuerySet[Any], kind: str) -> QuerySet[Any]:
        """Keep the events of one kind."""
        return rows.filter(kind=kind)

    def since(self, rows: QuerySet[Any], start: datetime) -> QuerySet[Any]:
        """Keep what happened from a moment on."""
        return rows.filter(at__gte=start)

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        """Yield events."""
        for pk, campaign, at, kind, actor, payload in chunk:
            yield {
                "id": pk,
                "campaign": self.names.slug(campaign),
                "at": at,
                "kind": kind,
                "actor": self.names.person(campaign, actor),
                "payload": self.names.clean(campaign, payload),
            }


class Findings(Reader):
    """What imports noticed."""

    values = ("campaign", "event", "event__at", "code", "file", "line", "run_id", "topic_id", "message")

    def rows(self) -> QuerySet[Finding]:
        """Return the findings in the viewer's campaigns."""
        return Finding.objects.using(self.alias).filter(campaign__in=self.seen)

    def of_topics(self, rows: QuerySet[Any], topics: Iterable[int]) -> QuerySet[Any]:
        """Keep what is about some topics."""
        return rows.filter(topic_id__in=Topic.objects.filter(pk__in=topics).values("topic_id"))

    def of_runs(self, rows: QuerySet[Any], runs: Iterable[int]) -> QuerySet[Any]:
        """Keep what is about some runs."""
        return rows.filter(run_id__in=Run.objects.filter(pk__in=runs).values("run_id"))

    def of_kind(self, rows: QuerySet[Any], kind: str) -> QuerySet[Any]:
        """Keep the findings of one kind."""
        return rows.filter(code=kind)

    def since(self, rows: QuerySet[Any], start: datetime) -> QuerySet[Any]:
        """Keep what was noticed from a moment on."""
        return rows.filter(event__at__gte=start)

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        """Yield findings."""
        for pk, campaign, event, at, code, file, line, run_id, topic_id, message in chunk:
            yield {
                "id": pk,
                "campaign": self.names.slug(campaign),
                "event": event,
                "at": at,
                "code": code,
                "file": self.names.clean(campaign, file),
                "line": line,
                "run_id": run_id,
                "topic_id": topic_id,
                "message": self.names.clean(campaign, message),
            }
