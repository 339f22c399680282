"""What a task's assessor is told, as a part of the desk's page and as a page of its own."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from assessor.getters import own_task_or_404
from evaluation.blind.guidelines import guidelines_of


@require_safe
@never_cache
@own_task_or_404
def guidelines(request: UserRequest, public_id: str) -> HttpResponse:
    """Show the campaign's guidelines and what the labels mean. With `?part` only what the drawer takes in."""
    template = "assessor/guidelines_part.html" if "part" in request.GET else "assessor/guidelines.html"
    context = {"guidelines": guidelines_of(public_id, request.user), "task": public_id}
    return render(request, template, context)
