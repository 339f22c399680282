"""Nugget lists as nuggetizer writes them: `{query?, qid, nuggets: [{text, importance?, ...}], ...}`.

Our own exports say under the key `assay` what each nugget was made from and rests on.
"""

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluation.formats.lines import Count, Id, Line, Once, Text, json_line, json_rows, with_extra
from evaluation.formats.problems import Problems
from evaluation.formats.signs import wrong_sign
from evaluation.formats.source import Source
from evaluation.terms import PROVENANCE_KEY, Importance

IMPORTANCE: Final = {"vital": Importance.VITAL, "okay": Importance.OKAY}


class Parent(BaseModel):
    """A draft that a nugget was made from: its text, and its place in the list of drafts, which tells equals apart."""

    relation: Literal["kept", "edited", "merged", "split"]
    text: Text
    place: Count | None = None


class Evidence(BaseModel):
    """A segment, or one sentence of it, that a nugget rests on."""

    docid: Id
    sentence: Count | None = None


class NuggetProvenance(BaseModel):
    """Provenance of one nugget in an export of ours. Other keys are not read back."""

    model_config = ConfigDict(frozen=True)

    lineage: tuple[Parent, ...] = ()
    evidence: tuple[Evidence, ...] = ()


NOTHING_KNOWN: Final = NuggetProvenance()


@dataclass(frozen=True, slots=True)
class NuggetRecord:
    """One nugget. `raw_importance` is the file's word, empty where it has none (drafts).

    `blank_importance`: the file has the field and says nothing in it, which is dirt and not a draft.
    """

    text: str
    importance: Importance
    raw_importance: str
    group: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    blank_importance: bool = False
    provenance: NuggetProvenance = NOTHING_KNOWN

    @property
    def has_unknown_importance(self) -> bool:
        """Whether the file says something that is neither vital nor okay: a finding."""
        return self.importance is Importance.UNKNOWN and (self.raw_importance != "" or self.blank_importance)


@dataclass(frozen=True, slots=True)
class NuggetListRow:
    """One topic's list, in file order; `query` is empty where the file has none.

    `traced`: the file says what every nugget was made from, so that one without parents was added.
    """

    line: int
    topic_id: str
    query: str
    nuggets: tuple[NuggetRecord, ...]
    extra: dict[str, Any] = field(default_factory=dict)
    traced: bool = False


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
        _list_row(line, found, problems)
        for line, found in json_rows(source, NuggetListLine.model_validate_json, problems)
        if once.is_first(line, found.qid, f"topic {found.qid}")
    )
    problems.raise_if_any()
    return rows


def nugget_list_line(row: NuggetListRow) -> str:
    """The list as a line that nuggetizer and `parse_nuggets` read; provenance goes into `extra` keys."""
    known = {"query": row.query or None, "qid": row.topic_id, "nuggets": [_item(n) for n in row.nuggets]}
    return json_line(known, row.extra)


def _list_row(line: int, found: NuggetListLine, problems: Problems) -> NuggetListRow:
    nuggets = tuple(_nugget_row(nugget, line, problems) for nugget in found.nuggets)
    for place, nugget in enumerate(found.nuggets):
        if wrong := wrong_sign(nugget.importance, nugget.extra):
            problems.add(line, f"nuggets.{place}.{wrong[0]}", wrong[1])
    ours = found.extra.get(PROVENANCE_KEY)
    traced = isinstance(ours, dict) and ours.get("lineage") == "recorded"
    return NuggetListRow(line, found.qid, found.query or "", nuggets, found.extra, traced)


def _nugget_row(found: NuggetItem, line: int, problems: Problems) -> NuggetRecord:
    raw, extra = found.importance or "", found.extra
    importance = IMPORTANCE.get(raw, Importance.UNKNOWN)
    provenance = _provenance(extra.get(PROVENANCE_KEY), line, problems)
    return NuggetRecord(found.text, importance, raw, found.group or "", extra, found.importance == "", provenance)


def _provenance(payload: object, line: int, problems: Problems) -> NuggetProvenance:
    """Read what an export of ours wrote; anything else under that key is somebody else's and left alone."""
    if not isinstance(payload, dict) or not payload.keys() & {"lineage", "evidence"}:
        return NOTHING_KNOWN
    try:
        return NuggetProvenance.model_validate(payload)
    except ValidationError as error:
        problems.add_validation(line, error)
        return NOTHING_KNOWN


def _item(nugget: NuggetRecord) -> dict[str, Any]:
    word = importance_word(nugget.importance, nugget.raw_importance)
    known = {
        "text": nugget.text,
        "importance": word if word or nugget.blank_importance else None,
        "mapped_sub_narrative": nugget.group or None,
    }
    return with_extra(known, nugget.extra)


def importance_word(importance: Importance, raw: str) -> str:
    """Return an importance's word in files: `vital`, `okay`, or the raw word where it is unknown."""
    if importance is Importance.UNKNOWN:
        return "" if raw in IMPORTANCE else raw
    return importance.name.lower()
