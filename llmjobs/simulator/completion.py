"""A chat completion's body, in and out."""

import hashlib
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import Any

from llmjobs.simulator.answering import MODEL, SimulatedForm, SimulatedReply, reply_to
from llmjobs.simulator.faults import spoiled


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """What a request's body asks for."""

    model: str
    messages: tuple[tuple[str, str], ...]
    max_tokens: int | None
    form: SimulatedForm | None = None

    @property
    def text(self) -> str:
        return "\n".join(text for _, text in self.messages)

    @property
    def sha256(self) -> str:
        """Hash of the messages' JSON, [[role, text], ...] without spaces, in UTF-8."""
        written = json.dumps(self.messages, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(written.encode(errors="surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class SimulatedCompletion:
    """What is answered."""

    task: str
    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int

    def as_json(self, number: int) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": MODEL,
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": self.text},
                    "finish_reason": self.finish_reason,
                }
            ],
            "usage": {
                "prompt_tokens": self.prompt_tokens,
                "completion_tokens": self.completion_tokens,
                "total_tokens": self.prompt_tokens + self.completion_tokens,
            },
        }


def read_request(body: bytes) -> CompletionRequest:
    """Read a request. Raises `ValueError` saying what is wrong."""
    document = json.loads(body)
    if (
        not isinstance(document, dict)
        or not isinstance(document.get("messages"), list)
        or not document["messages"]
    ):
        raise ValueError("messages is missing")
    if document.get("stream"):
        raise ValueError("stream is not simulated")
    messages = tuple(_message(message) for message in document["messages"])
    most = document.get("max_completion_tokens") or document.get("max_tokens")
    form = _form(document.get("response_format"))
    return CompletionRequest(
        str(document.get("model", "")), messages, most if isinstance(most, int) else None, form
    )


def _form(wanted: object) -> SimulatedForm | None:
    if wanted is None or wanted == {"type": "text"}:
        return None
    try:
        schema = wanted["json_schema"]["schema"]  # type: ignore[index]
        [(key, values)] = schema["properties"].items()
        kind = values["type"]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ValueError("response_format is not a schema of an object with one key") from None
    if schema.get("required") != [key] or schema.get("additionalProperties") is not False:
        raise ValueError("a strict schema requires its keys and allows no others")
    return SimulatedForm(str(key), str(kind))


def _message(message: object) -> tuple[str, str]:
    if not isinstance(message, dict):
        raise ValueError("a message is an object with role and content")
    content = message.get("content")
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(message.get("role", "")), content if isinstance(content, str) else ""


def complete(request: CompletionRequest, fault: str) -> SimulatedCompletion:
    reply: SimulatedReply = reply_to(request.messages, request.form)
    text, finish_reason = spoiled(fault, reply)
    if request.max_tokens is not None and tokens([text]) > request.max_tokens:
        text, finish_reason = " ".join(text.split()[: request.max_tokens * 3 // 4]), "length"
    return SimulatedCompletion(
        reply.task, text, finish_reason, tokens(text for _, text in request.messages), tokens([text])
    )


def tokens(texts: Iterable[str]) -> int:
    """Estimated tokens: four for every three words."""
    return ceil(sum(len(text.split()) for text in texts) * 4 / 3)
