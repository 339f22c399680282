"""The simulated LLM with limits and with a log: the witness when a killed client's own record is in doubt."""

import argparse
import json
import signal
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Event, Lock
from typing import Any, TextIO

from llmjobs.simulator.faults import Faults
from llmjobs.simulator.server import CompletionRequest, Exchange, Handler, Simulator, serving, tokens

KEPT_IN_MEMORY = 200_000
MINUTE = 60.0


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
    """Limits as endpoints have them: so many requests and tokens in any minute; 0 is no limit.

    `admitted`: requests of the last minute, each with its moment and its tokens.
    """

    requests_per_minute: int = 0
    tokens_per_minute: int = 0
    admitted: deque[tuple[float, int]] = field(default_factory=deque)
    lock: Lock = field(default_factory=Lock)

    def wait_for(self, cost: int) -> float:
        """Admit a request of so many tokens and return 0, or return the seconds until it may come again."""
        if not self.requests_per_minute and not self.tokens_per_minute:
            return 0.0
        with self.lock:
            now = time.monotonic()
            while self.admitted and self.admitted[0][0] <= now - MINUTE:
                self.admitted.popleft()
            many = 0 < self.requests_per_minute <= len(self.admitted)
            spent = sum(earlier for _, earlier in self.admitted)
            much = bool(self.admitted) and 0 < self.tokens_per_minute < spent + cost
            if many or much:
                return self.admitted[0][0] + MINUTE - now
            self.admitted.append((now, cost))
            return 0.0


class LoggedSimulator(Simulator):
    """The simulated LLM with a log and limits."""

    def __init__(
        self, *, port: int = 0, faults: Faults | None = None, log: Path | None = None, quota: Quota | None = None
    ) -> None:
        self.quota = quota or Quota()
        self.log = ServedLog(log)
        try:
            super().__init__(port=port, faults=faults)
        except OSError:
            self.log.close()
            raise

    @property
    def handler(self) -> type[Handler]:
        return LoggedHandler

    def seconds_over_limit(self, request: CompletionRequest) -> float:
        return self.quota.wait_for(tokens([request.text]))

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
        super().end()
        self.log.close()


class LoggedHandler(Handler):
    """One connection to a simulator with a log."""

    server: LoggedSimulator

    def do_GET(self) -> None:
        if self.path == "/log":
            self._send(200, self.server.log.text().encode(), "application/x-ndjson")
        else:
            super().do_GET()


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
    """Most requests in any window of so many seconds."""
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
