"""An assessor's first page: what there is to do."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from assessor.noticed import after_notice
from evaluation.blind.tasks import home_for


@require_safe
@never_cache
@after_notice
def home(request: UserRequest) -> HttpResponse:
    """The assessor's own tasks by state; where there is nothing to do, why."""
    return render(request, "assessor/home.html", {"home": home_for(request.user)})
