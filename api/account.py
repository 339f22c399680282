"""The account of a request, and the scopes of its token."""

from datetime import datetime
from typing import cast

from django.http import HttpResponse
from pydantic import BaseModel, Field
from rest_framework.request import Request

from accounts.models import ApiToken, User
from api.pagination import wrong_parameters
from api.problems import WrongQuery
from api.schema import AnswerSchema
from api.streams import answered
from api.views import View


class AccountOut(BaseModel):
    """An account and its token; null: the request came with a session."""

    user: str
    name: str
    token: str | None = Field(description="what it is for")
    scopes: list[str] | None
    expires_at: datetime | None


class AccountView(View):
    """The account that asks, and what its token may."""

    schema = AnswerSchema()
    operation = "account"
    answer = AccountOut
    filters = ()

    def get(self, request: Request) -> HttpResponse:
        if errors := wrong_parameters(request.query_params, set()):
            raise WrongQuery(errors)
        user, token = cast(User, request.user), request.auth if isinstance(request.auth, ApiToken) else None
        account = AccountOut(
            user=user.username,
            name=user.get_full_name(),
            token=token.name if token else None,
            scopes=token.scopes if token else None,
            expires_at=token.expires_at if token else None,
        )
        return answered(request, account.model_dump_json().encode())
