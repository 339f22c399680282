"""Scores of others as tables: a judge's or a paper's scores of runs by one measure, by topic where it has them."""

from collections.abc import Collection
from dataclasses import dataclass
from math import fsum
from typing import Final

import numpy as np

from evaluation.domain.conditions import NuggetCondition
from evaluation.models import Campaign
from reports.frames import tagged_assignments
from reports.metrics.agreement import ScoreTable, score_table
from reports.metrics.policies import Policies
from reports.models import ExternalScore

CLOSE: Final = 1e-6
"""How far an aggregate may lie from the mean of its topics and still be it: files round to six decimals."""


@dataclass(frozen=True, slots=True)
class JudgeTable:
    """One measure of a judge; `aggregates`: the scores of runs over all topics that its file says itself."""

    name: str
    method: str
    model: str
    measure: str
    scores: ScoreTable
    aggregates: dict[str, float]

    @property
    def run_scores(self) -> dict[str, float]:
        """Score of each run: the aggregate, or without one the mean over its topics."""
        return self.means | self.aggregates

    @property
    def means(self) -> dict[str, float]:
        means = {}
        for place, run_id in enumerate(self.scores.run_ids):
            column = self.scores.values[:, place]
            values = column[~np.isnan(column)].tolist()
            if values:
                means[run_id] = fsum(values) / len(values)
        return means

    @property
    def has_own_aggregates(self) -> bool:
        """True where the score of some run is not the mean over its topics, so that topics say nothing of it."""
        means = self.means
        return any(
            run_id not in means or abs(means[run_id] - value) > CLOSE for run_id, value in self.aggregates.items()
        )


def judge_tables(
    campaign: Campaign, names: Collection[str] | None = None, measures: Collection[str] | None = None
) -> list[JudgeTable]:
    """Return every table of these names and measures, None: of all, by name and measure."""
    rows = ExternalScore.objects.filter(condition__campaign=campaign)
    if names is not None:
        rows = rows.filter(condition__name__in=names)
    if measures is not None:
        rows = rows.filter(score__in=measures)
    heads = [f"condition__{name}" for name in ("name", "method", "model")]
    columns = (*heads, "score", "run_id", "topic_id", "value")
    by_table: dict[tuple[str, str, str, str], dict[tuple[str, str], float]] = {}
    for *head, run_id, topic_id, value in rows.order_by("condition__name", "score").values_list(*columns):
        name, method, model, measure = head
        by_table.setdefault((name, method, model, measure), {})[run_id, topic_id] = value
    return [
        JudgeTable(
            *head, _table(values), {run_id: value for (run_id, topic), value in values.items() if not topic}
        )
        for head, values in by_table.items()
    ]


def table_of_condition(choice: NuggetCondition, score: str, policies: Policies) -> JudgeTable:
    """Return a score under a condition, over the condition's own topics. Raises ValueError for no score."""
    table = score_table(tagged_assignments(choice, "", policies.profile), score, policies)
    topics = tuple(topic for topic, counts in zip(table.topic_ids, table.topics, strict=True) if counts)
    every = np.ones(len(topics), dtype=np.bool_)
    scores = ScoreTable(table.run_ids, topics, table.values[table.topics], every)
    return JudgeTable(str(choice), "", "", score, scores, {})


def published_run_scores(campaign: Campaign, name: str, score: str) -> dict[str, float]:
    tables = judge_tables(campaign, [name], [score])
    return tables[0].run_scores if tables else {}


def _table(values: dict[tuple[str, str], float]) -> ScoreTable:
    runs = sorted({run_id for run_id, _ in values})
    topics = sorted({topic_id for _, topic_id in values if topic_id})
    column, row = ({name: place for place, name in enumerate(names)} for names in (runs, topics))
    cells = np.full((len(topics), len(runs)), np.nan)
    for (run_id, topic_id), value in values.items():
        if topic_id:
            cells[row[topic_id], column[run_id]] = value
    return ScoreTable(tuple(runs), tuple(topics), cells, np.ones(len(topics), dtype=np.bool_))
