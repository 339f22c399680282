"""Pages that belong to no room."""

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.timezone import now
from django.views.decorators.http import require_safe

SECURITY_TXT_DAYS = timedelta(days=30)


@login_not_required
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer of the database. Open to load balancers, so it tells nothing else."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@login_not_required
def security_txt(request: HttpRequest) -> HttpResponse:
    """Contact for weaknesses (RFC 9116), if this installation names an address."""
    if not settings.SECURITY_CONTACT:
        raise Http404
    ends = (now() + SECURITY_TXT_DAYS).strftime("%Y-%m-%dT%H:%M:%SZ")
    text = f"Contact: {settings.SECURITY_CONTACT}\nExpires: {ends}\nPreferred-Languages: en\n"
    return HttpResponse(text, content_type="text/plain; charset=utf-8")
