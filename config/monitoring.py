"""Pages for programs beside the application: health, readiness, figures, and the contact for weaknesses."""

import hmac
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from datetime import timedelta
from functools import cache
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import MiddlewareNotUsed
from django.db import DatabaseError, OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Count, Sum
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.timezone import now
from django.views.decorators.http import require_safe
from kombu.connection import Connection
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from accounts.caching import TableCache
from accounts.models import User
from assessor.models import Operation
from evaluation.append_only import missing_triggers
from jobs.health import queue_state
from llmjobs.models import Attempt, Call
from web import audit_log
from web.write_lock import short_wait


class WorkCollector(Collector):
    def collect(self) -> Iterator[Metric]:
        yield from _queue_metrics()
        yield CounterMetricFamily("assay_saves", "Operations saved at desks", Operation.objects.count())
        yield from _call_metrics()


def exposition() -> bytes:
    registry = CollectorRegistry()
    registry.register(WorkCollector())
    # Several server processes share one folder, and any of them answers with the figures of all.
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


def _totals(name: str, help_text: str, label: str, numbers: Iterable[tuple[str, int]]) -> Metric:
    family = CounterMetricFamily(name, help_text, labels=[label])
    for value, number in numbers:
        family.add_metric([value], number)
    return family


SECURITY_TXT_DAYS = timedelta(days=30)
BROKER_PATIENCE = 2.0  # seconds
STALLED_AFTER = 600.0
LOCK_PATIENCE_MS = 200
Check = Callable[[], dict[str, Any] | None]


def is_ready() -> bool:
    try:
        _ask_database()
        if waiting_migrations():
            return False
        write_a_row()
    except DatabaseError:
        return False
    _remember()
    return True


@cache
def _remember() -> bool:
    # Applied migrations stay applied as long as this process lives, and a look builds the graph of all.
    return True


def _ask_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def write_a_row() -> None:
    """Write one small row as a save does. A disk that is full, or a server that only reads, raises `DatabaseError`."""
    try:
        # A load balancer gives up soon.
        with short_wait(LOCK_PATIENCE_MS):
            TableCache("", {}).set(f"readyz-{os.getpid()}", now().isoformat(), timeout=3600)
    except OperationalError as error:
        # Another process is writing just now, so writing works.
        if "locked" not in str(error):
            raise


def waiting_migrations() -> list[str]:
    if _remember.cache_info().currsize:
        return []
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]


def report() -> dict[str, Any]:
    checks = {name: _carried_out(check) for name, check in CHECKS.items()}
    problems = [f"{name}: {state['problem']}" for name, state in checks.items() if "problem" in state]
    ready = all(checks[name]["ok"] for name in ("database", "migrations", "writes"))
    return {"status": "ready" if ready else "not ready", "problems": problems, "checks": checks}


def _carried_out(check: Check) -> dict[str, Any]:
    started = time.perf_counter()
    try:
        result = check() or {}
    except Exception as error:  # whatever is broken, the others are still reported
        result = {"problem": type(error).__name__}
    return {"ok": "problem" not in result, "seconds": round(time.perf_counter() - started, 4), **result}


def _database() -> dict[str, Any]:
    _ask_database()
    return {"engine": connection.vendor}


def _migrations() -> dict[str, Any]:
    waiting = waiting_migrations()
    return {"problem": f"{len(waiting)} are not applied, {waiting[0]} is the first"} if waiting else {}


def _triggers() -> dict[str, Any]:
    missing = missing_triggers()
    return {"problem": f"logs can be changed, {', '.join(missing)} are missing: run migrate"} if missing else {}


def _broker() -> dict[str, Any]:
    kind = settings.CELERY_BROKER_URL.partition(":")[0]
    if kind == "memory":
        return {"kind": "each worker's own"}
    broker = Connection(settings.CELERY_BROKER_URL, connect_timeout=BROKER_PATIENCE)  # type: ignore[no-untyped-call]
    with broker:
        broker.ensure_connection(max_retries=1, interval_start=0)  # type: ignore[no-untyped-call]
    return {"kind": kind}


def _queue_check() -> dict[str, Any]:
    state = queue_state()
    result: dict[str, Any] = asdict(state)
    if state.due and not state.workers:
        result["problem"] = f"{state.due} items are due and no worker is alive"
    elif (
        state.due and min(state.oldest_due_seconds or 0, state.last_ended_seconds or STALLED_AFTER) > STALLED_AFTER
    ):
        result["problem"] = f"{state.due} items are due and none ended for {state.last_ended_seconds or 0:.0f} s"
    return result


CHECKS: dict[str, Check] = {
    "database": _database,
    "migrations": _migrations,
    "writes": write_a_row,
    "triggers": _triggers,
    "audit log": audit_log.ensure_writable,
    "broker": _broker,
    "queue": _queue_check,
}


METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

requests = Counter("assay_http_requests", "Requests answered", ["view", "method", "status"])
seconds = Histogram("assay_http_request_seconds", "Seconds until an answer began", ["view"], buckets=BOUNDS)


class MetricsMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if not settings.METRICS_TOKEN:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started = time.perf_counter()
        response = self.get_response(request)
        match = request.resolver_match
        view = (match.view_name if match else "") or "none"
        method = request.method if request.method in METHODS else "other"
        requests.labels(view, method, str(response.status_code)).inc()
        seconds.labels(view).observe(time.perf_counter() - started)
        return response


def may_read(request: HttpRequest) -> bool:
    sent = request.headers.get("Authorization", "").removeprefix("Bearer ").encode()
    token: str = settings.METRICS_TOKEN
    return bool(token) and hmac.compare_digest(sent, token.encode())


@login_not_required
def healthz(request: HttpRequest) -> HttpResponse:
    # Open to load balancers, so it tells nothing else.
    _ask_database()
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@login_not_required
def security_txt(request: HttpRequest) -> HttpResponse:
    """Contact for weaknesses (RFC 9116), if this installation names an address."""
    if not settings.SECURITY_CONTACT:
        raise Http404
    ends = (now() + SECURITY_TXT_DAYS).strftime("%Y-%m-%dT%H:%M:%SZ")
    text = f"Contact: {settings.SECURITY_CONTACT}\nExpires: {ends}\nPreferred-Languages: en\n"
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@login_not_required
def readyz(request: HttpRequest) -> HttpResponse:
    """Readiness; its checks only for administrators and holders of the token."""
    is_admin = isinstance(request.user, User) and request.user.is_staff
    if is_admin or may_read(request):
        state = report()
        return JsonResponse(state, status=200 if state["status"] == "ready" else 503)
    ready = is_ready()
    return HttpResponse(
        "ready\n" if ready else "not ready\n", status=200 if ready else 503, content_type="text/plain"
    )


@login_not_required
def metrics(request: HttpRequest) -> HttpResponse:
    if not may_read(request):
        raise Http404
    return HttpResponse(exposition(), content_type=CONTENT_TYPE_LATEST)
