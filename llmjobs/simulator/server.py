"""The simulated LLM's HTTP server: the API of OpenAI on this machine only, with failures at rates."""

import hashlib
import json
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from math import ceil
from threading import Event, Lock, Thread
from typing import Any, TypeVar

from llmjobs.simulator.answering import MODEL, SimulatedForm, SimulatedReply, reply_to


@dataclass(frozen=True, slots=True)
class CompletionRequest:
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
    task: str
    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int

    def as_json(self, number: int) -> dict[str, Any]:
        message = {"role": "assistant", "content": self.text}
        usage = {"prompt_tokens": self.prompt_tokens, "completion_tokens": self.completion_tokens}
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": MODEL,
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish_reason}],
            "usage": usage | {"total_tokens": self.prompt_tokens + self.completion_tokens},
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


def spoiled(kind: str, reply: SimulatedReply) -> tuple[str, str]:
    if kind == "truncated":
        return reply.text[: len(reply.text) // 2], "length"
    spoil = SPOILERS.get(kind)
    return spoil(reply) if spoil else reply.text, "stop"


def _wrapped(reply: SimulatedReply) -> str:
    return f"Sure! Here is what you asked for:\n\n```python\n{reply.text}\n```\n\nLet me know if you need more."


def _out_of_vocabulary(reply: SimulatedReply) -> str:
    if reply.is_single_label:
        return reply.written(["somewhat_supported"])
    if reply.task == "nuggetize":
        return "I cannot help with that."
    return reply.written((*reply.items[:-1], "somewhat_supported"))


def _wrong_length(reply: SimulatedReply) -> str:
    if reply.task == "nuggetize":
        return reply.written(f"nugget number {number} of a list too long" for number in range(1, 251))
    return reply.written((*reply.items, *reply.items[:1]))


SPOILERS: dict[str, Callable[[SimulatedReply], str]] = {
    "wrapped": _wrapped,
    "out_of_vocabulary": _out_of_vocabulary,
    "wrong_length": _wrong_length,
}


FAILURES = ("rate_limited", "server_error", "timeout", "dropped")
MALFORMED = ("truncated", *SPOILERS)


@dataclass(frozen=True, slots=True)
class Rates:
    """How slow answers are, and the shares of requests that go wrong. `seed` says which; a retry has another chance."""

    latency_ms: int = 0
    fail_rate: float = 0.0
    malformed_rate: float = 0.0
    seed: int = 0

    @property
    def by_kind(self) -> dict[str, float]:
        return dict.fromkeys(FAILURES, self.fail_rate / len(FAILURES)) | dict.fromkeys(
            MALFORMED, self.malformed_rate / len(MALFORMED)
        )


def drawn(rates: Mapping[str, float], seed: int, request_hash: str, seen: int) -> str:
    """Fault of a request that was seen so often, '' for none: the same whatever is asked meanwhile."""
    digest = hashlib.sha256(f"{seed} {request_hash} {seen}".encode()).digest()
    left = int.from_bytes(digest[:8], "big") / 2**64
    for kind, rate in rates.items():
        if left < rate:
            return kind
        left -= rate
    return ""


HOST = "127.0.0.1"
LARGEST_BODY = 32 * 1024 * 1024
REFUSALS = {
    "rate_limited": (429, "Rate limit reached. Try again later.", {"Retry-After": "1"}),
    "server_error": (500, "The server had an error while processing your request.", {}),
}


class Simulator(ThreadingHTTPServer):
    """Server for `serving()`."""

    request_queue_size = 1024

    def __init__(self, port: int, rates: Rates, handler: "type[Handler] | None" = None) -> None:
        self.rates = rates
        self.ending = Event()
        self.numbers = count(1)
        self._seen: Counter[str] = Counter()
        self._lock = Lock()
        super().__init__((HOST, port), handler or Handler)

    @property
    def base_url(self) -> str:
        return f"http://{HOST}:{self.server_address[1]}/v1"

    def times_seen(self, request_hash: str) -> int:
        with self._lock:
            self._seen[request_hash] += 1
            return self._seen[request_hash]

    def server_bind(self) -> None:
        # The base class would ask the resolver for this machine's name.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = HOST, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing about clients that went away: they are killed on purpose."""

    def end(self) -> None:
        self.ending.set()
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    server: Simulator
    protocol_version = "HTTP/1.1"
    server_version = MODEL
    sys_version = ""
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        if self.path.partition("?")[0].endswith("/models"):
            model = {"id": MODEL, "object": "model", "owned_by": "assay"}
            self._send_json(200, {"object": "list", "data": [model]})
        else:
            self._refuse(404, f"There is no {self.path}.")

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > LARGEST_BODY:
            self.close_connection = True
            self._refuse(413, "The body is too long, or its length is not said.")
            return
        body = self.rfile.read(int(length))
        try:
            self.answer(self.path.partition("?")[0], body)
        except (ValueError, RecursionError) as error:
            self._refuse(400, f"Not a chat request: {error}.")

    def answer(self, path: str, body: bytes) -> None:
        """Raises `ValueError` for a body that is no request."""
        if not path.endswith("/chat/completions"):
            self._refuse(404, f"There is no {path}.")
            return
        started, request, rates = time.monotonic(), read_request(body), self.server.rates
        fault = drawn(rates.by_kind, rates.seed, request.sha256, self.server.times_seen(request.sha256))
        completion = complete(request, fault)
        self.server.ending.wait(max(0.0, rates.latency_ms / 1000 - (time.monotonic() - started)))
        self._finish(fault, completion)

    def _finish(self, fault: str, completion: SimulatedCompletion) -> None:
        if fault == "timeout":
            self.close_connection = True
            self.server.ending.wait()
        elif fault == "dropped":
            # A promised body of which half is sent: the client sees a cut connection.
            self.close_connection = True
            self._head(200, "application/json", 1000)
            self.wfile.write(b'{"choices": [')
        elif fault in REFUSALS:
            self._refuse(*REFUSALS[fault])
        else:
            self._send_json(200, completion.as_json(next(self.server.numbers)))

    def _refuse(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        error = {"message": message, "type": "simulated", "param": None, "code": None}
        self._send_json(status, {"error": error}, headers)

    def _send_json(self, status: int, value: object, headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(value).encode(), "application/json", headers)

    def _send(self, status: int, body: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
        self._head(status, kind, len(body), headers)
        self.wfile.write(body)

    def _head(self, status: int, kind: str, length: int, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the terminal quiet: the log is its own."""


S = TypeVar("S", bound=Simulator)


@contextmanager
def serving(simulator: S) -> Iterator[S]:
    thread = Thread(target=simulator.serve_forever, kwargs={"poll_interval": 0.1}, name="simulator")
    thread.start()
    try:
        yield simulator
    finally:
        simulator.end()
        thread.join()
