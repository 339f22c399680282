"""A task's desk: its first page, the page itself, and the operations, one after the other."""

from dataclasses import asdict
from typing import Annotated, Literal

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST, require_safe
from pydantic import BaseModel, Field

from accounts.http import UserRequest
from assessor.getters import body_of, own_task_or_404
from assessor.json_views import desk_json
from assessor.noticed import after_notice
from evaluation.blind.desk import desk_page, desk_state, task_head
from evaluation.blind.done import done_for
from evaluation.blind.practice import practice_page
from evaluation.errors import Refused
from evaluation.services.desk.asked import Ops
from evaluation.services.desk.holding import hold as hold_desk
from evaluation.services.desk.holding import release
from evaluation.services.desk.opening import open_desk
from evaluation.services.desk.operating import Receipt, operate
from evaluation.services.desk.submitting import submit as submit_list


class Hold(BaseModel):
    """What a window wants of the desk: to hold it, to take it from another window, or to let go."""

    window: Annotated[str, Field(min_length=8, max_length=36)]
    want: Literal["hold", "take", "release"] = "hold"


class Submit(BaseModel):
    """A window's wish to freeze the list as it shows it."""

    window: Annotated[str, Field(min_length=8, max_length=36)]
    seq: int


@require_safe
@never_cache
@own_task_or_404
@after_notice
def task(request: UserRequest, public_id: str) -> HttpResponse:
    """The desk; before it was opened, the page that says what the task is and what is recorded."""
    head = task_head(public_id, request.user)
    if not head.opened:
        return render(
            request, "assessor/start.html", {"head": head, "page": practice_page(public_id, request.user)}
        )
    template = "assessor/judge.html" if head.judges else "assessor/desk.html"
    done = done_for(request.user, public_id) if "submitted" in request.GET else None
    return render(request, template, {"desk": desk_page(public_id, request.user), "done": done})


@require_POST
@own_task_or_404
@after_notice
def start(request: UserRequest, public_id: str) -> HttpResponse:
    """Open the task. One that cannot be opened yet says why on its first page."""
    try:
        open_desk(task=public_id, user=request.user)
    except Refused as refused:
        messages.error(request, refused.message)
    return redirect("assessor:task", public_id)


@require_POST
@desk_json
def ops(request: UserRequest, public_id: str) -> HttpResponse:
    """Apply a batch in order, up to the first operation that cannot be applied."""
    asked = body_of(request, Ops)
    receipts: list[Receipt] = []
    for op in asked.ops:
        receipts.append(operate(task=public_id, user=request.user, window=asked.window, op=op))
        if receipts[-1].status != "applied":
            break
    return JsonResponse(
        {"receipts": [one.as_json() for one in receipts], "server_time": timezone.now().isoformat()}
    )


@require_GET
@desk_json
def state(request: UserRequest, public_id: str) -> HttpResponse:
    """What changes while one works."""
    return JsonResponse(desk_state(public_id, request.user))


@require_POST
@desk_json
def hold(request: UserRequest, public_id: str) -> HttpResponse:
    """Hold the desk, take it, or let go of it."""
    asked = body_of(request, Hold)
    if asked.want == "release":
        holding = release(task=public_id, user=request.user, window=asked.window)
    else:
        holding = hold_desk(task=public_id, user=request.user, window=asked.window, take=asked.want == "take")
    return JsonResponse(asdict(holding))


@require_POST
@desk_json
def submit(request: UserRequest, public_id: str) -> HttpResponse:
    """Freeze the work as the window shows it."""
    asked = body_of(request, Submit)
    receipt = submit_list(task=public_id, user=request.user, window=asked.window, seq=asked.seq)
    return JsonResponse(receipt.as_json())
