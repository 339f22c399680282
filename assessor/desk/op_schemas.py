"""Operations as they come over the wire, checked strictly."""

import json
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, field_validator

from evaluation.terms import Decision, Importance, PassageMark

Key = Annotated[str, Field(min_length=1, max_length=36)]
SegmentId = Annotated[str, Field(min_length=1, max_length=16)]
SentenceIndex = Annotated[int, Field(ge=0, le=10_000)]
Pair = tuple[SegmentId, SentenceIndex | None]
MOST_SHOWN_MS = 2_000_000_000  # 23 days, what the column holds
BIGGEST_DRAFT = 20_000  # characters of JSON in an open composer


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Decide(_Asked):
    key: Key
    decision: Literal[Decision.KEPT, Decision.REJECTED, Decision.UNDECIDED]
    # Left out if not given: an operation is stored, and compared when it is sent again, as the window wrote it.
    importance: Importance | None = Field(default=None, exclude_if=lambda value: value is None)


class SetImportance(_Asked):
    key: Key
    importance: Importance


class Edit(_Asked):
    key: Key
    text: str


class New(_Asked):
    key: Key
    text: str
    importance: Importance = Importance.UNKNOWN
    evidence: list[Pair] = []


class Add(New):
    after: Key | None = None


class Merge(New):
    from_: list[Key] = Field(alias="from", max_length=100)


class Split(_Asked):
    from_: Key = Field(alias="from")
    into: list[New] = Field(max_length=20)


class Link(_Asked):
    key: Key
    segment: SegmentId
    sentence: Annotated[int, Field(ge=0, le=10_000)] | None


class Move(_Asked):
    key: Key
    after: Key | None


class Mark(_Asked):
    segment: SegmentId
    mark: PassageMark | Literal[""]


class Compose(_Asked):
    slot: Literal["new", "merge", "split"]
    draft: dict[str, Any] | None

    @field_validator("draft")
    @classmethod
    def _is_json(cls, draft: dict[str, Any] | None) -> dict[str, Any] | None:
        json.dumps(draft, allow_nan=False)  # 1e999 is read as infinity, which no database takes as JSON
        return draft


class Search(_Asked):
    words: Annotated[str, Field(min_length=1, max_length=200)]


class Undo(_Asked):
    target: UUID


class Restore(_Asked):
    key: Key
    seq: Annotated[int, Field(ge=1)]


class GiveLabel(_Asked):
    key: Key
    label: Annotated[str, Field(max_length=20)] | None
    reason: Annotated[str, Field(max_length=1000)] = ""
    sentence: SentenceIndex | None = None
    accepted: bool = False
    shown_ms: Annotated[int, Field(ge=0, le=MOST_SHOWN_MS)] | None = None


class Locate(_Asked):
    key: Key
    sentence: SentenceIndex | None


class OpenAnswer(_Asked):
    answer: SegmentId


class Sweep(_Asked):
    pass


LABEL_PAYLOADS: dict[str, type[_Asked]] = {
    "label": GiveLabel,
    "locate": Locate,
    "open": OpenAnswer,
    "sweep": Sweep,
    "search": Search,
    "undo": Undo,
    "redo": Undo,
}


PAYLOADS: dict[str, type[_Asked]] = {
    "decide": Decide,
    "importance": SetImportance,
    "edit": Edit,
    "add": Add,
    "merge": Merge,
    "split": Split,
    "link": Link,
    "unlink": Link,
    "move": Move,
    "mark": Mark,
    "compose": Compose,
    "search": Search,
    "undo": Undo,
    "redo": Undo,
    "restore": Restore,
}


class Op(_Asked):
    """One operation. `base`: the version of each row that the window saw when it changed it."""

    op_id: UUID
    step: UUID
    kind: str
    payload: dict[str, Any]
    base: dict[Key, int] = {}
    source: Literal["key", "mouse", "text", "restore", "sweep", "accept", "nugget"] = "mouse"
    client_at: datetime

    def checked(self, *, judging: bool) -> dict[str, Any]:
        """Return the payload in plain values, as a judging desk or one where nuggets are made takes it.

        Raises pydantic's `ValidationError`, or KeyError for a kind that this desk does not know.
        """
        payloads = LABEL_PAYLOADS if judging else PAYLOADS
        return payloads[self.kind].model_validate(self.payload).model_dump(mode="json", by_alias=True)


class Ops(_Asked):
    """A batch from one window, in order."""

    window: Annotated[str, Field(min_length=8, max_length=36)]
    ops: Annotated[list[Op], Field(min_length=1, max_length=50)]
