"""Account administration: closing, opening, second factor, erasure."""

from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required
from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import UserRequest
from accounts.models import User
from evaluation.campaigns.access import holds_work
from evaluation.campaigns.people import account_facts, close_person, drop_second_factor, erase_person, open_person
from exchange.own_data import PARTS
from exchange.own_data import own_data as collected
from web.audit_log import blind


class EraseForm(forms.Form):
    """Erasure, confirmed by the username that it removes."""

    username = forms.CharField(label="Username", max_length=150, widget=forms.TextInput({"autocomplete": "off"}))


def _get_account(request: UserRequest, pk: int) -> User:
    """Account for an administrator who does not judge. Raises `PermissionDenied` for others."""
    if not request.user.is_superuser or holds_work(request.user):
        raise PermissionDenied
    return get_object_or_404(User, pk=pk)


@require_safe
@never_cache
def account(request: UserRequest, pk: int) -> HttpResponse:
    person = _get_account(request, pk)
    context = {"person": person, "facts": account_facts(person), "form": EraseForm()}
    return render(request, "organizer/account.html", context)


@require_POST
def close(request: UserRequest, pk: int) -> HttpResponse:
    person = _get_account(request, pk)
    close_person(user=person, actor=request.user)
    messages.success(request, "Closed. Every session of it has ended, and its tokens are revoked.")
    return redirect("organizer:account", pk)


@require_POST
def reopen(request: UserRequest, pk: int) -> HttpResponse:
    person = _get_account(request, pk)
    open_person(user=person, actor=request.user)
    messages.success(request, "Open again.")
    return redirect("organizer:account", pk)


@require_POST
def drop_factor(request: UserRequest, pk: int) -> HttpResponse:
    person = _get_account(request, pk)
    drop_second_factor(user=person, actor=request.user)
    get_adapter(request).send_notification_mail("mfa/email/factors_dropped", person)
    messages.success(request, "The second factor and the recovery codes are gone. Every session has ended.")
    return redirect("organizer:account", pk)


@require_http_methods(["POST"])
def erase(request: UserRequest, pk: int) -> HttpResponse:
    """Erase the person, only where the administrator typed their username."""
    person = _get_account(request, pk)
    pseudonym = erase_person(user=person, confirmed=request.POST.get("username", ""), actor=request.user)
    messages.success(request, f"Erased. What they did stays, under the name {pseudonym}.")
    return redirect("organizer:account", pk)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@reauthentication_required  # type: ignore[untyped-decorator]
@blind
def own_data(request: UserRequest) -> HttpResponse | FileResponse:
    if request.method == "POST":
        name = f"assay-{request.user.username}-{now():%Y-%m-%d}.zip"
        return FileResponse(collected(request.user), as_attachment=True, filename=name)
    return render(request, "organizer/own_data.html", {"parts": list(PARTS)})
