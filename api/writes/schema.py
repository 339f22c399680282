"""The OpenAPI description of writes, from what each view declares."""

from http import HTTPStatus
from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from pydantic import BaseModel

from api.problems import CONTENT_TYPE
from api.schema import JSON, CollectionSchema, Problem

WRONG = {
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
        """Whether it is the write that is described."""
        return bool(self.method == "POST")

    def get_operation_id(self) -> str:
        """Return a name that clients can make a function of."""
        return str(self.view.operation) if self.writes else super().get_operation_id()

    def get_tags(self) -> list[str]:
        """Put writes beside the reads of the same."""
        return [self.path.split("/")[3]] if self.writes else super().get_tags()

    def get_description(self) -> str:  # type: ignore[override]
        """Say what is done."""
        text = getattr(self.view, "text", "") or (type(self.view).__doc__ or "").strip()
        return text if self.writes else super().get_description()

    def get_override_parameters(self) -> list[Any]:
        """Return the query, the key and the precondition."""
        if not self.writes:
            return super().get_override_parameters()
        conditions = [IF_MATCH] if self.view.conditional else []
        return [*_parameters(self.view.query), KEY, *conditions]

    def get_request_serializer(self) -> Any:
        """Return the form of the body."""
        return getattr(self.view, "bodies", None) or self.view.body if self.writes else None

    def get_response_serializers(self) -> Any:
        """Return what is answered."""
        view = self.view
        if not self.writes:
            return super().get_response_serializers()
        answers: dict[Any, Any] = {(int(view.made), JSON): view.answer}
        if view.tried:
            answers[int(HTTPStatus.OK), JSON] = view.tried
        for code, text in WRONG.items():
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
