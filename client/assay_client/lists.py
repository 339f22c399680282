"""Lists of rows, read when they are asked for. No list is in memory as a whole unless the caller keeps it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from assay_client.connection import Connection
from assay_client.errors import AssayError
from assay_client.reading import Row, read
from assay_client.rows import ScoreRow, TopicScoreRow

if TYPE_CHECKING:
    import pandas


class Rows(Generic[Row]):
    """The rows of a list. Each loop reads them anew, as one stream from one state of the server's database."""

    def __init__(self, connection: Connection, path: str, row: type[Row], query: Mapping[str, Any]) -> None:
        self._connection, self._path, self._row, self._query = connection, path, row, query

    def __repr__(self) -> str:
        return f"<Rows of {self._path}>"

    def __iter__(self) -> Iterator[Row]:
        for line in self._lines():
            yield read(self._row, json.loads(line))

    def first(self) -> Row | None:
        page = self._connection.get(f"{self._path}/", {**self._query, "page_size": 1})
        return read(self._row, page["results"][0]) if page["results"] else None

    def count(self) -> int:
        return sum(1 for _ in self._lines())

    def to_dataframe(self) -> pandas.DataFrame:
        """Return the rows as pandas has them: a column for each field."""
        try:
            import pandas  # noqa: PLC0415  # an extra
        except ImportError:
            raise AssayError("pandas is not installed: pip install 'assay-client[pandas]'") from None
        columns = [field.name for field in fields(self._row)]  # type: ignore[arg-type]
        cells = [[getattr(row, name) for name in columns] for row in self]
        return pandas.DataFrame(cells, columns=columns)

    def to_jsonl(self, path: str | PathLike[str]) -> None:
        """Write the rows as the server sends them. A list that breaks off leaves no file."""
        path = Path(path)
        part = path.with_name(f".{path.name}.part")
        try:
            with part.open("wb") as file:
                file.writelines(self._lines())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)

    def _lines(self) -> Iterator[bytes]:
        return self._connection.lines(f"{self._path}/", self._query)


class _WithPolicies(Rows[Row]):
    """Scores, of which a report has the policies."""

    def __init__(self, connection: Connection, row: type[Row], query: Mapping[str, Any], report: str) -> None:
        super().__init__(connection, "scores", row, query)
        self._report = report

    @cached_property
    def policies(self) -> dict[str, str]:
        query = {name: value for name, value in self._query.items() if name not in ("run", "per_topic")}
        policies: dict[str, str] = self._connection.get(f"reports/{self._report}/", query)["policies"]
        return policies


class TopicScores(_WithPolicies[TopicScoreRow]):
    """The scores of runs on each topic under a condition."""


class Scores(_WithPolicies[ScoreRow]):
    """The scores of runs under a condition, by run id too."""

    def __getitem__(self, run: str) -> ScoreRow:
        for row in self:
            if row.run_id == run:
                return row
        raise KeyError(run)
