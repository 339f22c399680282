"""What the engine holds while it works: claimed items, replies to be written, and what one look at both leads to."""

from dataclasses import dataclass, field

from jobs.models import WorkItem
from llmjobs.client import CallRefusal, Completion, Endpoint
from llmjobs.kinds import ItemOutcome, Stepping
from llmjobs.models import Attempt, Call, LlmJob
from llmjobs.sending import Sending
from llmjobs.steps.asking import Ask


@dataclass(slots=True)
class Running:
    """One claimed item: its step, the calls it has used, and the hashes of those that earlier tries got right."""

    item: WorkItem
    llm: LlmJob
    endpoint: Endpoint
    step: Stepping
    kept: frozenset[str]
    uses: list[tuple[str, Call]] = field(default_factory=list)


@dataclass(slots=True)
class Result:
    """What came of one sending; `final` where it is not tried again. Written before anything follows from it."""

    sending: Sending
    attempt: Attempt
    reply: Completion | CallRefusal
    final: bool


@dataclass(slots=True)
class Round:
    """What one look has to write, and what goes out after the commit."""

    ended: list[ItemOutcome] = field(default_factory=list)
    asks: list[tuple[Running, Ask]] = field(default_factory=list)
    out: list[Sending] = field(default_factory=list)
    stopped: dict[int, str] = field(default_factory=dict)
