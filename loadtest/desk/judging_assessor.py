"""One simulated assessor at judging desks: a label every two seconds, whether the last one was saved by then or not.

As in the browser, labels wait in an outbox, the next three answers are fetched beforehand, and a heartbeat goes out
every 15 s. What waits while the server is away is sent when it is back.
"""

import json
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event as Signal
from typing import Any, Protocol

from assessor.rules.label_ops import CANT_JUDGE
from evaluation.terms import Stage
from loadtest.desk.clock import WindowClock
from loadtest.desk.label_model import LabelModel
from loadtest.desk.model import Json
from loadtest.desk.window import Ledger, Window
from loadtest.desk.wire import Answer, Browser, NoAnswer
from loadtest.desk.world import Card, Seat

LABEL_EVERY, BEAT_EVERY, PAGE_EVERY = 2.0, 15.0, (60.0, 120.0)
AHEAD = (1, 2, 3, -1)
BACKOFF = (0.5, 1.0, 2.0, 4.0)
DRAINED_WITHIN = 120.0
MOST_AT_ONCE = 50
STATE = re.compile(r'<script id="desk-state" type="application/json">(.*?)</script>', re.DOTALL)
SAID = {
    True: ("support", "partial_support", "not_support"),
    False: ("full_support", "partial_support", "no_support"),
}


class GaveUp(Exception):
    """Something that had to be sent could not be."""


@dataclass(slots=True)
class Times:
    """When requests were answered, and how long they took, by what they were."""

    found: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    unanswered: list[tuple[float, float, str]] = field(default_factory=list)
    """When requests without a good answer were asked, when that was known, and why."""

    def add(self, what: str, seconds: float) -> None:
        """Take one down; from any thread."""
        self.found[what].append((time.monotonic(), seconds))

    @contextmanager
    def timing(self, what: str) -> Iterator[None]:
        """Take down how long the block takes, if it succeeds."""
        started = time.monotonic()
        yield
        self.add(what, time.monotonic() - started)


@dataclass(frozen=True, slots=True)
class JudgingPlan:
    """What all have in common: where, from when until when, and who hears of violations and of failed requests."""

    address: str
    starts: float
    ends: float
    complain: Callable[[str], None]
    failed: Callable[[str], None]
    times: Times
    every: float = LABEL_EVERY
    stopped: Signal = field(default_factory=Signal)

    @property
    def is_over(self) -> bool:
        """Whether nothing new is begun any more."""
        return self.stopped.is_set() or time.monotonic() > self.ends


class JudgingAssessor:
    """An assessor. `counts` tells what they met, `done` which tasks they opened, with all that they know of them."""

    def __init__(self, seat: Seat, plan: JudgingPlan, seed: int, browser: Callable[..., Any] = Browser) -> None:
        self.seat, self._plan = seat, plan
        self.counts = Counter[str]()
        self.done: list[tuple[Card, Ledger]] = []
        self.is_over = False
        self.saved_at = 0.0  # when the newest request that was acknowledged was sent
        self._draw = random.Random(seed)  # noqa: S311
        self._browser = browser(plan.address, seat, self.counts, plan.failed, self._draw)

    def run(self) -> None:
        """Judge one task after the other until the time is over."""
        try:
            self._run()
        finally:
            self.is_over = True

    def _run(self) -> None:
        time.sleep(max(0.0, self._plan.starts + self._draw.uniform(0, self._plan.every) - time.monotonic()))
        for card in self.seat.cards:
            if self._plan.is_over:
                return
            working = Judging(self, self._browser, self._plan, card, self._draw)
            self.done.append((card, working.ledger))
            try:
                working.run()
            except GaveUp as gave_up:
                self._plan.complain(f"{self.seat.username}, task {card.task}: {gave_up}")


class Counting(Protocol):
    """Who judges: what they met is counted, and when the newest request that was acknowledged was sent."""

    counts: Counter[str]
    saved_at: float


