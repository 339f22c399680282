"""One view: who are you, and one upsert. It answers with what was written."""

import json

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path

from assessor.models import MarkedPassage


def save(request: HttpRequest) -> HttpResponse:
    """Write one mark; nothing is checked, nothing is logged."""
    if not request.user.is_authenticated:
        return HttpResponse(status=401)
    body = json.loads(request.body)
    MarkedPassage.objects.bulk_create(
        [MarkedPassage(task_id=body["task"], segment_id=body["segment"], mark=body["mark"])],
        update_conflicts=True,
        unique_fields=["task", "segment"],
        update_fields=["mark"],
    )
    return JsonResponse(body)


def healthz(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok")


urlpatterns = [path("save", save), path("healthz", healthz)]
