"""What assessors tell the organizers: comments, flags, requests to reopen, interruptions."""

from typing import Annotated

from django.http import HttpResponse, JsonResponse
from django.views.decorators.http import require_POST
from pydantic import BaseModel, Field

from accounts.http import UserRequest
from assessor.getters import body_of
from assessor.json_views import desk_json
from evaluation.services.remarks import remark as make_remark
from evaluation.terms import RemarkKind

LONGEST = 5000  # characters


class Said(BaseModel):
    """One remark. `public_id` is made by the page, so that sending it twice makes one remark."""

    kind: RemarkKind
    about: Annotated[str, Field(max_length=200)] = ""
    text: Annotated[str, Field(max_length=LONGEST)] = ""
    public_id: Annotated[str, Field(pattern=r"^[0-9A-Za-z-]{8,36}$")]


@require_POST
@desk_json
def remark(request: UserRequest, public_id: str) -> HttpResponse:
    """Take one remark down."""
    data = body_of(request, Said)
    make_remark(
        task=public_id,
        user=request.user,
        kind=data.kind,
        about=data.about.strip(),
        text=data.text.strip(),
        public_id=data.public_id,
    )
    return JsonResponse({"public_id": data.public_id})
