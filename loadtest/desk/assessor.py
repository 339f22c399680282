"""One simulated assessor: one task after the other, in one window or two, whatever network and server do."""

import random
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event as Signal
from typing import TypeVar

from loadtest.desk.acts import Hands
from loadtest.desk.checks import check_task, read_record
from loadtest.desk.clock import WindowClock
from loadtest.desk.model import DeskModel, Json
from loadtest.desk.window import Ledger, Window
from loadtest.desk.wire import Answer, Browser, Fate, NoAnswer
from loadtest.desk.world import Card, Seat, own_connection

ROUNDS = (20, 160)
"""Rounds of work that one task takes; in a round an assessor does a few things."""

FINISHED = 0.85  # of the tasks
MOST_SUBMITS, DIARY = 10, 40
DRAINED_WITHIN = 150.0  # seconds; a web process that starts takes some of them
FATES = {Fate.ANSWERED: 70, Fate.LOST: 8, Fate.CUT: 8, Fate.HALF: 4, Fate.TWICE: 6}
PAUSES = (0.0, 0.01, 0.05)
TROUBLE_PAUSES = (0.05, 0.2, 0.5)


Found = TypeVar("Found")


@dataclass(slots=True)
class Device:
    """A window in a browser of its own."""

    browser: Browser
    window: Window[DeskModel]
    clock: WindowClock


@dataclass(frozen=True, slots=True)
class Plan:
    """What all assessors have in common: where the server is, until when they work, and who hears of violations."""

    address: str
    ends: float
    complain: Callable[[str], None]
    spoil: Callable[[int, Sequence[str]], None]
    rounds: tuple[int, int] = ROUNDS
    finished: float = FINISHED
    stopped: Signal = field(default_factory=Signal)

    @property
    def is_over(self) -> bool:
        """Whether nothing new is begun any more."""
        return self.stopped.is_set() or time.monotonic() > self.ends


def told(said: Json) -> str:
    """Return a request or an answer in short."""
    shown = [f"{one['kind']} {one['op_id'][:4]}" for one in said.get("ops", [])]
    shown += [f"{one['op_id'][:4]} {one['status']} {one.get('seq', '')}" for one in said.get("receipts", [])]
    return ", ".join(shown)


class Stuck(Exception):
    """Something that had to be sent could not be."""


class Assessor:
    """An assessor. `counts` tells afterwards what they met."""

    def __init__(self, seat: Seat, plan: Plan, seed: int) -> None:
        self.seat, self._plan = seat, plan
        self.counts = Counter[str]()
        self.settled: dict[int, int] = {}  # operations in the log of each task that is done, by key
        self._draw = random.Random(seed)  # noqa: S311

    def run(self) -> None:
        """Work until the time is over."""
        for card in self.seat.cards:
            if self._plan.is_over:
                return
            work = Work(self, self._plan, card, self._draw)
            try:
                work.run()
            except Stuck as stuck:
                work.complain(str(stuck))


