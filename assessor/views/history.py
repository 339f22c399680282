"""A task's history: to read, and to set a nugget back to what it was."""

from uuid import uuid4

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.http import UserRequest
from assessor.access import own_task_or_404
from assessor.blind.desk import task_head
from assessor.blind.history import AS_PROPOSED, history_of
from assessor.blind.review import judged_summary, review_summary
from assessor.desk.apply_op import apply_op
from assessor.desk.context import hold, release
from assessor.rules.op_schemas import Op
from web.fields import TextField


class RestoreForm(forms.Form):
    """Nugget and version to go back to. `text`: the wording, where it is the proposal's own."""

    key = TextField(max_length=36)
    seq = forms.IntegerField(min_value=AS_PROPOSED)
    text = TextField(required=False, max_length=2000, strip=False)


@require_safe
@never_cache
@own_task_or_404
def history(request: UserRequest, public_id: str) -> HttpResponse:
    number = request.GET.get("page", "1")
    page = int(number) if number.isascii() and number.isdigit() and len(number) < 9 else 1
    past = history_of(public_id, request.user, page)
    template = "assessor/judged_history.html" if past.judges else "assessor/history.html"
    return render(request, template, {"history": past})


@require_POST
@own_task_or_404
def restore(request: UserRequest, public_id: str) -> HttpResponse:
    """Set one nugget back. The desk is taken from whatever window holds it, which will say so there."""
    form = RestoreForm(request.POST)
    if form.is_valid():
        window = str(uuid4())
        # A window of its own: the operation goes the way of all others, with lock, version and log.
        hold(task=public_id, user=request.user, window=window, take=True)
        receipt = apply_op(task=public_id, user=request.user, window=window, op=_op(form.cleaned_data))
        release(task=public_id, user=request.user, window=window)
        if receipt.status == "applied":
            messages.success(request, "The nugget is as it was then. Undo at the desk takes this back.")
        else:
            messages.error(request, receipt.message)
    else:
        messages.error(request, "There is no such version.")
    return redirect("assessor:history", public_id)


def _op(data: dict[str, str | int]) -> Op:
    """The proposal's own wording was never the result of an operation, so it comes back as a rewording."""
    if data["seq"] == AS_PROPOSED:
        kind, payload = "edit", {"key": data["key"], "text": data["text"]}
    else:
        kind, payload = "restore", {"key": data["key"], "seq": data["seq"]}
    return Op(op_id=uuid4(), step=uuid4(), kind=kind, payload=payload, source="restore", client_at=timezone.now())


@require_safe
@never_cache
@own_task_or_404
def review(request: UserRequest, public_id: str) -> HttpResponse:
    """Show the state of the work before a submit. With `?part` only the content of the desk's dialog."""
    part = "part" in request.GET
    if task_head(public_id, request.user).judges:
        template = "assessor/judged_review_part.html" if part else "assessor/judged_review.html"
        return render(request, template, {"review": judged_summary(public_id, request.user)})
    template = "assessor/review_part.html" if part else "assessor/review.html"
    return render(request, template, {"review": review_summary(public_id, request.user)})
