"""What all writes do the same way: rights first, then the key, then the act; refusals without people's names."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from typing import Any, ClassVar, TypeVar, cast

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied
from django.db import DEFAULT_DB_ALIAS
from django.http import HttpResponse
from pydantic import BaseModel
from pydantic_core import to_json
from rest_framework.exceptions import NotFound, UnsupportedMediaType
from rest_framework.request import Request

from accounts.models import User
from api.collections import COLLECTIONS
from api.once import Doing, once
from api.problems import NOT_FOUND
from api.tags import tag_of_body
from api.views import View
from api.writes.said import Body, Query, Tryable, body_of, query_of
from api.writes.schema import WriteSchema
from api.writes.uploads import Sent, Upload, read_body
from evaluation.errors import BadInput, Problem
from evaluation.models import Campaign
from evaluation.queries.campaigns import unblinded_campaign_for
from evaluation.queries.data.names import Names
from evaluation.queries.data.reading import Row
from evaluation.queries.work import may_organize
from web.refusal import RuleRefusal

JSON = "application/json"
OF = {one.name: one for one in COLLECTIONS}

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Write:
    """A write that was asked for, checked as far as its form goes."""

    actor: User
    query: Any
    body: Any
    files: tuple[Upload, ...]
    if_match: str


class WriteView(View):
    """A write.

    `made`: its status when it is done. `tried`: what is answered with 200 instead, where nothing was done.
    `together`: its effects and its answer are one transaction.
    """

    schema = WriteSchema()
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    query: ClassVar[type[Query]] = Query
    body: ClassVar[type[BaseModel]] = Body
    answer: ClassVar[Any] = None
    tried: ClassVar[Any] = None
    operation: ClassVar[str] = ""
    made: ClassVar[int] = HTTPStatus.OK
    together: ClassVar[bool] = True
    conditional: ClassVar[bool] = False
    campaign: Campaign | None = None

    def post(self, request: Request, **place: Any) -> HttpResponse:
        """Do what is asked for, or say what it would do."""
        query = query_of(self.query, request.query_params)
        with self.sent(request, query) as sent:
            body = self.checked(sent)
            if_match = request.headers.get("If-Match", "") if self.conditional else ""
            write = Write(cast(User, request.user), query, body, sent.files, if_match)
            # Rights before the key: what was answered once is for whoever may still see it.
            about = self.about(write, **place)
            if isinstance(query, Tryable) and query.dry_run:
                return self.try_out(write, about)
            address = f"{request.method} {request.get_full_path()} {if_match} {sent.digest}"
            digest = sha256(address.encode()).hexdigest()
            return once(request, digest, lambda: self.prepare(write, about), together=self.together)

    @contextmanager
    def sent(self, request: Request, query: Any) -> Iterator[Sent]:
        """Give the body."""
        kind = (request.content_type or "").partition(";")[0].strip()
        if kind not in (JSON, ""):
            raise UnsupportedMediaType(kind)
        yield read_body(request, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)

    def checked(self, sent: Sent) -> Any:
        """Return the body in its form. An act that needs nothing said needs no body either."""
        return body_of(self.body, sent.raw or b"{}")

    def about(self, write: Write, **place: Any) -> Any:
        """Return what the write is about. Raises what answers 403 and 404 where that is not the actor's to change."""
        raise NotImplementedError

    def prepare(self, write: Write, about: Any) -> Doing:
        """Plan, and return what writes."""
        raise NotImplementedError

    def try_out(self, write: Write, about: Any) -> HttpResponse:
        """Say what would be done."""
        raise NotImplementedError

    def campaign_to_change(self, actor: User, slug: str) -> Campaign:
        """Return a campaign that the actor organizes; whoever may only look is told so."""
        self.campaign = found_or_404(lambda: unblinded_campaign_for(actor, slug))
        if not may_organize(actor, self.campaign):
            raise PermissionDenied
        return self.campaign

    @property
    def names(self) -> Names:
        """What people are called in the campaign that is written to."""
        return Names([self.campaign] if self.campaign else [], DEFAULT_DB_ALIAS)

    def clean(self, text: str) -> str:
        """Return a text of the services without the names of people."""
        return str(self.names.clean(self.campaign.pk, text)) if self.campaign else text

    def handle_exception(self, exc: Exception) -> Any:
        """Answer a refusal without the names that stand in it."""
        if isinstance(exc, BadInput):
            exc = BadInput(
                [Problem(one.file, one.line, one.field, self.clean(one.expected)) for one in exc.problems]
            )
        elif isinstance(exc, RuleRefusal):
            exc = RuleRefusal(exc.code, self.clean(exc.message))
        return super().handle_exception(exc)


def found_or_404(find: Callable[[], Found]) -> Found:
    """Return what is found. What is not the viewer's answers as what is not there."""
    try:
        return find()
    except ObjectDoesNotExist:
        raise NotFound(NOT_FOUND) from None


def document_answer(document: BaseModel, status: int = HTTPStatus.OK) -> HttpResponse:
    """Return an answer that is no row of a collection."""
    return HttpResponse(document.model_dump_json(), status=status, content_type=JSON)


def row_now(actor: User, collection: str, place: str | int) -> tuple[Row, str]:
    """Return a row as its collection tells it in the transaction at work, and its ETag."""
    reader = OF[collection].reader(actor, DEFAULT_DB_ALIAS)
    found = reader.page(reader.rows().filter(**{reader.row_path: place})[:1])
    if not found:
        raise NotFound(NOT_FOUND)
    return found[0][1], tag_of_body(to_json(found[0][1]))


def row_answer(actor: User, collection: str, place: str | int, status: int = HTTPStatus.OK) -> HttpResponse:
    """Return a row, and where it is to be read."""
    row, tag = row_now(actor, collection, place)
    response = HttpResponse(to_json(row), status=status, content_type=JSON)
    response["ETag"] = tag
    response["Location"] = f"/api/v1/{collection}/{place}/"
    return response
