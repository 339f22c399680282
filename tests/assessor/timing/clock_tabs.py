"""A window's clock as the page's script keeps it, and days of several windows played against the server."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import time_machine
from django.test import Client

from assessor.models import TimeSegment
from evaluation.models import Task
from evaluation.terms import SegmentKind

BEAT = 15.0
GAP_SHOWS = 30.0
VISIBLE = (SegmentKind.READING, SegmentKind.EDITING, SegmentKind.GAP, SegmentKind.PAUSED)
MORNING = datetime.now(UTC).replace(hour=8, minute=0, second=0, microsecond=0)


@dataclass(frozen=True, slots=True)
class Span:
    """What somebody did from one second of the day to another. `slept`: the window's clock stood still."""

    kind: SegmentKind
    start: float
    end: float
    words: int
    number: int
    blurred: bool = False


@dataclass
class Tab:
    """One window, told what happens in it in seconds; it beats as clock.js does."""

    client: Client
    task: Task
    name: str = "window-1"
    start: float = 0
    words: int = 0
    spans: list[Span] = field(default_factory=list)
    frozen: list[tuple[float, float]] = field(default_factory=list)
    lost: list[tuple[float, float]] = field(default_factory=list)
    answers: list[dict[str, Any]] = field(default_factory=list)

    @property
    def at(self) -> float:
        """The second of the day at which the script stands."""
        return self.spans[-1].end if self.spans else self.start

    def then(self, kind: SegmentKind, seconds: float, *, blurred: bool = False) -> "Tab":
        number = 2 * len(self.spans) + 1
        self.spans.append(Span(kind, self.at, self.at + seconds, self.words, number, blurred))
        return self

    def sleep(self, seconds: float) -> "Tab":
        """Close the lid; the monotonic clock stands still meanwhile, as it does on some systems, and nobody notices."""
        self.frozen.append((self.at, self.at + seconds))
        self.spans[-1] = Span(**{**_fields(self.spans[-1]), "end": self.at + seconds})
        return self

    def lose_connection(self, seconds: float) -> "Tab":
        self.lost.append((self.at, self.at + seconds))
        return self

    def beats(self) -> list[float]:
        """When it beats: every 15 s while it is visible, on hiding, on coming back, and at its end."""
        cuts = {span.start for span in self.spans if span.kind not in VISIBLE} | {self.start, self.at}
        regular: set[float] = set()
        for span in self.spans:
            if span.kind in VISIBLE:
                steps = int((span.end - self.start) // BEAT)
                regular |= {self.start + BEAT * step for step in range(steps + 1)}
                regular = {at for at in regular if at <= span.end}
        seen = {at for at in regular | cuts if self._is_seen(at)}
        return sorted(at for at in seen if not any(start < at < end for start, end in self.frozen))

    def _is_seen(self, at: float) -> bool:
        return at == self.at or any(span.start <= at <= span.end and span.kind in VISIBLE for span in self.spans)

    def body(self, at: float) -> dict[str, Any]:
        """What it sends at a second of the day: all it knows then. Sending more than needed changes nothing."""
        known = [span for span in self.spans if span.start <= at]
        if len(known) > 1 and known[-1].kind is SegmentKind.GAP and at - known[-1].start < GAP_SHOWS:
            known = [*known[:-2], Span(**{**_fields(known[-2]), "end": at})]
        recent = known[-40:]
        return {
            "window": self.name,
            "segments": [self._segment(span, at) for span in recent],
            "place": None,
            "elapsed_ms": round(1000 * self._own(max(self.start, self._heard(at)), at)),
        }

    def _segment(self, span: Span, at: float) -> dict[str, Any]:
        return {
            "number": span.number,
            "kind": span.kind,
            "ms_before_now_start": round(1000 * self._own(span.start, at)),
            "ms_before_now_end": round(1000 * self._own(min(span.end, at), at)),
            "words": span.words,
            "blurred": span.blurred,
            "offline": any(start <= span.start < end for start, end in self.lost),
            "item": "",
        }

    def _own(self, start: float, end: float) -> float:
        """Seconds between two moments by the window's own clock."""
        return end - start - sum(max(0.0, min(end, b) - max(start, a)) for a, b in self.frozen)

    def _heard(self, at: float) -> float:
        earlier = [beat for beat in self.beats() if beat < at and not self.is_lost(beat)]
        return earlier[-1] if earlier else self.start

    def is_lost(self, at: float) -> bool:
        return any(start < at < end for start, end in self.lost)

    def send(self, at: float, late: float = 0) -> None:
        """Beat, as of a second of the day; it arrives a little later."""
        with time_machine.travel(MORNING + timedelta(seconds=at + late), tick=False):
            address = f"/desk/{self.task.public_id}/beat/"
            response = self.client.post(address, self.body(at), content_type="application/json")
        assert response.status_code == 200, response.content
        self.answers.append(response.json())


def _fields(span: Span) -> dict[str, Any]:
    return {name: getattr(span, name) for name in Span.__slots__}


def play(*tabs: Tab, latencies: Sequence[float] = (0,)) -> None:
    """Let the windows beat, all in the order of the day."""
    beats = sorted((at, index) for index, tab in enumerate(tabs) for at in tab.beats() if not tab.is_lost(at))
    for turn, (at, index) in enumerate(beats):
        tabs[index].send(at, latencies[turn % len(latencies)])


def credited(tabs: Iterable[Tab]) -> int:
    return max(int(tab.answers[-1]["seconds"]) for tab in tabs if tab.answers)


def store(*tabs: Tab) -> None:
    """Write what the windows did straight into the database, where it does not matter how it came there."""
    TimeSegment.objects.bulk_create(
        TimeSegment(
            task=tab.task,
            submission=Task.objects.get(pk=tab.task.pk).version,
            window=tab.name,
            number=span.number,
            kind=span.kind,
            started_at=MORNING + timedelta(seconds=span.start),
            ended_at=MORNING + timedelta(seconds=span.end),
            words=span.words,
            blurred=span.blurred,
            offline=any(start <= span.start < end for start, end in tab.lost),
        )
        for tab in tabs
        for span in tab.spans
    )
