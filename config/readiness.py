"""Readiness of the installation, as `/readyz` reports it."""

import time
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from kombu.connection import Connection

from evaluation.triggers import missing_triggers
from jobs.health import queue_state
from web import audit

BROKER_PATIENCE = 2.0  # seconds
STALLED_AFTER = 600.0
Check = Callable[[], dict[str, Any]]


def is_ready() -> bool:
    """True where the database answers and has the tables of this version."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return is_migrated()
    except DatabaseError:
        return False


def is_migrated() -> bool:
    """True once every migration is applied, then for the life of the process."""
    if waiting_migrations():
        return False
    # Applied migrations stay applied as long as this process lives.
    _remember()
    return True


@cache
def _remember() -> bool:
    return True


def waiting_migrations() -> list[str]:
    if _remember.cache_info().currsize:
        return []
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]


def report() -> dict[str, Any]:
    """All checks, each with `ok`, and their problems in words."""
    checks = {name: _carried_out(check) for name, check in CHECKS.items()}
    problems = [f"{name}: {state['problem']}" for name, state in checks.items() if "problem" in state]
    ready = checks["database"]["ok"] and checks["migrations"]["ok"]
    return {"status": "ready" if ready else "not ready", "problems": problems, "checks": checks}


def _carried_out(check: Check) -> dict[str, Any]:
    started = time.perf_counter()
    try:
        result = check()
    except Exception as error:  # whatever is broken, the others are still told
        result = {"problem": type(error).__name__}
    return {"ok": "problem" not in result, "seconds": round(time.perf_counter() - started, 4), **result}


def _database() -> dict[str, Any]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return {"engine": connection.vendor}


def _migrations() -> dict[str, Any]:
    waiting = waiting_migrations()
    return {"problem": f"{len(waiting)} are not applied, {waiting[0]} is the first"} if waiting else {}


def _triggers() -> dict[str, Any]:
    missing = missing_triggers()
    return {"problem": f"logs can be changed, {', '.join(missing)} are missing: run migrate"} if missing else {}


def _audit_log() -> dict[str, Any]:
    audit.ensure_writable()
    return {}


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
    "triggers": _triggers,
    "audit log": _audit_log,
    "broker": _broker,
    "queue": _queue_check,
}
