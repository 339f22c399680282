"""What a view starts with: the thing asked for, or a 404 that does not tell whether it exists."""

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias, TypeVar

from django.http import Http404, HttpResponse, JsonResponse
from pydantic import BaseModel, ValidationError

from accounts.http import UserRequest
from evaluation.errors import NoSuchTask

ESCAPED_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
Body = TypeVar("Body", bound=BaseModel)
View: TypeAlias = Callable[..., HttpResponse]


def own_task_or_404(view: View) -> View:
    """Make a task that is not the user's answer as one that does not exist."""

    @wraps(view)
    def wrapped(request: UserRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except NoSuchTask:
            raise Http404 from None

    return wrapped


class BadBody(Exception):
    """A request's JSON is not what the endpoint takes."""


def body_of(request: UserRequest, shape: type[Body]) -> Body:
    """Return the request's JSON, checked. Raises `BadBody`.

    A NUL is dropped: it is nothing that one can see or mean, no database takes it, and work must not wait for it.
    """
    try:
        return shape.model_validate_json(ESCAPED_NUL.sub(rb"\1", request.body))
    except ValidationError as error:
        raise BadBody(str(error.errors()[0]["msg"])) from error


def json_problem(status: int, code: str, message: str) -> JsonResponse:
    """Return an error as the desk's scripts read it."""
    return JsonResponse({"code": code, "message": message}, status=status)
