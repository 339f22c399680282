"""What a prompt asks for, and the data in it. Data never decides which task it is or which labels are allowed."""

import ast
import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from llmjobs.prompts import FIRST_LINES

SimulatedTask = Literal["nuggetize", "importance", "assign", "support", "relevance", "unknown"]

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
    """The messages of one request, taken apart."""

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
        return task_of(self.system) or _by_signs(self.system) or _by_signs(self.instructions) or "unknown"

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


def task_of(system: str) -> SimulatedTask | None:
    return FIRST_LINES.get(system.strip().partition("\n")[0].strip())


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
    # Between the first datum and the last one nothing is believed: a run's text may hold instructions.
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
            return [_item(item) for item in loaded]
    return [line for line in (LIST_MARK.sub("", raw).strip() for raw in text.splitlines()) if line]


def _item(item: object) -> str:
    return str(item.get("text", "")) if isinstance(item, dict) else str(item)
