"""The simulated LLM with faults on demand, limits, and a log: the witness when a killed client's own is in doubt."""

import argparse
import json
import signal
import socket
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from threading import Event, Lock
from typing import Any, TextIO
from urllib.parse import parse_qs

from llmjobs.simulator.server import (
    REFUSALS,
    CompletionRequest,
    Handler,
    Rates,
    SimulatedCompletion,
    Simulator,
    complete,
    read_request,
    serving,
)
from loadtest.servers.faults import Chooser, Faults

KEPT_IN_MEMORY = 200_000
MINUTE = 60.0
CLIENT_GONE = 499
OVER_LIMIT = "over_limit"
STATUS_OF = {kind: (status, message) for kind, (status, message, _) in REFUSALS.items()} | {
    "unavailable": (503, "The engine is overloaded."),
    "bad_request": (400, "This model does not support what was asked."),
    "auth": (401, "Incorrect API key provided:"),
}


@dataclass(frozen=True, slots=True)
class Served:
    """One completion request: when it came (`at`), when its outcome was decided (`until`), and that outcome.

    `status` is 0 where the connection broke without an answer, 499 where the client was gone before the answer.
    """

    n: int
    at: float
    until: float
    hash: str
    seen: int
    requested_model: str
    task: str
    status: int
    fault: str
    prompt_tokens: int
    completion_tokens: int


class ServedLog:
    """Keeps the lines of requests, in a file too where one is given."""

    def __init__(self, path: Path | None = None) -> None:
        self._lines: deque[str] = deque(maxlen=KEPT_IN_MEMORY)
        self._lock = Lock()
        self._file: TextIO | None = path.open("a", encoding="utf-8") if path else None

    def add(self, served: Served) -> None:
        # At once: whoever reads the answer finds it in the log.
        line = json.dumps(asdict(served))
        with self._lock:
            self._lines.append(line)
            if self._file:
                self._file.write(line + "\n")
                self._file.flush()

    def text(self) -> str:
        with self._lock:
            return "".join(f"{line}\n" for line in self._lines)

    def served(self) -> list[Served]:
        return [Served(**json.loads(line)) for line in self.text().splitlines()]

    def close(self) -> None:
        with self._lock:
            if self._file:
                self._file.close()
                self._file = None


@dataclass(slots=True)
class Quota:
    """Limit as endpoints have one: so many requests in any minute; 0 is no limit. `admitted`: their moments."""

    requests_per_minute: int = 0
    admitted: deque[float] = field(default_factory=deque)
    lock: Lock = field(default_factory=Lock)

    def wait(self) -> float:
        if not self.requests_per_minute:
            return 0.0
        with self.lock:
            now = time.monotonic()
            while self.admitted and self.admitted[0] <= now - MINUTE:
                self.admitted.popleft()
            if self.requests_per_minute <= len(self.admitted):
                return self.admitted[0] + MINUTE - now
            self.admitted.append(now)
            return 0.0


@dataclass(slots=True)
class Exchange:
    number: int
    request: CompletionRequest
    at: float = field(default_factory=time.time)
    fault: str = ""
    seen: int = 0
    completion: SimulatedCompletion | None = None


class LoggedSimulator(Simulator):
    """The simulated LLM with a log, limits, and faults on demand."""

    # Threads are joined at the end, so that no test leaves a socket behind.
    daemon_threads = False

    def __init__(
        self, *, port: int = 0, faults: Faults | None = None, log: Path | None = None, quota: Quota | None = None
    ) -> None:
        self.quota = quota or Quota()
        self.log = ServedLog(log)
        self.chooser = Chooser(faults or Faults())
        self._connections: set[socket.socket] = set()
        self._connections_lock = Lock()
        try:
            super().__init__(port, Rates(), LoggedHandler)
        except OSError:
            self.log.close()
            raise

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._connections_lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._connections_lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def note(self, exchange: Exchange, status: int) -> None:
        done = exchange.completion
        served = Served(
            n=exchange.number,
            at=round(exchange.at, 6),
            until=round(time.time(), 6),
            hash=exchange.request.sha256,
            seen=exchange.seen,
            requested_model=exchange.request.model,
            task=done.task if done else "",
            status=status,
            fault=exchange.fault,
            prompt_tokens=done.prompt_tokens if done else 0,
            completion_tokens=done.completion_tokens if done else 0,
        )
        self.log.add(served)

    def end(self) -> None:
        self.ending.set()
        self.shutdown()
        with self._connections_lock:
            for connection in self._connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        self.server_close()
        self.log.close()


