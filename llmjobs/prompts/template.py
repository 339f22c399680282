"""Templates and their rendering. Data gets its delimiters here, so that no template text can leave them out."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from functools import cached_property
from typing import Any, Literal

from evaluation.formats.prompt_marks import broken, look_alike
from evaluation.labels import CITATION_LABELS, NUGGET_LABELS

PromptTask = Literal["nuggetize", "importance", "assign", "support", "relevance", "rubric", "battle"]
Part = Literal["system", "user"]
Value = str | int | Sequence[str]

PLACEHOLDER = re.compile(r"\{([a-z]+|problem_statement)\}")
# The tags we use, and those a reader of our prompts could take for ours.
TAGS = ("query", "segment", "context", "passage", "answer", "statement", "citation", "nugget")
LOOK_ALIKE = look_alike(TAGS)
# Only for templates that hold such texts: a changed text would make an old question a new call to pay for.
TAGS_OF_TEXTS = (*TAGS, "problem_statement", "background", "article", "criteria")
LOOK_ALIKE_OF_TEXTS = look_alike(TAGS_OF_TEXTS)
LOOK_ALIKE_OF_BATTLES = look_alike((*TAGS_OF_TEXTS, "left", "right"))
VERDICTS = ("left", "right", "tie", "both bad")
"""Words of an LLM's verdict on two answers."""


@dataclass(frozen=True, slots=True)
class TopicTexts:
    """Texts of a topic beside its title; empty where it has none."""

    problem_statement: str = ""
    background: str = ""
    article: str = ""

    def __bool__(self) -> bool:
        return any(astuple(self))

    @property
    def values(self) -> dict[str, str]:
        return asdict(self)


NO_TEXTS = TopicTexts()


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Template:
    """One version of a task's prompt. Placeholders such as {query} are in its texts.

    `quotes`: the reply is a label and a quote. `structured`: the reply is wanted as JSON by the task's schema. Neither
    is a part of the texts, nor of their hash; nor are the temperature (None: not sent) and further parameters, by their
    names in the request.
    """

    task: PromptTask
    name: str
    version: int
    system: str
    user: str
    quotes: bool = False
    structured: bool = False
    temperature: float | None = 0.0
    parameters: tuple[tuple[str, str | int], ...] = ()

    @cached_property
    def sha256(self) -> str:
        """Hash of both texts: provenance names it, whatever name and version say."""
        return hashlib.sha256(json.dumps([self.system, self.user]).encode()).hexdigest()

    @property
    def ref(self) -> str:
        return f"{self.name}@{self.version}"

    @property
    def placeholders(self) -> frozenset[str]:
        return frozenset(PLACEHOLDER.findall(self.system) + PLACEHOLDER.findall(self.user))

    def problems(self) -> tuple[str, ...]:
        return tuple(problem for _, problem in self.problems_by_text())

    def problems_by_text(self) -> tuple[tuple[Part, str], ...]:
        """Problems, each with the text in which it is to be mended."""
        data, texts = DATA_OF[self.task], TEXTS_OF[self.task]
        placeholders = data | texts | PLAIN_OF[self.task]
        in_system, in_user = (frozenset(PLACEHOLDER.findall(text)) for text in (self.system, self.user))
        problems: list[tuple[Part, str]] = [
            ("user", f"{{{name}}} is missing from the user text") for name in sorted(data - in_user)
        ]
        for name in sorted(self.placeholders - placeholders):
            part: Part = "system" if name in in_system else "user"
            problems.append((part, f"{{{name}}} is not a placeholder of {self.task}"))
        return (
            *problems,
            *(("system", f"{{{name}}} belongs in the user text") for name in sorted((data | texts) & in_system)),
        )


DATA_OF: dict[PromptTask, frozenset[str]] = {
    "nuggetize": frozenset({"query", "segments", "nuggets"}),
    "importance": frozenset({"query", "nuggets"}),
    "assign": frozenset({"query", "passage", "nuggets"}),
    "support": frozenset({"statement", "passage"}),
    "relevance": frozenset({"query", "passage"}),
    "rubric": frozenset({"query", "criteria"}),
    "battle": frozenset({"query", "left", "right"}),
}
"""The data of each task, which its user text must hold."""

PLAIN_OF: dict[PromptTask, frozenset[str]] = {
    "nuggetize": frozenset({"length", "cap"}),
    "importance": frozenset({"length"}),
    "assign": frozenset({"length"}),
    "support": frozenset(),
    "relevance": frozenset({"top", "scale"}),
    "rubric": frozenset({"length"}),
    "battle": frozenset({"length"}),
}
"""Our own figures and words for each task, which a text may use."""


REQUEST = "request"
TOPIC_TEXTS = tuple(field.name for field in fields(TopicTexts))
_ANY_TEXT = frozenset({REQUEST, *TOPIC_TEXTS})

TEXTS_OF: dict[PromptTask, frozenset[str]] = {
    "nuggetize": _ANY_TEXT,
    "importance": _ANY_TEXT,
    "assign": _ANY_TEXT,
    "support": frozenset(),
    "relevance": _ANY_TEXT,
    "rubric": _ANY_TEXT,
    "battle": _ANY_TEXT | {"nuggets"},
}
"""Data that a user text may hold, or else nothing in its place: the texts of a topic beside its title, of which
{request} is all without the empty ones, and the nuggets of a battle's topic."""


