"""The five tasks, done by counting shared words. Deterministic, poor, and honest about both."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from llmjobs.simulator.reading import ReadPrompt, SimulatedTask
from llmjobs.simulator.words import clauses, content_words, share, words

MODEL = "word-overlap-simulator"
LONGEST_NUGGET, SHORTEST_NUGGET = 12, 3
CLAUSES_PER_SEGMENT = 2
SAME_NUGGET = 0.6
VITAL_SHARE = 0.4
FULL_SHARE, PARTIAL_SHARE = 0.75, 0.4
UNKNOWN = f"I am {MODEL}: I count words that texts share, and this is none of the tasks I know."


@dataclass(frozen=True, slots=True)
class SimulatedForm:
    """An object with one key, as a JSON schema asks for it: `kind` is what stands there, in the schema's words."""

    key: str
    kind: str

    def written(self, items: list[str]) -> str:
        value: object = items
        if self.kind != "array":
            value = int(items[0]) if self.kind == "integer" and items[0].isdecimal() else items[0]
        return json.dumps({self.key: value}, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class SimulatedReply:
    """What the simulated LLM says: a list or one label. `form`: in which JSON, None for plain text."""

    task: SimulatedTask
    items: tuple[str, ...]
    one_label: bool = False
    form: SimulatedForm | None = None

    @property
    def text(self) -> str:
        return self.written(self.items)

    def written(self, items: Iterable[str]) -> str:
        some = list(items)
        if self.form:
            return self.form.written(some)
        return some[0] if self.one_label and len(some) == 1 else written_list(some)


def written_list(items: Iterable[str]) -> str:
    return "[" + ", ".join(f'"{item}"' for item in items) + "]"


def reply_to(messages: tuple[tuple[str, str], ...], form: SimulatedForm | None = None) -> SimulatedReply:
    prompt = ReadPrompt(messages)
    return replace(ANSWERS[prompt.task](prompt), form=form)


def _nuggetize(prompt: ReadPrompt) -> SimulatedReply:
    query = content_words(prompt.query)
    nuggets: dict[str, float] = {nugget: share(query, content_words(nugget)) for nugget in prompt.nuggets}
    for segment in prompt.segments:
        nuggets |= _best_clauses(segment, query)
    # A stable sort: of equals, the one that came first stays first.
    ranked = sorted(nuggets, key=lambda nugget: -nuggets[nugget])
    return SimulatedReply("nuggetize", tuple(_distinct(ranked, prompt.most_nuggets)))


def _best_clauses(segment: str, query: frozenset[str]) -> dict[str, float]:
    candidates = [clause for clause in clauses(segment, LONGEST_NUGGET) if len(words(clause)) >= SHORTEST_NUGGET]
    shares = {clause: share(query, content_words(clause)) for clause in candidates}
    best = sorted((clause for clause in shares if shares[clause] > 0), key=lambda clause: -shares[clause])
    return {clause: shares[clause] for clause in best[:CLAUSES_PER_SEGMENT]}


def _distinct(ranked: Iterable[str], most: int) -> list[str]:
    chosen: list[str] = []
    for nugget in ranked:
        if len(chosen) == most:
            break
        if not any(_alike(content_words(nugget), content_words(other)) for other in chosen):
            chosen.append(nugget)
    return chosen


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= SAME_NUGGET * len(one | other)


def _importance(prompt: ReadPrompt) -> SimulatedReply:
    query = content_words(prompt.query)
    return SimulatedReply(
        "importance", tuple(_importance_of(content_words(nugget), query) for nugget in prompt.nuggets)
    )


def _importance_of(nugget: frozenset[str], query: frozenset[str]) -> str:
    # Shares of the shorter one: a long query would otherwise make every nugget okay.
    fewer, more = sorted((nugget, query), key=len)
    return "vital" if share(fewer, more) >= VITAL_SHARE else "okay"


def _assign(prompt: ReadPrompt) -> SimulatedReply:
    passage = content_words(prompt.data("passage", "answer", "context"))
    labels = ("support", "partial_support", "not_support")
    return SimulatedReply(
        "assign", tuple(_graded(content_words(nugget), passage, labels) for nugget in prompt.nuggets)
    )


def _support(prompt: ReadPrompt) -> SimulatedReply:
    spaced = "full_support" not in prompt.instructions and "Full Support" in prompt.instructions
    labels = (
        ("Full Support", "Partial Support", "No Support")
        if spaced
        else ("full_support", "partial_support", "no_support")
    )
    citation = content_words(prompt.data("citation", "passage"))
    return SimulatedReply(
        "support", (_graded(content_words(prompt.data("statement")), citation, labels),), one_label=True
    )


def _graded(wanted: frozenset[str], there: frozenset[str], labels: tuple[str, str, str]) -> str:
    found = share(wanted, there)
    return labels[0] if found >= FULL_SHARE else labels[1] if found >= PARTIAL_SHARE else labels[2]


def _relevance(prompt: ReadPrompt) -> SimulatedReply:
    found = share(content_words(prompt.query), content_words(prompt.data("passage", "segment", "context")))
    grade = min(prompt.highest_grade, int(found * (prompt.highest_grade + 1)))
    text = f"##final score: {grade}" if "##final score" in prompt.instructions else str(grade)
    return SimulatedReply("relevance", (text,), one_label=True)


def _unknown(_prompt: ReadPrompt) -> SimulatedReply:
    return SimulatedReply("unknown", (UNKNOWN,), one_label=True)


ANSWERS: dict[SimulatedTask, Callable[[ReadPrompt], SimulatedReply]] = {
    "nuggetize": _nuggetize,
    "importance": _importance,
    "assign": _assign,
    "support": _support,
    "relevance": _relevance,
    "unknown": _unknown,
}
