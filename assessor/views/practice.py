"""Practice before a stage's first task, at the judging desk. What is known of an item comes with a label's receipt."""

from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST, require_safe

from accounts.http import UserRequest
from assessor.access import after_notice, body_of, desk_json, own_task_or_404
from assessor.blind.practice import practice_answer, practice_desk, practice_state, practise
from assessor.rules.op_schemas import Ops
from assessor.views.desk import answer_json, receipts_json


@require_safe
@never_cache
@own_task_or_404
@after_notice
def practice(request: UserRequest, public_id: str) -> HttpResponse:
    """Show the desk of a practice. With `?again` no item has an answer yet; the first ones stay as they are."""
    page = practice_desk(public_id, request.user, again="again" in request.GET)
    if page is None:
        return redirect("assessor:task", public_id)
    desk, first = page
    return render(request, desk.parts.page, {"desk": desk, "first": first})


@require_GET
@desk_json
def state(request: UserRequest, public_id: str) -> HttpResponse:
    return JsonResponse(practice_state(public_id, request.user, again="again" in request.GET))


@require_POST
@desk_json
def ops(request: UserRequest, public_id: str) -> HttpResponse:
    body = body_of(request, Ops)
    return receipts_json(practise(task=public_id, user=request.user, op=op) for op in body.ops)


@require_GET
@desk_json
def answer(request: UserRequest, public_id: str, answer_id: str) -> HttpResponse:
    return answer_json(*practice_answer(public_id, request.user, answer_id))
