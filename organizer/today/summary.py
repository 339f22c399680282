"""Results so far, and what happened since somebody was last here."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import numpy as np
from django.urls import reverse

from accounts.models import User
from evaluation.campaigns.access import within
from evaluation.campaigns.contents import IMPORT_EVENTS
from evaluation.domain.conditions import NuggetCondition
from evaluation.models import Campaign, Event
from evaluation.terms import JudgeKind
from exchange.imports.kinds import IMPORT_KINDS
from jobs.models import Notice
from organizer.campaigns.views import judged_conditions
from organizer.models import TodayVisit
from organizer.navigation import page_in
from reports.agreement.figures import agreement_of, table_of
from reports.cache import cached_report
from reports.leaderboard.scores import leaderboard
from reports.metrics.alpha import Overlap
from reports.metrics.intervals import FEWEST_TOPICS
from reports.metrics.registry import BY_NAME, primary_of
from reports.metrics.sample_size import has_tau
from reports.profiles import profile_of, usual_comparison, usual_policies
from reports.quality.people import shared_by_people
from web.text import plural

RUNS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class RunScore:
    """Score of a run and its 95 % interval, each in [0, 1], and the topics that it is the mean of."""

    run_id: str
    score: float
    low: float | None
    high: float | None
    topics: int

    @property
    def start(self) -> float:
        return round(100 * (self.low or 0.0), 1)

    @property
    def width(self) -> float:
        return round(100 * ((self.high or 0.0) - (self.low or 0.0)), 1)

    @property
    def point(self) -> float:
        return round(100 * self.score, 1)


@dataclass(frozen=True, slots=True)
class JudgeRanking:
    """Rank agreement over run means of an LLM's condition with a person's; None below the least numbers."""

    llm: NuggetCondition
    people: NuggetCondition
    tau: float | None
    runs: int
    topics: int

    @property
    def page(self) -> str:
        score = primary_of(profile_of(self.llm.campaign))
        query = {"x": self.llm.condition, "y": self.people.condition, "score": score}
        sides = {"x": self.llm, "y": self.people}
        query |= {
            f"{side}_judge": choice.judges[0].name for side, choice in sides.items() if len(choice.judges) == 1
        }
        query |= {
            f"{side}_nuggets": choice.nugget_sets[0].name
            for side, choice in sides.items()
            if len(choice.nugget_sets) == 1
        }
        return reverse("reports:correlation", args=[self.llm.campaign.slug], query=query)


@dataclass(frozen=True, slots=True)
class Results:
    choice: NuggetCondition
    score: str
    topics: int
    runs: tuple[RunScore, ...]
    ranks: JudgeRanking | None

    @property
    def leaderboard(self) -> str:
        query = {"condition": self.choice.condition, "score": self.score}
        return reverse("reports:scores", args=[self.choice.campaign.slug], query=query)

    @property
    def score_words(self) -> str:
        return BY_NAME[self.score].words

    @property
    def enough(self) -> bool:
        return self.topics >= FEWEST_TOPICS


@cached_report(size=32)
def results_of(campaign: Campaign) -> Results | None:
    """Figures of the condition with labels that is closest to people's work; None where nothing is labelled."""
    choices = sorted(judged_conditions(campaign), key=lambda choice: choice.condition.judge_kind is JudgeKind.LLM)
    if not choices:
        return None
    policies = usual_policies(campaign)
    score = primary_of(policies.profile)
    tables = [table_of(choice, score, policies) for choice in choices]
    scored = [int((~np.isnan(table.values)).any(axis=1).sum()) for table in tables]
    best = max(range(len(choices)), key=lambda place: scored[place])
    if not scored[best]:
        return None
    board = leaderboard(choices[best], policies)
    runs = [
        RunScore(row["run_id"], row[score], ends["low"], ends["high"], row["topics"])
        for row in board.rows[:RUNS_SHOWN]
        if row[score] is not None and (ends := row["intervals"][score])
    ]
    return Results(choices[best], score, board.topics, tuple(runs), _ranks(choices, scored))


