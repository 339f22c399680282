"""How the desk's JSON endpoints answer: never a redirect, never a page, always something its scripts understand."""

from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache

from assessor.flood import FLOOD
from assessor.getters import BadBody, View, json_problem
from evaluation.errors import NoSuchTask, Refused


def desk_json(view: View) -> View:
    """Let a view answer JSON: 401 without a session, 404 for what is not one's own, 400 and 422 with the reason."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return json_problem(401, "signed_out", "Your session has ended. Sign in again to go on.")
        if not FLOOD.takes(request.user.pk):
            return json_problem(429, "too_many_requests", "Too many requests. Your browser tries again by itself.")
        try:
            return view(request, *args, **kwargs)
        except NoSuchTask:
            return json_problem(404, "not_found", "There is no such task.")
        except BadBody as error:
            return json_problem(400, "bad_request", str(error))
        except Refused as error:
            return json_problem(422, error.code, error.message)

    return login_not_required(never_cache(wrapped))
