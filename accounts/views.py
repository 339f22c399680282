"""One's own tokens for the API: made, shown once, listed, revoked."""

from datetime import datetime, timedelta
from typing import Any

from allauth.account.decorators import reauthentication_required
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.browsers import MARK, browsers_of, sign_out
from accounts.closing import end_sessions
from accounts.http import UserRequest
from accounts.models import NOTICE_VERSION, ApiToken
from accounts.sign_in import record_change
from accounts.tokens import NAME_LENGTH, Scope, longest_life, make_token, revoke_token, revoke_tokens_of, tokens_of
from web import audit_log
from web.fields import TextField
from web.text import plural

DAYS = (7, 30, 90, 180, 365)
USUAL_DAYS = 90
WORDS = {Scope.READ: "read: see what you may see", Scope.WRITE: "write: also change what you may change"}


class TokenForm(forms.Form):
    name = TextField(label="Name", max_length=NAME_LENGTH, help_text="What it is for, such as a notebook.")
    scopes = forms.MultipleChoiceField(
        label="May",
        choices=[(scope.value, WORDS[scope]) for scope in Scope],
        initial=[Scope.READ.value],
        widget=forms.CheckboxSelectMultiple,
    )
    days = forms.TypedChoiceField(label="Ends after", coerce=int)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        longest = longest_life().days
        offered = [days for days in DAYS if days < longest] + [longest]
        days = self.fields["days"]
        choices = [(number, f"{number} {plural(number, 'day')}") for number in offered]
        days.choices = choices  # type: ignore[attr-defined]
        days.initial = min(USUAL_DAYS, longest)

    def ends(self) -> datetime:
        return now() + timedelta(days=self.cleaned_data["days"])


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@reauthentication_required  # type: ignore[untyped-decorator]
def tokens(request: UserRequest) -> HttpResponse:
    """List and make tokens. A secret is shown only in the answer that makes it."""
    form = TokenForm(request.POST if request.method == "POST" else None)
    raw = ""
    if form.is_valid():
        name, scopes = form.cleaned_data["name"], form.cleaned_data["scopes"]
        token, raw = make_token(user=request.user, name=name, scopes=scopes, expires_at=form.ends())
        audit_log.record_if_possible("account.token_made", actor=audit_log.actor_of(request.user), token=token.pk)
        form = TokenForm()
    context = {"form": form, "raw": raw, "tokens": tokens_of(request.user), "now": now()}
    return render(request, "accounts/tokens.html", context, status=422 if form.errors else 200)


@require_POST
def revoke(request: UserRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(ApiToken, user=request.user, pk=pk)
    revoke_token(token=token)
    audit_log.record_if_possible("account.token_revoked", actor=audit_log.actor_of(request.user), token=token.pk)
    messages.success(request, f"Revoked: {token.name}.")
    return redirect("accounts:tokens")


@require_http_methods(["GET", "HEAD", "POST"])
def notice(request: UserRequest) -> HttpResponse:
    then = request.POST.get("next") or request.GET.get("next") or "/"
    if not url_has_allowed_host_and_scheme(then, allowed_hosts=None):
        then = "/"
    if request.method == "POST":
        request.user.acknowledge_notice()
        return redirect(then)
    context = {
        "next": then,
        "version": NOTICE_VERSION,
        "has_read": request.user.has_read_notice,
        "idle_hours": settings.SESSION_COOKIE_AGE // 3600,
        "retention_days": settings.RETENTION_DAYS,
    }
    return render(request, "accounts/notice.html", context)


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
    revoked = revoke_tokens_of(request.user) if request.POST.get("tokens") else 0
    end_sessions(request.user)
    record_change("account.sessions_ended", request.user, request, tokens_revoked=revoked)
    logout(request)
    return redirect("account_login")
