"""One simulated assessor: one task after the other, at nugget desks and judging desks alike.

`DeskTask` does what the desk's scripts do whatever the desk is: it keeps operations in an outbox until their receipt,
holds the desk, beats, and loads the state again. What an assessor does there is for `NuggetTask` and `JudgingTask`.
"""

import random
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from loadtest.desk.clock import WindowClock
from loadtest.desk.model import Json, Model
from loadtest.desk.plan import Plan
from loadtest.desk.seats import Card, Seat
from loadtest.desk.window import Ledger, Window
from loadtest.desk.wire import Answer, Browser, Fate, NoAnswer

M = TypeVar("M", bound=Model)
Reply = TypeVar("Reply")
DRAINED_WITHIN = 150.0  # seconds; a web process that starts takes some of them
BACKOFF = (0.5, 1.0, 2.0, 4.0)
DIARY = 40  # entries


class GaveUp(Exception):
    """Something that had to be sent could not be, or was answered as it must not be."""


class Assessor(ABC):
    """An assessor with `devices` browsers. `counts`: what they met; `done`: the tasks begun, with all they know."""

    devices = 1

    def __init__(
        self, seat: Seat, plan: Plan, seed: int, browser: Callable[..., Any] = Browser, session: str = ""
    ) -> None:
        self.seat, self.plan = seat, plan
        self.counts = Counter[str]()
        self.done: list[tuple[Card, Ledger]] = []
        self.is_over = False
        self.saved_at = 0.0  # when the newest request that was acknowledged was sent
        self.draw = random.Random(seed)  # noqa: S311
        self.browsers = [
            browser(plan.address, seat, self.counts, plan.failed, self.draw, session) for _ in range(self.devices)
        ]

    @abstractmethod
    def task_of(self, card: Card) -> "DeskTask[Any]":
        """Return the work at a task."""

    def cards(self) -> Iterable[Card]:
        return self.seat.cards

    def run(self) -> None:
        try:
            time.sleep(max(0.0, self.plan.starts + self.draw.uniform(0, self.plan.every) - time.monotonic()))
            for card in self.cards():
                if self.plan.is_over:
                    return
                self.do(card)
        finally:
            self.is_over = True

    def do(self, card: Card) -> "DeskTask[Any]":
        task = self.task_of(card)
        self.done.append((card, task.ledger))
        try:
            task.run()
        except Exception as error:
            task.violation(f"{type(error).__name__} {error}")
        return task


@dataclass(slots=True)
class Device(Generic[M]):
    browser: Browser
    window: Window[M]
    clock: WindowClock


