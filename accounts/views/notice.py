"""The notice of what is recorded: read once before the first task."""

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods

from accounts.http import UserRequest
from accounts.notice import NOTICE_VERSION, acknowledge_notice, has_read_notice


@require_http_methods(["GET", "HEAD", "POST"])
def notice(request: UserRequest) -> HttpResponse:
    then = request.POST.get("next") or request.GET.get("next") or "/"
    if not url_has_allowed_host_and_scheme(then, allowed_hosts=None):
        then = "/"
    if request.method == "POST":
        acknowledge_notice(request.user)
        return redirect(then)
    context = {
        "next": then,
        "version": NOTICE_VERSION,
        "has_read": has_read_notice(request.user),
        "idle_hours": settings.SESSION_COOKIE_AGE // 3600,
        "retention_days": settings.RETENTION_DAYS,
    }
    return render(request, "accounts/notice.html", context)
