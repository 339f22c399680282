"""Lists and rows of every collection, the schema and its page, and what is nowhere."""

from collections.abc import Iterator
from functools import lru_cache
from threading import Lock
from typing import Any, ClassVar, cast

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularAPIView
from pydantic_core import to_json
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import ApiToken, User
from api.collections import COLLECTIONS, Collection
from api.pagination import Cursor, Form, ListParams, list_params, page_of
from api.problems import NOT_FOUND
from api.schema import ListSchema, RowSchema, objects_of, operations_of
from api.streams import (
    CONTENT_TYPES,
    WRITERS,
    accepted_form,
    answered,
    is_known,
    tag_of_campaigns,
    tag_of_pieces,
)
from evaluation.rows.base import Reader, Row
from web.consistent_read import consistent_read


class View(APIView):
    """A view of the API. Its answers stay out of caches that others use, and are asked about again before each use."""

    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    may_be_packed = False

    def finalize_response(self, request: Request, response: HttpResponseBase, *args: Any, **kwargs: Any) -> Any:
        # Two viewers get different rows at one address, and rights can end at any moment.
        patch_cache_control(response, private=True, no_cache=True)
        patch_vary_headers(response, ["Accept", "Authorization", "Cookie"])
        # To a program alone: where a browser asks with its cookie, lengths could be made to tell what is inside.
        response.may_be_packed = self.may_be_packed and isinstance(request.auth, ApiToken)  # type: ignore[attr-defined]
        if request.auth:  # whoever has no token need not know how old the server is
            response["Assay-Version"] = settings.VERSION
        return super().finalize_response(request, response, *args, **kwargs)  # type: ignore[arg-type]


class CollectionView(View):
    """A view of one collection."""

    collection: ClassVar[Collection] = None  # type: ignore[assignment]  # given in the address book

    def reader(self, request: Request, alias: str) -> Reader:
        return self.collection.reader(cast(User, request.user), alias)


class ListView(CollectionView):
    """The rows of a collection: a page as JSON, or all as a stream."""

    schema = ListSchema()
    may_be_packed = True

    def get(self, request: Request) -> HttpResponseBase:
        names = {parameter.name for parameter in self.collection.filters}
        params = list_params(request.query_params, names, accepted_form(request))
        return self._page(request, params) if params.form is Form.JSON else self._stream(request, params)

    def _page(self, request: Request, params: ListParams) -> HttpResponse:
        with consistent_read() as alias:
            selection, _ = self.collection.narrowed(request.query_params, self.reader(request, alias))
            page = page_of(selection, params.cursor, params.page_size)
        document = {
            "next": self._link(request, page.next),
            "previous": self._link(request, page.previous),
            "results": page.rows,
        }
        return answered(request, to_json(document))

    def _link(self, request: Request, cursor: Cursor | None) -> str | None:
        if cursor is None:
            return None
        query = request.query_params.copy()
        query["cursor"] = str(cursor)
        return request.build_absolute_uri(f"{request.path}?{query.urlencode()}")

    def _stream(self, request: Request, params: ListParams) -> HttpResponseBase:
        """Return all rows, read while they are sent. Refusals must come first: a status that is sent stays."""
        with consistent_read() as alias:
            tag = self._tag(request, params, self.reader(request, alias))
        response: HttpResponseBase
        if is_known(request, tag):
            response = HttpResponseNotModified()
        else:
            # HEAD asks for the headers; rows would be read to be thrown away.
            pieces = () if request.method == "HEAD" else self._pieces(request, params)
            response = StreamingHttpResponse(pieces, content_type=CONTENT_TYPES[params.form])
            response["Content-Disposition"] = f'attachment; filename="{self.collection.name}.{params.form}"'
        response["ETag"] = tag
        return response

    def _tag(self, request: Request, params: ListParams, reader: Reader) -> str:
        """Return the ETag of a stream: by revisions where they say everything, else by reading all rows twice."""
        selection, rests_on = self.collection.narrowed(request.query_params, reader)
        columns = self.collection.columns_of(request.query_params)
        if self.collection.by_revision:
            return tag_of_campaigns(reader.campaigns, request.get_full_path(), params.form, columns, rests_on)
        return tag_of_pieces(WRITERS[params.form](selection.all(), columns))

    def _pieces(self, request: Request, params: ListParams) -> Iterator[bytes]:
        """Yield the body from one state of the database, whoever writes meanwhile."""
        with consistent_read() as alias:
            selection, _ = self.collection.narrowed(request.query_params, self.reader(request, alias))
            yield from WRITERS[params.form](selection.all(), self.collection.columns_of(request.query_params))


class RowView(CollectionView):
    """A row of a collection."""

    schema = RowSchema()

    def get(self, request: Request, **place: Any) -> HttpResponse:
        (key,) = place.values()
        with consistent_read() as alias:
            row = row_at(self.reader(request, alias), key)
        return answered(request, to_json(row))


def row_at(reader: Reader, key: str | int) -> Row:
    """Return the row of a key. Raises `NotFound`."""
    rows = reader.page(reader.rows().filter(**{reader.row_path: key})[:1])
    if not rows:
        # A row of strangers answers 404 as well: 403 would tell that it is there.
        raise NotFound(NOT_FOUND)
    return rows[0][1]


class RootView(View):
    """Addresses of the collections."""

    schema = None

    def get(self, request: Request) -> HttpResponse:
        addresses = {
            collection.name: request.build_absolute_uri(reverse(f"api:{collection.name}"))
            for collection in COLLECTIONS
        }
        return answered(request, to_json(addresses))


class NothingView(View):
    """Every other address. It answers like a row that is not there, as a problem and not as a page."""

    schema = None

    def get(self, request: Request, **_path: Any) -> HttpResponse:
        raise NotFound(NOT_FOUND)

    post = put = patch = delete = get


class SchemaView(SpectacularAPIView):
    """The OpenAPI schema, as YAML or with `?format=json` as JSON."""

    throttle_classes = []

    def _get_schema_response(self, request: Request) -> Response:
        name = self._get_filename(request, self.api_version)  # type: ignore[no-untyped-call]
        return Response(_schema(), headers={"Content-Disposition": f'inline; filename="{name}"'})


_BUILDING = Lock()


def _schema() -> Any:
    # Inspectors are shared by all views: two threads that build at once spoil each other, and the result is kept.
    with _BUILDING:
        return _built_schema()


@lru_cache(maxsize=1)
def _built_schema() -> Any:
    """Build the schema once a process: it is the same for everybody, nobody need sign in for it, and it takes long."""
    return SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]


@login_not_required
@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    schema = _schema()
    context = {"info": schema["info"], "operations": operations_of(schema), "objects": objects_of(schema)}
    return render(request, "api/docs.html", context)
