"""Readiness and figures for monitoring systems."""

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from prometheus_client import CONTENT_TYPE_LATEST

from accounts.models import User
from config.figures import exposition
from config.readiness import is_ready, report
from web.metrics import may_read


@login_not_required
def readyz(request: HttpRequest) -> HttpResponse:
    """Readiness; its checks only for administrators and holders of the token."""
    is_admin = isinstance(request.user, User) and request.user.is_staff
    if is_admin or may_read(request):
        state = report()
        return JsonResponse(state, status=200 if state["status"] == "ready" else 503)
    ready = is_ready()
    return HttpResponse(
        "ready\n" if ready else "not ready\n", status=200 if ready else 503, content_type="text/plain"
    )


@login_not_required
def metrics(request: HttpRequest) -> HttpResponse:
    """Figures for holders of the token. Without METRICS_TOKEN there is no such page."""
    if not may_read(request):
        raise Http404
    return HttpResponse(exposition(), content_type=CONTENT_TYPE_LATEST)
