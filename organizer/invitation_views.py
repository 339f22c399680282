"""Pages of an invitation: its role, and a new account or a button to accept."""

from typing import cast

from allauth.account.adapter import ratelimit
from allauth.account.internal.flows.login import record_authentication
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import UserRequest
from accounts.invitations import invitation_of
from evaluation.services.people import accept
from organizer import people_acts
from organizer.people_forms import JoinForm
from web.auditing import blind

BACKEND = settings.AUTHENTICATION_BACKENDS[0]


@require_safe
@never_cache
@login_not_required
@blind
def open_invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Keep the link's secret in the session and redirect to an address without it."""
    if invitation_of(token) is None:
        # Too many links that are not good, from one address, are slowed down.
        if not ratelimit.consume(request, app="allauth.account", action="invitation", limit_get=True):
            return cast(HttpResponse, ratelimit.respond_429(request))
        return render(request, "organizer/no_invitation.html", status=410)
    # The link leaves the address bar: its secret goes on in the session only.
    request.session[people_acts.HELD] = token
    return redirect("organizer:invitation")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_not_required
@blind
def invitation(request: HttpRequest) -> HttpResponse:
    found = people_acts.held_invitation(request)
    if not found:
        return render(request, "organizer/no_invitation.html", status=410)
    form = JoinForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and not request.user.is_authenticated and form.is_valid():
        user = people_acts.joined(request, form)
        if user:
            # Without a record the sign-in library asks for the password that was typed a moment ago.
            record_authentication(request, user, method="password")
            login(request, user, BACKEND)
            return redirect("organizer:campaigns")
    context = {"invitation": found, "form": form, "provider": settings.OIDC}
    return render(request, "organizer/invitation.html", context, status=422 if form.errors else 200)


@require_POST
@blind
def accept_role(request: UserRequest) -> HttpResponse:
    raw = request.session.get(people_acts.HELD, "")
    campaign = accept(raw=raw, user=request.user)
    request.session.pop(people_acts.HELD, None)
    messages.success(request, f"You are in {campaign.name} now.")
    return redirect("organizer:campaigns")
