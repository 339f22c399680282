"""What programs send: the form of every body and query. What is not known here is refused, not passed over."""

from typing import Annotated, Any, TypeVar

from django.http import QueryDict
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from api.problems import Errors, WrongQuery
from evaluation.formats.problems import field_path, wording

Name = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f]*$")]
"""What something is called; empty where it may be left out."""

NamedOne = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$")]
NUL = "\x00"


class WrongBody(WrongQuery):
    """A body that is not what is expected."""

    default_code = "bad_body"
    default_detail = "The body is not what is expected."


class Body(BaseModel):
    """A JSON object."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Query(BaseModel):
    """The parameters of an address."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Tryable(Query):
    """Of a write that can be tried out first."""

    dry_run: bool = Field(default=False, description="say what would be done, and do nothing")


AnyBody = TypeVar("AnyBody", bound=BaseModel)
AnyQuery = TypeVar("AnyQuery", bound=Query)


def body_of(form: type[AnyBody], raw: bytes) -> AnyBody:
    """Return a body, checked. Raises `WrongBody` with everything that is wrong about it."""
    try:
        if _has_nul(from_json(raw)):
            raise WrongBody({"body": ["A text without NUL characters."]})
        return form.model_validate_json(raw)
    except ValidationError as error:
        raise WrongBody(_errors(error, "body")) from error
    except ValueError as error:
        raise WrongBody({"body": [f"Valid JSON: {error}"]}) from error


def query_of(form: type[AnyQuery], query: QueryDict) -> AnyQuery:
    """Return the parameters of an address, checked. Raises `WrongQuery`."""
    twice = {name: ["This parameter can be given once."] for name in query if len(query.getlist(name)) > 1}
    if twice:
        raise WrongQuery(twice)
    try:
        return form.model_validate_strings(query.dict())
    except ValidationError as error:
        raise WrongQuery(_errors(error, "query")) from error


def _errors(error: ValidationError, whole: str) -> Errors:
    found: Errors = {}
    for one in error.errors(include_url=False):
        text = {"extra_forbidden": "There is nothing of that name to say."}.get(one["type"]) or wording(one)
        found.setdefault(field_path(one["loc"]) if one["loc"] else whole, []).append(text)
    return found


def _has_nul(value: Any) -> bool:
    """Say whether a text somewhere holds the character that PostgreSQL cannot."""
    if isinstance(value, dict):
        return any(_has_nul(one) for pair in value.items() for one in pair)
    if isinstance(value, list):
        return any(_has_nul(one) for one in value)
    return isinstance(value, str) and NUL in value
