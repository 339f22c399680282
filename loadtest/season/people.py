"""Who is at work in a season: assessors who take what they are handed, and organizers who hand out and start LLM jobs.

All of it over HTTP, as a person in a browser does it: without an answer one looks whether it was done, and tries again.
"""

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from evaluation.stages import Stage
from llmjobs.simulator.answering import MODEL
from loadtest.desk.assessor import Assessor, DeskTask, GaveUp
from loadtest.desk.judging_task import JudgingTask
from loadtest.desk.nugget_task import NuggetTask
from loadtest.desk.plan import Plan
from loadtest.desk.seats import Card, Seat
from loadtest.desk.wire import Answer, Browser, NoAnswer
from loadtest.season.world import MOST_NUGGETS, SLUG, SeasonWorld

STAGES = 3
"""Each topic's list is post-edited, its nuggets are assigned, and its citations are judged."""

LOOK_EVERY, ORGANIZE_EVERY = 0.7, 1.5  # seconds
TASK = re.compile(
    r'<li class="task" data-state="(?P<state>[^"]+)">.*?href="/desk/(?P<task>[^/"]+)/".*?'
    r"(?P<work>edit drafts|label answers|judge citations)",
    re.DOTALL,
)
KEY = re.compile(r'name="expect" value="([^"]+)"')
GIVEN = re.compile(r'<th scope="row"><bdi>([^<]+)</bdi>')
JOB = re.compile(rf'href="/campaigns/{SLUG}/jobs/(\d+)/"')
MISSING = "This field is required."
PAGES = ("", "topics/", "runs/", "work/", "inbox/", "jobs/", "findings/")


@dataclass(slots=True)
class Season:
    """Plan and progress that all share. `submitted`: tasks whose submission was acknowledged; `handed`: by stage.

    `begun`: nobody begins a further task once so many are submitted, so that work is left for what is still to happen.
    """

    world: SeasonWorld
    plan: Plan
    submitted: set[str] = field(default_factory=set)
    handed: Counter[str] = field(default_factory=Counter)
    begun: float = float("inf")
    jobs: list[str] = field(default_factory=list)
    starting: Lock = field(default_factory=Lock)

    @property
    def is_judged(self) -> bool:
        return len(self.submitted) == STAGES * len(self.world.topics)

    @property
    def is_over(self) -> bool:
        return self.plan.is_over


class SeasonAssessor(Assessor):
    devices = 2

    def __init__(self, seat: Seat, season: Season, number: int) -> None:
        super().__init__(seat, season.plan, number, session=season.world.sessions[seat.pk])
        self._season = season
        self._stages: dict[str, str] = {}  # what is to be done, by task

    def cards(self) -> Iterator[Card]:
        """Tasks as they are handed out, until every topic is through."""
        while not self._season.is_judged and not self._season.is_over:
            task = self._next() if len(self._season.submitted) < self._season.begun else None
            if task is None:
                self.plan.stopped.wait(LOOK_EVERY * self.draw.uniform(0.7, 1.3))
            else:
                yield Card(task, 0, self._season.world.sentences, MOST_NUGGETS)

    def task_of(self, card: Card) -> DeskTask[Any]:
        if self._stages[card.task] == "edit drafts":
            return NuggetTask(self, card, keeps_one=True)
        return JudgingTask(self, card)

    def do(self, card: Card) -> DeskTask[Any]:
        before = self.counts["submitted"]
        task = super().do(card)
        if self.counts["submitted"] > before:
            self._season.submitted.add(card.task)
        elif self._season.is_over:
            task.violation("the season was over before it was submitted")
        return task

    def _next(self) -> str | None:
        try:
            page = self.browsers[0].get("/desk/")
        except NoAnswer:
            self.counts["unanswered"] += 1
            return None
        for found in TASK.finditer(page):
            if found["task"] not in self._season.submitted and found["state"] != "submitted":
                self._stages[found["task"]] = found["work"]
                return found["task"]
        return None


class Organizer:
    """One of two who organize. `duties`: what they do, in this order, while they look at pages in between."""

    def __init__(self, seat: Seat, season: Season, number: int, duties: Callable[["Organizer"], None]) -> None:
        self.counts = Counter[str]()
        self.season, self._seat, self._duties = season, seat, duties
        self._draw = random.Random(1000 + number)  # noqa: S311
        plan, session = season.plan, season.world.sessions[seat.pk]
        self._browser = Browser(plan.address, seat, self.counts, plan.failed, self._draw, session)

    def run(self) -> None:
        try:
            self._duties(self)
            while not self.season.is_judged and not self.season.is_over:
                self.look_on()
        except Exception as error:
            self.season.plan.violation(f"{self._seat.username}: {type(error).__name__} {error}")

    def look_on(self) -> None:
        self.page(self._draw.choice(PAGES))
        self.counts["pages"] += 1
        self.season.plan.stopped.wait(ORGANIZE_EVERY)

    def page(self, path: str) -> str:
        while not self.season.is_over:
            try:
                return str(self._browser.get(f"/campaigns/{SLUG}/{path}"))
            except NoAnswer:
                self.counts["unanswered"] += 1
                time.sleep(0.5)
        raise GaveUp(f"{path} was not answered")

    def _form(self, path: str, fields: Mapping[str, Any]) -> Answer | None:
        try:
            return self._browser.form(f"/campaigns/{SLUG}/{path}", fields)
        except NoAnswer:
            self.counts["unanswered"] += 1
            time.sleep(0.5)
            return None

    def hand_out(self, stage: Stage, topics: Collection[str], **fields: str) -> None:
        """Hand out these topics, by topic id, as they become ready, until everything is handed out."""
        left, order = set(topics), {"stage": stage, "priority": "0", **fields}
        while left and not self.season.is_over:
            key, ready = self._offer(order, left)
            if key:
                self._hand_out(order, ready)
                left -= ready
                self.season.handed[stage] += len(ready)
            self.look_on()

    def _offer(self, order: Mapping[str, Any], topics: Collection[str]) -> tuple[str, set[str]]:
        chosen = [self.season.world.topics[topic] for topic in sorted(topics)]
        answer = None
        while answer is None and not self.season.is_over:
            answer = self._form("work/hand-out/", {**order, "topics": chosen, "preview": "1"})
        page = str(answer.body) if answer else ""
        if MISSING in page:
            raise GaveUp("the form of handing out lacks a field")
        found = KEY.search(page)
        return (found[1], set(GIVEN.findall(page))) if found else ("", set())

    def _hand_out(self, order: Mapping[str, Any], topics: Collection[str]) -> None:
        """Hand out these topics, once: where there was no answer, they are offered again if nobody has them."""
        chosen = [self.season.world.topics[topic] for topic in sorted(topics)]
        while not self.season.is_over:
            key, ready = self._offer(order, topics)
            if not ready:
                return
            self._form("work/hand-out/", {**order, "topics": chosen, "hand_out": "1", "expect": key})

    def start_job(self, kind: str, **fields: str) -> str:
        with self.season.starting:
            before = set(JOB.findall(self.page("jobs/")))
            while not self.season.is_over:
                self._form("jobs/new/", {"what": kind, "judge": MODEL, **fields, "start": "1"})
                made = set(JOB.findall(self.page("jobs/"))) - before
                if made:
                    self.season.jobs += made
                    return str(min(made))
        raise GaveUp(f"{kind} was not started")

    def await_job(self, number: str) -> None:
        while "<b>Done.</b>" not in self.page(f"jobs/{number}/"):
            self.look_on()
