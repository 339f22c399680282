"""Browsers in which an account is signed in, and signing out of them."""

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth import logout
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.auditing import record_change
from accounts.browsers import browsers_of, sign_out
from accounts.closing import end_sessions
from accounts.http import UserRequest
from accounts.sessions import MARK
from accounts.tokens import revoke_tokens_of


@require_safe
@never_cache
def browsers(request: UserRequest) -> HttpResponse:
    context = {"browsers": browsers_of(request.user, request.session.get(MARK, ""))}
    return render(request, "accounts/browsers.html", context)


@require_POST
@reauthentication_required  # type: ignore[untyped-decorator]
def end(request: UserRequest, mark: str) -> HttpResponse:
    if not sign_out(request.user, mark):
        raise Http404
    record_change("account.session_ended", request.user, request)
    if mark == request.session.get(MARK):
        logout(request)
        return redirect("account_login")
    messages.success(request, "Signed out there.")
    return redirect("accounts:browsers")


@require_POST
@reauthentication_required  # type: ignore[untyped-decorator]
def end_all(request: UserRequest) -> HttpResponse:
    """Sign out everywhere, here too; a tick ends the API tokens as well."""
    revoked = revoke_tokens_of(request.user) if request.POST.get("tokens") else 0
    end_sessions(request.user)
    record_change("account.sessions_ended", request.user, request, tokens_revoked=revoked)
    logout(request)
    return redirect("account_login")
