"""Nugget lists as nuggetizer writes them: `{query?, qid, nuggets: [{text, importance?, ...}], ...}`."""

from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import Field

from evaluation.formats.ids import Id, Text
from evaluation.formats.lines import Line, Once, json_line, json_rows, with_extra
from evaluation.formats.problems import Problems
from evaluation.formats.source import Source
from evaluation.terms import Importance

IMPORTANCE: Final = {"vital": Importance.VITAL, "okay": Importance.OKAY}


@dataclass(frozen=True, slots=True)
class NuggetRow:
    """One nugget. `raw_importance` is the file's word, empty where it has none (drafts).

    `blank_importance`: the file has the field and says nothing in it, which is dirt and not a draft.
    """

    text: str
    importance: Importance
    raw_importance: str
    group: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    blank_importance: bool = False

    @property
    def has_unknown_importance(self) -> bool:
        """Whether the file says something that is neither vital nor okay: a finding."""
        return self.importance is Importance.UNKNOWN and (self.raw_importance != "" or self.blank_importance)


@dataclass(frozen=True, slots=True)
class NuggetListRow:
    """One topic's list, in file order; `query` is empty where the file has none."""

    line: int
    topic_id: str
    query: str
    nuggets: tuple[NuggetRow, ...]
    extra: dict[str, Any] = field(default_factory=dict)


class NuggetItem(Line):
    """A nugget of a line; the 2025 track's sub-narrative is its group."""

    text: Text
    importance: str | None = None
    group: str | None = Field(default=None, alias="mapped_sub_narrative")


class NuggetListLine(Line):
    """A JSONL line."""

    query: str | None = None
    qid: Id
    nuggets: list[NuggetItem]


def parse_nuggets(source: Source) -> tuple[NuggetListRow, ...]:
    """All lists in file order. Raises `BadInput`; a topic twice is an error, an empty list or dirty label not."""
    problems = Problems(source.name)
    once = Once(problems, "qid")
    rows = tuple(
        _list_row(line, found)
        for line, found in json_rows(source, NuggetListLine.model_validate_json, problems)
        if once.is_first(line, found.qid, f"topic {found.qid}")
    )
    problems.raise_if_any()
    return rows


def nugget_list_line(row: NuggetListRow) -> str:
    """The list as a line that nuggetizer and `parse_nuggets` read; provenance goes into `extra` keys."""
    known = {"query": row.query or None, "qid": row.topic_id, "nuggets": [_item(n) for n in row.nuggets]}
    return json_line(known, row.extra)


def _list_row(line: int, found: NuggetListLine) -> NuggetListRow:
    nuggets = tuple(_nugget_row(nugget) for nugget in found.nuggets)
    return NuggetListRow(line, found.qid, found.query or "", nuggets, found.extra)


def _nugget_row(found: NuggetItem) -> NuggetRow:
    raw = found.importance or ""
    importance = IMPORTANCE.get(raw, Importance.UNKNOWN)
    return NuggetRow(found.text, importance, raw, found.group or "", found.extra, found.importance == "")


def _item(nugget: NuggetRow) -> dict[str, Any]:
    word = importance_word(nugget.importance, nugget.raw_importance)
    known = {
        "text": nugget.text,
        "importance": word if word or nugget.blank_importance else None,
        "mapped_sub_narrative": nugget.group or None,
    }
    return with_extra(known, nugget.extra)


def importance_word(importance: Importance, raw: str) -> str:
    """How a file spells an importance: `vital`, `okay`, or what was said where it is unknown."""
    if importance is Importance.UNKNOWN:
        return "" if raw in IMPORTANCE else raw
    return importance.name.lower()
