"""How far judges rank runs as the truth does, with intervals over topics, and how far two judges differ in that."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from reports.judges.tables import JudgeTable
from reports.metrics.agreement import ScoreTable
from reports.metrics.arrays import Booleans, Counts, Floats, column_means, comparable
from reports.metrics.bootstrap import resampled_means
from reports.metrics.intervals import Interval, resampled_interval
from reports.metrics.kendall import kendall_rows
from reports.metrics.rank_correlations import Coefficient, CorrelationMethod

SEED: Final = 0
TRUSTED: Final = 20
"""Topics from which an interval is not marked."""
FEW_TOPICS: Final = "few topics: too short to trust"
OF_RUNS: Final = "a table of runs alone has no topics"
OWN_AGGREGATES: Final = "the file's own aggregates count, and topics say nothing of them"
NO_FIGURE: Final = "undefined for one of the two"


@dataclass(frozen=True, slots=True)
class Matching:
    """How runs and topics of truth and judge are matched. `fills`: runs that the judge lacks score 0."""

    fills: bool = False
    only_shared_topics: bool = False


@dataclass(frozen=True)
class JudgeAgainstTruth:
    """A judge's table beside the truth's, on the runs that are compared, by id.

    `filled`: runs that the judge lacks and that score 0; `left_out`: runs of one side alone.
    """

    truth: JudgeTable
    judge: JudgeTable
    runs: tuple[str, ...]
    filled: tuple[str, ...]
    left_out: tuple[str, ...]
    matching: Matching

    @property
    def topics(self) -> int | None:
        """Number of topics that both have; None where one is a table of runs."""
        return None if self.why_no_interval == OF_RUNS else len(_shared(self.truth, self.judge))

    @property
    def x(self) -> Floats:
        return self._vector(self.truth, self.judge)

    @property
    def y(self) -> Floats:
        scores = self._vector(self.judge, self.truth)
        return np.where(np.isin(self.runs, self.filled), 0.0, scores)

    @property
    def why_no_interval(self) -> str:
        tables = (self.truth, self.judge)
        if not all(table.scores.topic_ids for table in tables):
            return OF_RUNS
        return OWN_AGGREGATES if any(table.has_own_aggregates for table in tables) else ""

    def _vector(self, table: JudgeTable, other: JudgeTable) -> Floats:
        scores = table.run_scores
        if self.matching.only_shared_topics and (shared := _shared(table, other)) != set(table.scores.topic_ids):
            means = column_means(table.scores.values, _mask(table.scores, shared)).tolist()
            scores = dict(zip(table.scores.run_ids, means, strict=True))
        return np.array([scores.get(run, np.nan) for run in self.runs])

    def resampled(self, topic_ids: Sequence[str], draws: Counts) -> tuple[Floats, Floats]:
        """Means of both sides in each draw of these topics, B x R each."""
        shared = _shared(self.truth, self.judge) if self.matching.only_shared_topics else set(topic_ids)
        x, y = (
            resampled_means(_cells(table.scores, self.runs, topic_ids, shared), draws)
            for table in (self.truth, self.judge)
        )
        y[:, np.isin(self.runs, self.filled)] = 0.0
        return x, y

    @property
    def topic_ids(self) -> set[str]:
        ids = {*self.truth.scores.topic_ids, *self.judge.scores.topic_ids}
        return _shared(self.truth, self.judge) if self.matching.only_shared_topics else ids


def match(truth: JudgeTable, judge: JudgeTable, matching: Matching) -> JudgeAgainstTruth:
    true_runs, judged_runs = set(truth.run_scores), set(judge.run_scores)
    lacking = true_runs - judged_runs
    runs = true_runs if matching.fills else true_runs & judged_runs
    filled = lacking if matching.fills else set()
    left_out = (judged_runs - true_runs) | (lacking - filled)
    of_both, zeros, others = (tuple(sorted(names)) for names in (runs, filled, left_out))
    return JudgeAgainstTruth(truth, judge, of_both, zeros, others, matching)


def _shared(one: JudgeTable, other: JudgeTable) -> set[str]:
    return set(one.scores.topic_ids) & set(other.scores.topic_ids)


def _mask(table: ScoreTable, topics: Collection[str]) -> Booleans:
    return np.array([topic in topics for topic in table.topic_ids], dtype=np.bool_)


def _cells(table: ScoreTable, runs: Sequence[str], topic_ids: Sequence[str], counted: Collection[str]) -> Floats:
    """Return the values on other axes, topics x runs; nan where the table has none or the topic does not count."""
    row, column = ({name: place for place, name in enumerate(names)} for names in (table.topic_ids, table.run_ids))
    cells = np.full((len(topic_ids), len(runs)), np.nan)
    topics = [place for place, topic in enumerate(topic_ids) if topic in row and topic in counted]
    places = [place for place, run in enumerate(runs) if run in column]
    rows, columns = [row[topic_ids[place]] for place in topics], [column[runs[place]] for place in places]
    cells[np.ix_(topics, places)] = table.values[np.ix_(rows, columns)]
    return cells


@dataclass(frozen=True, slots=True)
class JudgeDifference:
    """Coefficient of one judge less that of another: with p, and its interval over the same draws of topics."""

    value: float | None
    interval: Interval
    p: float | None

    @property
    def verdict(self) -> str:
        if self.interval.ends is None:
            return ""
        low, high = self.interval.ends
        return "higher" if low > 0 else "lower" if high < 0 else "not told apart"


@dataclass
class Resampling:
    """Figures of resamples, each computed once: of the same topics every judge is asked about the same draws."""

    resamples: int
    _figures: dict[tuple[int, str, tuple[str, ...]], Floats] = field(default_factory=dict)

    def interval(self, pair: JudgeAgainstTruth, method: CorrelationMethod) -> Interval:
        if reason := pair.why_no_interval:
            return Interval(reason=reason)
        topics = tuple(sorted(pair.topic_ids))
        bounds = (0.0, 1.0) if method.name == "rbo" else (-1.0, 1.0)
        return self._interval(lambda draws: self._of(pair, method, topics, draws), topics, bounds)

    def difference(
        self, one: JudgeAgainstTruth, other: JudgeAgainstTruth, method: CorrelationMethod
    ) -> JudgeDifference:
        first, second = (method.of(pair.x, pair.y).value for pair in (one, other))
        if first is None or second is None:
            return JudgeDifference(None, Interval(reason=NO_FIGURE), None)
        value = first - second
        if reason := one.why_no_interval or other.why_no_interval:
            return JudgeDifference(value, Interval(reason=reason), None)
        topics = tuple(sorted(one.topic_ids | other.topic_ids))

        kept: list[Floats] = []

        def differences(draws: Counts) -> Floats:
            kept.append(self._of(one, method, topics, draws) - self._of(other, method, topics, draws))
            return kept[0]

        interval = self._interval(differences, topics, (-2.0, 2.0))
        if interval.ends is None:
            return JudgeDifference(value, interval, None)
        # Before the resamples stand all topics, and all but one.
        drawn = kept[0][len(topics) + 1 :]
        drawn = drawn[~np.isnan(drawn)]
        as_far = int((np.abs(comparable(drawn - drawn.mean())) >= comparable(np.array(abs(value)))).sum())
        return JudgeDifference(value, interval, (as_far + 1) / (len(drawn) + 1))

    def _interval(
        self, figures: Callable[[Counts], Floats], topics: Sequence[str], bounds: tuple[float, float]
    ) -> Interval:
        interval = resampled_interval(figures, len(topics), self.resamples, SEED, bounds)
        return replace(interval, note=FEW_TOPICS if interval.ends and len(topics) < TRUSTED else "")

    def _of(
        self, pair: JudgeAgainstTruth, method: CorrelationMethod, topics: tuple[str, ...], draws: Counts
    ) -> Floats:
        key = (id(pair), f"{method} {method.rbo_p}", topics)
        if key not in self._figures:
            x, y = pair.resampled(topics, draws)
            self._figures[key] = _figures(method, x, y)
        return self._figures[key]


def _figures(method: CorrelationMethod, x: Floats, y: Floats) -> Floats:
    """The figure of each row of two B x R matrices, nan where undefined."""
    if method.name == "kendall" and method.top is None:
        return kendall_rows(x, y).tau
    values = (method.of(*row).value for row in zip(x, y, strict=True))
    return np.array([np.nan if value is None else value for value in values])


def coefficients(pair: JudgeAgainstTruth, methods: Sequence[CorrelationMethod]) -> Mapping[str, Coefficient]:
    x, y = pair.x, pair.y
    return {str(method): method.of(x, y) for method in methods}
