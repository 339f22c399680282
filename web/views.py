"""Pages that belong to no room."""

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.timezone import now
from django.views.decorators.http import conditional_page, require_safe
from django.views.i18n import JavaScriptCatalog

from web.auditing import blind

# Without it the words of every app, as of Django's admin, would come with ours, which lie in LOCALE_PATHS.
OURS = ["web"]
SECURITY_TXT_DAYS = timedelta(days=30)


@login_not_required
def healthz(request: HttpRequest) -> HttpResponse:
    """Say whether the database answers. Open to load balancers, so it tells nothing else."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@login_not_required
def security_txt(request: HttpRequest) -> HttpResponse:
    """Say where a weakness is reported (RFC 9116), if this installation names an address."""
    if not settings.SECURITY_CONTACT:
        raise Http404
    ends = (now() + SECURITY_TXT_DAYS).strftime("%Y-%m-%dT%H:%M:%SZ")
    text = f"Contact: {settings.SECURITY_CONTACT}\nExpires: {ends}\nPreferred-Languages: en\n"
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@blind
@login_not_required
@conditional_page
def script_words(request: HttpRequest) -> HttpResponseBase:
    """Give what the scripts say in the language of the request: the same to everybody, as on the sign-in page."""
    return JavaScriptCatalog.as_view(packages=OURS)(request)
