"""A judging desk: a label every two seconds, whether the last one was saved by then or not.

As in the browser, labels wait in an outbox, the next three answers are fetched beforehand, and a heartbeat goes out
every 15 s. What waits while the server is away is sent when it is back.
"""

import json
import re
import time

from evaluation.labels import CANT_JUDGE
from evaluation.stages import ASSIGN
from loadtest.desk.assessor import Assessor, DeskTask, Device, GaveUp
from loadtest.desk.model import Json, LabelModel
from loadtest.desk.seats import Card
from loadtest.desk.wire import Answer

BEAT_EVERY, PAGE_EVERY = 15.0, (60.0, 120.0)
AHEAD = (1, 2, 3, -1)
MOST_AT_ONCE = 50
STATE = re.compile(r'<script id="desk-state" type="application/json">(.*?)</script>', re.DOTALL)
ASSIGNMENTS = ("support", "partial_support", "not_support")
SUPPORT = ("full_support", "partial_support", "no_support")


class JudgingTask(DeskTask[LabelModel]):
    def __init__(self, assessor: Assessor, card: Card) -> None:
        super().__init__(assessor, card, LabelModel)
        self._answers: list[str] = []  # in the order of the screen
        self._shown = ""  # the answer on the screen
        self._texts: set[str] = set()
        self._due: dict[str, float] = {}  # when each operation that waits was due
        now = time.monotonic()
        self._label_at, self._beat_at, self._send_at = now, now + BEAT_EVERY, now
        self._page_at = now + self.draw.uniform(*PAGE_EVERY)

    def open(self) -> None:
        self.insist("the page", self._load_page)

    def _load_page(self) -> bool:
        state = self._page()
        if state is None:
            self.at.browser.post(self.url("start/"), {})
            state = self._page()
        if state is None:
            raise GaveUp("the task cannot be started")
        self.window.load(state)
        self._answers = [answer["id"] for answer in state["answers"]]
        self._texts = set()
        return True

    def _page(self) -> Json | None:
        with self.times.timing("page"):
            found = STATE.search(self.at.browser.get(self.url()))
        state: Json | None = json.loads(found[1]) if found else None
        return state

    def work(self) -> None:
        """Hold the desk, and judge until everything has a label."""
        self.insist("the hold", lambda: self.hold(self.at, "hold"))
        self.at.clock.run()
        while not self.plan.is_over and self._next_key():
            self._tick()

    def is_complete(self) -> bool:
        return self._next_key() is None

    def _tick(self) -> None:
        due = [self._label_at, self._beat_at, *([self._send_at] if self.window.queue else [])]
        self.plan.stopped.wait(max(0.0, min(*due, self.plan.ends) - time.monotonic()))
        now = time.monotonic()
        while self._label_at <= now:
            if self._next_key() and self._show_next():
                self._label()
            self._label_at += self.plan.every
        if self._beat_at <= now:
            self._beat_at = now + BEAT_EVERY
            self.beat(self.at)
        if self.window.queue and self._send_at <= now:
            self.exchange(self.at)
        elif self._page_at <= now and not self.window.queue:
            self._page_at = now + self.draw.uniform(*PAGE_EVERY)
            self.try_once(self._load_page)
        self._prefetch()

    def _next_key(self) -> str | None:
        """Return the first key without a label, in the order of the screen."""
        return next((key for key, row in self.window.model.rows.items() if row.label is None), None)

    def _show_next(self) -> bool:
        """Go to the answer of the next label, and return whether its text is there."""
        answer = self.window.model.places[self._next_key() or ""].split("/")[0]
        if not self._fetch(answer):
            return False
        if answer != self._shown:
            self._shown = answer
            self._do("open", {"answer": answer})
        return True

    def _prefetch(self) -> None:
        if not self._shown or self._failures:
            return
        place = self._answers.index(self._shown)
        near = [self._answers[place + by] for by in AHEAD if 0 <= place + by < len(self._answers)]
        missing = next((answer for answer in near if answer not in self._texts), None)
        if missing:
            self._fetch(missing)

    def _fetch(self, answer: str) -> bool:
        def ask() -> bool:
            with self.times.timing("next answer"):
                body = self.at.browser.get(self.url(f"answers/{answer}/"))
            if body["id"] != answer or "data-index" not in body["html"]:
                self.violation(f"answer {answer} came as {str(body)[:200]}")
            return True

        if answer not in self._texts and self.try_once(ask):
            self._texts.add(answer)
        return answer in self._texts

    def _do(self, kind: str, payload: Json) -> None:
        act = self.window.do(kind, payload)
        self._due[act.op_id] = min(self._label_at, time.monotonic())

    def _label(self) -> None:
        """Give the next label; now and then think better of one, undo one, or locate one."""
        model, chance = self.window.model, self.draw.random()
        given = [key for key, row in model.rows.items() if row.label] if 0.03 < chance < 0.1 else []
        if chance < 0.02 and model.undo:
            self._do("undo", {"target": model.undo[-1].step})
        elif chance < 0.03 and model.redo:
            self._do("redo", {"target": model.redo[-1].step})
        elif given and chance < 0.06 and model.stage == ASSIGN:
            self._do("locate", {"key": self.draw.choice(given), "sentence": self.draw.randrange(3)})
        elif given and chance < 0.06:
            self._do("evidence", {"key": self.draw.choice(given), "sentence": self.draw.randrange(3)})
        else:
            self._give(self.draw.choice(given) if given else self._next_key() or "")

    def _give(self, key: str) -> None:
        model, draw = self.window.model, self.draw
        label = draw.choice(ASSIGNMENTS if model.stage == ASSIGN else SUPPORT)
        shown = model.rows[key].shown_label
        cannot, accepted = draw.random() < 0.02, shown is not None and draw.random() < 0.5
        label = CANT_JUDGE if cannot and not accepted else shown if accepted else label
        payload = {
            "key": key,
            "label": label,
            "reason": "in Klingon" if label == CANT_JUDGE else "",
            "sentence": draw.choice((None, 0, 1)) if model.stage == ASSIGN else None,
            "accepted": accepted,
            "shown_ms": draw.randrange(400, 9000) if shown is not None else None,
        }
        self._do("label", payload)

    def exchange(self, device: Device[LabelModel]) -> None:
        """Send everything when that is due; without an answer, it is due later than the last time."""
        time.sleep(max(0.0, self._send_at - time.monotonic()))
        window, body = device.window, device.window.request(MOST_AT_ONCE)

        def ask() -> list[Answer]:
            with self.times.timing("save"):
                return [self.ok(device.browser.post(self.url("ops/"), body))]

        receipts, now = self.deliver(device, ask, body), time.monotonic()
        for receipt in receipts:
            self.times.add("label to receipt", now - self._due.pop(receipt["op_id"], now))
        self._send_at = now + (0.0 if receipts else self.backoff())
        if window.stale or window.moved or window.conflict:
            raise GaveUp("an undisturbed window had to load again: another one or the server changed the labels")

    def submit(self) -> None:
        body = {"window": self.window.id, "seq": self.window.seq}

        def ask() -> Answer:
            with self.times.timing("submit"):
                return self.ok(self.at.browser.post(self.url("submit/"), body))

        self.insist("the submission", ask)
