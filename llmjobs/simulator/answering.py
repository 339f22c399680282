"""The simulated LLM: the five tasks by counting shared words. Deterministic, poor, and honest about both."""

import ast
import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

from llmjobs.prompts.template import PromptTask
from llmjobs.prompts.texts import FIRST_LINES

SimulatedTask = PromptTask | Literal["unknown"]

DATA_TAGS = "query|segments?|context|passage|answer|statement|citation|nuggets?"
ELEMENT = re.compile(rf"<({DATA_TAGS})\b[^<>\n]*>(.*?)</\1>", re.DOTALL)
# Prompts without tags, such as the published ones, head each part with its name.
HEADING = re.compile(
    r"^[ \t]*(search query|query|context|passage|initial nugget list length|initial nugget list|updated nugget list"
    r"|nugget list|statement|citation|labels?)[ \t]*:",
    re.IGNORECASE | re.MULTILINE,
)
NUMBERED = re.compile(r"^\s*\[\d+\]", re.MULTILINE)
LIST_MARK = re.compile(r"^\s*(?:[-*•]|\(?\d+[.):]|\[\d+\])\s*")

# In this order: each line's words are in the prompts of its task and not in those of the tasks after it.
SIGNS: tuple[tuple[SimulatedTask, re.Pattern[str]], ...] = (
    ("support", re.compile(r"full[_ ]support|\bno[_ ]support\b|\bcit(?:ation|ed)\b", re.IGNORECASE)),
    ("assign", re.compile(r"not_support|assigner|captured|assigning", re.IGNORECASE)),
    ("importance", re.compile(r"\bokay\b|their importance|scoring importance", re.IGNORECASE)),
    ("nuggetize", re.compile(r"nugget", re.IGNORECASE)),
    ("relevance", re.compile(r"relevan|umbrela|\bgrad(?:e|ing)\b", re.IGNORECASE)),
)
SCALE = re.compile(r"\b0\s*(?:-|–|—|to|through|bis|\.\.)\s*(\d)\b")  # noqa: RUF001
AT_MOST = re.compile(r"(?:at most|no more than|up to|maximum of)\s+(\d+)\s+nuggets", re.IGNORECASE)
CAP = 30