class DeskTask(ABC, Generic[M]):
    """One task of one assessor, in a window on each of their devices. `at`: the device they work at."""

    def __init__(self, assessor: Assessor, card: Card, model: type[M]) -> None:
        self.assessor, self.plan, self.card, self.draw = assessor, assessor.plan, card, assessor.draw
        self.counts, self.times = assessor.counts, assessor.plan.times
        self.ledger = Ledger()
        self.devices = [
            Device(browser, Window(self.ledger, self.violation, self.draw, model), WindowClock(self.draw))
            for browser in assessor.browsers
        ]
        self.at = self.devices[0]
        self._failures = 0
        self._diary: deque[str] = deque(maxlen=DIARY)

    @property
    def window(self) -> Window[M]:
        return self.at.window

    def violation(self, text: str) -> None:
        lines = "\n    ".join(self._diary)
        self.plan.violation(f"{self.assessor.seat.username}, task {self.card.task}: {text}\n    {lines}")

    def note(self, window: Window[M], text: str) -> None:
        state = f"{len(window.queue)} waiting" + ", moved" * window.moved + ", troubled" * window.troubled
        self._diary.append(f"{time.monotonic():.3f} {window.id[:4]} ({state}) {text}")

    def url(self, name: str = "") -> str:
        return f"/desk/{self.card.task}/{name}"

    def run(self) -> None:
        self.open()
        self.ledger.opened, self.ledger.first = True, dict(self.window.model.rows)
        self.counts["tasks"] += 1
        self.work()
        self.drain()
        if self.is_complete():
            self.submit()
            self.counts["submitted"] += 1

    @abstractmethod
    def open(self) -> None:
        """Open the task and show its state."""

    @abstractmethod
    def work(self) -> None:
        """Work at it."""

    @abstractmethod
    def exchange(self, device: Device[M]) -> None:
        """Send operations that wait, from the first on."""

    @abstractmethod
    def is_complete(self) -> bool:
        """Whether it is to be submitted."""

    @abstractmethod
    def submit(self) -> None:
        """Submit it."""

    # Asking

    def fate(self) -> Fate:
        return Fate.ANSWERED

    def ok(self, answer: Answer) -> Answer:
        """Return an answer of 200. Raises `GaveUp` for any other."""
        if answer.status != 200:
            raise GaveUp(f"answered {answer.status}, {str(answer.body)[:200]}")
        return answer

    def try_once(self, ask: Callable[[], Reply]) -> Reply | None:
        started = time.monotonic()
        try:
            reply = ask()
        except NoAnswer as error:
            self.counts["unanswered"] += 1
            self._failures += 1
            why = type(error.__cause__).__name__ if error.__cause__ else "an answer that is none"
            self.times.unanswered.append((started, time.monotonic(), why))
            return None
        self._failures = 0
        return reply

    def insist(self, name: str, ask: Callable[[], Reply]) -> Reply:
        """Ask until there is an answer. Raises `GaveUp`."""
        end = time.monotonic() + DRAINED_WITHIN
        while (reply := self.try_once(ask)) is None:
            if time.monotonic() > end:
                raise GaveUp(f"no answer to {name} within {DRAINED_WITHIN:g} s")
            time.sleep(self.backoff())
        return reply

    def backoff(self) -> float:
        """Seconds until the next try, longer after each failure."""
        return BACKOFF[min(max(self._failures, 1), len(BACKOFF)) - 1] * self.draw.uniform(0.8, 1.2)

    # Windows

    def hold(self, device: Device[M], *wants: str) -> bool:
        """Hold the desk, if need be against another window. Raises `GaveUp`."""
        for want in wants:
            body, fate = {"window": device.window.id, "want": want}, self.fate()
            self.note(device.window, f"wants to {want}, {fate}")
            answer = device.browser.post(self.url("hold/"), body, fate)
            if answer.status == 200 and answer.body["holder"] == "mine":
                return True
        raise GaveUp(f"the desk cannot be held: {answer}")

    def reload(self, device: Device[M]) -> None:
        """Take the server's state over, if there is an answer."""
        state = self.try_once(lambda: device.browser.get(self.url("state/")))
        if state:
            device.window.load(state)
            self.note(device.window, f"shows number {state['seq']}")

    def take_over(self, device: Device[M]) -> None:
        wants = self.draw.choice((("take",), ("hold", "take")))
        if self.try_once(lambda: self.hold(device, *wants)):
            device.window.moved, device.window.stale = False, True
            self.note(device.window, "holds")
            self.counts["takeovers"] += 1
            self.reload(device)
            device.clock.run()

    # Sending

    def deliver(self, device: Device[M], ask: Callable[[], list[Answer]], body: Json) -> list[Json]:
        """Send a request with operations; take and return the receipts."""
        sent = time.monotonic()
        answers = self.try_once(ask) or []
        self.note(device.window, f"sent {summary(body)}; {len(answers)} answers")
        receipts = [receipt for answer in answers for receipt in self.ok(answer).body["receipts"]]
        if receipts:
            self.assessor.saved_at = sent
            self.note(device.window, f"received {summary({'receipts': receipts})}")
            device.window.take(receipts)
        return receipts

    def beat(self, device: Device[M]) -> None:
        body, moment = device.clock.beat(device.window.id)

        def ask() -> Answer:
            with self.times.timing("beat"):
                return self.ok(device.browser.post(self.url("beat/"), body, self.fate()))

        if self.try_once(ask):
            device.clock.acknowledge(moment)
            self.counts["beats"] += 1

    def drain(self) -> None:
        """Have everything acknowledged that waits in any window; the last one holds the desk then and shows it."""
        end = time.monotonic() + DRAINED_WITHIN
        for device in self.devices:
            window = device.window
            while window.queue or (device is self.at and (window.moved or window.stale)):
                if time.monotonic() > end:
                    raise GaveUp(f"{len(window.queue)} operations could not be sent")
                if self.at is not device or window.moved:
                    self.at.window.moved = True
                    self.at = device
                    self.take_over(device)
                elif window.stale:
                    self.reload(device)
                self.exchange(device)


def summary(body: Json) -> str:
    """Operations or receipts of a request, in short."""
    parts = [f"{op['kind']} {op['op_id'][:4]}" for op in body.get("ops", [])]
    parts += [
        f"{receipt['op_id'][:4]} {receipt['status']} {receipt.get('seq', '')}"
        for receipt in body.get("receipts", [])
    ]
    return ", ".join(parts)
