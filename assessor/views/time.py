"""Beats of a desk's windows every 15 s, and answers about long pauses."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.utils.crypto import salted_hmac
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST
from pydantic import BaseModel, ConfigDict, Field

from accounts.http import UserRequest
from assessor.access import body_of, desk_json
from assessor.rules.op_schemas import WindowId
from assessor.timing.record import Beat, answer_gap
from assessor.timing.record import beat as keep_time

if TYPE_CHECKING:
    from accounts.models import User


class GapAnswer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    window: WindowId
    number: Annotated[int, Field(ge=0, le=2_147_483_647)]
    gap_answer: Literal["reading", "away"]


@require_POST
@desk_json
def beat(request: UserRequest, public_id: str) -> HttpResponse:
    receipt = keep_time(task=public_id, user=request.user, beat=body_of(request, Beat))
    return JsonResponse(asdict(receipt))


@require_POST
@desk_json
def gap_answered(request: UserRequest, public_id: str) -> HttpResponse:
    answer_gap(task=public_id, user=request.user, **body_of(request, GapAnswer).model_dump())
    return JsonResponse({})


def account_id(user: "User") -> str:
    """Opaque name of an account for the browser: the same on every visit, and telling nothing about the person."""
    return salted_hmac("assessor.account", str(user.pk), algorithm="sha256").hexdigest()[:20]


@require_GET
@never_cache
@login_not_required
def session(request: HttpRequest) -> HttpResponse:
    # Open to everybody: after a session ended, the page learns here whose outbox may be sent.
    user = account_id(request.user) if request.user.is_authenticated else None
    return JsonResponse({"user": user, "csrf": get_token(request)})