class LoggedHandler(Handler):
    server: LoggedSimulator

    def do_GET(self) -> None:
        if self.path == "/log":
            self._send(200, self.server.log.text().encode(), "application/x-ndjson")
        elif self.path == "/faults":
            self._send_json(200, self.server.chooser.faults.model_dump())
        elif not self._is_down(self.server.chooser.faults):
            super().do_GET()

    def answer(self, path: str, body: bytes) -> None:
        if path == "/faults":
            try:
                self._send_json(200, self.server.chooser.switch(json.loads(body)).model_dump())
            except ValueError as error:
                self._refuse(400, str(error))
        elif problem := self._azure_problem(path):
            self._refuse(404, problem)
        elif path.endswith("/chat/completions"):
            self._complete(Exchange(next(self.server.numbers), read_request(body)))
        else:
            super().answer(path, body)

    def _azure_problem(self, path: str) -> str:
        # In Azure's form the path names a deployment and the query the version.
        if not path.startswith("/openai/deployments/"):
            return ""
        query = parse_qs(self.path.partition("?")[2])
        if not query.get("api-version"):
            return "Resource not found: api-version is missing."
        return "" if self.headers.get("api-key") else "Access denied: the header api-key is missing."

    def _complete(self, exchange: Exchange) -> None:
        started, faults, request = time.monotonic(), self.server.chooser.faults, exchange.request
        if faults.down:
            exchange.fault = "down"
            self.server.note(exchange, 503 if faults.down == "503" else 0)
            self._is_down(faults)
        elif wait := self.server.quota.wait():
            exchange.fault = OVER_LIMIT
            self.server.note(exchange, 429)
            self._refuse(429, "Rate limit reached for this minute.", {"Retry-After": f"{wait:.3f}"})
        elif faults.plain_only and request.form:
            exchange.fault = "plain_only"
            self.server.note(exchange, 400)
            self._refuse(400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported.")
        else:
            exchange.fault, exchange.seen = self.server.chooser.choose(request.sha256, request.text)
            if exchange.fault == "timeout":
                self.server.note(exchange, 0)
                self._hang(faults.hang_s)
                return
            exchange.completion = complete(request, exchange.fault)
            self.server.ending.wait(max(0.0, faults.latency_ms / 1000 - (time.monotonic() - started)))
            self._end(exchange, exchange.completion, faults)

    def _end(self, exchange: Exchange, completion: SimulatedCompletion, faults: Faults) -> None:
        fault = exchange.fault
        if self._client_is_gone():
            self.close_connection = True
            self.server.note(exchange, CLIENT_GONE)
            return
        status, message = STATUS_OF.get(fault, (0 if fault == "dropped" else 200, ""))
        self.server.note(exchange, status)
        if fault == "not_json":
            self._send(200, b"<html><body>Please sign in to this network.</body></html>", "text/html")
        elif fault == "auth":
            # Badly behaved endpoints repeat the whole key in the message; no log or page may show it.
            key = self.headers.get("Authorization") or self.headers.get("api-key") or ""
            self._refuse(status, f"{message} {key.removeprefix('Bearer ')}.")
        elif message:
            self._refuse(status, message, {"Retry-After": f"{faults.retry_after:g}"} if status == 429 else {})
        elif fault == "empty":
            self._finish("", replace(completion, text="", finish_reason="content_filter", completion_tokens=0))
        else:
            self._finish(fault, completion)

    def _hang(self, seconds: float) -> None:
        self.close_connection = True
        self.connection.settimeout(seconds)
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


@contextmanager
def running_simulator(
    *, port: int = 0, log: Path | None = None, requests_per_minute: int = 0, **faults: Any
) -> Iterator[LoggedSimulator]:
    """Serve in a thread while the block runs. `faults`: fields of `Faults`, such as `latency_ms=200`."""
    quota = Quota(requests_per_minute)
    with serving(LoggedSimulator(port=port, faults=Faults().changed(faults), log=log, quota=quota)) as simulator:
        yield simulator


def most_at_once(served: Sequence[Served]) -> int:
    edges = sorted([(request.until, -1) for request in served] + [(request.at, 1) for request in served])
    under_way = most = 0
    for _, change in edges:
        under_way += change
        most = max(most, under_way)
    return most


def most_within(served: Sequence[Served], seconds: float) -> int:
    came = sorted(request.at for request in served)
    most = first = 0
    for last, moment in enumerate(came):
        while came[first] <= moment - seconds:
            first += 1
        most = max(most, last - first + 1)
    return most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency-ms", type=int, default=0)
    parser.add_argument("--requests-per-minute", type=int, default=0)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args()
    interrupted = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: interrupted.set())
    with running_simulator(**vars(options)) as simulator:
        print(simulator.base_url, flush=True)
        interrupted.wait()


if __name__ == "__main__":
    main()
