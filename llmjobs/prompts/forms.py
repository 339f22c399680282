"""Structured output: the JSON in which an endpoint that offers it is to write its reply, by task.

The form of a task is always the same, whatever the number of nuggets: how many there must be is checked when the reply
is read, as for plain text.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.domain.labels import CITATION_LABELS, NUGGET_LABELS
from llmjobs.prompts.template import PromptTask

LONGEST_READ = 100_000
FENCED = re.compile(r"\s*```(?:json)?[ \t]*\n(.*)```\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """An object with one key. `values` is the JSON schema of what stands there, `example` shows it."""

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
        """What is said at the end of the question, so that no sentence of the prompt speaks against the schema."""
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
            listed = isinstance(value, list) and all(isinstance(one, str) for one in value)
            return json.dumps(value, ensure_ascii=False) if listed else None
        wanted = int if self.values["type"] == "integer" else str
        return str(value) if isinstance(value, wanted) and not isinstance(value, bool) else None


def _unfenced(reply: str) -> str:
    # Servers that do not enforce the schema leave a code fence around the JSON.
    found = FENCED.fullmatch(reply)
    return found[1] if found else reply


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Python would take the last of two equal keys: which one is meant would be a guess.
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def form_of(task: PromptTask, values: Mapping[str, object]) -> ReplyForm:
    return FORMS[task](values)


def _labels(vocabulary: list[str]) -> ReplyForm:
    return ReplyForm("labels", {"type": "array", "items": {"type": "string", "enum": vocabulary}}, '["...", ...]')


def _grade(values: Mapping[str, object]) -> ReplyForm:
    top = int(str(values["top"]))
    return ReplyForm("grade", {"type": "integer", "enum": list(range(top + 1))}, "...")


FORMS: dict[PromptTask, Callable[[Mapping[str, object]], ReplyForm]] = {
    "nuggetize": lambda _: ReplyForm("nuggets", {"type": "array", "items": {"type": "string"}}, '["...", ...]'),
    "importance": lambda _: _labels(["vital", "okay"]),
    "assign": lambda _: _labels(list(NUGGET_LABELS.words)),
    "support": lambda _: ReplyForm("label", {"type": "string", "enum": list(CITATION_LABELS.words)}, '"..."'),
    "relevance": _grade,
}
