"""The figures of `/metrics`: requests as this server's processes counted them, work as the database has it.

Figures of the database are read at each request. They are true for all servers and workers, they never start again from
zero, and nothing has to be counted twice.
"""

import os
from collections.abc import Iterable, Iterator

from django.db.models import Count, Sum
from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from evaluation.models import Operation
from jobs.health import queue_state
from llmjobs.models import Attempt, Call


class WorkCollector(Collector):
    """Saves, queue, workers and LLM calls, from the database."""

    def collect(self) -> Iterator[Metric]:
        yield from _queue_metrics()
        yield _total("assay_saves", "Operations saved at desks", Operation.objects.count())
        yield from _call_metrics()


def exposition() -> bytes:
    registry = CollectorRegistry()
    registry.register(WorkCollector())
    # Several server processes share one folder, and any of them tells the figures of all.
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
    return generate_latest(REGISTRY) + generate_latest(registry)


def _queue_metrics() -> Iterator[Metric]:
    state = queue_state()
    items = GaugeMetricFamily("assay_queue_items", "Work items of LLM jobs by state", labels=["state"])
    for name in ("queued", "leased", "due", "failed"):
        items.add_metric([name], getattr(state, name))
    yield items
    yield GaugeMetricFamily("assay_workers_alive", "Workers seen lately", state.workers)
    ages = {
        "assay_queue_oldest_due_seconds": ("Age of the oldest due item", state.oldest_due_seconds),
        "assay_queue_last_ended_seconds": ("Time since an item ended", state.last_ended_seconds),
        "assay_worker_heartbeat_seconds": ("Age of the newest heartbeat", state.newest_heartbeat_seconds),
    }
    for name, (help_text, age) in ages.items():
        if age is not None:
            yield GaugeMetricFamily(name, help_text, age)


def _call_metrics() -> Iterator[Metric]:
    by_state = Call.objects.values_list("state").annotate(n=Count("pk")).order_by()
    yield _totals("assay_llm_calls", "LLM calls by state", "state", by_state)
    by_error = Attempt.objects.exclude(ended_at=None).values_list("error").annotate(n=Count("pk")).order_by()
    outcomes = [(error or "answered", number) for error, number in by_error]
    yield _totals("assay_llm_attempts", "Requests to an LLM by outcome", "outcome", outcomes)
    tokens = Call.objects.aggregate(prompt=Sum("prompt_tokens"), completion=Sum("completion_tokens"))
    counts = [(kind, number or 0) for kind, number in tokens.items()]
    yield _totals("assay_llm_tokens", "Tokens of answered calls", "kind", counts)


def _total(name: str, help_text: str, number: int) -> Metric:
    return CounterMetricFamily(name, help_text, number)


def _totals(name: str, help_text: str, label: str, numbers: Iterable[tuple[str, int]]) -> Metric:
    family = CounterMetricFamily(name, help_text, labels=[label])
    for value, number in numbers:
        family.add_metric([value], number)
    return family
