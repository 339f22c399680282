"""Access to a task: the row of the address, or a 404 that does not tell whether it exists."""

import re
from collections.abc import Callable
from functools import wraps
from time import monotonic
from typing import Any, TypeAlias, TypeVar
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from pydantic import BaseModel, ValidationError

from accounts.http import UserRequest
from accounts.models import User
from assessor.blind.tasks import ended_task, is_own_task
from evaluation.errors import NoSuchTask, Refused

ESCAPED_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
Body = TypeVar("Body", bound=BaseModel)
View: TypeAlias = Callable[..., HttpResponse]


def own_task_or_404(view: View) -> View:
    @wraps(view)
    def wrapped(request: UserRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except NoSuchTask:
            # Only whose task it was learns that it was taken back; to others it never was.
            if ended := ended_task(kwargs["public_id"], request.user):
                return render(request, "assessor/ended.html", {"ended": ended}, status=404)
            raise Http404 from None

    return wrapped


class BadBody(Exception):
    """A request's JSON is not what the endpoint takes."""


def body_of(request: UserRequest, shape: type[Body]) -> Body:
    """Return the request's JSON, checked. Raises `BadBody`.

    A NUL is dropped: nobody can see or mean it, no database takes it, and work must not wait for it.
    """
    try:
        return shape.model_validate_json(ESCAPED_NUL.sub(rb"\1", request.body))
    except ValidationError as error:
        raise BadBody(str(error.errors()[0]["msg"])) from error


def json_problem(status: int, code: str, message: str) -> JsonResponse:
    return JsonResponse({"code": code, "message": message}, status=status)


WINDOW_SECONDS = 60
MOST = 6000
"""Requests of an account in a minute, for each process. Counted in memory: a save must not cost a second write."""


class Flood:
    """Requests of each account since the minute began."""

    def __init__(self) -> None:
        self._began = 0.0
        self._counts: dict[int, int] = {}

    def takes(self, account: int) -> bool:
        moment = monotonic()
        if moment - self._began > WINDOW_SECONDS:
            self._began, self._counts = moment, {}
        self._counts[account] = self._counts.get(account, 0) + 1
        return self._counts[account] <= MOST


FLOOD = Flood()


def _absence(task: str, user: User) -> tuple[str, str]:
    """Return the code and words for what is not there. At all but the last a desk that is open stops."""
    if ended := ended_task(task, user):
        return "task_ended", " ".join(filter(None, (ended.sentence, ended.reason)))
    if not is_own_task(task, user):
        return "not_found", "There is no such task."
    return "no_such_part", "There is no such part of this task."


def desk_json(view: View) -> View:
    """Let a view answer JSON: 401 without a session, 404 for what is not one's own, 400 and 422 with the reason."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        # A redirect to the sign-in page would be read as JSON: the script keeps its outbox and asks to sign in.
        if not request.user.is_authenticated:
            return json_problem(401, "signed_out", "Your session has ended. Sign in again to go on.")
        if not FLOOD.takes(request.user.pk):
            return json_problem(429, "too_many_requests", "Too many requests. Your browser tries again by itself.")
        try:
            return view(request, *args, **kwargs)
        # A task of somebody else and none at all answer alike, so that ids tell nothing.
        except NoSuchTask:
            return json_problem(404, *_absence(kwargs["public_id"], request.user))
        except BadBody as error:
            return json_problem(400, "bad_request", str(error))
        except Refused as error:
            return json_problem(422, error.code, error.message)

    return login_not_required(never_cache(wrapped))


def after_notice(view: View) -> View:
    """Show the notice first, once. Only pages ask for it: a desk that is open goes on saving when a new one comes."""

    @wraps(view)
    def wrapped(request: UserRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.has_read_notice:
            return view(request, *args, **kwargs)
        # A form that was posted cannot be repeated after the notice; its page is safe to come back to.
        then = request.get_full_path() if request.method == "GET" else reverse("assessor:home")
        return redirect(f"{reverse('accounts:notice')}?{urlencode({'next': then})}")

    return wrapped
