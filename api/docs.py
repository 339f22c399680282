"""The description of the API, for programs and for people. It tells what there is, and nothing of what is in it."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.views import SpectacularAPIView


class SchemaView(SpectacularAPIView):
    """The OpenAPI schema, as YAML or with `?format=json` as JSON."""

    throttle_classes = []


@login_not_required
@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Show the schema to read and to try. Its scripts are served from here, and none stands in the page."""
    return render(request, "api/docs.html")
