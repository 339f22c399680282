"""Common part of the steps of LLM jobs: an ask, and repeated asks with the reason while the reply is wrong.

A step is a generator without I/O: it yields asks, is sent replies, and returns its outcome. It depends on nothing but
its input and the replies, so a step that is started again with the recorded replies goes the same way.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from llmjobs.prompts.template import Message, PromptTask, ReplyForm, Template, Value, form_of, neutralise, render
from llmjobs.steps.parsing import CUT, REFUSED, Parsed, ReplyProblem, closed_part, is_cut, is_refused

RE_ASKS = 2
# In the part of an ask that goes on with a conversation.
RE_ASK = ", re-ask "
# A wrong reply is shown back to the model; of a very long reply its beginning is enough.
SHOWN_BACK = 4_000

Outcome = TypeVar("Outcome")
NoteKind = Literal["tolerated", "wrong", "split", "failed", "cut", "shortened", "dropped"]


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to an LLM. `part` names its window or batch; no two asks of a step share it.

    `form`: in which JSON the reply is wanted; None where it is plain text.
    """

    task: PromptTask | Literal["control"]
    messages: tuple[Message, ...]
    template: str
    version: int
    part: str
    template_sha256: str
    form: ReplyForm | None = None
    temperature: float | None = 0.0
    parameters: tuple[tuple[str, str | int], ...] = ()


@dataclass(frozen=True, slots=True)
class LlmReply:
    """Reply to an ask, and why it ended, as the endpoint says. Without a text the call was given up, for `failure`."""

    text: str | None
    failure: str = ""
    finish: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """Something worth knowing about one ask: a form that was tolerated, a wrong reply, a split, a failure."""

    ask: int
    part: str
    kind: NoteKind
    text: str

    def __str__(self) -> str:
        return f"{self.part}: {self.text}"


Step = Generator[Ask, LlmReply, Outcome]


@dataclass(slots=True)
class StepLog:
    """Asks and findings of one run of a step. Asks are numbered from 0 in the order in which they were made."""

    asks: int = 0
    notes: list[Note] = field(default_factory=list)

    def note(self, part: str, kind: NoteKind, text: str) -> None:
        self.notes.append(Note(max(self.asks - 1, 0), part, kind, text))


@dataclass(frozen=True, slots=True)
class AskOutcome:
    """Outcome of a conversation: a reading, or a failure. `gone`: the call was given up without any reply."""

    value: Parsed | None
    ask: int
    failure: str = ""
    gone: bool = False


def question(template: Template, part: str, **values: Value) -> Ask:
    messages = render(template, **values)
    form = form_of(template.task, values, quotes=template.quotes) if template.structured else None
    if form:
        messages = (*messages[:-1], Message("user", f"{messages[-1].content}\n\n{form.instruction}"))
    return Ask(
        *(template.task, messages, template.name, template.version, part, template.sha256, form),
        temperature=template.temperature,
        parameters=template.parameters,
    )


def converse(
    log: StepLog, ask: Ask, read: Callable[[str], Parsed | ReplyProblem], *, words: bool = False
) -> Step[AskOutcome]:
    """Ask; while the reply is wrong, ask again with the reason, at most twice. `words`: for a list of words."""
    messages, reason = ask.messages, ""
    for repeat in range(1 + RE_ASKS):
        part = f"{ask.part}{RE_ASK}{repeat}" if repeat else ask.part
        reply = yield replace(ask, messages=messages, part=part)
        log.asks += 1
        if reply.text is None:
            reason = reply.failure or "no reply"
            log.note(part, "failed", reason)
            return AskOutcome(None, log.asks - 1, reason, gone=True)
        value = _read(log, ask, part, reply.text, reply.finish, read, words)
        if not isinstance(value, ReplyProblem):
            for form in value.notes:
                log.note(part, "tolerated", form)
            return AskOutcome(value, log.asks - 1)
        reason = value.reason
        log.note(part, "wrong", reason)
        messages += (Message("assistant", _shown_back(reply.text)), Message("user", _objection(reason)))
    return AskOutcome(None, log.asks - 1, reason)


def _read(
    log: StepLog,
    ask: Ask,
    part: str,
    reply: str,
    finish: str,
    read: Callable[[str], Parsed | ReplyProblem],
    words: bool,
) -> Parsed | ReplyProblem:
    if is_refused(finish):
        return REFUSED
    if is_cut(finish):
        closed = closed_part(reply, words=words)
        return CUT if closed is None else read((ask.form and ask.form.plain(closed)) or closed)
    # A reply in another form than wanted may be usable all the same, so it is read as it is.
    plain = ask.form.plain(reply) if ask.form else reply
    if plain is None:
        log.note(part, "tolerated", "not in the JSON that was asked for")
    return read(reply if plain is None else plain)


def _shown_back(reply: str) -> str:
    # Lone surrogates cannot be sent or hashed, NUL cannot be stored, and some endpoints refuse an empty turn.
    sendable = reply.replace("\0", "\ufffd").encode(errors="replace").decode()
    excerpt = sendable if len(sendable) <= SHOWN_BACK else f"{sendable[:SHOWN_BACK]} [...]"
    return neutralise(excerpt) if excerpt.strip() else "(an empty reply)"


def _objection(reason: str) -> str:
    return (
        f"This reply cannot be used: {neutralise(reason)}.\n"
        "Answer the same question again, in the format that was asked for and nothing else."
    )


def spans(count: int, size: int) -> list[tuple[int, int]]:
    """Runs of `size` out of `count` items, first to last; ends are exclusive."""
    return [(start, min(start + size, count)) for start in range(0, count, size)]


def halves(start: int, end: int) -> tuple[tuple[int, int], tuple[int, int]]:
    middle = start + (end - start + 1) // 2
    return (start, middle), (middle, end)


def check_sizes(**sizes: int) -> None:
    """Refuse sizes below 1: with them a step would never end."""
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} must be at least 1, not {size}")
