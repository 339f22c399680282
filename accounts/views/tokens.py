"""One's own tokens for the API: made, shown once, listed, revoked."""

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.forms import TokenForm
from accounts.http import UserRequest
from accounts.models import ApiToken
from accounts.tokens import make_token, revoke_token, tokens_of
from web import audit


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
        audit.record_if_possible("account.token_made", actor=audit.actor_of(request.user), token=token.pk)
        form = TokenForm()
    context = {"form": form, "raw": raw, "tokens": tokens_of(request.user), "now": now()}
    return render(request, "accounts/tokens.html", context, status=422 if form.errors else 200)


@require_POST
def revoke(request: UserRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(ApiToken, user=request.user, pk=pk)
    revoke_token(token=token)
    audit.record_if_possible("account.token_revoked", actor=audit.actor_of(request.user), token=token.pk)
    messages.success(request, f"Revoked: {token.name}.")
    return redirect("accounts:tokens")
