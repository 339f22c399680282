"""What a request asks of a list: the form, the page, the filters. What is not known or makes no sense is refused."""

from dataclasses import dataclass
from enum import StrEnum

from django.http import QueryDict

from api.cursors import Cursor, unseal
from api.problems import Errors, WrongQuery

USUAL_PAGE, LARGEST_PAGE = 100, 1000


class Form(StrEnum):
    """How rows leave: a page in an envelope, or all of them as a stream."""

    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for a list, its filters not yet checked."""

    form: Form
    page_size: int
    cursor: Cursor | None
    filters: QueryDict


def asked_of(query: QueryDict, collection: str, known: frozenset[str]) -> Asked:
    """Return what a query asks for. Raises `WrongQuery`, with everything that is wrong about it."""
    errors: Errors = {}
    filters = query.copy()
    for name in query:
        if name not in known and name not in PAGING:
            errors[name] = ["There is no such parameter."]
        elif len(query.getlist(name)) > 1:
            errors[name] = ["This parameter can be given once."]
        elif not query[name]:
            errors[name] = ["This parameter has no value."]
        if name in PAGING:
            del filters[name]
    form = _form(query.get("format", Form.JSON), errors)
    if form is not Form.JSON:
        errors |= {name: ["A stream has no pages."] for name in ("cursor", "page_size") if name in query}
    size = _page_size(query.get("page_size", str(USUAL_PAGE)), errors)
    cursor = _cursor(query.get("cursor", ""), collection, errors)
    if errors:
        raise WrongQuery(errors)
    return Asked(form, size, cursor, filters)


PAGING = ("format", "cursor", "page_size")


def _form(text: str, errors: Errors) -> Form:
    if text in list(Form):
        return Form(text)
    errors.setdefault("format", [f"One of {', '.join(Form)}."])
    return Form.JSON


def _page_size(text: str, errors: Errors) -> int:
    if text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= LARGEST_PAGE:
        return int(text)
    errors.setdefault("page_size", [f"A number from 1 to {LARGEST_PAGE}."])
    return USUAL_PAGE


def _cursor(text: str, collection: str, errors: Errors) -> Cursor | None:
    if not text:
        return None
    try:
        return unseal(collection, text)
    except ValueError:
        errors.setdefault("cursor", ["This cursor is not of this list: follow the links of a page."])
        return None
