"""The time that a simulated window tells the server: stretches by its own clock, as static/js/desk/clock.js does."""

import random
import time
from dataclasses import dataclass

from loadtest.desk.model import Json

KINDS = ("reading", "editing", "gap", "paused", "hidden")


@dataclass(slots=True)
class _Stretch:
    number: int
    kind: str
    start: float
    end: float = 0.0


class WindowClock:
    """Stretches of one window. What was not acknowledged is sent again, with its times as they are by then."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._open: _Stretch | None = None
        self._closed: list[_Stretch] = []
        self._number = 0
        self._heard = time.monotonic()

    def run(self) -> None:
        """Go on, or begin, with a stretch of any kind."""
        self.stop()
        self._number += 1
        self._open = _Stretch(self._number, self._draw.choice(KINDS), time.monotonic())

    def stop(self) -> None:
        """End the stretch that runs: this window only reads."""
        if self._open is not None:
            self._open.end = time.monotonic()
            self._closed.append(self._open)
            self._open = None

    def beat(self, window: str) -> tuple[Json, float]:
        """Return a beat, and the moment that it is of."""
        now = time.monotonic()
        told = [*self._closed, *([self._open] if self._open else [])][:400]
        segments = [
            {
                "number": one.number,
                "kind": one.kind,
                "ms_before_now_start": round((now - one.start) * 1000),
                "ms_before_now_end": round((now - one.end) * 1000) if one.end else 0,
                "words": 100,
                "blurred": one.number % 5 == 0,
                "offline": now - self._heard > 5,
                "item": "",
            }
            for one in told
        ]
        elapsed = round((now - self._heard) * 1000)
        said = {"window": window, "segments": segments, "place": {"rows": self._number}, "elapsed_ms": elapsed}
        return said, now

    def heard(self, moment: float) -> None:
        """The beat of a moment was answered: what had ended by then is told."""
        self._heard = moment
        self._closed = [one for one in self._closed if one.end > moment]
