"""LLM jobs as rows."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, QuerySet

from evaluation.queries.data.reading import Reader, Row, Values
from jobs.models import WorkItem
from llmjobs.models import LlmJob

SPENDING = (
    *("priority", "requests", "prompt_tokens", "completion_tokens", "max_requests", "max_tokens", "max_money"),
    *("currency", "price_table"),
)


class Jobs(Reader):
    """What LLM judges were asked to do, and how far it is."""

    values = (
        *("campaign", "judge", "job__title", "job__state", "job__waiting_for", "job__made_by"),
        *("job__made_at", "job__ended_at", "job__priority", "sent_calls", "prompt_tokens", "completion_tokens"),
        *("most_calls", "most_tokens", "most_money", "currency", "price_table"),
    )
    row_path = "job__id"

    def rows(self) -> QuerySet[LlmJob]:
        """Return the jobs in the viewer's campaigns."""
        return LlmJob.objects.using(self.alias).filter(campaign__in=self.seen)

    def of_judges(self, rows: QuerySet[Any], judges: Iterable[int]) -> QuerySet[Any]:
        """Keep the jobs of some judges."""
        return rows.filter(judge__in=judges)

    def of_kind(self, rows: QuerySet[Any], kind: str) -> QuerySet[Any]:
        """Keep the jobs in one state."""
        return rows.filter(job__state=kind)

    def since(self, rows: QuerySet[Any], start: datetime) -> QuerySet[Any]:
        """Keep what was started or ended from a moment on, and what is not ended."""
        return rows.filter(Q(job__made_at__gte=start) | Q(job__ended_at__gte=start) | Q(job__ended_at=None))

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        """Yield jobs with the number of their items in each state."""
        items: dict[int, dict[str, int]] = defaultdict(lambda: dict.fromkeys(WorkItem.State.values, 0))
        found = WorkItem.objects.using(self.alias).filter(job__in=[one[0] for one in chunk]).order_by()
        for job, state, count in found.values_list("job", "state").annotate(Count("pk")):
            items[job][state] = count
        names = self.names
        for pk, campaign, judge, title, state, waiting_for, made_by, made_at, ended_at, *spending in chunk:
            yield _spending(spending) | {
                "id": pk,
                "campaign": names.slug(campaign),
                "title": names.clean(campaign, title),
                "judge": names.judge(campaign, judge),
                "state": state,
                "waiting_for": names.clean(campaign, waiting_for),
                "made_by": names.person(campaign, made_by),
                "made_at": made_at,
                "ended_at": ended_at,
                "items": items[pk],
            }


def _spending(values: Sequence[Any]) -> Row:
    spending = dict(zip(SPENDING, values, strict=True))
    money = spending["max_money"]
    return spending | {"max_money": None if money is None else f"{money:f}"}
