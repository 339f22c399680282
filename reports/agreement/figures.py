"""Figures of the agreement page, cached per campaign revision for page, charts and files."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any, overload

import numpy as np

from accounts.caching import keep, kept
from evaluation.domain.conditions import CitationCondition, NuggetCondition, check_apart
from evaluation.errors import Refused
from evaluation.models import Campaign
from reports.cache import cached_report
from reports.confusion.paired_labels import ConfusionReport, confuse_conditions
from reports.frames import tagged_assignments, tagged_support, topics_by_tag
from reports.judges.tables import published_run_scores
from reports.metrics.agreement import (
    ALL_TOPIC_RUN,
    LEVELS,
    RUN_LEVEL,
    TOPIC_AVERAGE,
    Agreement,
    Paired,
    ScoreTable,
    agreement,
    pair,
    run_level_agreement,
    run_means,
    score_table,
)
from reports.metrics.arrays import Counts, Floats, defined
from reports.metrics.bootstrap import RESAMPLES, CurvePoint, intervals, tau_by_topics
from reports.metrics.intervals import Interval, documents_of
from reports.metrics.policies import Policies, SupportPolicies, TopicChoice, policies_document
from reports.metrics.rank_correlations import Coefficient, CorrelationMethod
from reports.metrics.support import support_table
from web.consistent_read import consistent_read

Scored = NuggetCondition | CitationCondition
"""A side with scores of single answers; a published table has those of runs alone."""
Side = Scored | str
RULE = "centred wider percentiles, t on z"
"""Changes with the rule of the intervals, so that those of another version are not taken for ours."""
MOST_INTERVALS = 64
CELLS = 40
MOST_POINTS = 5000
"""Up to here each answer is a point of its own: more would hide each other, and cells show where they are dense."""


@dataclass(frozen=True, slots=True)
class RunPoint:
    """One run's mean under both conditions; `difference` is x - y."""

    run_id: str
    task: str
    x: float | None
    y: float | None

    @property
    def difference(self) -> float | None:
        return None if self.x is None or self.y is None else self.x - self.y


@dataclass(frozen=True, slots=True)
class TopicPoint:
    run_id: str
    topic_id: str
    task: str
    x: float
    y: float


class TopicPoints(Sequence[TopicPoint]):
    """n answers as arrays: a campaign has too many of them to keep an object for each. `x` and `y` n."""

    def __init__(
        self, runs: Sequence[tuple[str, str]], topic_ids: Sequence[str], places: Counts, x: Floats, y: Floats
    ) -> None:
        """Take runs with their tasks, topics, and of each answer where its topic and its run stand (n x 2)."""
        self._runs, self._topic_ids, self._places = runs, topic_ids, places
        self.x, self.y = x, y

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, at: int) -> TopicPoint: ...
    @overload
    def __getitem__(self, at: slice) -> list[TopicPoint]: ...
    def __getitem__(self, at: int | slice) -> TopicPoint | list[TopicPoint]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        topic, run = self._places[at]
        run_id, task = self._runs[run]
        return TopicPoint(run_id, self._topic_ids[topic], task, float(self.x[at]), float(self.y[at]))


def topic_points(both: Paired, tasks: Mapping[str, str]) -> TopicPoints:
    scored = both.scored_on_both()
    runs = [(run_id, tasks.get(run_id, "")) for run_id in both.run_ids]
    return TopicPoints(runs, both.topic_ids, np.argwhere(scored), both.x[scored], both.y[scored])


NO_INTERVAL = Interval(reason="a published table has no scores by topic")
NO_POINTS = TopicPoints((), (), np.zeros((0, 2), dtype=np.int64), np.zeros(0), np.zeros(0))


@dataclass(frozen=True, slots=True)
class Correlation:
    """Two conditions side by side; `intervals` has those levels that were asked for.

    `points` is empty and two taus are None where one side is a published table.
    """

    x: str
    y: str
    score: str
    policies: Policies | SupportPolicies
    agreement: Agreement
    intervals: dict[str, Interval]
    runs: tuple[RunPoint, ...]
    points: TopicPoints
    published: bool = False
    own_topics: tuple[int, int] | None = None
    """Topics of x and of y, where the run means are over each condition's own."""

    @property
    def topics(self) -> int | None:
        """Topics in common; None where one side is a published table."""
        return None if self.published else self.agreement.topics


@dataclass(frozen=True, slots=True)
class AgreementRequest:
    """Two sides, by one score, in all topics or those with a tag. Equal requests give equal figures.

    A string names a published table, which has run-level scores only.
    """

    campaign: Campaign
    x: Side
    y: Side
    score: str
    policies: Policies | SupportPolicies
    tag: str = ""

    @property
    def is_published(self) -> bool:
        return isinstance(self.x, str) or isinstance(self.y, str)

    def tables(self) -> tuple[ScoreTable, ScoreTable]:
        """Return both sides' scores by topic. Raises TypeError for a published table, which has none."""
        if isinstance(self.x, str) or isinstance(self.y, str):
            raise TypeError("a published table has no scores by topic")
        # The same label on both sides agrees with itself and would raise every tau.
        check_apart(self.x, self.y)
        with consistent_read():
            x, y = (table_of(side, self.score, self.policies, self.tag) for side in (self.x, self.y))
        return x, y


