"""Results so far, in three lines: the first runs, people's agreement, and a judge's with people."""

from dataclasses import dataclass

import numpy as np

from accounts.models import User
from evaluation.domain.conditions import NuggetCondition
from evaluation.models import Campaign
from evaluation.terms import JudgeKind
from organizer.campaigns.views import judged_conditions
from reports.agreement.figures import correlate, table_of
from reports.cache import cached_report
from reports.leaderboard.scores import PRIMARY, number
from reports.metrics.bootstrap import mean_intervals
from reports.metrics.policies import Policies
from reports.quality.people import shared_by_people

RUNS_SHOWN = 3
FEWEST_TOPICS = 5


@dataclass(frozen=True, slots=True)
class RunScore:
    """Score of a run and its 95 % interval, each in [0, 1]."""

    run_id: str
    score: float
    low: float | None
    high: float | None

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

    machine: NuggetCondition
    people: NuggetCondition
    tau: float | None
    runs: int
    topics: int


@dataclass(frozen=True, slots=True)
class Results:
    choice: NuggetCondition
    topics: int
    runs: tuple[RunScore, ...]
    ranks: JudgeRanking | None

    @property
    def enough(self) -> bool:
        return self.topics >= FEWEST_TOPICS


@dataclass(frozen=True, slots=True)
class HumanAgreement:
    alpha: float | None
    pairs: int
    topics: int


@cached_report(size=32)
def results_of(campaign: Campaign) -> Results | None:
    """Figures of the condition with labels that is closest to people's work; None where nothing is labelled."""
    choices = sorted(judged_conditions(campaign), key=lambda choice: choice.condition.judge_kind is JudgeKind.LLM)
    if not choices:
        return None
    tables = [table_of(choice, PRIMARY, Policies()) for choice in choices]
    scored = [int((~np.isnan(table.values)).any(axis=1).sum()) for table in tables]
    best = max(range(len(choices)), key=lambda place: scored[place])
    table = tables[best]
    known = ~np.isnan(table.values)
    if not known.any():
        return None
    low, high = mean_intervals(table.values[table.topics])
    runs = [
        RunScore(
            run_id, float(table.values[known[:, place], place].mean()), number(low[place]), number(high[place])
        )
        for place, run_id in enumerate(table.run_ids)
        if known[:, place].any()
    ]
    runs.sort(key=lambda run: (-run.score, run.run_id))
    return Results(choices[best], scored[best], tuple(runs[:RUNS_SHOWN]), _ranks(campaign, choices, scored))


def _ranks(campaign: Campaign, choices: list[NuggetCondition], scored: list[int]) -> JudgeRanking | None:
    by_topics = sorted(zip(choices, scored, strict=True), key=lambda pair: -pair[1])
    machine = next((one for one, _ in by_topics if one.condition.judge_kind is JudgeKind.LLM), None)
    people = next((one for one, _ in by_topics if one.condition.judge_kind is JudgeKind.HUMAN), None)
    if machine is None or people is None:
        return None
    found = correlate(campaign, machine, people, PRIMARY, Policies(), resamples=1).agreement
    enough = found.topics >= FEWEST_TOPICS and found.runs >= FEWEST_TOPICS
    return JudgeRanking(machine, people, found.run_level if enough else None, found.runs, found.topics)


def human_agreement(viewer: User, campaign: Campaign) -> HumanAgreement | None:
    shared = shared_by_people(viewer, campaign)
    found = shared[0].found if shared else None
    return HumanAgreement(found.alpha, found.pairs, found.topics) if found and found.pairs else None
