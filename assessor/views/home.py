"""An assessor's first page, the guidelines, and the palette, which names no run, model or person."""

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from assessor.access import after_notice, own_task_or_404
from assessor.blind.guidelines import guidelines_of
from assessor.blind.tasks import home_for
from web.finding import Hit, Words, glossary_hits, groups_of_hits


@require_safe
@never_cache
@after_notice
def home(request: UserRequest) -> HttpResponse:
    return render(request, "assessor/home.html", {"home": home_for(request.user)})


@require_safe
@never_cache
@own_task_or_404
def guidelines(request: UserRequest, public_id: str) -> HttpResponse:
    """Show the campaign's guidelines and what the labels mean. With `?part` only what the drawer takes in."""
    template = "assessor/guidelines_part.html" if "part" in request.GET else "assessor/guidelines.html"
    context = {"guidelines": guidelines_of(public_id, request.user), "task": public_id}
    return render(request, template, context)


@require_safe
@never_cache
def find(request: UserRequest) -> JsonResponse:
    tasks = [
        Hit(line.topic, reverse("assessor:task", args=[line.public_id]), line.stage.assessor_words.capitalize())
        for group in home_for(request.user).groups
        for line in group.tasks
        if line.step
    ]
    pages = [Hit("Leave: your tasks", reverse("assessor:home")), Hit("Keys", reverse("assessor:keys"))]
    groups = [("Your tasks", tasks), ("Pages", pages), ("Glossary", glossary_hits())]
    return JsonResponse({"groups": groups_of_hits(Words(request.GET.get("words", "")), groups)})
