"""The log of what the simulated LLM served: the witness when a client was killed and its own record is in doubt."""

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import TextIO

KEPT_IN_MEMORY = 200_000


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
    asked_model: str
    task: str
    status: int
    fault: str
    prompt_tokens: int
    completion_tokens: int


class ServedLog:
    """Numbers requests and keeps their lines, in a file too where one is given."""

    def __init__(self, path: Path | None = None) -> None:
        self._lines: deque[str] = deque(maxlen=KEPT_IN_MEMORY)
        self._lock = Lock()
        self._number = 0
        self._file: TextIO | None = path.open("a", encoding="utf-8") if path else None

    def number(self) -> int:
        with self._lock:
            self._number += 1
            return self._number

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


def most_at_once(served: Sequence[Served]) -> int:
    edges = sorted([(one.until, -1) for one in served] + [(one.at, 1) for one in served])
    under_way = most = 0
    for _, change in edges:
        under_way += change
        most = max(most, under_way)
    return most


def most_within(served: Sequence[Served], seconds: float) -> int:
    """Most requests in any window of so many seconds."""
    came = sorted(one.at for one in served)
    most = first = 0
    for last, moment in enumerate(came):
        while came[first] <= moment - seconds:
            first += 1
        most = max(most, last - first + 1)
    return most
