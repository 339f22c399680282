"""Practice before a stage's first task: one item at a time, each told after its answer. It works without a script."""

from dataclasses import replace

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import UserRequest
from assessor.access import after_notice, own_task_or_404
from assessor.blind.practice import practice_page, practised_item
from assessor.practice.items import answer_practice
from evaluation.errors import Refused


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@own_task_or_404
@after_notice
def practice(request: UserRequest, public_id: str) -> HttpResponse:
    if request.method == "POST":
        return _answer(request, public_id)
    page = practice_page(public_id, request.user)
    if not page.of:
        return redirect("assessor:task", public_id)
    template = "assessor/practice.html" if page.item else "assessor/practice_done.html"
    return render(request, template, {"page": page, "item": page.item, "number": page.number})


@require_safe
@never_cache
@own_task_or_404
def practised(request: UserRequest, public_id: str, item_id: str) -> HttpResponse:
    page, answered = practised_item(public_id, request.user, item_id)
    return render(request, "assessor/practised.html", {"page": page, "answered": answered, "item": answered.item})


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@own_task_or_404
def again(request: UserRequest, public_id: str, item_id: str) -> HttpResponse:
    """Ask an answered item again. The first answer stays, and nothing is written."""
    page, answered = practised_item(public_id, request.user, item_id)
    label = request.POST.get("label", "")
    own = next((word for word in answered.item.choices if word.value == label), None)
    context = {"page": page, "item": answered.item, "number": answered.number, "again": True}
    if own is None:
        return render(request, "assessor/practice.html", context)
    following = page.answered[answered.number].item.public_id if answered.number < len(page.answered) else ""
    return render(
        request,
        "assessor/practised.html",
        context | {"answered": replace(answered, own=own), "following": following},
    )


def _answer(request: UserRequest, public_id: str) -> HttpResponse:
    item, label = request.POST.get("item", ""), request.POST.get("label", "")
    try:
        answer_practice(task=public_id, user=request.user, item=item, label=label)
    except Refused as refused:
        messages.error(request, refused.message)
        return redirect("assessor:practice", public_id)
    return redirect("assessor:practised", public_id, item)
