"""The description of the API, for programs and for people. It tells what there is, and nothing of what is in it."""

from functools import lru_cache
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from api.schema import objects_of, operations_of


class SchemaView(SpectacularAPIView):
    """The OpenAPI schema, as YAML or with `?format=json` as JSON."""

    throttle_classes = []

    def _get_schema_response(self, request: Request) -> Response:
        name = self._get_filename(request, self.api_version)  # type: ignore[no-untyped-call]
        return Response(_schema(), headers={"Content-Disposition": f'inline; filename="{name}"'})


@lru_cache(maxsize=1)
def _schema() -> Any:
    """Build the schema once a process: it is the same for everybody, nobody need sign in for it, and it takes long."""
    return SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]


@login_not_required
@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    schema = _schema()
    context = {"info": schema["info"], "operations": operations_of(schema), "objects": objects_of(schema)}
    return render(request, "api/docs.html", context)
