"""Nugget lists as nuggetizer writes them: `{query?, qid, nuggets: [{text, importance?, ...}], ...}`.

Our own exports say under the key `assay` what each nugget was made from and rests on. Rubrics are lists of weighted
criteria, a criterion being a nugget: RAGDoll has `{qid, query, criteria: [{text, type, tier, weight, ...}]}`,
ResearchRubrics `{qid, rubrics: [{criterion, weight, axis}]}`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field

from evaluation.formats.lines import (
    Count,
    Id,
    Line,
    Once,
    Weight,
    Wording,
    json_line,
    json_rows,
    own_provenance,
    with_extra,
)
from evaluation.formats.problems import Problems
from evaluation.formats.source import Source
from evaluation.terms import PROVENANCE_KEY, Importance
from web.text import plural

IMPORTANCE: Final = {"vital": Importance.VITAL, "okay": Importance.OKAY}

AVOID: Final = frozenset({"avoid", "must avoid"})
NOT: Final = "NOT"
SEPARATORS: Final = re.compile(r"[\s_-]+")
ARGUE_KEY: Final = "argue"
"""Key under which a nugget keeps the fields of its ARGUE bank, so that it leaves as it came."""

NO_AVOID: Final = "vital or okay: an answer must not contain this nugget, so give it a weight below 0"
NO_NOT: Final = "AND or OR: a question whose answers must not be given has no score yet"

TIERS: Final = {"mandatory": "vital", "optional": "okay"}
TIER_OF: Final = {word: tier for tier, word in TIERS.items()}


def folded(word: str) -> str:
    return SEPARATORS.sub(" ", word).strip().casefold()


Tier = Annotated[str, AfterValidator(lambda tier: TIERS.get(folded(tier), tier))]
"""Importance of a criterion; another word is kept as one of unknown importance."""


class Parent(BaseModel):
    """A draft that a nugget was made from: its text, and its place in the list of drafts, which tells equals apart."""

    relation: Literal["kept", "edited", "merged", "split"]
    text: Wording
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

    `blank_importance`: the file has the field and leaves it empty, which is dirt and not a draft.
    """

    text: str
    importance: Importance
    raw_importance: str
    group: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    weight: float | None = None
    blank_importance: bool = False
    provenance: NuggetProvenance = NOTHING_KNOWN


@dataclass(frozen=True, slots=True)
class NuggetListRow:
    """One topic's list, in file order; `query` is empty where the file has none.

    `traced`: the file has every nugget's lineage, so that a nugget without parents was added.
    """

    line: int
    topic_id: str
    query: str
    nuggets: tuple[NuggetRecord, ...]
    extra: dict[str, Any] = field(default_factory=dict)
    traced: bool = False


class NuggetItem(Line):
    """A nugget of a line; the 2025 track's sub-narrative is its group."""

    text: Wording
    importance: str | None = None
    weight: Weight | None = None
    group: str | None = Field(default=None, validation_alias=AliasChoices("mapped_sub_narrative", "type", "axis"))


class ListLine(Line):
    """A topic's list, its nuggets under a key of its form."""

    items_key: ClassVar[str]
    importance_key: ClassVar[str] = "importance"
    query: str | None = None
    qid: Id

    @property
    def items(self) -> list[NuggetItem]:
        return list(getattr(self, self.items_key))


class NuggetListLine(ListLine):
    items_key: ClassVar[str] = "nuggets"
    nuggets: list[NuggetItem]


def parse_nuggets(source: Source, form: type[ListLine] = NuggetListLine) -> tuple[NuggetListRow, ...]:
    """All lists in file order. Raises `BadInput`; a topic twice is an error, an empty list or dirty label not."""
    problems = Problems(source.name)
    once = Once(problems, "qid")
    rows = tuple(
        _list_row(line, entry, problems)
        for line, entry in json_rows(source, form.model_validate_json, problems)
        if once.is_first(line, entry.qid, f"topic {entry.qid}")
    )
    problems.raise_if_any()
    return rows


def nugget_list_line(row: NuggetListRow) -> str:
    """The list as a line that nuggetizer and `parse_nuggets` read; provenance goes into `extra` keys."""
    fields = {"query": row.query or None, "qid": row.topic_id, "nuggets": [_item(n) for n in row.nuggets]}
    return json_line(fields, row.extra)


def _list_row(line: int, entry: ListLine, problems: Problems) -> NuggetListRow:
    nuggets = tuple(_nugget_row(nugget, line, problems) for nugget in entry.items)
    for place, nugget in enumerate(entry.items):
        if wrong := wrong_sign(nugget.importance, nugget.weight, nugget.extra, entry.importance_key):
            problems.add(line, f"{entry.items_key}.{place}.{wrong[0]}", wrong[1])
    weights = {f"{entry.items_key}.{place}": nugget.weight for place, nugget in enumerate(entry.items)}
    note_missing_weights(problems, line, weights)
    ours = entry.extra.get(PROVENANCE_KEY)
    traced = isinstance(ours, dict) and ours.get("lineage") == "recorded"
    return NuggetListRow(line, entry.qid, entry.query or "", nuggets, entry.extra, traced)


