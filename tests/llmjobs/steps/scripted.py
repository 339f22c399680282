"""Steps played against replies written by hand."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from llmjobs.steps.asking import Ask, LlmReply, Step

Outcome = TypeVar("Outcome")
GONE = LlmReply(None, "timeout: no answer in 60 s")


def play(step: Step[Outcome], replies: Iterable[str | LlmReply]) -> tuple[Outcome, list[Ask]]:
    """Give the replies one after the other; as many as are asked for, no more and no fewer."""
    left = list(replies)
    outcome, asks = play_with(step, lambda _: left.pop(0))
    assert not left, "not every reply was asked for"
    return outcome, asks


def play_with(
    step: Step[Outcome], reply_to: Callable[[Ask], str | LlmReply], most: int = 10_000
) -> tuple[Outcome, list[Ask]]:
    """Answer each ask by a function of it."""
    asks: list[Ask] = []
    reply: LlmReply | None = None
    for _ in range(most):
        try:
            ask = next(step) if reply is None else step.send(reply)
        except StopIteration as stop:
            return stop.value, asks
        asks.append(ask)
        said = reply_to(ask)
        reply = said if isinstance(said, LlmReply) else LlmReply(said)
    raise AssertionError(f"the step still asks after {most} replies")


def parts(asks: list[Ask]) -> list[str]:
    """Return which windows or batches were asked about."""
    return [ask.part for ask in asks]


def user_text(ask: Ask) -> str:
    """Return the first turn of the user."""
    return next(message.content for message in ask.messages if message.role == "user")


def between(ask: Ask, tag: str) -> str:
    """Return the data of the one element of this name in an ask."""
    _, opening, rest = user_text(ask).partition(f"<{tag}>\n")
    assert opening, f"the ask has no <{tag}>"
    return rest.partition(f"\n</{tag}>")[0]