class Judging:
    """One task of one assessor, in one window."""

    def __init__(
        self, assessor: Counting, browser: Browser, plan: JudgingPlan, card: Card, draw: random.Random
    ) -> None:
        self._assessor, self._browser, self._plan, self._card, self._draw = assessor, browser, plan, card, draw
        self._counts = assessor.counts
        self.ledger = Ledger()
        self.window = Window(self.ledger, plan.complain, draw, LabelModel)
        self._clock = WindowClock(draw)
        self._answers: list[str] = []  # in the order of the screen
        self._at = ""  # the answer on the screen
        self._texts: set[str] = set()
        self._given: dict[str, float] = {}  # when each operation that waits was due
        self._failures = 0
        now = time.monotonic()
        self._label_at, self._beat_at, self._send_at = now, now + BEAT_EVERY, now
        self._page_at = now + draw.uniform(*PAGE_EVERY)

    def _url(self, name: str = "") -> str:
        return f"/desk/{self._card.task}/{name}"

    def run(self) -> None:
        """Open the task, judge until the time is over or everything has a label; then submit it."""
        self._insist("the page", self._open_page)
        self.ledger.first = dict(self.window.model.rows)
        said = {"window": self.window.id, "want": "hold"}
        self._insist("the hold", lambda: self._heard(self._browser.post(self._url("hold/"), said)))
        self._clock.run()
        self._counts["tasks"] += 1
        while not self._plan.is_over and self._next_key():
            self._tick()
        self._drain()
        if not self._next_key():
            self._submit()

    # Asking

    def _heard(self, answer: Answer) -> Answer:
        if answer.status != 200:
            self._plan.complain(f"task {self._card.task} was answered {answer.status}, {str(answer.body)[:200]}")
            raise NoAnswer
        return answer

    def _insist(self, what: str, ask: Callable[[], Any]) -> None:
        """Ask until there is an answer. Raises `GaveUp`."""
        end = time.monotonic() + DRAINED_WITHIN
        while not self._try(ask):
            if time.monotonic() > end:
                raise GaveUp(f"{what} did not come within {DRAINED_WITHIN:g} s")
            time.sleep(self._backoff())

    def _try(self, ask: Callable[[], Any]) -> bool:
        """Ask once; say whether there was an answer."""
        started = time.monotonic()
        try:
            ask()
        except NoAnswer as error:
            self._counts["unanswered"] += 1
            self._failures += 1
            why = type(error.__cause__).__name__ if error.__cause__ else "an answer that is none"
            self._plan.times.unanswered.append((started, time.monotonic(), why))
            return False
        self._failures = 0
        return True

    def _backoff(self) -> float:
        return BACKOFF[min(max(self._failures, 1), len(BACKOFF)) - 1] * self._draw.uniform(0.8, 1.2)

    def _open_page(self) -> None:
        """Load the page, of a task that was not started after starting it; take the state that is in it over."""
        state = self._page()
        if state is None:
            self._browser.post(self._url("start/"), {})
            state = self._page()
        if state is None:
            raise GaveUp("the task cannot be started")
        self.window.load(state)
        self._answers = [one["id"] for one in state["answers"]]
        self._texts = set()

    def _page(self) -> Json | None:
        with self._plan.times.timing("page"):
            found = STATE.search(self._browser.get(self._url()))
        state: Json | None = json.loads(found[1]) if found else None
        return state

    # Judging

    def _tick(self) -> None:
        """Wait for what is due next, and do it."""
        due = [self._label_at, self._beat_at, *([self._send_at] if self.window.queue else [])]
        self._plan.stopped.wait(max(0.0, min(*due, self._plan.ends) - time.monotonic()))
        now = time.monotonic()
        while self._label_at <= now:
            if self._next_key() and self._goes_on():
                self._label()
            self._label_at += self._plan.every
        if self._beat_at <= now:
            self._beat_at = now + BEAT_EVERY
            self._try(self._beat)
        if self.window.queue and self._send_at <= now:
            self._exchange()
        elif self._page_at <= now and not self.window.queue:
            self._page_at = now + self._draw.uniform(*PAGE_EVERY)
            self._try(self._open_page)
        self._prefetch()

    def _next_key(self) -> str | None:
        """Return the first key without a label, in the order of the screen."""
        return next((key for key, row in self.window.model.rows.items() if row.label is None), None)

    def _answer_of(self, key: str) -> str:
        return self.window.model.places[key].split("/")[0]

    def _goes_on(self) -> bool:
        """Go to the answer of the next label if its text is there; say so."""
        answer = self._answer_of(self._next_key() or "")
        if answer not in self._texts and not self._fetch(answer):
            return False
        if answer != self._at:
            self._at = answer
            self._do("open", {"answer": answer})
        return True

    def _prefetch(self) -> None:
        """Fetch the text of one answer near the one on the screen, where one lacks."""
        if not self._at or self._failures:
            return
        place = self._answers.index(self._at)
        near = [self._answers[place + by] for by in AHEAD if 0 <= place + by < len(self._answers)]
        missing = next((one for one in near if one not in self._texts), None)
        if missing:
            self._fetch(missing)

    def _fetch(self, answer: str) -> bool:
        def ask() -> None:
            with self._plan.times.timing("next answer"):
                said = self._browser.get(self._url(f"answers/{answer}/"))
            if said["id"] != answer or "data-index" not in said["html"]:
                self._plan.complain(f"answer {answer} came as {str(said)[:200]}")

        if answer not in self._texts and self._try(ask):
            self._texts.add(answer)
        return answer in self._texts

    def _do(self, kind: str, payload: Json) -> None:
        act = self.window.do(kind, payload)
        self._given[act.op_id] = min(self._label_at, time.monotonic())

    def _label(self) -> None:
        """Give the next label; now and then think better of one, take one back, or say where it is."""
        model, chance = self.window.model, self._draw.random()
        given = [key for key, row in model.rows.items() if row.label] if 0.03 < chance < 0.1 else []
        if chance < 0.02 and model.undo:
            self._do("undo", {"target": model.undo[-1].step})
        elif chance < 0.03 and model.redo:
            self._do("redo", {"target": model.redo[-1].step})
        elif given and chance < 0.06 and model.stage == Stage.ASSIGN:
            self._do("locate", {"key": self._draw.choice(given), "sentence": self._draw.randrange(3)})
        elif given:
            self._give(self._draw.choice(given))
        else:
            self._give(self._next_key() or "")

    def _give(self, key: str) -> None:
        model, draw = self.window.model, self._draw
        label = draw.choice(SAID[model.stage == Stage.ASSIGN])
        shown = model.rows[key].shown_label
        cannot, accepted = draw.random() < 0.02, shown is not None and draw.random() < 0.5
        label = CANT_JUDGE if cannot and not accepted else shown if accepted else label
        payload = {
            "key": key,
            "label": label,
            "reason": "in Klingon" if label == CANT_JUDGE else "",
            "sentence": draw.choice((None, 0, 1)) if model.stage == Stage.ASSIGN else None,
            "accepted": accepted,
            "shown_ms": draw.randrange(400, 9000) if shown is not None else None,
        }
        self._do("label", payload)

    # Saving

    def _exchange(self) -> None:
        """Send what waits; take the receipts that come back, or wait a little longer than the last time."""
        said, sent = self.window.request(MOST_AT_ONCE), time.monotonic()

        def ask() -> None:
            with self._plan.times.timing("save"):
                answer = self._heard(self._browser.post(self._url("ops/"), said))
            now, self._assessor.saved_at = time.monotonic(), sent
            self.window.take(answer.body["receipts"])
            for receipt in answer.body["receipts"]:
                self._plan.times.add("label to receipt", now - self._given.pop(receipt["op_id"], now))

        self._send_at = time.monotonic() + (0.0 if self._try(ask) else self._backoff())
        if self.window.stale or self.window.moved or self.window.conflict:
            self._plan.complain(f"task {self._card.task}: an undisturbed window had to load again")
            raise GaveUp("another window or the server changed the labels")

    def _beat(self) -> None:
        said, moment = self._clock.beat(self.window.id)
        with self._plan.times.timing("beat"):
            self._heard(self._browser.post(self._url("beat/"), said))
        self._clock.heard(moment)

    def _drain(self) -> None:
        """Have everything acknowledged. Raises `GaveUp`."""
        end = time.monotonic() + DRAINED_WITHIN
        while self.window.queue:
            if time.monotonic() > end:
                raise GaveUp(f"{len(self.window.queue)} operations could not be sent")
            time.sleep(max(0.0, self._send_at - time.monotonic()))
            self._exchange()

    def _submit(self) -> None:
        said = {"window": self.window.id, "seq": self.window.seq}

        def ask() -> None:
            with self._plan.times.timing("submit"):
                self._heard(self._browser.post(self._url("submit/"), said))

        self._insist("the submission", ask)
        self._counts["submitted"] += 1
