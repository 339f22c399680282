"""Operations as they come over the wire, checked strictly."""

import json
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, field_validator

from evaluation.formats.lines import Weight
from evaluation.terms import Decision, Importance, PassageMark

Key = Annotated[str, Field(min_length=1, max_length=36)]
WindowId = Annotated[str, Field(min_length=8, max_length=36)]
SegmentId = Annotated[str, Field(min_length=1, max_length=16)]
SentenceIndex = Annotated[int, Field(ge=0, le=10_000)]
Pair = tuple[SegmentId, SentenceIndex | None]
MOST_SHOWN_MS = 2_000_000_000  # 23 days, what the column holds
BIGGEST_DRAFT = 20_000  # characters of JSON in an open composer


class Payload(BaseModel):
    # A field that is misspelt must be refused: taken without it, the operation would mean something else.
    model_config = ConfigDict(extra="forbid")


class OfNugget(Payload):
    key: Key


class Decide(OfNugget):
    decision: Literal[Decision.KEPT, Decision.REJECTED, Decision.UNDECIDED]
    # Left out if not given: an operation is stored, and compared when it is sent again, as the window wrote it.
    importance: Importance | None = Field(default=None, exclude_if=lambda value: value is None)


class SetImportance(OfNugget):
    importance: Importance


class SetWeight(OfNugget):
    weight: Weight | None


class Edit(OfNugget):
    text: str


class New(OfNugget):
    text: str
    importance: Importance = Importance.UNKNOWN
    evidence: list[Pair] = []
    weight: Weight | None = Field(default=None, exclude_if=lambda value: value is None)


class Add(New):
    after: Key | None = None


class Merge(New):
    from_: list[Key] = Field(alias="from", max_length=100)


class Split(Payload):
    from_: Key = Field(alias="from")
    into: list[New] = Field(max_length=20)


class OfEvidence(OfNugget):
    segment: SegmentId
    sentence: SentenceIndex | None


class Link(OfEvidence):
    pass


class Unlink(OfEvidence):
    pass


class Move(OfNugget):
    after: Key | None


class Mark(Payload):
    segment: SegmentId
    mark: PassageMark | Literal[""]


class Compose(Payload):
    slot: Literal["new", "merge", "split"]
    draft: dict[str, Any] | None

    @field_validator("draft")
    @classmethod
    def _is_json(cls, draft: dict[str, Any] | None) -> dict[str, Any] | None:
        json.dumps(draft, allow_nan=False)  # 1e999 is read as infinity, which no database takes as JSON
        return draft


class Search(Payload):
    words: Annotated[str, Field(min_length=1, max_length=200)]


class Undo(Payload):
    """Undo or redo of a step, the newest alone: another window may have done something since."""

    target: UUID


class Restore(OfNugget):
    seq: Annotated[int, Field(ge=1)]


class GiveLabel(Payload):
    key: Key
    # A word of either kind of desk: the same operation serves both, and each refuses the other's words.
    label: Annotated[str, Field(max_length=20)] | None
    reason: Annotated[str, Field(max_length=1000)] = ""
    sentence: SentenceIndex | None = None
    accepted: bool = False
    shown_ms: Annotated[int, Field(ge=0, le=MOST_SHOWN_MS)] | None = None
    # By the schema of its stage.
    extras: dict[str, Any] = Field(default={}, exclude_if=lambda value: not value)


class Locate(Payload):
    key: Key
    sentence: SentenceIndex | None


class MarkEvidence(Payload):
    """`sentence`: of the cited passage; None takes the mark away."""

    key: Key
    sentence: SentenceIndex | None


class OpenAnswer(Payload):
    answer: SegmentId


class Sweep(Payload):
    pass


LABEL_PAYLOADS: dict[str, type[Payload]] = {
    "label": GiveLabel,
    "locate": Locate,
    "evidence": MarkEvidence,
    "open": OpenAnswer,
    "sweep": Sweep,
    "search": Search,
    "undo": Undo,
    "redo": Undo,
}
"""Payloads of judging desks by kind of operation; a kind that is missing is refused there."""

PAYLOADS: dict[str, type[Payload]] = {
    "decide": Decide,
    "importance": SetImportance,
    "weight": SetWeight,
    "edit": Edit,
    "add": Add,
    "merge": Merge,
    "split": Split,
    "link": Link,
    "unlink": Unlink,
    "move": Move,
    "mark": Mark,
    "compose": Compose,
    "search": Search,
    "undo": Undo,
    "redo": Undo,
    "restore": Restore,
}
"""Payloads of desks at which nuggets are made."""


class Op(Payload):
    """One operation. `base`: the version of each row that the window saw when it changed it."""

    op_id: UUID
    step: UUID
    kind: str
    # Not a union by kind: a bad operation is refused with a receipt, and must not take its whole batch with it.
    payload: dict[str, Any]
    base: dict[Key, int] = {}
    source: Literal["key", "mouse", "text", "restore", "sweep", "accept", "nugget"] = "mouse"
    client_at: datetime

    def checked(self, *, judging: bool) -> Payload:
        """Raises pydantic's `ValidationError`, or KeyError for a kind that this desk does not know."""
        return (LABEL_PAYLOADS if judging else PAYLOADS)[self.kind].model_validate(self.payload)


class Ops(Payload):
    """A batch from one window, in order."""

    window: WindowId
    # An outbox may hold hundreds after an hour offline; batches keep each request short.
    ops: Annotated[list[Op], Field(min_length=1, max_length=50)]
