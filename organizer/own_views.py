"""Stored data about the signed-in account, and their export."""

from allauth.account.decorators import reauthentication_required
from django.http import FileResponse, HttpResponse
from django.shortcuts import render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.http import UserRequest
from exchange.own_data import PARTS
from exchange.own_data import own_data as collected
from web.auditing import blind


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@reauthentication_required  # type: ignore[untyped-decorator]
@blind
def own_data(request: UserRequest) -> HttpResponse | FileResponse:
    if request.method == "POST":
        name = f"assay-{request.user.username}-{now():%Y-%m-%d}.zip"
        return FileResponse(collected(request.user), as_attachment=True, filename=name)
    return render(request, "organizer/own_data.html", {"parts": list(PARTS)})