@dataclass(frozen=True)
class ReadPrompt:
    messages: tuple[tuple[str, str], ...]

    @cached_property
    def user(self) -> str:
        # Later messages object to a reply and hold no data.
        return next((text for role, text in self.messages if role == "user"), "")

    @cached_property
    def system(self) -> str:
        return "\n".join(text for role, text in self.messages if role in {"system", "developer"})

    @cached_property
    def instructions(self) -> str:
        return f"{self.system}\n{_without_data(self.user)}"

    @cached_property
    def task(self) -> SimulatedTask:
        known = FIRST_LINES.get(self.system.strip().partition("\n")[0].strip())
        return known or _by_signs(self.system) or _by_signs(self.instructions) or "unknown"

    @cached_property
    def elements(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, text in _tagged(self.user) or _headed(self.user):
            found.setdefault(name, []).append(text.strip())
        return found

    def data(self, *names: str) -> str:
        return next((self.elements[name][0] for name in names if name in self.elements), "")

    @property
    def query(self) -> str:
        return self.data("query", "search query")

    @property
    def segments(self) -> list[str]:
        if "segment" in self.elements:
            return self.elements["segment"]
        whole = self.data("segments", "context", "passage")
        within = [text for _, text in _tagged(whole)]
        return within or [part for part in NUMBERED.split(whole) if part.strip()]

    @property
    def nuggets(self) -> list[str]:
        if "nuggets" in self.elements:
            return read_list(self.elements["nuggets"][0])
        if "nugget" in self.elements:
            return self.elements["nugget"]
        return read_list(self.data("initial nugget list", "nugget list"))

    @property
    def most_nuggets(self) -> int:
        found = AT_MOST.search(self.instructions)
        return int(found[1]) if found else CAP

    @property
    def highest_grade(self) -> int:
        found = SCALE.search(self.instructions)
        return int(found[1]) if found else 3


def _by_signs(text: str) -> SimulatedTask | None:
    return next((task for task, sign in SIGNS if sign.search(text)), None)


def _tagged(text: str) -> list[tuple[str, str]]:
    # An element within another is part of its text.
    return [(found[1], found[2]) for found in ELEMENT.finditer(text)]


def _headed(text: str) -> list[tuple[str, str]]:
    marks = [*HEADING.finditer(text)]
    if not marks:
        return []
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    found = [(mark[1].lower(), text[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)]
    return [(name, part.partition("\n\n")[0] if "list" in name else part) for name, part in found]


def _without_data(text: str) -> str:
    # Nothing between the first datum and the last is believed: a run's text may hold instructions.
    marks = [*ELEMENT.finditer(text)]
    if marks:
        return f"{text[: marks[0].start()]}\n{text[marks[-1].end() :]}"
    marks = [*HEADING.finditer(text)]
    return f"{text[: marks[0].start()]}\n{text[marks[-1].end() :]}" if len(marks) > 1 else text


def read_list(text: str) -> list[str]:
    """List in any form that a prompt writes: elements, JSON, Python, or one item per line."""
    within = [inner.strip() for _, inner in _tagged(text)]
    if within:
        return within
    for load in (json.loads, ast.literal_eval):
        try:
            loaded = load(text.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(loaded, list):
            return [str(item.get("text", "")) if isinstance(item, dict) else str(item) for item in loaded]
    return [line for line in (LIST_MARK.sub("", raw).strip() for raw in text.splitlines()) if line]


# Scripts written without spaces: each character counts as a word.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
WORD = re.compile(f"[{UNSPACED}]|[^\\W_{UNSPACED}]+")
SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+|[\n\r]+|[؛؟،。！？；，、।]+|,\s+|\s[-–—]\s|[()\[\]|]+")  # noqa: RUF001
MARKUP = re.compile(r"<[^<>]{1,200}>")

# Words that say nothing about what a text is about. Other languages do without a list: their overlap is just higher.
EMPTY_WORDS = """
a about after all also am an and any are as at be because been before being but by can could did do does doing for from
had has have having he her his how i if in into is it its may might more most no nor not of on or other our out over own
s same she should so some such t than that the their them then there these they this those to too under up us very was
we were what when where which while who whom why will with would you your
"""
EMPTY = frozenset(EMPTY_WORDS.split())


def fold(text: str) -> str:
    # Writers set or leave out accents and vowel signs.
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.category(letter).startswith("M"))


def words(text: str) -> list[str]:
    return WORD.findall(fold(text))


@lru_cache(maxsize=4096)
def content_words(text: str) -> frozenset[str]:
    """Distinct words that carry meaning, or all words where none does."""
    found = frozenset(words(text))
    return found - EMPTY or found


def share(of: frozenset[str], found_in: frozenset[str]) -> float:
    return len(of & found_in) / len(of) if of else 0.0


def clauses(text: str, longest: int) -> list[str]:
    """Clauses of at most `longest` words, without markup and quotes."""
    plain = MARKUP.sub(" ", text).replace('"', "").replace("\\", "")
    found: list[str] = []
    for piece in SENTENCE_END.split(plain):
        parts = piece.strip(" .!?;:,*#_'").split()
        found += [" ".join(parts[start : start + longest]) for start in range(0, len(parts), longest)]
    return [clause[:120] for clause in found if clause]


MODEL = "word-overlap-simulator"
LONGEST_NUGGET, SHORTEST_NUGGET = 12, 3
CLAUSES_PER_SEGMENT = 2
SAME_NUGGET = 0.6
VITAL_SHARE = 0.4
FULL_SHARE, PARTIAL_SHARE = 0.75, 0.4
UNKNOWN = f"I am {MODEL}: I count words that texts share, and this is none of the tasks I know."


@dataclass(frozen=True, slots=True)
class SimulatedForm:
    """An object with one key, as a JSON schema asks for it: `kind` is the schema's type of its value."""

    key: str
    kind: str

    def written(self, items: list[str]) -> str:
        value: object = items
        if self.kind != "array":
            value = int(items[0]) if self.kind == "integer" and items[0].isdecimal() else items[0]
        return json.dumps({self.key: value}, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class SimulatedReply:
    """Reply of the simulated LLM: a list or one label. `form`: its JSON form, None for plain text."""

    task: SimulatedTask
    items: tuple[str, ...]
    is_single_label: bool = False
    form: SimulatedForm | None = None

    @property
    def text(self) -> str:
        return self.written(self.items)

    def written(self, items: Iterable[str]) -> str:
        listed = list(items)
        if self.form:
            return self.form.written(listed)
        if self.is_single_label and len(listed) == 1:
            return listed[0]
        return "[" + ", ".join(f'"{item}"' for item in listed) + "]"


def reply_to(messages: tuple[tuple[str, str], ...], form: SimulatedForm | None = None) -> SimulatedReply:
    prompt = ReadPrompt(messages)
    return replace(ANSWERS[prompt.task](prompt), form=form)


def _nuggetize(prompt: ReadPrompt) -> SimulatedReply:
    query = content_words(prompt.query)
    nuggets: dict[str, float] = {nugget: share(query, content_words(nugget)) for nugget in prompt.nuggets}
    for segment in prompt.segments:
        nuggets |= _best_clauses(segment, query)
    # A stable sort keeps the first of equals first.
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


def _alike(first: frozenset[str], second: frozenset[str]) -> bool:
    return len(first & second) >= SAME_NUGGET * len(first | second)


def _importance(prompt: ReadPrompt) -> SimulatedReply:
    query = content_words(prompt.query)
    labels = (_importance_of(content_words(nugget), query) for nugget in prompt.nuggets)
    return SimulatedReply("importance", tuple(labels))


def _importance_of(nugget: frozenset[str], query: frozenset[str]) -> str:
    # Shares of the shorter text: a long query would otherwise make every nugget okay.
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
        "support", (_graded(content_words(prompt.data("statement")), citation, labels),), is_single_label=True
    )


def _graded(wanted: frozenset[str], there: frozenset[str], labels: tuple[str, str, str]) -> str:
    found = share(wanted, there)
    return labels[0] if found >= FULL_SHARE else labels[1] if found >= PARTIAL_SHARE else labels[2]


def _relevance(prompt: ReadPrompt) -> SimulatedReply:
    found = share(content_words(prompt.query), content_words(prompt.data("passage", "segment", "context")))
    grade = min(prompt.highest_grade, int(found * (prompt.highest_grade + 1)))
    text = f"##final score: {grade}" if "##final score" in prompt.instructions else str(grade)
    return SimulatedReply("relevance", (text,), is_single_label=True)


ANSWERS: dict[SimulatedTask, Callable[[ReadPrompt], SimulatedReply]] = {
    "nuggetize": _nuggetize,
    "importance": _importance,
    "assign": _assign,
    "support": _support,
    "relevance": _relevance,
    "unknown": lambda _prompt: SimulatedReply("unknown", (UNKNOWN,), is_single_label=True),
}
