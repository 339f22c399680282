"""Every page of the dashboard: how long the server takes, its slowest query, and whether queries grow with the data.

Pages are asked for in the step's own process, through all middleware. *First* is the first time in it, when nothing is
kept; the others are of the same page again.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse

from accounts.models import User
from loadtest.bench.dashboard_world import Share, make_share
from loadtest.bench.measuring import Measured
from loadtest.bench.plan_reports import DASHBOARD
from loadtest.bench.sizes import SMALL, Size

TENTH, WHOLE = Share("tenth", 30, 4, 500_000), Share("whole", 301, 40, 4_500_000)
"""Five million events in one table, and a campaign of a tenth of the size beside the other."""
TINY = (Share("tenth", 6, 2, 60), Share("whole", 12, 4, 600))
TIMES = 20


def prepare(size: Size, _turn: int) -> Measured:
    call_command("collectstatic", interactive=False, verbosity=0)
    shares = TINY if size is SMALL else (TENTH, WHOLE)
    for share in shares:
        make_share(share, size)
    return Measured(rows=sum(share.events for share in shares))


class _Watch:
    def __init__(self) -> None:
        self.queries, self.slowest = 0, 0.0

    def __call__(self, execute: Callable[..., Any], sql: Any, params: Any, many: Any, context: Any) -> Any:
        started = time.perf_counter()
        try:
            return execute(sql, params, many, context)
        finally:
            self.queries += 1
            self.slowest = max(self.slowest, time.perf_counter() - started)


def pages(size: Size, _turn: int) -> Measured:
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(User.objects.get(username="organizer"))
    measured = Measured(rows=sum(share.events for share in (TINY if size is SMALL else (TENTH, WHOLE))))
    for name in DASHBOARD:
        small, large = (reverse(f"organizer:{name}", args=[slug]) for slug in ("tenth", "whole"))
        _taken(client, small)
        measured.seconds[f"{name} queries of a tenth"] = _taken(client, small)[1].queries
        first, watch = _taken(client, large)
        repeated = [_taken(client, large) for _ in range(TIMES)]
        times = [taken for taken, _ in repeated]
        measured.seconds |= {
            f"{name} first": first,
            f"{name} p50": float(np.percentile(times, 50)),
            f"{name} p95": float(np.percentile(times, 95)),
            f"{name} slowest query, first": watch.slowest,
            f"{name} slowest query": max(repeated_watch.slowest for _, repeated_watch in repeated),
            f"{name} queries": repeated[-1][1].queries,
        }
    return measured


def _taken(client: Client, address: str) -> tuple[float, _Watch]:
    watch = _Watch()
    started = time.perf_counter()
    with connection.execute_wrapper(watch):
        response = client.get(address)
    if response.status_code != 200:
        raise SystemExit(f"{address}: {response.status_code}")
    return time.perf_counter() - started, watch
