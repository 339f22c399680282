"""Writes of organizers, by the same services and planners as the pages and commands.

The order of every write: rights first, then the key, then the act; refusals name no people.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from http import HTTPStatus
from pathlib import PurePosixPath
from tempfile import SpooledTemporaryFile
from typing import Annotated, Any, ClassVar, TypeVar, cast

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied
from django.db import DEFAULT_DB_ALIAS
from django.http import HttpResponse, QueryDict
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json, to_json
from rest_framework.exceptions import APIException, NotFound, UnsupportedMediaType
from rest_framework.request import Request

from accounts.models import User
from api.collections import COLLECTIONS
from api.idempotency import Doing, once
from api.problems import NOT_FOUND, Errors, WrongQuery
from api.schema import JSON, WriteSchema
from api.streams import tag_of_body
from api.views import View, row_at
from evaluation.campaigns.access import may_organize, unblinded_campaign_for
from evaluation.campaigns.pseudonyms import Names
from evaluation.errors import BadInput, InputProblem
from evaluation.formats.lines import repeated_keys
from evaluation.formats.problems import field_path, wording
from evaluation.formats.source import Readable
from evaluation.models import Campaign
from web.middleware import RuleRefusal

OptionalName = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f]*$")]
"""A name; empty where it may be left out."""

Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$")]


class WrongBody(WrongQuery):
    default_code = "bad_body"
    default_detail = "The body is not what is expected."


class Body(BaseModel):
    """A JSON object."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Query(BaseModel):
    """The parameters of an address."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Tryable(Query):
    """Parameters of a write that can be tried out first."""

    dry_run: bool = Field(default=False, description="say what would be done, and do nothing")


def body_of(form: type[BaseModel], raw: bytes) -> BaseModel:
    """Return a body, checked. Raises `WrongBody` with everything that is wrong about it."""
    try:
        if _has_nul(from_json(raw)):
            # Refused on SQLite too, or it would depend on the database what can be sent.
            raise WrongBody({"body": ["A text without NUL characters."]})
        if repeated := repeated_keys(raw):
            raise WrongBody({key: ["Once, it is there twice."] for key in repeated})
        return form.model_validate_json(raw)
    except ValidationError as error:
        raise WrongBody(_errors(error, "body")) from error
    except ValueError as error:
        raise WrongBody({"body": [f"Valid JSON: {error}"]}) from error


def query_of(form: type[Query], query: QueryDict) -> Query:
    """Return the parameters of an address, checked. Raises `WrongQuery`."""
    twice = {name: ["This parameter can be given once."] for name in query if len(query.getlist(name)) > 1}
    if twice:
        raise WrongQuery(twice)
    try:
        return form.model_validate_strings(query.dict())
    except ValidationError as error:
        raise WrongQuery(_errors(error, "query")) from error


def _errors(error: ValidationError, whole: str) -> Errors:
    errors: Errors = {}
    for mistake in error.errors(include_url=False):
        is_extra = mistake["type"] == "extra_forbidden"
        text = "There is nothing of that name to say." if is_extra else wording(mistake)
        errors.setdefault(field_path(mistake["loc"]) if mistake["loc"] else whole, []).append(text)
    return errors


def _has_nul(value: Any) -> bool:
    """Return true where a text somewhere holds the character that PostgreSQL cannot."""
    if isinstance(value, dict):
        return any(_has_nul(text) for pair in value.items() for text in pair)
    if isinstance(value, list):
        return any(map(_has_nul, value))
    return isinstance(value, str) and "\x00" in value


MULTIPART = "multipart/form-data"
PART = "file"
BYTES_AT_ONCE = 1_048_576


class TooLarge(APIException):
    status_code = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"

    def __init__(self, most: int) -> None:
        super().__init__(f"At most {most:,} bytes can be sent.")


@dataclass(frozen=True, slots=True)
class Upload:
    """A file: its name, and its bytes from the beginning."""

    name: str
    stream: Readable


@dataclass(frozen=True, slots=True)
class RequestContent:
    """Content of a request. `digest` is the same when the same is sent again."""

    digest: str
    raw: bytes = b""
    files: tuple[Upload, ...] = ()


@contextmanager
def received(request: Request, name: str) -> Iterator[RequestContent]:
    """Give the files of a request. A file that is the body itself is called `name`."""
    check_length(request, settings.API_UPLOAD_MAX_BYTES)
    if (request.content_type or "").startswith(MULTIPART):
        yield _parts(request)
        return
    # On disk from two chunks on: several imports at once must not fill the memory of a web process.
    with SpooledTemporaryFile(max_size=2 * BYTES_AT_ONCE) as spooled:
        digest = sha256()
        for chunk in _chunks(request):
            digest.update(chunk)
            spooled.write(chunk)
        spooled.seek(0)
        yield RequestContent(digest.hexdigest(), files=(Upload(name or "body", spooled),))


def check_length(request: Request, most: int) -> None:
    """Raise `TooLarge` before anything is read. Without a length there is no body: the server sees to that."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if length.isascii() and length.isdigit() and int(length) > most:
        raise TooLarge(most)


def _chunks(request: Request) -> Iterator[bytes]:
    stream: Any = request.stream
    if stream is not None:
        yield from iter(lambda: stream.read(BYTES_AT_ONCE), b"")


