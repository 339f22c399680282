"""Who is at work in a season: assessors who take what they are handed, and organizers who hand out and start LLM jobs.

All of it over HTTP, as a person in a browser does it: without an answer one looks whether it was done, and tries again.
"""

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from assessor.rules.nugget_ops import ordered
from evaluation.terms import Decision, Stage
from llmjobs.simulator.answering import MODEL
from loadtest.desk.acts import Hands
from loadtest.desk.assessor import Assessor, Device, Plan, Work
from loadtest.desk.clock import WindowClock
from loadtest.desk.judging_assessor import GaveUp, Judging, JudgingPlan
from loadtest.desk.model import DeskModel
from loadtest.desk.window import Ledger, Window
from loadtest.desk.wire import Answer, Browser, NoAnswer
from loadtest.desk.world import Card, Seat
from loadtest.season.world import MOST_NUGGETS, SLUG, SeasonWorld

STAGES = 3
"""Each topic's list is post-edited, its nuggets are assigned, and its citations are judged."""

LOOK_EVERY, ORGANIZE_EVERY = 0.7, 1.5  # seconds
TASK = re.compile(
    r'<li class="task" data-state="(?P<state>[^"]+)">.*?href="/desk/(?P<task>[^/"]+)/".*?'
    r"(?P<work>post-edit drafts|assign nuggets|judge support)",
    re.DOTALL,
)
KEY = re.compile(r'name="expect" value="([^"]+)"')
GIVEN = re.compile(r'<th scope="row"><bdi>([^<]+)</bdi>')
JOB = re.compile(rf'href="/campaigns/{SLUG}/jobs/(\d+)/"')
MISSING = "This field is required."
PAGES = ("", "topics/", "runs/", "work/", "inbox/", "jobs/", "findings/")


@dataclass(slots=True)
class Season:
    """What all have in common. `submitted`: tasks that assessors were told are submitted; `handed`: by stage.

    `begun`: nobody begins a further task once so many are submitted, so that work is left for what is still to happen.
    """

    world: SeasonWorld
    desks: Plan
    judging: JudgingPlan
    submitted: set[str] = field(default_factory=set)
    handed: Counter[str] = field(default_factory=Counter)
    begun: float = float("inf")
    jobs: list[str] = field(default_factory=list)
    starting: Lock = field(default_factory=Lock)

    @property
    def is_judged(self) -> bool:
        """Whether every topic is through."""
        return len(self.submitted) == STAGES * len(self.world.topics)

    @property
    def is_over(self) -> bool:
        """Whether nothing new is begun any more."""
        return self.judging.is_over


class SeasonAssessor(Assessor):
    """Takes the tasks on the page of tasks, one after the other, until every topic is through."""

    def __init__(self, seat: Seat, season: Season, number: int) -> None:
        super().__init__(seat, season.desks, number)
        self.saved_at = 0.0
        self.done: list[tuple[str, Ledger]] = []
        self.session = season.world.sessions[seat.pk]
        self._season = season
        self.browser = self.new_browser(self._draw)

    def new_browser(self, draw: random.Random) -> Browser:
        """Return a browser of theirs; each has the same session."""
        plan = self._season.judging
        return Browser(plan.address, self.seat, self.counts, plan.failed, draw, self.session)

    def run(self) -> None:
        """Work until every topic is through."""
        while not self._season.is_judged and not self._season.is_over:
            found = self._next() if len(self._season.submitted) < self._season.begun else None
            if found is None:
                self._season.judging.stopped.wait(LOOK_EVERY * self._draw.uniform(0.7, 1.3))
                continue
            try:
                self._work(*found)
                self._season.submitted.add(found[0])
            except Exception as error:
                self._plan.complain(f"{self.seat.username}, task {found[0]}: {type(error).__name__} {error}")

    def _next(self) -> tuple[str, str] | None:
        """Return a task that is not done, and what is to be done there."""
        try:
            page = self.browser.get("/desk/")
        except NoAnswer:
            self.counts["unanswered"] += 1
            return None
        for found in TASK.finditer(page):
            if found["task"] not in self._season.submitted and found["state"] != "submitted":
                return found["task"], found["work"]
        return None

    def _work(self, task: str, work: str) -> None:
        card = Card(task, 0, self._season.world.sentences, MOST_NUGGETS)
        if work == "post-edit drafts":
            Editing(self, self._plan, card, self._draw).run()
            return
        judging = Judging(self, self.browser, self._season.judging, card, self._draw)
        self.done.append((task, judging.ledger))
        before = self.counts["submitted"]
        judging.run()
        if self.counts["submitted"] == before:
            raise GaveUp("the season was over before it was submitted")


