"""Pages that belong to no room."""

from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import conditional_page
from django.views.i18n import JavaScriptCatalog

from web.auditing import blind

# Without it the words of every app, as of Django's admin, would come with ours, which lie in LOCALE_PATHS.
OURS = ["web"]


@login_not_required
def healthz(request: HttpRequest) -> HttpResponse:
    """Say whether the database answers. Open to load balancers, so it tells nothing else."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse("ok\n", content_type="text/plain")


@blind
@login_not_required
@conditional_page
def script_words(request: HttpRequest) -> HttpResponseBase:
    """Give what the scripts say in the language of the request: the same to everybody, as on the sign-in page."""
    return JavaScriptCatalog.as_view(packages=OURS)(request)