def _ranks(choices: list[NuggetCondition], scored: list[int]) -> JudgeRanking | None:
    by_topics = [choice for choice, _ in sorted(zip(choices, scored, strict=True), key=lambda pair: -pair[1])]
    people = next((choice for choice in by_topics if choice.condition.judge_kind is JudgeKind.HUMAN), None)
    if people is None:
        return None
    llms = [choice for choice in by_topics if choice.condition.judge_kind is JudgeKind.LLM]
    # Of a judge's two conditions the one with people's nuggets says how its labels do, as the page on quality does.
    llms.sort(key=lambda choice: choice.nugget_sets != people.nugget_sets)
    if not llms:
        return None
    ranks = agreement_of(llms[0], people, *usual_comparison(people))
    tau = ranks.run_level if has_tau(ranks.runs, ranks.topics) else None
    return JudgeRanking(llms[0], people, tau, ranks.runs, ranks.topics)


def human_agreement(viewer: User, campaign: Campaign) -> Overlap | None:
    shared = shared_by_people(viewer, campaign)
    return shared[0].overlap if shared and shared[0].overlap.pairs else None


MOST_LINES: Final = 6
MOST_EVENTS: Final = 500
VISIT_ENDS: Final = timedelta(minutes=30)
"""A page that is opened again within this time belongs to the same visit."""
JOINED = ("invitation.accepted", "member.added")


NewsLine = tuple[str, str]
"""A sentence, and the address that it leads to."""


def last_visit(viewer: User, campaign: Campaign, now: datetime) -> datetime | None:
    """Note that somebody is here, and return when they were here before; None at the first visit."""
    visit, first = TodayVisit.objects.get_or_create(campaign=campaign, user=viewer, defaults={"seen_at": now})
    if first:
        return None
    if now - visit.seen_at > VISIT_ENDS:
        visit.before = visit.seen_at
    visit.seen_at = now
    visit.save(update_fields=["before", "seen_at"])
    return visit.before


def news_for(viewer: User, campaign: Campaign, since: datetime) -> list[NewsLine]:
    return [*_of_people(viewer, campaign, since), *_of_jobs(viewer, campaign, since)][:MOST_LINES]


def _of_people(viewer: User, campaign: Campaign, since: datetime) -> Iterator[NewsLine]:
    kinds = ["task.submitted", *JOINED, *IMPORT_EVENTS]
    rows = Event.objects.filter(campaign__in=within(viewer, campaign), kind__in=kinds, at__gt=since)
    events = rows.exclude(actor=viewer).select_related("actor")[:MOST_EVENTS]
    counts = Counter((event.kind, event.actor.name if event.actor else "A command") for event in events)
    work, people, data = (page_in(campaign, page) for page in ("work", "people", "data"))
    for (kind, actor), count in counts.items():
        if kind == "task.submitted":
            yield f"{actor} submitted {count} {plural(count, 'task')}", f"{work}?state=submitted"
        elif kind == "invitation.accepted":
            yield f"{actor} accepted the invitation", people
        elif kind == "member.added":
            yield f"{actor} gave {count} {plural(count, 'role')}", people
        else:
            loaded = IMPORT_KINDS.get(kind.removeprefix("import."), IMPORT_KINDS["runs"])
            yield f"{actor} loaded {loaded.caption.lower()}", data


def _of_jobs(viewer: User, campaign: Campaign, since: datetime) -> Iterator[NewsLine]:
    notices = Notice.objects.filter(job__llm__campaign__in=within(viewer, campaign), since__gt=since)
    ends = {Notice.Kind.DONE: "ended", Notice.Kind.PAUSED: "was paused", Notice.Kind.STUCK: "waits"}
    for notice in notices.select_related("job")[:MOST_LINES]:
        text = f"Job “{notice.job.title}” {ends[Notice.Kind(notice.kind)]}"
        yield text, page_in(campaign, "job", notice.job_id)
