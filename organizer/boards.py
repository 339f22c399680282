"""The leaderboard on the overview, or the reason why there is none."""

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

import numpy as np
from django.http import QueryDict

from evaluation.domain.conditions import NuggetCondition, resolve
from evaluation.errors import Refused
from evaluation.models import Campaign, Run
from evaluation.queries.holdings import LabelCount, SetCount
from evaluation.terms import Condition, JudgeKind
from reports.correlation import table_of
from reports.forms import BoardForm
from reports.leaderboard import PRIMARY, Leaderboard, leaderboard, number
from reports.metrics.arrays import Floats
from reports.metrics.policies import Policies


@dataclass(frozen=True, slots=True)
class Board:
    """A form and its leaderboard; without one, `message` says why."""

    form: BoardForm
    board: Leaderboard | None
    message: str = ""


@dataclass(frozen=True, slots=True)
class RunTable:
    """A run's primary score under each condition that has labels: by topic id, and each mean with its topics."""

    choices: tuple[NuggetCondition, ...]
    by_topic: dict[str, tuple[float | None, ...]]
    means: tuple[tuple[float | None, int], ...]


def labelled_conditions(sets: list[SetCount], labels: list[LabelCount]) -> list[Condition]:
    origins = {one.name: one.origin for one in sets}
    kinds = {(origins.get(one.of), JudgeKind.LLM if one.machine else JudgeKind.HUMAN) for one in labels}
    return [condition for condition in Condition if (condition.origin, condition.judge_kind) in kinds]


def board_for(campaign: Campaign, query: QueryDict, sets: list[SetCount], labels: list[LabelCount]) -> Board:
    """Leaderboard of the query string; by default that of the first labelled condition."""
    there = labelled_conditions(sets, labels)
    form = BoardForm(
        query,
        sets=[one.name for one in sets if one.origin != "draft"],
        judges=sorted({one.judge for one in labels}),
        defaults={"condition": there[0] if there else Condition.AA},
    )
    if not form.is_valid():
        return Board(form, None, "This is not a choice of this campaign. See the form.")
    try:
        choice = resolve(
            campaign, form.chosen_condition, judge=form.chosen["judge"], nuggets=form.chosen["nuggets"]
        )
    except Refused as refused:
        return Board(form, None, refused.message)
    return Board(form, _leaderboard(choice, form.policies, campaign.created_at, campaign.revision))


@lru_cache(maxsize=64)
def _leaderboard(choice: NuggetCondition, policies: Policies, _made: datetime, _revision: int) -> Leaderboard:
    # Scored once per state of the campaign. `_made` tells databases apart, as keys and revisions may be equal.
    return leaderboard(choice, policies)


def scores_of_run(campaign: Campaign, run: Run) -> RunTable:
    """Primary scores under the default policies, for every unambiguous condition."""
    choices = tuple(filter(None, (_judged(campaign, condition) for condition in Condition)))
    tables = [table_of(choice, PRIMARY, Policies()) for choice in choices]
    columns = [table.values[:, table.run_ids.index(run.run_id)] for table in tables]
    topics = tables[0].topic_ids if tables else ()
    rows = zip(*columns, strict=True)
    by_topic = {topic: tuple(number(value) for value in row) for topic, row in zip(topics, rows, strict=False)}
    return RunTable(choices, by_topic, tuple(_mean(column) for column in columns))


def _judged(campaign: Campaign, condition: Condition) -> NuggetCondition | None:
    try:
        choice = resolve(campaign, condition)
    except Refused:
        return None
    return choice if choice.judges else None


def _mean(values: Floats) -> tuple[float | None, int]:
    known = values[~np.isnan(values)]
    return (float(known.mean()) if len(known) else None), len(known)
