"""The OpenAPI description of the collections, from what each declares."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Any

from django_filters import ChoiceFilter, IsoDateTimeFilter
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from pydantic import BaseModel
from rest_framework.serializers import (
    CharField,
    DictField,
    IntegerField,
    ListField,
    Serializer,
    URLField,
)

from api.collections import Collection
from api.pagination import LARGEST_PAGE, USUAL_PAGE, Form
from api.problems import CONTENT_TYPE
from api.rows.labels import Provenance
from api.streams import CONTENT_TYPES

JSON = "application/json"
STREAMS = [CONTENT_TYPES[Form.JSONL], CONTENT_TYPES[Form.CSV].partition(";")[0]]


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How a token is given."""

    target_class = "api.access.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
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
        return getattr(self.view, "collection", None)

    @property
    def one(self) -> bool:
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
        return [self.collection.name] if self.collection else list(super().get_tags())

    def get_description(self) -> str:  # type: ignore[override]
        return self.collection.text if self.collection else str(super().get_description())

    def get_override_parameters(self) -> list[Any]:
        if self.collection is None:
            return list(super().get_override_parameters())
        if self.one:
            return []
        return [*_filters(self.collection), *_paging()]

    def get_response_serializers(self) -> Any:
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
        return f"{self.view.collection.name.replace('-', '_')}_provenance"

    def get_description(self) -> str:  # type: ignore[override]
        return (type(self.view).__doc__ or "").strip()

    def get_response_serializers(self) -> Any:
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


Part = Mapping[str, Any]
REFERENCE = "#/components/schemas/"


