"""How far two conditions agree: three taus with what they rest on, and the points of the scatter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.domain.conditions import Choice, CitationCondition, NuggetCondition, check_apart
from evaluation.errors import Refused
from evaluation.models import Campaign
from reports.external import external_scores
from reports.leaderboard import number, runs_by_id
from reports.metrics.agreement import (
    LEVELS,
    Agreement,
    Paired,
    ScoreTable,
    agreement,
    pair,
    run_level_agreement,
    run_means,
    score_table,
)
from reports.metrics.bootstrap import Interval, intervals
from reports.metrics.policies import Policies, SupportPolicies, TopicChoice
from reports.metrics.subsampling import CurvePoint, tau_by_topics
from reports.metrics.support import support_table
from reports.points import NO_POINTS, RunPoint, TopicPoints, topic_points
from reports.tags import tagged_assignments, tagged_support
from web.reading import consistent_read

RESAMPLES = 1000


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
    intervals: dict[str, Interval | None]
    runs: tuple[RunPoint, ...]
    points: TopicPoints
    published: bool = False

    @property
    def has_picture(self) -> bool:
        """Whether a run has a score on both sides."""
        return any(one.x is not None and one.y is not None for one in self.runs)


Side = NuggetCondition | CitationCondition | str


def correlate(
    campaign: Campaign,
    x: Side,
    y: Side,
    score: str,
    policies: Policies | SupportPolicies,
    *,
    tag: str = "",
    resamples: int = RESAMPLES,
    levels: Sequence[str] = LEVELS,
) -> Correlation:
    """Correlate a score under two conditions, in all topics or those with a tag, with the intervals of some levels.

    A string names a published table, which has run-level scores only. Raises ValueError for a score that the
    conditions do not have, `Refused` where some labels are on both sides or a published table should be of a tag.
    """
    tasks = {run_id: run.task for run_id, run in runs_by_id(campaign).items()}
    if isinstance(x, str) or isinstance(y, str):
        if tag:
            raise Refused(
                "usage", "A published table has no scores by topic, so it cannot be of those with a tag."
            )
        return _with_published(campaign, x, y, score, policies, tasks)
    if isinstance(x, Choice) and isinstance(y, Choice):
        check_apart(x, y)
    left, right = tables_of(x, y, score, policies, tag)
    both = pair(left, right)
    return Correlation(
        x=str(x),
        y=str(y),
        score=score,
        policies=policies,
        agreement=agreement(left, right, policies.topics),
        intervals=intervals(left, right, policies.topics, resamples=resamples, levels=levels),
        runs=_run_points(both, policies.topics, tasks),
        points=topic_points(both, tasks),
    )


def topic_curve(
    x: NuggetCondition | CitationCondition,
    y: NuggetCondition | CitationCondition,
    score: str,
    policies: Policies | SupportPolicies,
    tag: str = "",
) -> tuple[CurvePoint, ...]:
    """Return the run-level tau of two conditions over fewer and fewer topics."""
    return tau_by_topics(*tables_of(x, y, score, policies, tag), policies.topics)


def tables_of(
    x: NuggetCondition | CitationCondition,
    y: NuggetCondition | CitationCondition,
    score: str,
    policies: Policies | SupportPolicies,
    tag: str = "",
) -> tuple[ScoreTable, ScoreTable]:
    """Return both conditions' scores, from one state of the database."""
    with consistent_read():
        return table_of(x, score, policies, tag), table_of(y, score, policies, tag)


def table_of(
    side: NuggetCondition | CitationCondition, score: str, policies: Policies | SupportPolicies, tag: str = ""
) -> ScoreTable:
    """Return one condition's score per topic and run, in all topics or those with a tag."""
    if isinstance(side, NuggetCondition) and isinstance(policies, Policies):
        return score_table(tagged_assignments(side, tag), score, policies)
    if isinstance(side, CitationCondition) and isinstance(policies, SupportPolicies):
        return support_table(tagged_support(side, tag), score, policies)
    raise TypeError(f"{side} is not scored under {type(policies).__name__}")


def _with_published(
    campaign: Campaign,
    x: Side,
    y: Side,
    score: str,
    policies: Policies | SupportPolicies,
    tasks: Mapping[str, str],
) -> Correlation:
    left, right = (_run_scores(campaign, side, score, policies) for side in (x, y))
    runs = [run_id for run_id in left if run_id in right]
    return Correlation(
        x=str(x),
        y=str(y),
        score=score,
        policies=policies,
        agreement=run_level_agreement(left, right),
        intervals=dict.fromkeys(LEVELS),
        runs=tuple(RunPoint(run_id, tasks.get(run_id, ""), left[run_id], right[run_id]) for run_id in runs),
        points=NO_POINTS,
        published=True,
    )


def _run_scores(
    campaign: Campaign, side: Side, score: str, policies: Policies | SupportPolicies
) -> dict[str, float | None]:
    if isinstance(side, str):
        return dict(external_scores(campaign, side, score) or {})
    table = table_of(side, score, policies)
    means = run_means(pair(table, table), "all")[0]
    return {run_id: number(mean) for run_id, mean in zip(table.run_ids, means, strict=True)}


def _run_points(both: Paired, topics: TopicChoice, tasks: Mapping[str, str]) -> tuple[RunPoint, ...]:
    x, y = run_means(both, topics)
    points = [
        RunPoint(run_id, tasks.get(run_id, ""), number(x[place]), number(y[place]))
        for place, run_id in enumerate(both.run_ids)
    ]
    return tuple(sorted(points, key=lambda point: (point.y is None, -(point.y or 0.0), point.run_id)))
