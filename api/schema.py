"""The OpenAPI description, from what views and collections declare, and the page that shows it."""

from collections.abc import Iterator, Mapping
from functools import cache
from inspect import getdoc
from typing import Annotated, Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from pydantic import BaseModel, Field, WithJsonSchema, create_model

from api.collections import COLLECTIONS, Collection
from api.filters import Filter
from api.pagination import LARGEST_PAGE, USUAL_PAGE, Form
from api.problems import CONTENT_TYPE
from api.rows.corpus import Out
from api.rows.labels import Provenance
from api.streams import CONTENT_TYPES

JSON = "application/json"
STREAMS = [CONTENT_TYPES[Form.JSONL], CONTENT_TYPES[Form.CSV].partition(";")[0]]


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "api.access.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A token of your account: `assay_...`"}


class Misplaced(Out):
    """A fault in a file."""

    file: str
    line: int
    field: str
    expected: str


class Problem(Out):
    """An error (RFC 9457). `code` is for programs, `detail` for people."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    errors: dict[str, list[str]] = Field(default={}, description="by parameter")
    problems: list[Misplaced] = []
    choices: list[str] = Field(default=[], description="where several names fit, those to choose from")


Link = Annotated[str, WithJsonSchema({"type": "string", "format": "uri"})]


class PageOut(Out):
    """Rows of a page, and the addresses of the pages before and after."""

    next: Link | None = Field(description="null: there is none")
    previous: Link | None = Field(description="null: there is none")


@cache
def _page_of(collection: Collection) -> type[PageOut]:
    # Made by name: pydantic would call a generic class `Page_CampaignRow_`.
    row, by_topic = collection.row, collection.topic_row
    rows: Any = list[row] | list[by_topic] if by_topic else list[row]  # type: ignore[valid-type]
    name = f"{row.__name__.removesuffix('Row')}Page"
    return create_model(name, __base__=PageOut, __doc__=PageOut.__doc__, results=(rows, ...))


UNCHANGED = "Nothing changed since the `ETag` that you sent as `If-None-Match`."
NO_LOGIN = "No token and no session, or the token is not good any more."
NOT_THERE = "Nothing here, or nothing that you may see."
TOO_MANY = "Too many requests; `Retry-After` says how many seconds to wait."
OF_ROWS = {401: NO_LOGIN, 403: "The token is not for this.", 404: NOT_THERE, 429: TOO_MANY}
OF_LISTS = {
    400: "A parameter that does not exist, or a value that makes no sense.",
    401: NO_LOGIN,
    403: OF_ROWS[403],
    422: "A rule says no: for instance, a condition does not say whose labels are meant.",
    429: TOO_MANY,
}
OF_WRITES = {
    400: "The body or a parameter is not what is expected.",
    401: NO_LOGIN,
    403: "You may look at this and not change it, or the token lacks the scope `write`.",
    404: NOT_THERE,
    409: "A request with this `Idempotency-Key` is being worked on.",
    413: "More than may be sent.",
    415: "A body of a kind that is not read here.",
    422: "A rule says no, a file has problems, or the `Idempotency-Key` is another request's. Nothing was changed.",
    429: TOO_MANY,
}
CHANGED = {412: "The row is another by now than `If-Match` says. Nothing was changed."}


class PlainSchema(AutoSchema):
    """An operation without serializers, which drf-spectacular looks for and no view here has."""

    view: Any

    def is_excluded(self) -> bool:
        # Each address is there without the last slash too; described, every client would get each function twice.
        return not self.path.endswith("/")

    def _is_list_view(self, serializer: Any = None) -> bool:
        return False


class ListSchema(PlainSchema):
    """The list of a collection."""

    kind = "list"

    @property
    def collection(self) -> Collection:
        collection: Collection = self.view.collection
        return collection

    def get_operation_id(self) -> str:
        return f"{self.collection.name.replace('-', '_')}_{self.kind}"

    def get_tags(self) -> list[str]:
        return [self.collection.name]

    def get_description(self) -> str:  # type: ignore[override]
        return self.collection.text

    def get_override_parameters(self) -> list[Any]:
        return [*map(_filter_parameter, self.collection.filters), *PAGING_PARAMETERS]

    def get_response_serializers(self) -> Any:
        streams = {(200, form): OpenApiTypes.STR for form in STREAMS}
        return {(200, JSON): _page_of(self.collection)} | streams | _read_problems(OF_LISTS)


class RowSchema(ListSchema):
    kind = "row"

    def get_override_parameters(self) -> list[Any]:
        return []

    def get_response_serializers(self) -> Any:
        return {(200, JSON): self.collection.row} | _read_problems(OF_ROWS)


class ProvenanceSchema(RowSchema):
    kind = "provenance"

    def get_description(self) -> str:  # type: ignore[override]
        return getdoc(Provenance) or ""

    def get_response_serializers(self) -> Any:
        return {(200, JSON): Provenance} | _read_problems(OF_ROWS)


class ReportSchema(PlainSchema):
    """A report at an address of its own, which is no collection."""

    problems = OF_LISTS

    def get_operation_id(self) -> str:
        return f"reports_{self.view.entry.name.replace('-', '_')}"

    def get_tags(self) -> list[str]:
        return ["reports"]

    def get_description(self) -> str:  # type: ignore[override]
        return f"{self.view.entry.text} As `report {self.view.entry.name}` has it."

    def get_override_parameters(self) -> list[Any]:
        return [*map(_filter_parameter, self.view.filters)]

    def get_response_serializers(self) -> Any:
        forms = {(200, JSON): self.view.row, (200, STREAMS[-1]): OpenApiTypes.STR}
        return forms | _read_problems(self.problems)


class BattleLeaderboardSchema(ReportSchema):
    problems = OF_LISTS | OF_ROWS

    def get_operation_id(self) -> str:
        return "battle_sets_leaderboard"

    def get_tags(self) -> list[str]:
        return ["battle-sets"]

    def get_description(self) -> str:  # type: ignore[override]
        return getdoc(self.view.row) or ""


class AnswerSchema(ReportSchema):
    """An address with one answer that is neither a row nor a report."""

    def get_operation_id(self) -> str:
        return str(self.view.operation)

    def get_tags(self) -> list[str]:
        return [self.get_operation_id()]

    def get_description(self) -> str:  # type: ignore[override]
        return getdoc(type(self.view)) or ""

    def get_response_serializers(self) -> Any:
        return {(200, JSON): self.view.answer} | _read_problems(OF_LISTS)


class WriteSchema(ListSchema):
    """The POST of a view of writes; its GET is that of its collection."""

    def get_operation_id(self) -> str:
        return str(self.view.operation) if self.method == "POST" else super().get_operation_id()

    def get_tags(self) -> list[str]:
        return [self.path.split("/")[3]] if self.method == "POST" else super().get_tags()

    def get_description(self) -> str:  # type: ignore[override]
        if self.method != "POST":
            return super().get_description()
        return getattr(self.view, "text", "") or getdoc(type(self.view)) or ""

    def get_override_parameters(self) -> list[Any]:
        if self.method != "POST":
            return super().get_override_parameters()
        return [*_query_parameters(self.view.query), KEY, *([IF_MATCH] if self.view.conditional else [])]

    def get_request_serializer(self) -> Any:
        if self.method != "POST":
            return None
        return getattr(self.view, "bodies", None) or self.view.body

    def get_response_serializers(self) -> Any:
        view = self.view
        if self.method != "POST":
            return super().get_response_serializers()
        answers = {(int(view.success), JSON): view.answer} | ({(200, JSON): view.tried} if view.tried else {})
        return answers | _problems(OF_WRITES | (CHANGED if view.conditional else {}))


def _problems(texts: dict[int, str]) -> dict[Any, Any]:
    return {(code, CONTENT_TYPE): OpenApiResponse(Problem, description=text) for code, text in texts.items()}


def _read_problems(texts: dict[int, str]) -> dict[Any, Any]:
    return {(304, CONTENT_TYPE): OpenApiResponse(None, description=UNCHANGED)} | _problems(texts)


def _filter_parameter(parameter: Filter) -> OpenApiParameter:
    return OpenApiParameter(
        parameter.name,
        COUNT if parameter.is_count else OpenApiTypes.DATETIME if parameter.is_moment else OpenApiTypes.STR,
        description=parameter.text,
        enum=parameter.choices or None,
        required=parameter.needed,
    )


FORM_TEXT = "json: a page; jsonl, csv: all rows as a stream"
COUNT = {"type": "integer", "minimum": 1}
SIZES = {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE, "default": USUAL_PAGE}
PAGING_PARAMETERS = [
    OpenApiParameter("format", OpenApiTypes.STR, enum=list(Form), default="json", description=FORM_TEXT),
    OpenApiParameter("page_size", SIZES, description="rows of a page"),
    OpenApiParameter("cursor", OpenApiTypes.STR, description="from `next` or `previous` of a page"),
]
KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    OpenApiParameter.HEADER,
    description="a key of your own for this write; sent again with it, it is done once and answered the same",
)
IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="the `ETag` of the row as you know it"
)


def _query_parameters(form: type[BaseModel]) -> list[OpenApiParameter]:
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


def _plain(shape: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if choices := [choice for choice in shape.get("anyOf", ()) if choice != {"type": "null"}]:
        return _plain(choices[0], definitions)
    if reference := shape.get("$ref"):
        return _plain(definitions[reference.rpartition("/")[2]], definitions)
    return {key: value for key, value in shape.items() if key not in ("title", "description", "default")}


def with_tags(result: dict[str, Any], **_how: object) -> dict[str, Any]:
    """Add the tags that operations have: linters ask for them, and readers of the schema for what they mean."""
    texts = {collection.name: collection.text for collection in COLLECTIONS}
    texts["reports"] = "Reports that compare two conditions of a campaign, as the command `report` prints them."
    texts["task-changes"] = "A change of several tasks at once."
    texts["gates"] = "Whether a run is no worse than another, or better: a verdict for CI."
    texts["fingerprint"] = "What the labels of a run rest on."
    texts["account"] = "Who asks, and what the token may."
    return result | {"tags": [{"name": name, "description": text} for name, text in texts.items()]}


# The page of the schema, for people. Each part below is a dict of strings for templates/api/docs.html.
Part = Mapping[str, Any]
Shown = dict[str, Any]
REFERENCE = "#/components/schemas/"
LIMITS = {
    "minimum": "at least",
    "maximum": "at most",
    "minLength": "characters at least",
    "maxLength": "characters at most",
}


def operations_of(schema: Part) -> dict[str, list[Shown]]:
    by_tag: dict[str, list[Shown]] = {}
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            by_tag.setdefault(operation["tags"][0], []).append(
                {
                    "name": operation["operationId"],
                    "method": method.upper(),
                    "path": path,
                    "text": operation.get("description", ""),
                    "parameters": [
                        _field(part["name"], part["schema"], bool(part.get("required")))
                        | {"text": part.get("description", ""), "place": part["in"]}
                        for part in operation.get("parameters", ())
                    ],
                    "body": _content(operation.get("requestBody", {})),
                    "answers": [
                        {"status": status, "text": part.get("description", ""), "kind": _content(part)}
                        for status, part in operation["responses"].items()
                    ],
                }
            )
    return by_tag


def objects_of(schema: Part) -> list[Shown]:
    return [
        {"name": name, "text": part.get("description", ""), "fields": list(_fields(part)), "kind": _kind(part)}
        for name, part in schema["components"]["schemas"].items()
    ]


def _fields(part: Part) -> Iterator[Shown]:
    needed = part.get("required", ())
    for name, inner in part.get("properties", {}).items():
        yield _field(name, inner, name in needed)


def _field(name: str, part: Part, needed: bool) -> Shown:
    return {"name": name, "kind": _kind(part), "text": part.get("description", ""), "needed": needed}


def _content(part: Part) -> Shown | None:
    """Return the first form of a body, which is JSON where there are several."""
    return next((_kind(form["schema"]) for form in part.get("content", {}).values()), None)


def _kind(part: Part) -> Shown:
    """Return what a value is: in words, and the name of its object where it is made of one."""
    if "$ref" in part:
        return {"text": "", "object": part["$ref"].removeprefix(REFERENCE)}
    names = part.get("type", "anything")
    several = [{**part, "type": name} for name in names] if isinstance(names, list) else ()
    if choices := part.get("anyOf") or part.get("oneOf") or part.get("allOf") or several:
        kinds = [_kind(choice) for choice in choices]
        text = " or ".join(kind["text"] for kind in kinds if kind["text"])
        object_name = next((kind["object"] for kind in kinds if kind["object"]), "")
        return {"text": f"or {text}" if object_name and text else text, "object": object_name}
    if names == "array":
        inner = _kind(part["items"])
        return {"text": f"list of {inner['text']}".strip(), "object": inner["object"]}
    return {"text": _simple(names, part), "object": ""}


def _simple(name: str, part: Part) -> str:
    if "enum" in part:
        return " or ".join(str(value) for value in part["enum"] if value is not None)
    limits = [f"{word} {part[key]}" for key, word in LIMITS.items() if key in part]
    return ", ".join([f"{name} ({part['format']})" if "format" in part else name, *limits])
