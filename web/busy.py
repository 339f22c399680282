"""Answer to whoever waited in vain for somebody else who writes: come back in a moment. Nothing was written."""

import sys

import structlog
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.defaults import server_error

LATER = 5  # seconds
SENTENCE = "The server was busy and nothing was saved. Try again in a moment."
HELD = {"55P03", "40P01"}
"""PostgreSQL's lock_not_available and deadlock_detected."""
log = structlog.stdlib.get_logger(__name__)


def is_busy(error: BaseException | None) -> bool:
    """Say whether an error is only that another writer held the database for too long."""
    cause = error.__cause__ if isinstance(error, OperationalError) else None
    locked = str(getattr(cause, "sqlite_errorname", "")).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
    return locked or getattr(cause, "sqlstate", None) in HELD


def busy_answer(request: HttpRequest, page: HttpResponse | None = None) -> HttpResponse:
    """`page`: in place of the usual one, such as one that keeps what was typed."""
    log.warning("database busy")
    if request.accepts("text/html"):
        response = page or render(request, "busy.html", {"sentence": SENTENCE})
    else:
        response = JsonResponse({"code": "busy", "message": SENTENCE})
    response.status_code = 503
    response["Retry-After"] = str(LATER)
    return response


def fault(request: HttpRequest) -> HttpResponse:
    """Answer an error of the middleware, such as a session that could not be written; views have a middleware."""
    return busy_answer(request) if is_busy(sys.exc_info()[1]) else server_error(request)
