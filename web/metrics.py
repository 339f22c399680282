"""Figures of requests for a monitoring system: how many, how long, by the name of the view.

By the name alone: neither ids nor people are labels, so that nobody can tell from the figures who judged what. Several
server processes share one folder (PROMETHEUS_MULTIPROC_DIR, which gunicorn.conf.py makes), and any of them tells all.
"""

import hmac
import time
from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from prometheus_client import Counter, Histogram

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

requests = Counter("assay_http_requests", "Requests answered", ["view", "method", "status"])
seconds = Histogram("assay_http_request_seconds", "Seconds until an answer began", ["view"], buckets=BOUNDS)


class MetricsMiddleware:
    """Counts requests, where a monitoring system may ask for the figures."""

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
