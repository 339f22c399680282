"""Documents of reports have the fields that the API's schema names, and no others."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from api.reports import ROWS, row_of
from api.rows.reports import SubmissionTimeRow
from reports.registry import documents
from reports.timing.figures import TIME_COLUMNS
from tests.golden.keeping import FILES


def kept(name: str) -> Iterator[dict[str, Any]]:
    """Yield the golden documents of a report, of every world."""
    for file in FILES.glob(f"*/report-{name}.txt"):
        for part in re.split("^===== ", file.read_text(encoding="utf-8"), flags=re.MULTILINE):
            head, _, body = part.partition("\n")
            if head.endswith("--format json") and body.startswith("{"):
                yield json.loads(body)


def unnamed(row: object, content: Any) -> set[str]:
    """Return the keys of a document that its model does not name."""
    if isinstance(row, BaseModel):
        named = {name: getattr(row, name) for name in type(row).model_fields if name in content}
        return set(content) - set(named) | unnamed(named, content)
    if isinstance(row, list):
        return set().union(*map(unnamed, row, content))
    if isinstance(row, dict):
        return set().union(*(unnamed(part, content[key]) for key, part in row.items()))
    return set()


def test_rows_are_of_reports() -> None:
    assert documents().keys() >= ROWS.keys()


def test_rows_of_times_have_the_columns_of_their_file() -> None:
    assert SubmissionTimeRow.model_fields.keys() == set(TIME_COLUMNS)


# Those of battles are too large to be kept as texts: `tests/api/test_battles.py` has them.
@pytest.mark.parametrize("name", sorted(documents().keys() - {"battles"}))
def test_a_report_is_what_the_schema_says(name: str) -> None:
    model = row_of(documents()[name])
    contents = list(kept(name))
    assert contents
    for content in contents:
        assert unnamed(model.model_validate(content, strict=True), content) == set()
