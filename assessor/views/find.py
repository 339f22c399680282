"""Palette of somebody who judges: their own tasks and the glossary, so that it names no run, model or person."""

from django.http import JsonResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from assessor.blind.tasks import home_for
from web.finding import Hit, Words, glossary_hits, groups_of_hits


@require_safe
@never_cache
def find(request: UserRequest) -> JsonResponse:
    tasks = [
        Hit(line.topic, reverse("assessor:task", args=[line.public_id]), line.stage)
        for group in home_for(request.user).groups
        for line in group.tasks
        if line.step
    ]
    pages = [Hit("Leave: your tasks", reverse("assessor:home")), Hit("Keys", reverse("assessor:keys"))]
    groups = [("Your tasks", tasks), ("Pages", pages), ("Glossary", glossary_hits())]
    return JsonResponse({"groups": groups_of_hits(Words(request.GET.get("words", "")), groups)})
