"""The OpenAPI description of the collections, from what each declares."""

from functools import cache
from typing import Any

from django_filters import ChoiceFilter, IsoDateTimeFilter
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.serializers import (
    CharField,
    DictField,
    IntegerField,
    ListField,
    Serializer,
    URLField,
)

from api.asking import LARGEST_PAGE, USUAL_PAGE, Form
from api.collections import Collection
from api.problems import CONTENT_TYPE
from api.serializers.provenance import Provenance
from api.streams import CONTENT_TYPES

JSON = "application/json"
STREAMS = [CONTENT_TYPES[Form.JSONL], CONTENT_TYPES[Form.CSV].partition(";")[0]]


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How a token is given."""

    target_class = "api.authentication.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        """Return the scheme."""
        return {"type": "http", "scheme": "bearer", "description": "A token of your account: `assay_...`"}


class Misplaced(Serializer[Any]):
    """One thing wrong with a file."""

    file = CharField()
    line = IntegerField()
    field = CharField()
    expected = CharField()


class Problem(Serializer[Any]):
    """What went wrong (RFC 9457). `code` is for programs, `detail` for people."""

    type = CharField()
    title = CharField()
    status = IntegerField()
    code = CharField()
    detail = CharField()

    def get_fields(self) -> dict[str, Any]:
        """Return the fields; a serializer keeps `errors` for itself, so that it cannot be declared above."""
        by_parameter = DictField(child=ListField(child=CharField()), required=False, help_text="by parameter")
        return {**super().get_fields(), "errors": by_parameter, "problems": Misplaced(many=True, required=False)}


WRONG = {
    304: "Nothing changed since the `ETag` that you sent as `If-None-Match`.",
    400: "A parameter that does not exist, or a value that makes no sense.",
    401: "No token and no session, or the token is not good any more.",
    403: "The token is not for this.",
    404: "Nothing here, or nothing that you may see.",
    422: "A rule says no: for instance, a condition does not say whose labels are meant.",
    429: "Too many requests; `Retry-After` says how many seconds to wait.",
}
OF_LISTS, OF_ROWS = (304, 400, 401, 403, 422, 429), (304, 401, 403, 404, 429)


class CollectionSchema(AutoSchema):
    """What drf-spectacular cannot see by itself: a collection's fields, filters and forms."""

    @property
    def collection(self) -> Collection | None:
        """The collection of the view; None for any other view."""
        return getattr(self.view, "collection", None)

    @property
    def one(self) -> bool:
        """Whether the view is of one row."""
        return bool(getattr(self.view, "one", False))

    def is_excluded(self) -> bool:
        """Leave out the second spelling of each address."""
        return not self.path.endswith("/")

    def get_operation_id(self) -> str:
        """Return a name that clients can make a function of."""
        if self.collection is None:
            return str(super().get_operation_id())
        return f"{self.collection.name.replace('-', '_')}_{'row' if self.one else 'list'}"

    def get_tags(self) -> list[str]:
        """Put a collection's addresses together."""
        return [self.collection.name] if self.collection else list(super().get_tags())

    def get_description(self) -> str:  # type: ignore[override]
        """Say what a row is."""
        return self.collection.text if self.collection else str(super().get_description())

    def get_override_parameters(self) -> list[Any]:
        """Return what can be asked."""
        if self.collection is None:
            return list(super().get_override_parameters())
        if self.one:
            return []
        return [*_filters(self.collection), *_paging()]

    def get_response_serializers(self) -> Any:
        """Return what is answered."""
        if self.collection is None:
            return super().get_response_serializers()
        fields = self.collection.fields
        answers: dict[Any, Any] = {(200, JSON): fields if self.one else _page_of(fields)}
        if not self.one:
            answers |= {(200, form): OpenApiTypes.STR for form in STREAMS}
        for code in OF_ROWS if self.one else OF_LISTS:
            shape = None if code == 304 else Problem
            answers[code, CONTENT_TYPE] = OpenApiResponse(shape, description=WRONG[code])
        return answers

    def _is_list_view(self, serializer: Any = None) -> bool:
        return False if self.collection else bool(super()._is_list_view(serializer))


class ProvenanceSchema(CollectionSchema):
    """What stands behind one row of a collection."""

    view: Any

    def get_operation_id(self) -> str:
        """Return a name that clients can make a function of."""
        return f"{self.view.collection.name.replace('-', '_')}_provenance"

    def get_description(self) -> str:  # type: ignore[override]
        """Say what is told."""
        return (type(self.view).__doc__ or "").strip()

    def get_response_serializers(self) -> Any:
        """Return what is answered."""
        answers: dict[Any, Any] = {(200, JSON): Provenance}
        for code in OF_ROWS:
            shape = None if code == 304 else Problem
            answers[code, CONTENT_TYPE] = OpenApiResponse(shape, description=WRONG[code])
        return answers


@cache
def _page_of(fields: type[Serializer[Any]]) -> type[Serializer[Any]]:
    """Return the envelope of some rows."""
    link = URLField(allow_null=True, help_text="null: there is none")
    name = f"{fields.__name__.removesuffix('Row')}Page"
    body = {"__doc__": "Some rows, and where the others are.", "next": link, "previous": link}
    return type(name, (Serializer,), body | {"results": fields(many=True)})


def _filters(collection: Collection) -> list[OpenApiParameter]:
    found = collection.filters.base_filters  # type: ignore[attr-defined]
    return [
        OpenApiParameter(
            name,
            OpenApiTypes.DATETIME if isinstance(one, IsoDateTimeFilter) else OpenApiTypes.STR,
            description=one.extra.get("help_text", ""),
            enum=[value for value, _ in one.extra["choices"]] if isinstance(one, ChoiceFilter) else None,
            required=name in collection.filters.needed,
        )
        for name, one in found.items()
    ]


def _paging() -> list[OpenApiParameter]:
    text = "json: a page; jsonl, csv: all rows as a stream"
    sizes = {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE, "default": USUAL_PAGE}
    return [
        OpenApiParameter("format", OpenApiTypes.STR, enum=list(Form), default="json", description=text),
        OpenApiParameter("page_size", sizes, description="rows of a page"),
        OpenApiParameter("cursor", OpenApiTypes.STR, description="from `next` or `previous` of a page"),
    ]
