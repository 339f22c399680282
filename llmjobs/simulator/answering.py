"""The simulated LLM: the tasks by counting shared words. Deterministic, poor, and honest about both."""

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from evaluation.labels import CITATION_LABELS, NUGGET_LABELS
from llmjobs.prompts.template import DATA_OF, TEXTS_OF, PromptTask

SimulatedTask = PromptTask | Literal["unknown"]

# As prompts are rendered: text within our tags is data, and none of it can hold another of them.
ELEMENT = re.compile(
    r"<(query|segment|passage|statement|nuggets|criteria|left|right)\b[^<>\n]*>(.*?)</\1>", re.DOTALL
)
SCALE = re.compile(r"\b0\s*(?:-|–|—|to|through|bis|\.\.)\s*(\d)\b")  # noqa: RUF001
AT_MOST = re.compile(r"(?:at most|no more than|up to|maximum of)\s+(\d+)\s+nuggets", re.IGNORECASE)
QUOTE = re.compile(r"\bquote\b", re.IGNORECASE)
CAP, TOP = 30, 3


@dataclass(frozen=True, slots=True)
class ReadPrompt:
    """A question: the task that has such data, the data, and figures of its instructions."""

    task: SimulatedTask
    query: str = ""
    segments: tuple[str, ...] = ()
    passage: str = ""
    statement: str = ""
    nuggets: tuple[str, ...] = ()
    left: str = ""
    right: str = ""
    most_nuggets: int = CAP
    highest_grade: int = TOP
    wants_quote: bool = False


def read_prompt(messages: tuple[tuple[str, str], ...]) -> ReadPrompt:
    # Later messages object to a reply and hold no data.
    user = next((text for role, text in messages if role == "user"), "")
    data: dict[str, list[str]] = defaultdict(list)
    for name, text in ELEMENT.findall(user):
        data[name].append(text.strip())
    names = {"segments" if name == "segment" else name for name in data}
    task = next((task for task, needed in DATA_OF.items() if needed <= names <= needed | TEXTS_OF[task]), None)
    if task is None:
        return ReadPrompt("unknown")
    system = (text for role, text in messages if role in {"system", "developer"})
    instructions = "\n".join((*system, ELEMENT.sub("", user)))
    cap, top = AT_MOST.search(instructions), SCALE.search(instructions)
    first = {name: texts[0] for name, texts in data.items()}
    return ReadPrompt(
        task,
        query=first.get("query", ""),
        segments=tuple(data["segment"]),
        passage=first.get("passage", ""),
        statement=first.get("statement", ""),
        left=first.get("left", ""),
        right=first.get("right", ""),
        nuggets=tuple(json.loads(first.get("nuggets", "[]"))),
        most_nuggets=int(cap[1]) if cap else CAP,
        highest_grade=int(top[1]) if top else TOP,
        wants_quote=QUOTE.search(instructions) is not None,
    )


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
    prompt = read_prompt(messages)
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
    passage = content_words(prompt.passage)
    return SimulatedReply(
        "assign", tuple(_graded(content_words(nugget), passage, NUGGET_LABELS.words) for nugget in prompt.nuggets)
    )


def _support(prompt: ReadPrompt) -> SimulatedReply:
    statement = content_words(prompt.statement)
    label = _graded(statement, content_words(prompt.passage), CITATION_LABELS.words)
    if not prompt.wants_quote:
        return SimulatedReply("support", (label,), is_single_label=True)
    # Without quotation marks, which a list of strings would have to escape.
    parts = [part for part in re.split(r'(?<=[.!?])\s+|[\n"\\]+', prompt.passage) if part.strip()]
    quote = max(parts, key=lambda part: share(statement, content_words(part)), default="")
    return SimulatedReply("support", (label, quote))


def _graded(wanted: frozenset[str], there: frozenset[str], labels: Sequence[str]) -> str:
    found = share(wanted, there)
    return labels[0] if found >= FULL_SHARE else labels[1] if found >= PARTIAL_SHARE else labels[2]


def _relevance(prompt: ReadPrompt) -> SimulatedReply:
    part = share(content_words(prompt.query), content_words(prompt.passage))
    grade = min(prompt.highest_grade, int(part * (prompt.highest_grade + 1)))
    return SimulatedReply("relevance", (str(grade),), is_single_label=True)


def _rubric(prompt: ReadPrompt) -> SimulatedReply:
    about = " ".join(words(prompt.query)[:LONGEST_NUGGET])
    return SimulatedReply(
        "rubric",
        (
            f"synthesis: The answer brings together what it says about {about}",
            f"references: The answer names a source for what it says about {about}",
            f"clarity: The answer tells in plain words and good order about {about}",
        ),
    )


def _battle(prompt: ReadPrompt) -> SimulatedReply:
    wanted = [content_words(text) for text in prompt.nuggets or (prompt.query,)]
    left, right = (
        sum(share(words, content_words(answer)) for words in wanted) for answer in (prompt.left, prompt.right)
    )
    verdict = "left" if left > right else "right" if right > left else "tie" if left else "both bad"
    return SimulatedReply("battle", (verdict,), is_single_label=True)


ANSWERS: dict[SimulatedTask, Callable[[ReadPrompt], SimulatedReply]] = {
    "nuggetize": _nuggetize,
    "importance": _importance,
    "assign": _assign,
    "support": _support,
    "relevance": _relevance,
    "rubric": _rubric,
    "battle": _battle,
    "unknown": lambda _prompt: SimulatedReply("unknown", (UNKNOWN,), is_single_label=True),
}
