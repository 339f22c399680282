"""A list of nuggets in the making: random operations in two windows, over a network that loses, cuts and doubles."""

import time
from collections.abc import Callable

from loadtest.desk.assessor import Assessor, DeskTask, Device, GaveUp, Reply
from loadtest.desk.model import Json, NuggetModel
from loadtest.desk.nugget_acts import NuggetActs
from loadtest.desk.seats import Card
from loadtest.desk.wire import Answer, Fate

MOST_SUBMITS, MOST_WAITING = 10, 200
FATES = {Fate.ANSWERED: 70, Fate.LOST: 8, Fate.CUT: 8, Fate.HALF: 4, Fate.TWICE: 6}
PAUSES = (0.0, 0.01, 0.05)
TROUBLE_PAUSES = (0.05, 0.2, 0.5)


class NuggetTask(DeskTask[NuggetModel]):
    """One list. In a round of work an assessor does a few things; the devices should be two."""

    def __init__(self, assessor: Assessor, card: Card, *, keeps_one: bool = False) -> None:
        super().__init__(assessor, card, NuggetModel)
        self._acts = NuggetActs(self.draw, card.sentences, keeps_one=keeps_one)

    def fate(self) -> Fate:
        return self.draw.choices(list(FATES), list(FATES.values()))[0]

    def try_once(self, ask: Callable[[], Reply]) -> Reply | None:
        reply = super().try_once(ask)
        if reply is None:
            time.sleep(self.draw.choice(TROUBLE_PAUSES))
        return reply

    def backoff(self) -> float:
        """No further pause: `try_once` has made it."""
        return 0.0

    def open(self) -> None:
        browser = self.at.browser
        self.insist("start", lambda: browser.post(self.url("start/"), {}, self.fate()))
        wants = self.draw.choice((("take",), ("hold", "take")))
        self.insist("hold", lambda: self.hold(self.at, *wants))
        self.window.load(self.insist("state", lambda: browser.get(self.url("state/"))))

    def work(self) -> None:
        """Do some things, send some of them, and meet with some trouble, round after round."""
        for _ in range(self.draw.randint(*self.plan.rounds)):
            if self.plan.is_over:
                return
            self._meet_trouble()
            if self._may_act():
                for _ in range(self.draw.choice((1, 1, 2, 3, 12))):
                    self._acts.act(self.window)
            if self.draw.random() < 0.8:
                self.exchange(self.at)
            time.sleep(self.draw.choice(PAUSES))

    def _meet_trouble(self) -> None:
        chance = self.draw.random()
        if chance < 0.02:
            self._move_over()
        elif chance < 0.03 and self.plan.sessions_end:
            self.at.browser.end_session()
        elif 0.03 <= chance < 0.035:
            self.at.browser.break_token()
        elif chance < 0.15:
            device = self.draw.choice(self.devices)
            if device is self.at and not device.window.moved and self.draw.random() < 0.5:
                device.clock.run()
            self.beat(device)

    def _may_act(self) -> bool:
        window = self.window
        if window.moved:  # another window holds the desk; the assessor wants to go on here
            self.take_over(self.at)
        elif window.stale:
            self.reload(self.at)
        return not window.stale and not window.moved and len(window.queue) < MOST_WAITING

    def _move_over(self) -> None:
        """Go on in the other window. The one that is left has sent what it had, or goes on for a while unaware."""
        left = self.at
        if self.draw.random() < 0.5 and not left.window.stale:
            self.exchange(left)
        if self.draw.random() < 0.3:
            body = {"window": left.window.id, "want": "release"}
            self.try_once(lambda: left.browser.post(self.url("hold/"), body))
        self.at = next(device for device in self.devices if device is not left)
        self.window.moved = True
        self.take_over(self.at)
        if not left.window.stale and not left.window.moved and self.draw.random() < 0.5:
            for _ in range(self.draw.randint(1, 3)):
                self._acts.act(left.window)
            self.exchange(left)
        left.window.moved = True
        left.clock.stop()

    def exchange(self, device: Device[NuggetModel]) -> None:
        """Send some operations, at times beside an old copy; answer a conflict at random, and load again if need be."""
        window = device.window
        if not window.can_send():
            return
        older = window.old_copy() if self.draw.random() < 0.05 else None
        fate = self.fate()
        body = window.request(self.draw.choice((1, 3, 50, 50)), 2 if fate is Fate.TWICE else 1)
        self.counts["old copies" if older else f"requests {fate}"] += 1
        self.deliver(device, lambda: self._answers(device, older, body, fate), body)
        if window.conflict:
            self.counts["conflicts"] += 1
            choice = self.draw.choice(("mine", "theirs", "both"))
            window.resolve(choice)
            self.note(window, f"chose {choice}")
        if window.stale and not window.moved:
            self.reload(device)

    def _answers(self, device: Device[NuggetModel], older: Json | None, body: Json, fate: Fate) -> list[Answer]:
        if older or fate is Fate.TWICE:
            return device.browser.post_both(self.url("ops/"), older or body, body)
        return [device.browser.post(self.url("ops/"), body, fate)]

    def is_complete(self) -> bool:
        return self.draw.random() < self.plan.finished

    def submit(self) -> None:
        for _ in range(MOST_SUBMITS):
            self._acts.finish(self.window, self.card.limit)
            self.drain()
            answer = self._ask_to_submit()
            if answer.status == 200:
                break
            if answer.body["code"] not in ("changed", "moved"):
                raise GaveUp(f"the finished list was answered {answer}")
            self.window.moved = True
            self.drain()
        else:
            raise GaveUp(f"the finished list was answered {answer}")
        body = {"window": self.window.id, "ops": [self._acts.search()]}
        late = self.insist("ops", lambda: self.at.browser.post(self.url("ops/"), body))
        if late.body["receipts"][0].get("code") != "not_open":
            self.violation(f"submitted, and an operation was answered {late}")

    def _ask_to_submit(self) -> Answer:
        body = {"window": self.window.id, "seq": self.window.seq - (self.draw.random() < 0.2)}
        return self.insist("submit", lambda: self.at.browser.post(self.url("submit/"), body, self.fate()))
