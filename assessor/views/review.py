"""What an assessor reads before submitting."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from assessor.getters import own_task_or_404
from evaluation.blind.desk import task_head
from evaluation.blind.judged import judged_summary
from evaluation.blind.review import review_summary


@require_safe
@never_cache
@own_task_or_404
def review(request: UserRequest, public_id: str) -> HttpResponse:
    """Show how the work stands. With `?part` only what the desk's dialog takes in."""
    part = "part" in request.GET
    if task_head(public_id, request.user).judges:
        template = "assessor/judged_review_part.html" if part else "assessor/judged_review.html"
        return render(request, template, {"review": judged_summary(public_id, request.user)})
    template = "assessor/review_part.html" if part else "assessor/review.html"
    return render(request, template, {"review": review_summary(public_id, request.user)})