def render(template: Template, **values: Value) -> tuple[Message, ...]:
    """Fill a template: the same values always give the same messages.

    Values are filled in once; a placeholder within a value stays as it is. Raises ValueError for a missing value.
    """
    look_alike = LOOK_ALIKE_OF_TEXTS if template.placeholders & {*_ANY_TEXT, "criteria"} else LOOK_ALIKE
    look_alike = LOOK_ALIKE_OF_BATTLES if template.task == "battle" else look_alike
    texts = dict.fromkeys(TEXTS_OF[template.task], "") | {
        name: SHOWN[name](name, value, look_alike) if name in SHOWN else str(value)
        for name, value in values.items()
    }
    texts[REQUEST] = "\n\n".join(texts[name] for name in TOPIC_TEXTS if texts.get(name))
    if missing := template.placeholders - texts.keys():
        raise ValueError(f"{template.name} needs {', '.join(sorted(missing))}")
    system, user = (
        PLACEHOLDER.sub(lambda found: texts[found[1]], text) for text in (template.system, template.user)
    )
    return (Message("system", system), Message("user", user))


def neutralise(text: str, look_alike: re.Pattern[str] = LOOK_ALIKE) -> str:
    # Text of a run could close our tags, or end the turn, and give orders to the model.
    return look_alike.sub(broken, text)


def _element(name: str, value: Value, look_alike: re.Pattern[str]) -> str:
    return f"<{name}>\n{neutralise(str(value), look_alike)}\n</{name}>"


def _element_if_any(name: str, value: Value, look_alike: re.Pattern[str]) -> str:
    return _element(name, value, look_alike) if value else ""


def _segments(_name: str, value: Value, look_alike: re.Pattern[str]) -> str:
    numbered = enumerate(_texts(value), start=1)
    return "\n".join(
        f'<segment n="{number}">\n{neutralise(text, look_alike)}\n</segment>' for number, text in numbered
    )


def _list(name: str, value: Value, look_alike: re.Pattern[str]) -> str:
    return _element(name, json.dumps(list(_texts(value)), ensure_ascii=False), look_alike)


def _texts(value: Value) -> Sequence[str]:
    if isinstance(value, str | int):
        raise TypeError("a list of texts is needed")
    return value


SHOWN: dict[str, Callable[[str, Value, re.Pattern[str]], str]] = {
    "query": _element,
    "passage": _element,
    "statement": _element,
    "left": _element,
    "right": _element,
    "segments": _segments,
    "nuggets": _list,
    "criteria": _list,
    **dict.fromkeys(TOPIC_TEXTS, _element_if_any),
}
"""How data is shown. What is not named here is our own: figures and the words of a scale."""


LONGEST_READ = 100_000
FENCED = re.compile(r"\s*```(?:json)?[ \t]*\n(.*)```\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """An object with one key. `values` is the JSON schema of its value, `example` shows it."""

    key: str
    values: Mapping[str, Any]
    example: str

    @property
    def response_format(self) -> dict[str, Any]:
        schema = {
            "type": "object",
            "properties": {self.key: dict(self.values)},
            "required": [self.key],
            "additionalProperties": False,
        }
        return {"type": "json_schema", "json_schema": {"name": self.key, "strict": True, "schema": schema}}

    @property
    def instruction(self) -> str:
        """Closing instruction of a question, so that no sentence of the prompt speaks against the schema."""
        return f'Write this answer as a JSON object and nothing else: {{"{self.key}": {self.example}}}'

    def plain(self, reply: str) -> str | None:
        """Reply in this form as the plain text that is read otherwise; None where it is in another form."""
        try:
            parsed = json.loads(_unfenced(reply[: LONGEST_READ + 1]), object_pairs_hook=_without_repeats)
        except (ValueError, RecursionError):
            return None
        if not isinstance(parsed, dict) or parsed.keys() != {self.key}:
            return None
        value = parsed[self.key]
        if self.values["type"] == "array":
            listed = isinstance(value, list) and all(isinstance(item, str) for item in value)
            return json.dumps(value, ensure_ascii=False) if listed else None
        kind = int if self.values["type"] == "integer" else str
        return str(value) if isinstance(value, kind) and not isinstance(value, bool) else None


def _unfenced(reply: str) -> str:
    # Servers that do not enforce the schema leave a code fence around the JSON.
    fenced = FENCED.fullmatch(reply)
    return fenced[1] if fenced else reply


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Python would take the last of two equal keys: which of them is meant would be a guess.
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def form_of(task: PromptTask, values: Mapping[str, object], *, quotes: bool = False) -> ReplyForm:
    return _texts_of("label_and_quote") if quotes else FORMS[task](values)


def _texts_of(key: str) -> ReplyForm:
    return ReplyForm(key, {"type": "array", "items": {"type": "string"}}, '["...", ...]')


def _labels(vocabulary: list[str]) -> ReplyForm:
    return ReplyForm("labels", {"type": "array", "items": {"type": "string", "enum": vocabulary}}, '["...", ...]')


def _grade(values: Mapping[str, object]) -> ReplyForm:
    top = int(str(values["top"]))
    return ReplyForm("grade", {"type": "integer", "enum": list(range(top + 1))}, "...")


FORMS: dict[PromptTask, Callable[[Mapping[str, object]], ReplyForm]] = {
    "nuggetize": lambda _: _texts_of("nuggets"),
    "rubric": lambda _: _texts_of("criteria"),
    "importance": lambda _: _labels(["vital", "okay"]),
    "assign": lambda _: _labels(list(NUGGET_LABELS.words)),
    "support": lambda _: ReplyForm("label", {"type": "string", "enum": list(CITATION_LABELS.words)}, '"..."'),
    "relevance": _grade,
    "battle": lambda _: ReplyForm("verdict", {"type": "string", "enum": list(VERDICTS)}, '"..."'),
}
