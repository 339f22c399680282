"""A list and one of its rows, for every collection; and what answers where there is nothing."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, ClassVar, cast

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularAPIView
from pydantic_core import to_json
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import User
from api.collections import COLLECTIONS, Collection
from api.filters import checked
from api.pagination import Cursor, Form, ListParams, asked_of, page_of, seal
from api.problems import NOT_FOUND
from api.schema import objects_of, operations_of
from api.streams import CONTENT_TYPES, WRITERS, answered, is_known, keep_private, tag_of_campaigns, tag_of_pieces
from evaluation.rows.base import Reader
from web.consistent_read import consistent_read


class View(APIView):
    """What all answers have in common."""

    http_method_names = ["get", "head", "post", "put", "patch", "delete"]

    def finalize_response(self, request: Request, response: HttpResponseBase, *args: Any, **kwargs: Any) -> Any:
        """Keep answers out of caches that others use."""
        keep_private(response)
        return super().finalize_response(request, response, *args, **kwargs)  # type: ignore[arg-type]


class OfCollection(View):
    """A view of one collection."""

    collection: ClassVar[Collection] = None  # type: ignore[assignment]  # given in the address book

    def reader(self, request: Request, alias: str) -> Reader:
        return self.collection.reader(cast(User, request.user), alias)


class ListView(OfCollection):
    """The rows of a collection: a page as JSON, or all as a stream."""

    def get(self, request: Request) -> HttpResponseBase:
        collection = self.collection
        params = asked_of(request.query_params, collection.name, collection.filters.names())
        return self._page(request, params) if params.form is Form.JSON else self._stream(request, params)

    def _page(self, request: Request, params: ListParams) -> HttpResponse:
        with consistent_read() as alias:
            reader = self.reader(request, alias)
            page = page_of(
                checked(self.collection.filters, params.filters, reader).selection, params.cursor, params.page_size
            )
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
        query["cursor"] = seal(self.collection.name, cursor)
        return request.build_absolute_uri(f"{request.path}?{query.urlencode()}")

    def _stream(self, request: Request, params: ListParams) -> HttpResponseBase:
        """Check everything that can be refused, then promise the rows; they are read while they are sent."""
        collection = self.collection
        with consistent_read() as alias:
            reader = self.reader(request, alias)
            tag = self._tag(request, params, reader)
        if is_known(request, tag):
            response: HttpResponseBase = HttpResponseNotModified()
        else:
            pieces = () if request.method == "HEAD" else self._pieces(request, params)
            response = StreamingHttpResponse(pieces, content_type=CONTENT_TYPES[params.form])
            response["Content-Disposition"] = f'attachment; filename="{collection.name}.{params.form}"'
        response["ETag"] = tag
        return response

    def _tag(self, request: Request, params: ListParams, reader: Reader) -> str:
        filters = checked(self.collection.filters, params.filters, reader)
        if self.collection.by_revision:
            path, columns = request.get_full_path(), self.collection.columns
            return tag_of_campaigns(reader.campaigns, path, columns, filters.rests_on)
        return tag_of_pieces(WRITERS[params.form](filters.selection.all(), self.collection.columns))

    def _pieces(self, request: Request, params: ListParams) -> Iterator[bytes]:
        """Yield the body from one state of the database, whoever writes meanwhile."""
        with consistent_read() as alias:
            reader = self.reader(request, alias)
            rows = checked(self.collection.filters, params.filters, reader).selection.all()
            yield from WRITERS[params.form](rows, self.collection.columns)


class RowView(OfCollection):
    """One row of a collection."""

    one = True

    def get(self, request: Request, **place: Any) -> HttpResponse:
        """Return the row. What is not the viewer's is not there."""
        (value,) = place.values()
        with consistent_read() as alias:
            reader = self.reader(request, alias)
            found = reader.page(reader.rows().filter(**{reader.row_path: value})[:1])
        if not found:
            raise NotFound(NOT_FOUND)
        return answered(request, to_json(found[0][1]))


class RootView(View):
    """What there is."""

    schema = None

    def get(self, request: Request) -> HttpResponse:
        lists = {one.name: request.build_absolute_uri(reverse(f"api:{one.name}")) for one in COLLECTIONS}
        return answered(request, to_json(lists))


class NothingView(View):
    """Whatever else is asked for."""

    schema = None

    def get(self, request: Request, **_path: Any) -> HttpResponse:
        """Answer like a row that is not there."""
        raise NotFound(NOT_FOUND)

    post = put = patch = delete = get


class SchemaView(SpectacularAPIView):
    """The OpenAPI schema, as YAML or with `?format=json` as JSON."""

    throttle_classes = []

    def _get_schema_response(self, request: Request) -> Response:
        name = self._get_filename(request, self.api_version)  # type: ignore[no-untyped-call]
        return Response(_schema(), headers={"Content-Disposition": f'inline; filename="{name}"'})


@lru_cache(maxsize=1)
def _schema() -> Any:
    """Build the schema once a process: it is the same for everybody, nobody need sign in for it, and it takes long."""
    return SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]


@login_not_required
@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    schema = _schema()
    context = {"info": schema["info"], "operations": operations_of(schema), "objects": objects_of(schema)}
    return render(request, "api/docs.html", context)