def correlate(
    request: AgreementRequest, *, resamples: int = RESAMPLES, levels: Sequence[str] = LEVELS
) -> Correlation:
    """Correlate a score under two conditions, with the intervals of some levels.

    Raises ValueError for a score that the conditions do not have, `Refused` where some labels are on both sides or a
    published table should be of a tag.
    """
    tasks = dict(request.campaign.runs.values_list("run_id", "task"))
    if request.is_published:
        if request.tag:
            raise Refused(
                "usage", "A published table has no scores by topic, so it cannot be of those with a tag."
            )
        return _with_published(request, tasks)
    policies, (left, right) = request.policies, request.tables()
    both = pair(left, right)
    return Correlation(
        x=str(request.x),
        y=str(request.y),
        score=request.score,
        policies=policies,
        agreement=agreement(left, right, policies.topics),
        intervals=_kept_intervals(request.campaign, left, right, policies.topics, resamples, levels),
        runs=_run_points(both, policies.topics, tasks),
        points=topic_points(both, tasks),
        own_topics=(int(both.x_topics.sum()), int(both.y_topics.sum())) if policies.topics == "all" else None,
    )


def _kept_intervals(
    campaign: Campaign,
    x: ScoreTable,
    y: ScoreTable,
    topics: TopicChoice,
    resamples: int = RESAMPLES,
    levels: Sequence[str] = LEVELS,
) -> dict[str, Interval]:
    """Return the intervals of the taus, resampled by the first process that asks: equal tables have equal ones."""
    name, key = f"intervals-{campaign.pk}", _digest(x, y, (topics, resamples, tuple(levels)))
    documents = kept(name) or {}
    if key not in documents:
        ends = documents_of(intervals(x, y, topics, resamples=resamples, levels=levels))
        # Those of the newest, for a campaign goes on and the table has room for counts of sign-ins too.
        documents = dict([*documents.items(), (key, ends)][-MOST_INTERVALS:])
        keep(name, documents)
    return {level: Interval(**ends) for level, ends in documents[key].items()}


def _digest(x: ScoreTable, y: ScoreTable, choices: tuple[object, ...]) -> str:
    digest = sha256(repr((RULE, choices)).encode())
    for table in (x, y):
        digest.update(repr((table.run_ids, table.topic_ids)).encode())
        digest.update(table.values.tobytes())
        digest.update(table.topics.tobytes())
    return digest.hexdigest()


def table_of(side: Scored, score: str, policies: Policies | SupportPolicies, tag: str = "") -> ScoreTable:
    if isinstance(side, NuggetCondition) and isinstance(policies, Policies):
        return score_table(tagged_assignments(side, tag, policies.profile), score, policies)
    if isinstance(side, CitationCondition) and isinstance(policies, SupportPolicies):
        return support_table(tagged_support(side, tag), score, policies)
    raise TypeError(f"{side} is not scored under {type(policies).__name__}")


def _with_published(request: AgreementRequest, tasks: Mapping[str, str]) -> Correlation:
    # A published table names no topics, so a condition beside it is over all of its own.
    policies = replace(request.policies, topics="all")
    # Run level alone: a table in a paper says nothing of single topics, so there are no other taus and no bootstrap.
    left, right = (_run_scores(request.campaign, side, request.score, policies) for side in (request.x, request.y))
    runs = [run_id for run_id in left if run_id in right]
    return Correlation(
        x=str(request.x),
        y=str(request.y),
        score=request.score,
        policies=policies,
        agreement=run_level_agreement(left, right),
        intervals=dict.fromkeys(LEVELS, NO_INTERVAL),
        runs=tuple(RunPoint(run_id, tasks.get(run_id, ""), left[run_id], right[run_id]) for run_id in runs),
        points=NO_POINTS,
        published=True,
    )


def _run_scores(
    campaign: Campaign, side: Side, score: str, policies: Policies | SupportPolicies
) -> dict[str, float | None]:
    if isinstance(side, str):
        return dict(published_run_scores(campaign, side, score))
    table = table_of(side, score, policies)
    # Paired with itself: the means of one condition over its own topics, by the rule of two.
    means = run_means(pair(table, table), "all")[0]
    return {run_id: defined(mean) for run_id, mean in zip(table.run_ids, means, strict=True)}


def _run_points(both: Paired, topics: TopicChoice, tasks: Mapping[str, str]) -> tuple[RunPoint, ...]:
    x, y = run_means(both, topics)
    points = [
        RunPoint(run_id, tasks.get(run_id, ""), defined(x[place]), defined(y[place]))
        for place, run_id in enumerate(both.run_ids)
    ]
    # The best under y first, so that the table reads as a ranking; runs without a mean there are last.
    return tuple(sorted(points, key=lambda point: (point.y is None, -(point.y or 0.0), point.run_id)))


