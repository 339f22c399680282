"""The simulated LLM's HTTP server: the OpenAI API on this machine only, with faults on demand."""

import hashlib
import json
import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from math import ceil
from threading import Event, Lock, Thread
from typing import Any, TypeVar
from urllib.parse import parse_qs

from llmjobs.simulator.answering import MODEL, SimulatedForm, SimulatedReply, reply_to
from llmjobs.simulator.faults import Chooser, Faults, spoiled


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


HOST = "127.0.0.1"
LARGEST_BODY = 32 * 1024 * 1024
CLIENT_GONE = 499
OVER_LIMIT = "over_limit"
STATUS_OF: dict[str, tuple[int, str]] = {
    "rate_limited": (429, "Rate limit reached. Try again later."),
    "server_error": (500, "The server had an error while processing your request."),
    "unavailable": (503, "The engine is overloaded."),
    "bad_request": (400, "This model does not support what was asked."),
}


class Simulator(ThreadingHTTPServer):
    """Server for `serving()`. Load tests log and limit what it serves by a subclass."""

    # Threads are joined at the end, so that no test leaves a socket behind.
    daemon_threads = False
    request_queue_size = 1024

    def __init__(self, *, port: int = 0, faults: Faults | None = None) -> None:
        self.chooser = Chooser(faults or Faults())
        self.ending = Event()
        self.numbers = count(1)
        self._connections: set[socket.socket] = set()
        self._connections_lock = Lock()
        super().__init__((HOST, port), self.handler)

    @property
    def handler(self) -> "type[Handler]":
        return Handler

    def seconds_over_limit(self, _request: "CompletionRequest") -> float:
        """Seconds until a request may come again; 0 admits it."""
        return 0.0

    def note(self, exchange: "Exchange", status: int) -> None:
        """Called once for each completion request, before its answer is sent."""

    @property
    def base_url(self) -> str:
        return f"http://{HOST}:{self.server_address[1]}/v1"

    def server_bind(self) -> None:
        # The base class would ask the resolver for this machine's name.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = HOST, self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._connections_lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._connections_lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing about clients that went away: they are killed on purpose."""

    def end(self) -> None:
        self.ending.set()
        self.shutdown()
        with self._connections_lock:
            for connection in self._connections:
                _cut(connection)
        self.server_close()


def _cut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


@dataclass(slots=True)
class Exchange:
    number: int
    request: CompletionRequest
    at: float = field(default_factory=time.time)
    fault: str = ""
    seen: int = 0
    completion: SimulatedCompletion | None = None


class Handler(BaseHTTPRequestHandler):
    server: Simulator
    protocol_version = "HTTP/1.1"
    server_version = MODEL
    sys_version = ""
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path.endswith("/models"):
            if not self._is_down(self.server.chooser.faults):
                model = {"id": MODEL, "object": "model", "owned_by": "assay"}
                self._send_json(200, {"object": "list", "data": [model]})
        elif path == "/faults":
            self._send_json(200, self.server.chooser.faults.as_json())
        elif path == "/healthz":
            self._send_json(200, {"status": "ok", "model": MODEL})
        else:
            self._refuse(404, f"There is no {path}.")

    def do_POST(self) -> None:
        body = self._body()
        path = self.path.partition("?")[0]
        if body is None:
            self.close_connection = True
            self._refuse(413, "The body is too long, or its length is not said.")
        elif path == "/faults":
            self._switch(body)
        elif problem := self._azure_problem(path):
            self._refuse(404, problem)
        elif path.endswith("/chat/completions"):
            self._complete(body)
        else:
            self._refuse(404, f"There is no {path}.")

    def _azure_problem(self, path: str) -> str:
        # In Azure's form the path names a deployment and the query the version.
        if not path.startswith("/openai/deployments/"):
            return ""
        query = parse_qs(self.path.partition("?")[2])
        if not query.get("api-version"):
            return "Resource not found: api-version is missing."
        return "" if self.headers.get("api-key") else "Access denied: the header api-key is missing."

    def _body(self) -> bytes | None:
        length = self.headers.get("Content-Length", "")
        return self.rfile.read(int(length)) if length.isdecimal() and int(length) <= LARGEST_BODY else None

    def _switch(self, body: bytes) -> None:
        try:
            faults = self.server.chooser.switch(json.loads(body))
        except ValueError as error:
            self._refuse(400, str(error))
        else:
            self._send_json(200, faults.as_json())

    def _complete(self, body: bytes) -> None:
        started = time.monotonic()
        try:
            exchange = Exchange(next(self.server.numbers), read_request(body))
        except (ValueError, RecursionError) as error:
            self._refuse(400, f"Not a chat request: {error}.")
            return
        faults = self.server.chooser.faults
        if faults.down:
            exchange.fault = "down"
            self.server.note(exchange, 503 if faults.down == "503" else 0)
            self._is_down(faults)
        elif wait := self.server.seconds_over_limit(exchange.request):
            exchange.fault = OVER_LIMIT
            self.server.note(exchange, 429)
            self._refuse(429, "Rate limit reached for this minute.", {"Retry-After": f"{wait:.3f}"})
        elif faults.plain_only and exchange.request.form:
            exchange.fault = "plain_only"
            self.server.note(exchange, 400)
            self._refuse(400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported.")
        else:
            exchange.fault, exchange.seen = self.server.chooser.choose(
                exchange.request.sha256, exchange.request.text
            )
            if exchange.fault == "timeout":
                self._hang(exchange, faults.hang_s)
                return
            exchange.completion = complete(exchange.request, exchange.fault)
            self.server.ending.wait(max(0.0, faults.latency_ms / 1000 - (time.monotonic() - started)))
            self._finish(exchange, exchange.completion, faults)

    def _finish(self, exchange: Exchange, completion: SimulatedCompletion, faults: Faults) -> None:
        if self._client_is_gone():
            self.close_connection = True
            self.server.note(exchange, CLIENT_GONE)
        elif exchange.fault == "dropped":
            # A promised body of which half is sent: the client sees a cut connection.
            self.server.note(exchange, 0)
            self.close_connection = True
            self._head(200, "application/json", 1000)
            self.wfile.write(b'{"choices": [')
        elif exchange.fault == "not_json":
            self.server.note(exchange, 200)
            self._send(200, b"<html><body>Please sign in to this network.</body></html>", "text/html")
        elif exchange.fault == "auth":
            # Badly behaved endpoints repeat the whole key in the message; no log or page may show it.
            self.server.note(exchange, 401)
            key = self.headers.get("Authorization") or self.headers.get("api-key") or ""
            self._refuse(401, f"Incorrect API key provided: {key.removeprefix('Bearer ')}.")
        elif exchange.fault in STATUS_OF:
            status, message = STATUS_OF[exchange.fault]
            self.server.note(exchange, status)
            self._refuse(status, message, {"Retry-After": f"{faults.retry_after:g}"} if status == 429 else {})
        else:
            self.server.note(exchange, 200)
            self._send_json(200, completion.as_json(exchange.number))

    def _hang(self, exchange: Exchange, hang_s: float) -> None:
        self.server.note(exchange, 0)
        self.close_connection = True
        self.connection.settimeout(hang_s)
        with suppress(OSError):
            self.connection.recv(1, socket.MSG_PEEK)

    def _client_is_gone(self) -> bool:
        try:
            return not self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def _is_down(self, faults: Faults) -> bool:
        if faults.down:
            self.close_connection = True
        if faults.down == "503":
            self._refuse(503, "The server is down.", {"Connection": "close"})
        return bool(faults.down)

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
