"""Provenance pages of a list, a nugget or a grade: the calls behind it."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from llmjobs import provenance
from llmjobs.provenance import is_simulated
from llmjobs.simulator.answering import MODEL as SIMULATED_MODEL
from organizer.jobs import views as jobs_views


@require_safe
def nugget_list(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = jobs_views.get_list(request.user, slug, pk)
    made = provenance.making_of(request.user, campaign, found)
    simulated = SIMULATED_MODEL in (found.nugget_set.judge.model, *made.models)
    context = {"campaign": campaign, "list": found, "made": made, "simulated": simulated}
    return render(request, "organizer/origin_list.html", context)


@require_safe
def nugget(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = jobs_views.get_nugget(request.user, slug, pk)
    judge = found.listed.nugget_list.nugget_set.judge
    simulated = is_simulated(judge, found.worded, found.weighed)
    context = {"campaign": campaign, "found": found, "judge": judge, "simulated": simulated}
    return render(request, "organizer/origin_nugget.html", context)


@require_safe
def grade(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = jobs_views.get_grade(request.user, slug, pk)
    context = {"campaign": campaign, "found": found, "simulated": is_simulated(found.judge, found.call)}
    return render(request, "organizer/origin_grade.html", context)


@require_safe
def call(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign, found = jobs_views.get_call(request.user, slug, pk)
    context = {"campaign": campaign, "shown": found, "simulated": is_simulated(None, found)}
    return render(request, "organizer/origin_call.html", context)
