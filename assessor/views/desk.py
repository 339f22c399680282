"""A task's desk: its first page, the page itself, and the operations, one after the other."""

from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from typing import Annotated, Literal

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST, require_safe
from pydantic import BaseModel, Field

from accounts.http import UserRequest
from assessor.access import after_notice, body_of, desk_json, own_task_or_404
from assessor.blind.cited import CitedPassage
from assessor.blind.desk import desk_page, desk_state, task_head
from assessor.blind.judging import ShownAnswer, first_view, shown_answer
from assessor.blind.practice import practice_progress
from assessor.blind.tasks import done_for
from assessor.desk.apply_op import OpReceipt, apply_op
from assessor.desk.context import hold as hold_desk
from assessor.desk.context import open_desk, release
from assessor.desk.submit import submit as submit_list
from assessor.rules.op_schemas import Ops, WindowId
from evaluation.errors import Refused
from evaluation.tasks.remarks import remark as make_remark
from evaluation.terms import RemarkKind


class Hold(BaseModel):
    window: WindowId
    want: Literal["hold", "take", "release"] = "hold"


class Submit(BaseModel):
    window: WindowId
    seq: int


@require_safe
@never_cache
@own_task_or_404
@after_notice
def task(request: UserRequest, public_id: str) -> HttpResponse:
    head = task_head(public_id, request.user)
    if not head.opened:
        progress = practice_progress(public_id, request.user)
        return render(request, "assessor/start.html", {"head": head, "practice": progress})
    desk = desk_page(public_id, request.user)
    done = done_for(request.user, public_id) if "submitted" in request.GET else None
    if not head.judges:
        return render(request, "assessor/desk.html", {"desk": desk, "done": done})
    # In the page, the texts are read before the scripts came that could ask for them.
    first = first_view(desk.state, partial(shown_answer, public_id, request.user))
    return render(request, desk.parts.page, {"desk": desk, "done": done, "first": first})


@require_POST
@own_task_or_404
@after_notice
def start(request: UserRequest, public_id: str) -> HttpResponse:
    try:
        open_desk(task=public_id, user=request.user)
    except Refused as refused:
        messages.error(request, refused.message)
    return redirect("assessor:task", public_id)


@require_POST
@desk_json
def ops(request: UserRequest, public_id: str) -> HttpResponse:
    """Apply a batch in order, up to the first operation that cannot be applied."""
    body = body_of(request, Ops)
    return receipts_json(apply_op(task=public_id, user=request.user, window=body.window, op=op) for op in body.ops)


def receipts_json(applied: Iterable[OpReceipt]) -> JsonResponse:
    receipts = []
    for receipt in applied:
        receipts.append(receipt.as_json())
        # Later operations of the batch rest on this one; the outbox sends them again after it.
        if receipt.status != "applied":
            break
    return JsonResponse({"receipts": receipts, "server_time": timezone.now().isoformat()})


@require_GET
@desk_json
def state(request: UserRequest, public_id: str) -> HttpResponse:
    return JsonResponse(desk_state(public_id, request.user))


@require_POST
@desk_json
def hold(request: UserRequest, public_id: str) -> HttpResponse:
    body = body_of(request, Hold)
    if body.want == "release":
        holding = release(task=public_id, user=request.user, window=body.window)
    else:
        holding = hold_desk(task=public_id, user=request.user, window=body.window, take=body.want == "take")
    return JsonResponse(asdict(holding))


@require_POST
@desk_json
def submit(request: UserRequest, public_id: str) -> HttpResponse:
    body = body_of(request, Submit)
    receipt = submit_list(task=public_id, user=request.user, window=body.window, seq=body.seq)
    return JsonResponse(receipt.as_json())


@require_GET
@desk_json
def answer(request: UserRequest, public_id: str, answer_id: str) -> HttpResponse:
    """Return an answer's text, and the passages it cites where support is judged. Asking marks nothing as seen."""
    return answer_json(*shown_answer(public_id, request.user, answer_id))


def answer_json(answer: ShownAnswer, passages: Iterable[CitedPassage]) -> JsonResponse:
    cited = {
        passage.public_id: render_to_string("assessor/cited_part.html", {"passage": passage})
        for passage in passages
    }
    html = render_to_string("assessor/answer_part.html", {"answer": answer})
    return JsonResponse({"id": answer.public_id, "html": html, "passages": cited})


LONGEST = 5000  # characters


class RemarkBody(BaseModel):
    """One remark. `public_id` is made by the page, so that sending it twice makes one remark."""

    kind: RemarkKind
    about: Annotated[str, Field(max_length=200)] = ""
    text: Annotated[str, Field(max_length=LONGEST)] = ""
    public_id: Annotated[str, Field(pattern=r"^[0-9A-Za-z-]{8,36}$")]


@require_POST
@desk_json
def remark(request: UserRequest, public_id: str) -> HttpResponse:
    body = body_of(request, RemarkBody)
    make_remark(task=public_id, user=request.user, **body.model_dump())
    return JsonResponse({"public_id": body.public_id})