@cached_report(size=64)
def correlation_of(request: AgreementRequest) -> Correlation:
    """Return the taus, the intervals of the first two levels, and the points. Raises `Refused` as `correlate` does."""
    return correlate(request, levels=(RUN_LEVEL, TOPIC_AVERAGE))


@cached_report(size=64)
def agreement_of(x: Scored, y: Scored, score: str, policies: Policies | SupportPolicies) -> Agreement:
    """Return the three taus alone: without intervals a page may have many of them."""
    return correlate(AgreementRequest(x.campaign, x, y, score, policies), levels=()).agreement


@cached_report(size=64)
def pooled_interval(request: AgreementRequest) -> Interval:
    """Return the interval of the third tau: its work grows with the square of the answers, that of the others not."""
    if request.is_published:
        return NO_INTERVAL
    level = (ALL_TOPIC_RUN,)
    return _kept_intervals(request.campaign, *request.tables(), request.policies.topics, levels=level)[
        ALL_TOPIC_RUN
    ]


def shown_correlation(request: AgreementRequest, *, whole: bool = False) -> Correlation:
    """Return what a page shows; the interval of the third tau is in it where there are few answers, or `whole`."""
    correlation = correlation_of(request)
    # A second request would cost a page of few answers more than the bootstrap.
    if not whole and is_binned(correlation.points):
        return correlation
    return replace(correlation, intervals=correlation.intervals | {ALL_TOPIC_RUN: pooled_interval(request)})


@cached_report(size=64)
def curve_of(request: AgreementRequest) -> tuple[CurvePoint, ...]:
    if request.is_published:
        return ()
    return tau_by_topics(*request.tables(), request.policies.topics)


@cached_report(size=64)
def confusion_of(request: AgreementRequest) -> ConfusionReport | None:
    return confuse_sides(request.x, request.y, request.tag)


def confuse_sides(x: Side, y: Side, tag: str = "") -> ConfusionReport | None:
    """Return the labels of the same items on both sides; None where the sides do not label the same."""
    if isinstance(x, NuggetCondition) and isinstance(y, NuggetCondition) and y.judges:
        report = confuse_conditions(x, y, tag)
        return report if report.comparable else None
    if isinstance(x, CitationCondition) and isinstance(y, CitationCondition):
        return confuse_conditions(x, y, tag)
    return None


@cached_report(size=64)
def agreement_by_tag(request: AgreementRequest) -> tuple[tuple[str, Correlation], ...]:
    if request.is_published:
        return ()
    return tuple((tag, shown_correlation(replace(request, tag=tag))) for tag in topics_by_tag(request.campaign))


def is_binned(points: TopicPoints) -> bool:
    return len(points) > MOST_POINTS


def cells_of(points: TopicPoints) -> list[dict[str, float]]:
    """Return the cells that have a point: their edges `x`, `x2`, `y`, `y2`, and the `count`."""
    # At least 1, so that scores have their whole scale; lengths in words go beyond it.
    top = max(float(points.x.max(initial=0)), float(points.y.max(initial=0)), 1.0)
    counts, edges, _ = np.histogram2d(points.x, points.y, bins=CELLS, range=[[0, top], [0, top]])
    return [
        {"x": float(edges[column]), "x2": float(edges[column + 1])}
        | {"y": float(edges[row]), "y2": float(edges[row + 1]), "count": int(counts[column, row])}
        for column, row in np.argwhere(counts)
    ]


def correlation_document(correlation: Correlation) -> dict[str, Any]:
    return {
        "x": correlation.x,
        "y": correlation.y,
        "score": correlation.score,
        "policies": policies_document(correlation.policies),
        **asdict(correlation.agreement),
        "intervals": documents_of(correlation.intervals),
    }


def coefficients_of(correlation: Correlation, methods: Sequence[CorrelationMethod]) -> dict[str, Coefficient]:
    """Return other correlations of the run means by their names, x as the truth."""
    runs = sorted(correlation.runs, key=lambda run: run.run_id)
    x, y = (np.array([getattr(run, side) for run in runs], dtype=np.float64) for side in "xy")
    return {str(method): method.of(x, y) for method in methods}


def correlation_rows(correlation: Correlation) -> list[dict[str, Any]]:
    agreed = correlation.agreement
    return [
        {
            "level": level,
            "tau_b": getattr(agreed, level),
            "n": agreed.counted(level),
            "low": correlation.intervals[level].low,
            "high": correlation.intervals[level].high,
            "discordant": agreed.discordant[level],
            **{f"tied_{name}": pairs for name, pairs in asdict(agreed.ties[level]).items()},
            # A topic on which all runs score the same has no order, so the average leaves it out and says so.
            "undefined_topics": agreed.undefined_topics if level == "topic_average" else None,
            "note": correlation.intervals[level].note or None,
        }
        for level in LEVELS
    ]