class Work:
    """One task of one assessor."""

    def __init__(self, assessor: Assessor, plan: Plan, card: Card, draw: random.Random) -> None:
        self._assessor, self._plan, self._card, self._draw = assessor, plan, card, draw
        self._counts = assessor.counts
        self._ledger = Ledger()
        self._hands = Hands(draw, card.sentences)
        self._devices = [self._device(), self._device()]
        self._at = self._devices[0]  # the device that is worked at
        self._diary: deque[str] = deque(maxlen=DIARY)

    def _device(self) -> Device:
        browser = Browser(self._plan.address, self._assessor.seat, self._counts, self.complain, self._draw)
        return Device(browser, Window(self._ledger, self.complain, self._draw, DeskModel), WindowClock(self._draw))

    def complain(self, what: str) -> None:
        lines = "\n    ".join(self._diary)
        self._plan.complain(f"{self._assessor.seat.username}, task {self._card.task}: {what}\n    {lines}")

    def _note(self, window: Window[DeskModel], what: str) -> None:
        """Write down what happened, to be told with a violation."""
        state = f"{len(window.queue)} waiting" + ", moved" * window.moved + ", troubled" * window.troubled
        self._diary.append(f"{time.monotonic():.3f} {window.id[:4]} ({state}) {what}")

    def _url(self, name: str) -> str:
        return f"/desk/{self._card.task}/{name}/"

    def run(self) -> None:
        """Open the task, work, finish it mostly, and compare what is stored with what was done."""
        browser, window = self._at.browser, self._at.window
        self._insist("start", lambda: browser.post(self._url("start"), {}, self._fate()))
        self._insist("hold", lambda: self._hold(self._at))
        state = self._insist("state", lambda: browser.get(self._url("state")))
        window.load(state)
        self._ledger.first = dict(window.model.rows)
        self._counts["tasks"] += 1
        for _ in range(self._draw.randint(*self._plan.rounds)):
            if self._plan.is_over:
                break
            self._round()
        self._drain()
        if self._draw.random() < self._plan.finished:
            self._submit()
        self._settle()

    def _round(self) -> None:
        """Do some things, send some of them, and meet with some trouble."""
        chance = self._draw.random()
        if chance < 0.02:
            self._move_over()
        elif chance < 0.03:
            self._at.browser.end_session()
        elif chance < 0.035:
            self._at.browser.spoil_token()
        elif chance < 0.15:
            self._beat(self._draw.choice(self._devices))
        if self._may_act():
            for _ in range(self._draw.choice((1, 1, 2, 3, 12))):
                self._hands.act(self._at.window)
        if self._draw.random() < 0.8:
            self._exchange(self._at)
        time.sleep(self._draw.choice(PAUSES))

    def _may_act(self) -> bool:
        window = self._at.window
        if window.moved:  # another window holds the desk; the assessor wants to go on here
            self._take_over(self._at)
        elif window.stale:
            self._reload(self._at)
        return not window.stale and not window.moved and len(window.queue) < 200

    def _fate(self) -> Fate:
        return self._draw.choices(list(FATES), list(FATES.values()))[0]

    def _insist(self, what: str, ask: Callable[[], Found]) -> Found:
        """Ask until there is an answer. Raises `Stuck`."""
        end = time.monotonic() + DRAINED_WITHIN
        while time.monotonic() < end:
            try:
                return ask()
            except NoAnswer:
                self._counts["unanswered"] += 1
                time.sleep(self._draw.choice(TROUBLE_PAUSES))
        raise Stuck(f"no answer to {what} within {DRAINED_WITHIN:g} s")

    # Windows

    def _move_over(self) -> None:
        """Go on in the other window. The one that is left has sent what it had, or goes on for a while unaware."""
        left = self._at
        if self._draw.random() < 0.5 and not left.window.stale:
            self._exchange(left)
        if self._draw.random() < 0.3:
            said = {"window": left.window.id, "want": "release"}
            self._try(lambda: left.browser.post(self._url("hold"), said))
        self._at = next(one for one in self._devices if one is not left)
        self._at.window.moved = True
        self._take_over(self._at)
        if not left.window.stale and not left.window.moved and self._draw.random() < 0.5:
            for _ in range(self._draw.randint(1, 3)):
                self._hands.act(left.window)
            self._exchange(left)
        left.window.moved = True
        left.clock.stop()

    def _take_over(self, device: Device) -> None:
        if self._try(lambda: self._hold(device)):
            device.window.moved, device.window.stale = False, True
            self._note(device.window, "holds")
            self._counts["takeovers"] += 1
            self._reload(device)
            device.clock.run()

    def _hold(self, device: Device) -> bool:
        """Hold the desk, if need be against the other window."""
        for want in self._draw.choice((("take",), ("hold", "take"))):
            said = {"window": device.window.id, "want": want}
            fate = self._fate()
            self._note(device.window, f"wants to {want}, {fate}")
            answer = device.browser.post(self._url("hold"), said, fate)
            if answer.status == 200 and answer.body["holder"] == "mine":
                return True
        raise Stuck(f"the desk cannot be taken: {answer}")

    def _reload(self, device: Device) -> None:
        state = self._try(lambda: device.browser.get(self._url("state")))
        if state:
            device.window.load(state)
            self._note(device.window, f"shows number {state['seq']}")

    def _try(self, ask: Callable[[], Found]) -> Found | None:
        try:
            return ask()
        except NoAnswer:
            self._counts["unanswered"] += 1
            time.sleep(self._draw.choice(TROUBLE_PAUSES))
            return None

    # Sending

    def _exchange(self, device: Device) -> None:
        """Send what waits, from the first on; take the receipts that come back."""
        window = device.window
        if not window.can_send():
            return
        older = window.old_copy() if self._draw.random() < 0.05 else None
        fate = self._fate()
        said = window.request(self._draw.choice((1, 3, 50, 50)), 2 if fate is Fate.TWICE else 1)
        if older:
            self._counts["old copies"] += 1
            answers = self._try(lambda: device.browser.post_both(self._url("ops"), older, said))
        else:
            self._counts[f"requests {fate}"] += 1
            answers = self._try(lambda: self._sent(device, said, fate))
        self._note(window, f"sent {told(said)}, {'with an old copy' if older else fate}")
        for answer in answers or []:
            if answer.status != 200:
                raise Stuck(f"operations were answered {answer}")
            self._note(window, f"heard {told(answer.body)}")
            window.take(answer.body["receipts"])
        if window.conflict:
            self._counts["conflicts"] += 1
            choice = self._draw.choice(("mine", "theirs", "both"))
            window.resolve(choice)
            self._note(window, f"chose {choice}")
        if window.stale and not window.moved:
            self._reload(device)

    def _sent(self, device: Device, said: object, fate: Fate) -> list[Answer]:
        if fate is Fate.TWICE:
            return device.browser.post_both(self._url("ops"), said, said)
        return [device.browser.post(self._url("ops"), said, fate)]

    def _beat(self, device: Device) -> None:
        """Tell the time, at times twice; a window that reads tells none."""
        if device is self._at and not device.window.moved and self._draw.random() < 0.5:
            device.clock.run()
        said, moment = device.clock.beat(device.window.id)
        answer = self._try(lambda: device.browser.post(self._url("beat"), said, self._fate()))
        if answer and answer.status == 200:
            device.clock.heard(moment)
            self._counts["beats"] += 1
        elif answer:
            raise Stuck(f"a beat was answered {answer}")

    def _drain(self) -> None:
        """Have everything acknowledged that waits in any window; one of them holds the desk then and shows it."""
        end = time.monotonic() + DRAINED_WITHIN
        for device in self._devices:
            while device.window.queue or (device is self._at and (device.window.moved or device.window.stale)):
                if time.monotonic() > end:
                    raise Stuck(f"{len(device.window.queue)} operations could not be sent")
                if self._at is not device or device.window.moved:
                    self._at.window.moved = True
                    self._at = device
                    self._take_over(device)
                elif device.window.stale:
                    self._reload(device)
                self._exchange(device)

    # The end

    def _submit(self) -> None:
        """Finish the list and freeze it; then nothing can be changed any more."""
        for _ in range(MOST_SUBMITS):
            window = self._at.window
            self._hands.finish(window, self._card.limit)
            self._drain()
            answer = self._ask_to_submit(self._at.window.seq - (self._draw.random() < 0.2))
            if answer.status == 200:
                break
            if answer.body["code"] not in ("changed", "moved"):
                raise Stuck(f"the finished list was answered {answer}")
            self._at.window.moved = True
            self._drain()
        else:
            raise Stuck(f"the finished list was answered {answer}")
        self._counts["submitted"] += 1
        op = self._hands.search()
        said = {"window": self._at.window.id, "ops": [op]}
        answer = self._insist("ops", lambda: self._at.browser.post(self._url("ops"), said))
        if answer.body["receipts"][0].get("code") != "not_open":
            self.complain(f"submitted, and an operation was answered {answer}")

    def _ask_to_submit(self, seq: int) -> Answer:
        said = {"window": self._at.window.id, "seq": seq}
        return self._insist("submit", lambda: self._at.browser.post(self._url("submit"), said, self._fate()))

    def _settle(self) -> None:
        """Compare what is stored with what was done, and keep the figures."""
        acts = self._ledger.acts.values()
        self._counts["operations"] += sum(act.outcome == "applied" for act in acts)
        self._counts["resends"] += sum(max(0, act.sends - 1) for act in acts)
        self._counts["given up"] += sum(act.outcome not in ("", "applied") for act in acts)
        with own_connection():
            self._plan.spoil(self._card.pk, [act.op_id for act in self._ledger.applied()])
            record = read_record(self._card.pk)
            found = check_task(record, self._ledger)
        for violation in found.violations:
            self.complain(violation)
        self._counts["late"] += found.late
        self._assessor.settled[self._card.pk] = len(record.log)