def _parts(request: Request) -> RequestContent:
    """Return the files of a form, each under the name it was sent with."""
    others = [name for name in request.data if name != PART]
    files = request.FILES.getlist(PART)
    if others or not files:
        wrong = {name: [f"The parts of the form are called {PART}."] for name in others}
        raise WrongBody(wrong or {PART: ["A file is needed."]})
    digest = sha256()
    for file in files:
        # With the length before the name, no two lists of files can have the same bytes.
        digest.update(f"{len(file.name)}:{file.name}:{file.size}:".encode())
        for chunk in file.chunks():
            digest.update(chunk)
        file.seek(0)
    uploads = tuple(Upload(PurePosixPath(file.name).name, file) for file in files)
    return RequestContent(digest.hexdigest(), files=uploads)


BY_NAME = {collection.name: collection for collection in COLLECTIONS}

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Write:
    """A write, checked as far as its form goes."""

    actor: User
    query: Any
    body: Any
    files: tuple[Upload, ...]
    if_match: str


class WriteView(View):
    """A write.

    `success`: its status when it is done. `tried`: what is answered with 200 instead, where nothing was done.
    `together`: its effects and its answer are one transaction.
    """

    schema = WriteSchema()
    query: ClassVar[type[Query]] = Query
    body: ClassVar[type[BaseModel]] = Body
    answer: ClassVar[Any] = None
    tried: ClassVar[Any] = None
    operation: ClassVar[str] = ""
    success: ClassVar[int] = HTTPStatus.OK
    together: ClassVar[bool] = True
    conditional: ClassVar[bool] = False
    campaign: Campaign | None = None

    def post(self, request: Request, **place: Any) -> HttpResponse:
        query = query_of(self.query, request.query_params)
        with self.content(request, query) as content:
            body = self.checked(content)
            if_match = request.headers.get("If-Match", "") if self.conditional else ""
            write = Write(cast(User, request.user), query, body, content.files, if_match)
            # Rights before the key: an answer that is kept is for whoever may still see it.
            about = self.about(write, **place)
            # A trial takes no key: the same request without `dry_run` is the write.
            if isinstance(query, Tryable) and query.dry_run:
                return self.try_out(write, about)
            address = f"{request.method} {request.get_full_path()} {if_match} {content.digest}"
            digest = sha256(address.encode()).hexdigest()
            return once(request, digest, lambda: self.prepare(write, about), together=self.together)

    @contextmanager
    def content(self, request: Request, query: Any) -> Iterator[RequestContent]:
        kind = (request.content_type or "").partition(";")[0].strip()
        if kind not in (JSON, ""):
            raise UnsupportedMediaType(kind)
        check_length(request, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        raw = b"".join(_chunks(request))
        yield RequestContent(sha256(raw).hexdigest(), raw)

    def checked(self, content: RequestContent) -> Any:
        """Return the body in its form. An act without options needs no body either."""
        return body_of(self.body, content.raw or b"{}")

    def about(self, write: Write, **place: Any) -> Any:
        """Return what the write is about. Raises what answers 403 and 404 where that is not the actor's to change."""
        raise NotImplementedError

    def prepare(self, write: Write, about: Any) -> Doing:
        """Return what writes. A view that plans for long does so here, before a transaction keeps others waiting."""
        return partial(self.do, write, about)

    def do(self, write: Write, about: Any) -> HttpResponse:
        raise NotImplementedError

    def try_out(self, write: Write, about: Any) -> HttpResponse:
        raise NotImplementedError

    def campaign_to_change(self, actor: User, slug: str) -> Campaign:
        """Return a campaign that the actor organizes. Raises `PermissionDenied` for whoever may only look."""
        self.campaign = found_or_404(lambda: unblinded_campaign_for(actor, slug))
        if not may_organize(actor, self.campaign):
            raise PermissionDenied
        return self.campaign

    @property
    def names(self) -> Names:
        return Names([self.campaign] if self.campaign else [], DEFAULT_DB_ALIAS)

    def clean(self, text: str) -> str:
        return str(self.names.clean(self.campaign.pk, text)) if self.campaign else text

    def handle_exception(self, exc: Exception) -> Any:
        """Answer a refusal without the names that stand in it: services name people for pages, which may show them."""
        if isinstance(exc, BadInput):
            exc = BadInput(
                [
                    InputProblem(problem.file, problem.line, problem.field, self.clean(problem.expected))
                    for problem in exc.problems
                ]
            )
        elif isinstance(exc, RuleRefusal):
            exc = RuleRefusal(exc.code, self.clean(exc.message))
        return super().handle_exception(exc)


def found_or_404(find: Callable[[], Found]) -> Found:
    # Strangers get 404 as for what is not there: 403 would tell that it is.
    try:
        return find()
    except ObjectDoesNotExist:
        raise NotFound(NOT_FOUND) from None


def document_answer(document: BaseModel, status: int = HTTPStatus.OK) -> HttpResponse:
    return HttpResponse(document.model_dump_json(), status=status, content_type=JSON)


def row_now(actor: User, collection: str, place: str | int) -> bytes:
    return to_json(row_at(BY_NAME[collection].reader(actor, DEFAULT_DB_ALIAS), place))


def row_answer(actor: User, collection: str, place: str | int, status: int = HTTPStatus.OK) -> HttpResponse:
    body = row_now(actor, collection, place)
    response = HttpResponse(body, status=status, content_type=JSON)
    response["ETag"] = tag_of_body(body)
    response["Location"] = f"/api/v1/{collection}/{place}/"
    return response
