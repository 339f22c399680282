"""The way from signing in to where one works."""

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from organizer.landing import landing_for


@require_safe
@never_cache
def landing(request: UserRequest) -> HttpResponse:
    return redirect(landing_for(request.user))
