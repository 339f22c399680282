"""Nobody's work is recorded before they have read what is recorded."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from accounts.http import UserRequest
from accounts.notice import has_read_notice


def after_notice(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Show the notice first, once. Only pages ask for it: a desk that is open goes on saving when a new one comes."""

    @wraps(view)
    def wrapped(request: UserRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if has_read_notice(request.user):
            return view(request, *args, **kwargs)
        then = request.get_full_path() if request.method == "GET" else reverse("assessor:home")
        return redirect(f"{reverse('accounts:notice')}?{urlencode({'next': then})}")

    return wrapped