@dataclass(frozen=True, slots=True)
class ValueKind:
    """What a value is: in words, and where it is made of an object, which one."""

    text: str
    object: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter or a field of an object. `place` is where a parameter goes."""

    name: str
    kind: ValueKind
    text: str
    needed: bool
    place: str = ""


@dataclass(frozen=True, slots=True)
class StatusAnswer:
    """A status that an operation answers with."""

    status: str
    text: str
    kind: ValueKind | None


@dataclass(frozen=True, slots=True)
class ApiOperation:
    """One method at one address."""

    name: str
    method: str
    path: str
    text: str
    parameters: tuple[Field, ...]
    body: ValueKind | None
    answers: tuple[StatusAnswer, ...]


@dataclass(frozen=True, slots=True)
class Made:
    """An object, with its fields."""

    name: str
    text: str
    fields: tuple[Field, ...]
    kind: ValueKind


def operations_of(schema: Part) -> dict[str, list[ApiOperation]]:
    found: dict[str, list[ApiOperation]] = {}
    for path, methods in schema["paths"].items():
        for method, one in methods.items():
            found.setdefault(one["tags"][0], []).append(_operation(path, method, one))
    return found


def objects_of(schema: Part) -> list[Made]:
    parts = schema["components"]["schemas"]
    return [
        Made(name, one.get("description", ""), tuple(_fields(one)), kind_of(one)) for name, one in parts.items()
    ]


def kind_of(part: Part) -> ValueKind:
    if "$ref" in part:
        return ValueKind("", part["$ref"].removeprefix(REFERENCE))
    choices = part.get("anyOf") or part.get("oneOf") or part.get("allOf")
    if choices:
        return _either([kind_of(choice) for choice in choices])
    names = part.get("type", "anything")
    if isinstance(names, list):
        return _either([kind_of({**part, "type": name}) for name in names])
    if names == "array":
        inner = kind_of(part["items"])
        return ValueKind(f"list of {inner.text}".strip(), inner.object)
    return ValueKind(_simple(str(names), part))


def _simple(name: str, part: Part) -> str:
    if "enum" in part:
        return " or ".join(str(one) for one in part["enum"] if one is not None)
    limits = [f"{word} {part[key]}" for key, word in LIMITS.items() if key in part]
    formatted = f"{name} ({part['format']})" if "format" in part else name
    return ", ".join([formatted, *limits])


LIMITS = {
    "minimum": "at least",
    "maximum": "at most",
    "minLength": "characters at least",
    "maxLength": "characters at most",
}


def _either(kinds: list[ValueKind]) -> ValueKind:
    """Return one kind for several; null is said as a word."""
    text = " or ".join(kind.text for kind in kinds if kind.text)
    named = next((kind.object for kind in kinds if kind.object), "")
    return ValueKind(f"or {text}" if named and text else text, named)


def _operation(path: str, method: str, one: Part) -> ApiOperation:
    content = one.get("requestBody", {}).get("content", {})
    return ApiOperation(
        name=one["operationId"],
        method=method.upper(),
        path=path,
        text=one.get("description", ""),
        parameters=tuple(_parameter(found) for found in one.get("parameters", ())),
        body=_of_content(content),
        answers=tuple(
            StatusAnswer(status, found.get("description", ""), _of_content(found.get("content", {})))
            for status, found in one["responses"].items()
        ),
    )


def _of_content(content: Part) -> ValueKind | None:
    """Return what the first form of a body is, JSON before the others."""
    return next((kind_of(one["schema"]) for one in content.values()), None)


def _parameter(part: Part) -> Field:
    text = part.get("description", "")
    return Field(part["name"], kind_of(part["schema"]), text, bool(part.get("required")), part["in"])


def _fields(part: Part) -> Iterator[Field]:
    needed = set(part.get("required", ()))
    for name, one in part.get("properties", {}).items():
        yield Field(name, kind_of(one), one.get("description", ""), name in needed)


WRONG_BODY = {
    400: "The body or a parameter is not what is expected.",
    401: "No token and no session, or the token is not good any more.",
    403: "You may look at this and not change it, or the token lacks the scope `write`.",
    404: "Nothing here, or nothing that you may see.",
    409: "A request with this `Idempotency-Key` is being worked on.",
    412: "The row is another by now than `If-Match` says. Nothing was changed.",
    413: "More than may be sent.",
    415: "A body of a kind that is not read here.",
    422: "A rule says no, a file has problems, or the `Idempotency-Key` is another request's. Nothing was changed.",
    429: "Too many requests; `Retry-After` says how many seconds to wait.",
}
ONLY_CONDITIONAL = 412
KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    OpenApiParameter.HEADER,
    description="a key of your own for this write; sent again with it, it is done once and answered the same",
)
IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="the `ETag` of the row as you know it"
)


class WriteSchema(CollectionSchema):
    """What a view of writes declares, for its POST; its reads are those of its collection."""

    view: Any

    @property
    def writes(self) -> bool:
        return bool(self.method == "POST")

    def get_operation_id(self) -> str:
        return str(self.view.operation) if self.writes else super().get_operation_id()

    def get_tags(self) -> list[str]:
        return [self.path.split("/")[3]] if self.writes else super().get_tags()

    def get_description(self) -> str:  # type: ignore[override]
        text = getattr(self.view, "text", "") or (type(self.view).__doc__ or "").strip()
        return text if self.writes else super().get_description()

    def get_override_parameters(self) -> list[Any]:
        if not self.writes:
            return super().get_override_parameters()
        conditions = [IF_MATCH] if self.view.conditional else []
        return [*_parameters(self.view.query), KEY, *conditions]

    def get_request_serializer(self) -> Any:
        return getattr(self.view, "bodies", None) or self.view.body if self.writes else None

    def get_response_serializers(self) -> Any:
        view = self.view
        if not self.writes:
            return super().get_response_serializers()
        answers: dict[Any, Any] = {(int(view.made), JSON): view.answer}
        if view.tried:
            answers[int(HTTPStatus.OK), JSON] = view.tried
        for code, text in WRONG_BODY.items():
            if code != ONLY_CONDITIONAL or view.conditional:
                answers[code, CONTENT_TYPE] = OpenApiResponse(Problem, description=text)
        return answers


def _parameters(form: type[BaseModel]) -> list[OpenApiParameter]:
    """Return the fields of a form as parameters of an address, in which there is no null and no reference."""
    whole = form.model_json_schema()
    return [
        OpenApiParameter(
            name,
            _plain(shape, whole.get("$defs", {})),
            required=name in whole.get("required", ()),
            description=shape.get("description", ""),
        )
        for name, shape in whole.get("properties", {}).items()
    ]


def _plain(shape: dict[str, Any], named: dict[str, Any]) -> dict[str, Any]:
    if choices := [one for one in shape.get("anyOf", ()) if one != {"type": "null"}]:
        return _plain(choices[0], named)
    if reference := shape.get("$ref"):
        return _plain(named[reference.rpartition("/")[2]], named)
    return {key: value for key, value in shape.items() if key not in ("title", "description", "default")}
