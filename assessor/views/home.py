"""An assessor's first page: what there is to do."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from assessor.access import after_notice, own_task_or_404
from assessor.blind.guidelines import guidelines_of
from assessor.blind.tasks import home_for


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
