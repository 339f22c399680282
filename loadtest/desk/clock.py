"""Time reports of a simulated window: stretches by its own clock, as static/js/desk/clock.js does."""

import random
import time
from dataclasses import dataclass

from loadtest.desk.model import Json

STRETCH_KINDS = ("reading", "editing", "gap", "paused", "hidden")


@dataclass(slots=True)
class _Stretch:
    number: int
    kind: str
    start: float
    end: float = 0.0


class WindowClock:
    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._open: _Stretch | None = None
        self._closed: list[_Stretch] = []
        self._number = 0
        self._acknowledged = time.monotonic()

    def run(self) -> None:
        self.stop()
        self._number += 1
        self._open = _Stretch(self._number, self._draw.choice(STRETCH_KINDS), time.monotonic())

    def stop(self) -> None:
        if self._open is not None:
            self._open.end = time.monotonic()
            self._closed.append(self._open)
            self._open = None

    def beat(self, window: str) -> tuple[Json, float]:
        now = time.monotonic()
        known = [*self._closed, *([self._open] if self._open else [])][:400]
        segments = [
            {
                "number": stretch.number,
                "kind": stretch.kind,
                "ms_before_now_start": round((now - stretch.start) * 1000),
                "ms_before_now_end": round((now - stretch.end) * 1000) if stretch.end else 0,
                "words": 100,
                "blurred": stretch.number % 5 == 0,
                "offline": now - self._acknowledged > 5,
                "item": "",
            }
            for stretch in known
        ]
        elapsed = round((now - self._acknowledged) * 1000)
        body = {"window": window, "segments": segments, "place": {"rows": self._number}, "elapsed_ms": elapsed}
        return body, now

    def acknowledge(self, moment: float) -> None:
        """Take the answer to the beat of a moment: what had ended by then is not sent again."""
        self._acknowledged = moment
        self._closed = [stretch for stretch in self._closed if stretch.end > moment]
