"""Steps played against replies written by hand."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from llmjobs.steps.asking import Ask, LlmReply, Step

Outcome = TypeVar("Outcome")
GONE = LlmReply(None, "timeout: no answer in 60 s")


def play(step: Step[Outcome], replies: Iterable[str | LlmReply]) -> tuple[Outcome, list[Ask]]:
    left = list(replies)
    outcome, requests = play_with(step, lambda _: left.pop(0))
    assert not left, "not every reply was asked for"
    return outcome, requests


def play_with(
    step: Step[Outcome], reply_to: Callable[[Ask], str | LlmReply], most: int = 10_000
) -> tuple[Outcome, list[Ask]]:
    requests: list[Ask] = []
    reply: LlmReply | None = None
    for _ in range(most):
        try:
            request = next(step) if reply is None else step.send(reply)
        except StopIteration as stop:
            return stop.value, requests
        requests.append(request)
        answer = reply_to(request)
        reply = answer if isinstance(answer, LlmReply) else LlmReply(answer)
    raise AssertionError(f"the step still asks after {most} replies")


def parts(requests: list[Ask]) -> list[str]:
    return [request.part for request in requests]


def user_text(request: Ask) -> str:
    return next(message.content for message in request.messages if message.role == "user")


def between(request: Ask, tag: str) -> str:
    _, opening, rest = user_text(request).partition(f"<{tag}>\n")
    assert opening, f"the request has no <{tag}>"
    return rest.partition(f"\n</{tag}>")[0]
