"""A task as its assessor sees it, for organizers to look at and not to touch."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from organizer import work_getters
from organizer.assessor_view import assessor_view
from web import audit


@require_safe
@never_cache
def view_as(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    campaign, task = work_getters.get_task_to_change(request.user, slug, public_id)
    audit.record_if_possible(
        "view.as_assessor",
        actor=audit.actor_of(request.user),
        campaign=campaign.slug,
        about=audit.actor_of(task.assessor),
        path=request.path,
    )
    context = {"campaign": campaign, "task": task, "view": assessor_view(task, request.GET.get("answer", ""))}
    return render(request, "organizer/view_as.html", context)