class Editing(Work):
    """Post-editing of one topic, in two windows, over a network that loses a part of the requests."""

    def __init__(self, assessor: SeasonAssessor, plan: Plan, card: Card, draw: random.Random) -> None:
        self._person = assessor
        super().__init__(assessor, plan, card, draw)
        self._hands = KeepingHands(draw, card.sentences)

    def _device(self) -> Device:
        browser = self._person.new_browser(self._draw)
        browser.end_session = lambda: None  # type: ignore[method-assign]  # the database may be away just then
        window = Window(self._ledger, self.complain, self._draw, DeskModel)
        return Device(browser, window, WindowClock(self._draw))

    def _settle(self) -> None:
        """Keep what was done, to be compared at the end."""
        self._person.done.append((self._card.task, self._ledger))


class KeepingHands(Hands):
    """Hands that leave at least one nugget, which can be assigned then."""

    def finish(self, window: Window[DeskModel], limit: int | None) -> None:
        """Decide and rate everything; keep one where none would be left."""
        super().finish(window, limit)
        rows = [one for one in ordered(window.model.rows) if one.decision is not Decision.REPLACED]
        if any(one.decision is Decision.KEPT for one in rows):
            return
        if rows:
            window.do("decide", {"key": rows[0].key, "decision": "kept"})
        else:
            window.do("add", {**self._new(), "importance": 2, "after": None})
        super().finish(window, limit)


class Organizer:
    """One of two who organize. `duties`: what they do, in this order, while they look at pages in between."""

    def __init__(self, seat: Seat, season: Season, number: int, duties: Callable[["Organizer"], None]) -> None:
        self.counts = Counter[str]()
        self.season, self._seat, self._duties = season, seat, duties
        self._draw = random.Random(1000 + number)  # noqa: S311
        plan, session = season.judging, season.world.sessions[seat.pk]
        self._browser = Browser(plan.address, seat, self.counts, plan.failed, self._draw, session)

    def run(self) -> None:
        """Do what there is to do; then look on until every topic is through."""
        try:
            self._duties(self)
            while not self.season.is_judged and not self.season.is_over:
                self.look_on()
        except Exception as error:
            self.season.judging.complain(f"{self._seat.username}: {type(error).__name__} {error}")

    def look_on(self) -> None:
        """Look at a page, and wait a little."""
        self.page(self._draw.choice(PAGES))
        self.counts["pages"] += 1
        self.season.judging.stopped.wait(ORGANIZE_EVERY)

    def page(self, path: str) -> str:
        """Return a page of the campaign, which must be one in the end."""
        while not self.season.is_over:
            try:
                return str(self._browser.get(f"/campaigns/{SLUG}/{path}"))
            except NoAnswer:
                self.counts["unanswered"] += 1
                time.sleep(0.5)
        raise GaveUp(f"{path} was not answered")

    def _form(self, path: str, said: Mapping[str, Any]) -> Answer | None:
        """Send a form; None where there was no answer."""
        try:
            return self._browser.form(f"/campaigns/{SLUG}/{path}", said)
        except NoAnswer:
            self.counts["unanswered"] += 1
            time.sleep(0.5)
            return None

    def hand_out(self, stage: Stage, topics: Collection[str], **said: str) -> None:
        """Hand out these topics, by topic id, as they become ready, until everything is handed out."""
        left, wish = set(topics), {"stage": stage.value, "priority": "0", **said}
        while left and not self.season.is_over:
            key, ready = self._offer(wish, left)
            if key:
                self._hand_out(wish, ready)
                left -= ready
                self.season.handed[stage.value] += len(ready)
            self.look_on()

    def _offer(self, wish: Mapping[str, Any], topics: Collection[str]) -> tuple[str, set[str]]:
        """Return the key of what would be handed out now, and its topics; '' where that is nothing."""
        chosen = [self.season.world.topics[one] for one in sorted(topics)]
        answer = None
        while answer is None and not self.season.is_over:
            answer = self._form("work/hand-out/", {**wish, "topics": chosen, "preview": "1"})
        page = str(answer.body) if answer else ""
        if MISSING in page:
            raise GaveUp("the form of handing out lacks a field")
        found = KEY.search(page)
        return (found[1], set(GIVEN.findall(page))) if found else ("", set())

    def _hand_out(self, wish: Mapping[str, Any], topics: Collection[str]) -> None:
        """Hand out these topics, once: where there was no answer, they are offered again if nobody has them."""
        chosen = [self.season.world.topics[one] for one in sorted(topics)]
        while not self.season.is_over:
            key, ready = self._offer(wish, topics)
            if not ready:
                return
            self._form("work/hand-out/", {**wish, "topics": chosen, "hand_out": "1", "expect": key})

    def start_job(self, what: str, **said: str) -> str:
        """Start an LLM job, once; return its number."""
        with self.season.starting:
            before = set(JOB.findall(self.page("jobs/")))
            while not self.season.is_over:
                self._form("jobs/new/", {"what": what, "judge": MODEL, **said, "start": "1"})
                made = set(JOB.findall(self.page("jobs/"))) - before
                if made:
                    self.season.jobs += made
                    return str(min(made))
        raise GaveUp(f"{what} was not started")

    def await_job(self, number: str) -> None:
        """Look at a job's page until it is done."""
        while "<b>Done.</b>" not in self.page(f"jobs/{number}/"):
            self.look_on()
