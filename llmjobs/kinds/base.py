"""What the engine asks of a kind."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol

from evaluation.models import Event, Judge, Topic
from jobs.models import WorkItem
from llmjobs.models import Call, LlmJob
from llmjobs.prompts import TopicTexts
from llmjobs.prompts.template import TOPIC_TEXTS
from llmjobs.steps.asking import Ask, LlmReply, Note
from llmjobs.ways import PromptSet

Stepping = Generator[Ask, LlmReply, Any]


class Outcome(Protocol):
    """What every step returns: why something is missing, and what was noticed."""

    @property
    def failure(self) -> str: ...

    @property
    def notes(self) -> tuple[Note, ...]: ...


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """An item whose step came to its end, with the calls it used in the order of its asks."""

    item: WorkItem
    llm: LlmJob
    outcome: Any
    uses: tuple[tuple[str, Call], ...]

    def event(self, ask: int) -> Event:
        """Event of the call that answered an ask, counted from 0."""
        event = self.uses[ask][1].event
        if event is None:
            raise RuntimeError(f"call {self.uses[ask][1].sha256} ended without an event")
        return event


class JobItemKind(Protocol):
    """One kind of items."""

    def begin(self, items: Sequence[WorkItem], ways: Sequence[PromptSet]) -> list[Stepping]:
        """Read what the items need, in a constant number of queries, and return a fresh step for each.

        `ways`: for each item, how its judge asks.
        """
        ...

    def record(self, ended: Sequence[ItemOutcome]) -> None:
        """Write the outcomes, inside the engine's transaction."""
        ...


def by_judge(ended: Iterable[ItemOutcome]) -> Iterable[tuple[Judge, list[ItemOutcome]]]:
    ordered = sorted(ended, key=lambda one: one.llm.judge_id)
    for _, some in groupby(ordered, key=lambda one: one.llm.judge_id):
        group = list(some)
        yield group[0].llm.judge, group


def ids_of(items: Iterable[WorkItem], key: str) -> list[int]:
    return [int(item.payload[key]) for item in items]


@dataclass(frozen=True, slots=True)
class TopicPrompt:
    """A topic's texts for prompts: its title, and the other ones."""

    query: str
    texts: TopicTexts


def topic_prompts(topics: Iterable[int]) -> dict[int, TopicPrompt]:
    rows = Topic.objects.filter(pk__in=topics).values_list("pk", "text", *TOPIC_TEXTS)
    return {pk: TopicPrompt(text, TopicTexts(*texts)) for pk, text, *texts in rows}


def texts_in_order(texts: Mapping[int, str], pks: Iterable[int]) -> tuple[str, ...]:
    return tuple(texts[pk] for pk in pks)
