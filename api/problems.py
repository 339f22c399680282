"""Errors as problem documents (RFC 9457): the same shape for missing, forbidden, wrong and refused requests."""

from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import Http404, HttpResponse
from pydantic_core import to_json
from rest_framework import exceptions

from evaluation.errors import BadInput, Refused
from web.busy import LATER, SENTENCE, is_busy
from web.middleware import RuleRefusal

CONTENT_TYPE = "application/problem+json"
NOT_FOUND = "There is nothing here, or nothing that you may see."
Errors = dict[str, list[str]]


class WrongQuery(exceptions.APIException):
    """A filter that does not exist, or a value that makes no sense for it."""

    status_code = HTTPStatus.BAD_REQUEST
    default_code = "bad_query"
    default_detail = "Some parameters of the address are wrong."

    def __init__(self, errors: Errors) -> None:
        super().__init__()
        self.errors = errors


def handler(error: Exception, context: dict[str, Any]) -> HttpResponse | None:
    """Return the answer to an exception of a view; None leaves a fault of the program to Django, which logs it."""
    # Django's own exceptions come from code that pages share, and their texts are not for programs.
    if isinstance(error, Http404):
        error = exceptions.NotFound(NOT_FOUND)
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    elif isinstance(error, SuspiciousOperation):
        error = exceptions.ParseError("The request cannot be read: it has too many parts, or is not what it says.")
    if is_busy(error):
        busy = problem(HTTPStatus.SERVICE_UNAVAILABLE, "busy", SENTENCE)
        busy["Retry-After"] = str(LATER)
        return busy
    if isinstance(error, RuleRefusal):
        return _refused(error)
    if isinstance(error, exceptions.APIException):
        return _api_problem(error)
    return None


def problem(status: int, code: str, detail: str, **more: Any) -> HttpResponse:
    document = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": int(status), "code": code}
    body = to_json(document | {"detail": detail, **more})
    return HttpResponse(body, status=status, content_type=CONTENT_TYPE)


def _refused(error: RuleRefusal) -> HttpResponse:
    if not isinstance(error, BadInput):
        more = {"choices": error.choices} if isinstance(error, Refused) and error.choices else {}
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, error.code, error.message, **more)
    listed = [
        {"file": mistake.file, "line": mistake.line, "field": mistake.field, "expected": mistake.expected}
        for mistake in error.problems
    ]
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, error.code, error.message, problems=listed)


def _api_problem(error: exceptions.APIException) -> HttpResponse:
    more: dict[str, Any] = {}
    detail: Any = error.detail
    code = error.get_codes()
    if isinstance(error, WrongQuery):
        more["errors"] = error.errors
    elif not isinstance(detail, str):
        more["errors"] = detail
        detail, code = "What was sent is not valid.", "invalid"
    response = problem(error.status_code, str(code), str(detail), **more)
    if header := getattr(error, "auth_header", None):
        response["WWW-Authenticate"] = header
    if wait := getattr(error, "wait", None):
        # Rounded up: whoever comes back a moment too early is refused again.
        response["Retry-After"] = str(int(wait) + 1)
    return response