def _nugget_row(item: NuggetItem, line: int, problems: Problems) -> NuggetRecord:
    raw, extra = item.importance or "", item.extra
    importance = IMPORTANCE.get(raw, Importance.UNKNOWN)
    provenance = own_provenance(extra, NOTHING_KNOWN, line, problems)
    return NuggetRecord(
        *(item.text, importance, raw, item.group or "", extra, item.weight),
        blank_importance=item.importance == "",
        provenance=provenance,
    )


def _item(nugget: NuggetRecord) -> dict[str, Any]:
    word = importance_word(nugget.importance, nugget.raw_importance)
    fields = {
        "text": nugget.text,
        "importance": word if word or nugget.blank_importance else None,
        "weight": nugget.weight,
        "mapped_sub_narrative": nugget.group or None,
    }
    return with_extra(fields, nugget.extra)


def importance_word(importance: Importance, raw: str) -> str:
    """Return an importance's word in files: `vital`, `okay`, or the raw word where it is unknown."""
    if importance is Importance.UNKNOWN:
        return "" if raw in IMPORTANCE else raw
    return importance.name.lower()


def is_avoid(importance: object) -> bool:
    if importance in ("", "vital", "okay"):  # a file has up to 835,000 labels, each with such a word
        return False
    return isinstance(importance, str) and folded(importance) in AVOID


def is_not(aggregator: object) -> bool:
    return isinstance(aggregator, str) and aggregator.strip().upper() == NOT


def note_missing_weights(problems: Problems, line: int, weights: Mapping[str, float | None]) -> None:
    """Note each nugget without a weight, by its place in the line, where others of its list have one."""
    weighted = sum(weight is not None for weight in weights.values())
    others = f"{weighted} {plural(weighted, 'other')} of this list {plural(weighted, 'has', 'have')} one"
    for place, weight in weights.items():
        if weighted and weight is None:
            problems.add(line, f"{place}.weight", f"a number, as the {others}")


def wrong_sign(
    importance: object, weight: float | None, extra: Mapping[str, Any], field: str = "importance"
) -> tuple[str, str] | None:
    """Return the field that forbids a nugget, and what is expected there; None where none does.

    `field`: what the file calls the importance.
    """
    if is_avoid(importance) and (weight is None or weight >= 0):
        return field, f"{NO_AVOID}, found {importance!r}"
    bank = extra.get(ARGUE_KEY)
    if isinstance(bank, Mapping) and is_not(bank.get("aggregator_type")):
        return f"{ARGUE_KEY}.aggregator_type", f"{NO_NOT}, found {bank['aggregator_type']!r}"
    return None


class Criterion(NuggetItem):
    importance: Tier | None = Field(default=None, alias="tier")
    group: str | None = Field(default=None, alias="type")


class ResearchCriterion(NuggetItem):
    text: Wording = Field(alias="criterion")
    importance: Tier | None = Field(default=None, alias="tier")
    group: str | None = Field(default=None, alias="axis")


class RubricLine(ListLine):
    items_key: ClassVar[str] = "criteria"
    importance_key: ClassVar[str] = "tier"
    criteria: list[Criterion]


class ResearchRubricLine(ListLine):
    items_key: ClassVar[str] = "rubrics"
    importance_key: ClassVar[str] = "tier"
    rubrics: list[ResearchCriterion]


RUBRICS: Final = (RubricLine, ResearchRubricLine)


def rubric_line(row: NuggetListRow) -> str:
    fields = {"text": "text", "group": "type"}
    return json_line(
        _head(row) | {"criteria": [_criterion(nugget, **fields) for nugget in row.nuggets]}, row.extra
    )


def research_rubrics_line(row: NuggetListRow) -> str:
    fields = {"text": "criterion", "group": "axis"}
    return json_line(_head(row) | {"rubrics": [_criterion(nugget, **fields) for nugget in row.nuggets]}, row.extra)


def _head(row: NuggetListRow) -> dict[str, Any]:
    return {"qid": row.topic_id, "query": row.query or None}


def _criterion(nugget: NuggetRecord, text: str, group: str) -> dict[str, Any]:
    word = importance_word(nugget.importance, nugget.raw_importance)
    fields = {text: nugget.text, group: nugget.group or None, "tier": tier_of(word), "weight": nugget.weight}
    return with_extra(fields, nugget.extra)


def tier_of(importance: str) -> str | None:
    return TIER_OF.get(importance, importance) or None
