"""Agreement of two conditions at three levels (Pradeep et al. 2025, run-level and per-topic agreement).

Run level: mean per run, then tau. Topic average: tau per topic over runs, then the mean. All
topic/run: every pair of scores pooled. Support conditions are compared by the same functions.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from reports.metrics.arrays import Booleans, Floats, column_means, defined
from reports.metrics.kendall import Ties, kendall, kendall_rows
from reports.metrics.label_matrix import AssignmentSheet
from reports.metrics.policies import Policies, TopicChoice
from reports.metrics.registry import LENGTH
from reports.metrics.scores import answer_scores

RUN_LEVEL, TOPIC_AVERAGE, ALL_TOPIC_RUN = LEVELS = ("run_level", "topic_average", "all_topic_run")


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """One score under one condition: `values` T x R (nan: not counted) and the condition's `topics` T."""

    run_ids: tuple[str, ...]
    topic_ids: tuple[str, ...]
    values: Floats
    topics: Booleans


@dataclass(frozen=True, slots=True)
class Paired:
    """Two score tables on the same axes: the runs of both, the topics of either."""

    run_ids: tuple[str, ...]
    topic_ids: tuple[str, ...]
    x: Floats
    y: Floats
    x_topics: Booleans
    y_topics: Booleans

    @property
    def common(self) -> Booleans:
        return self.x_topics & self.y_topics

    def run_topics(self, topics: TopicChoice) -> tuple[Booleans, Booleans]:
        """Topics that the run means of each side are over, T and T."""
        return (self.common, self.common) if topics == "common" else (self.x_topics, self.y_topics)

    def scored_on_both(self) -> Booleans:
        """Topic/run pairs that enter the pooled level, T x R."""
        return ~np.isnan(self.x) & ~np.isnan(self.y) & self.common[:, np.newaxis]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Three taus in [-1, 1], None where undefined, and what they rest on.

    `runs`: runs with a mean on both sides; `topics`: topics common to both; `pairs`: topic/run pairs
    pooled; `undefined_topics`: common topics whose tau is undefined and that the average leaves out.
    `ties` and `discordant` are pairs of observations by level (summed over topics for the average).
    """

    runs: int
    topics: int
    pairs: int
    run_level: float | None
    topic_average: float | None
    all_topic_run: float | None
    undefined_topics: int
    ties: dict[str, Ties]
    discordant: dict[str, int]

    def counted(self, level: str) -> int:
        """Number of items that a level's tau is over: runs, the topics that have a tau, or pairs."""
        averaged = self.topics - self.undefined_topics
        return {RUN_LEVEL: self.runs, TOPIC_AVERAGE: averaged, ALL_TOPIC_RUN: self.pairs}[level]


def score_table(sheet: AssignmentSheet, name: str, policies: Policies) -> ScoreTable:
    """One score, or `length`, of an assignment sheet, ready to compare. Raises ValueError for no score."""
    answers = answer_scores(sheet, policies)
    topics = answers.length_topics if name == LENGTH else answers.topics
    return ScoreTable(sheet.run_ids, sheet.topic_ids, answers.of(name), topics)


def pair(x: ScoreTable, y: ScoreTable) -> Paired:
    """Match two tables by run id (those in both) and topic id (those in either)."""
    others = set(y.run_ids)
    runs = tuple(run for run in x.run_ids if run in others)
    topics = tuple(dict.fromkeys(x.topic_ids + y.topic_ids))
    left, left_topics = _on_axes(x, runs, topics)
    right, right_topics = _on_axes(y, runs, topics)
    return Paired(runs, topics, left, right, left_topics, right_topics)


def agreement(x: ScoreTable, y: ScoreTable, topics: TopicChoice = "common") -> Agreement:
    """The three taus of two score tables (docs/metrics.md#kendalls-tau-b-three-ways).

    `topics` concerns the run level only: each condition's own topics, or the common ones. The other
    two levels always use the common ones; with none in common they are None.
    """
    both = pair(x, y)
    means = run_means(both, topics)
    runs = kendall(*(side[scored_runs(*means)] for side in means))
    # Pairs of different topics count here too: so the level also says whether both sides find the same topics hard.
    cells = both.scored_on_both()
    pooled = kendall(both.x[cells], both.y[cells])
    rows = kendall_rows(both.x[both.common], both.y[both.common])
    # A topic on which all runs are equal has no order: as 0 it would pull the average towards no agreement.
    has_order = ~np.isnan(rows.tau)
    return Agreement(
        runs=runs.n,
        topics=int(both.common.sum()),
        pairs=pooled.n,
        run_level=runs.tau,
        topic_average=defined(rows.tau[has_order].mean()) if has_order.any() else None,
        all_topic_run=pooled.tau,
        undefined_topics=int((~has_order).sum()),
        ties={RUN_LEVEL: runs.ties, TOPIC_AVERAGE: rows.ties, ALL_TOPIC_RUN: pooled.ties},
        discordant={
            RUN_LEVEL: runs.discordant,
            TOPIC_AVERAGE: int(rows.discordant.sum()),
            ALL_TOPIC_RUN: pooled.discordant,
        },
    )


def run_level_agreement(x: Mapping[str, float | None], y: Mapping[str, float | None]) -> Agreement:
    """Agreement of two run-level score vectors, {run id: score}, as published tables give them.

    Runs without a score on one side (absent, None or nan) are left out; the levels that need scores
    per topic are None.
    """
    runs = [run for run in x if run in y]
    # A table may leave a cell blank, here nan: that run has no place in the order, which is not the last place.
    a, b = (np.array([side[run] for run in runs], dtype=np.float64) for side in (x, y))
    scored = scored_runs(a, b)
    taus = kendall(a[scored], b[scored])
    return Agreement(
        runs=taus.n,
        topics=0,
        pairs=0,
        run_level=taus.tau,
        topic_average=None,
        all_topic_run=None,
        undefined_topics=0,
        ties={RUN_LEVEL: taus.ties, TOPIC_AVERAGE: Ties(), ALL_TOPIC_RUN: Ties()},
        discordant={RUN_LEVEL: taus.discordant, TOPIC_AVERAGE: 0, ALL_TOPIC_RUN: 0},
    )


def run_means(both: Paired, topics: TopicChoice) -> tuple[Floats, Floats]:
    """Mean per run of each side, R and R, nan where a run has no counted answer."""
    x_topics, y_topics = both.run_topics(topics)
    return column_means(both.x, x_topics), column_means(both.y, y_topics)


def scored_runs(x: Floats, y: Floats) -> Booleans:
    """Runs with a mean on both sides, R."""
    return ~np.isnan(x) & ~np.isnan(y)


def _on_axes(table: ScoreTable, runs: tuple[str, ...], topics: tuple[str, ...]) -> tuple[Floats, Booleans]:
    """A table's values and topics on other axes, nan and False where it has none."""
    column = {run: index for index, run in enumerate(table.run_ids)}
    row = {topic: index for index, topic in enumerate(topics)}
    columns = np.array([column[run] for run in runs], dtype=np.intp)
    rows = np.array([row[topic] for topic in table.topic_ids], dtype=np.intp)
    values = np.full((len(topics), len(runs)), np.nan)
    mask = np.zeros(len(topics), dtype=np.bool_)
    values[rows] = table.values[:, columns]
    mask[rows] = table.topics
    return values, mask
