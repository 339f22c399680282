"""Beats of a desk's windows every 15 s, and answers about long pauses."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.utils.crypto import salted_hmac
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from accounts.http import UserRequest
from assessor.access import body_of, desk_json
from assessor.rules.clock import SentStretch
from assessor.timing.record import Beat, say
from assessor.timing.record import beat as keep_time
from evaluation.terms import PageState, SegmentKind

if TYPE_CHECKING:
    from accounts.models import User


DAYS = 30 * 24 * 60 * 60 * 1000
BIGGEST_PLACE = 20_000  # characters of JSON
Window = Annotated[str, Field(min_length=8, max_length=36)]
Number = Annotated[int, Field(ge=0, le=2_147_483_647)]
Milliseconds = Annotated[int, Field(ge=0, le=DAYS)]


class StretchBody(BaseModel):
    """A stretch, told by the window's monotonic clock."""

    model_config = ConfigDict(extra="forbid")

    number: Number
    kind: SegmentKind
    ms_before_now_start: Milliseconds
    ms_before_now_end: Milliseconds
    words: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    blurred: bool = False
    offline: bool = False
    item: Annotated[str, Field(max_length=36)] = ""

    @model_validator(mode="after")
    def _runs_forward(self) -> Self:
        if self.ms_before_now_end > self.ms_before_now_start:
            raise ValueError("a segment ends after it starts")
        return self


class Beating(BaseModel):
    """A heartbeat. What else it has is ignored: a page that was opened before an update may send more."""

    model_config = ConfigDict(extra="ignore")

    window: Window
    segments: Annotated[list[StretchBody], Field(max_length=500)]
    place: dict[str, Any] | None = None
    elapsed_ms: Milliseconds
    page: PageState = PageState.VISIBLE

    @field_validator("place")
    @classmethod
    def _is_small(cls, place: dict[str, Any] | None) -> dict[str, Any] | None:
        if place and len(json.dumps(place, allow_nan=False)) > BIGGEST_PLACE:
            raise ValueError(f"a place has at most {BIGGEST_PLACE} characters")
        return place


class GapAnswer(BaseModel):
    """Answer about a pause: reading or away."""

    model_config = ConfigDict(extra="forbid")

    window: Window
    number: Number
    gap_answer: Literal["reading", "away"] = Field(alias="said")


@require_POST
@desk_json
def beat(request: UserRequest, public_id: str) -> HttpResponse:
    asked = body_of(request, Beating)
    sent = tuple(
        SentStretch(
            number=segment.number,
            kind=segment.kind,
            before_start=segment.ms_before_now_start,
            before_end=segment.ms_before_now_end,
            words=segment.words,
            blurred=segment.blurred,
            offline=segment.offline,
            item=segment.item,
        )
        for segment in asked.segments
    )
    heard = Beat(asked.window, sent, asked.place, asked.elapsed_ms, asked.page)
    receipt = keep_time(task=public_id, user=request.user, beat=heard)
    return JsonResponse(asdict(receipt))


@require_POST
@desk_json
def gap_answered(request: UserRequest, public_id: str) -> HttpResponse:
    asked = body_of(request, GapAnswer)
    say(task=public_id, user=request.user, window=asked.window, number=asked.number, gap_answer=asked.gap_answer)
    return JsonResponse({})


def account_id(user: "User") -> str:
    """Return an opaque name of an account for the browser: the same on every visit, and telling nothing about the
    person.
    """
    return salted_hmac("assessor.account", str(user.pk), algorithm="sha256").hexdigest()[:20]


@require_GET
@never_cache
@login_not_required
def session(request: HttpRequest) -> HttpResponse:
    user = account_id(request.user) if request.user.is_authenticated else None
    return JsonResponse({"user": user, "csrf": get_token(request)})
