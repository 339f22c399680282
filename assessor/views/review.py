"""What an assessor reads before submitting."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from assessor.getters import own_task_or_404
from evaluation.blind.review import review_summary


@require_safe
@never_cache
@own_task_or_404
def review(request: UserRequest, public_id: str) -> HttpResponse:
    """Show how the list stands. With `?part` only what the desk's dialog takes in."""
    template = "assessor/review_part.html" if "part" in request.GET else "assessor/review.html"
    return render(request, template, {"review": review_summary(public_id, request.user)})
