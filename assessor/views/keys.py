"""One's own keys and reading size: a plain form, which works without a script."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods

from accounts.desk_settings import DeskSettings, desk_settings_of, save_desk_settings
from accounts.http import UserRequest
from assessor.forms import DeskSettingsForm


@require_http_methods(["GET", "HEAD", "POST"])
def keys(request: UserRequest) -> HttpResponse:
    """Show the settings; keep them, or put the defaults back, and return to where the person came from."""
    back = _back(request)
    if request.method != "POST":
        return _page(request, DeskSettingsForm(settings=desk_settings_of(request.user)), back)
    if "defaults" in request.POST:
        save_desk_settings(request.user, DeskSettings())
        messages.success(request, "All settings are as they were at first.")
        return redirect(_own_address(back))
    form = DeskSettingsForm(request.POST, settings=desk_settings_of(request.user))
    if not form.is_valid():
        return _page(request, form, back, status=422)
    save_desk_settings(request.user, form.settings())
    messages.success(request, "Your settings are saved. They hold on every device where you sign in.")
    return redirect(_own_address(back))


def _page(request: UserRequest, form: DeskSettingsForm, back: str, status: int = 200) -> HttpResponse:
    return render(request, "assessor/keys.html", {"form": form, "back": back}, status=status)


def _own_address(back: str) -> str:
    return reverse("assessor:keys", query={"next": back} if back else None)


def _back(request: UserRequest) -> str:
    """Return the page to go back to, where it is one of ours."""
    address = request.POST.get("next") or request.GET.get("next") or ""
    safe = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    return address if safe else ""
