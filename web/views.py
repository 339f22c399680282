"""Pages that belong to no room."""

from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.http import HttpRequest, HttpResponse


@login_not_required
def healthz(request: HttpRequest) -> HttpResponse:
    """Say whether the database answers. Open to load balancers, so it tells nothing else."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse("ok\n", content_type="text/plain")
