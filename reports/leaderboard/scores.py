"""Runs by score under one condition, with what stands behind each number, tests of every two, and scores by topic."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evaluation.domain.conditions import CitationCondition, NuggetCondition
from evaluation.models import Campaign, ListedNugget, NuggetList, Run
from reports.agreement.figures import table_of
from reports.frames import tagged_assignments
from reports.metrics.agreement import ScoreTable
from reports.metrics.arrays import defined
from reports.metrics.intervals import Interval, difference_intervals, mean_intervals
from reports.metrics.policies import Policies, SupportPolicies, policies_document
from reports.metrics.registry import BY_NAME, LENGTH, VIOLATIONS, Profile, Score, names_of, primary_of
from reports.metrics.scores import AnswerScores, RunScores, answer_scores, run_scores, summary
from reports.metrics.significance import (
    MOST_RUNS,
    PairTests,
    best_first,
    paired_tests,
    significance_groups,
    smallest_p,
)
from web.consistent_read import consistent_read

SIGNIFICANT = 0.05

ScoreRow = dict[str, Any]
"""One run as files have it: scores in [0, 1], `length` in words, None where undefined; `topics`: the primary's n.

`intervals` has the interval of each, as a document.
"""


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """All runs of a campaign under one condition, best primary score first, unscored ones last.

    `names`: the scores, and the length. `topics` counts the topics with a nugget; `empty_topics` those whose list has
    none, `no_vital_topics` those with no vital nugget, `no_positive_topics` those where none weighs more than 0.
    `avoid_nuggets` counts the nuggets that an answer must not contain, where they are in no score of it.
    `counted` has, by run and score, the topics that its mean is over.
    `summary` has the published tables' closing rows: the means over topics of each topic's minimum, median and
    maximum over runs, controls left out.
    """

    choice: NuggetCondition
    policies: Policies
    names: tuple[str, ...]
    topics: int
    empty_topics: int
    no_vital_topics: int
    no_positive_topics: int
    avoid_nuggets: int
    rows: tuple[ScoreRow, ...]
    counted: dict[str, dict[str, int]]
    summary: dict[str, dict[str, float | None]]

    @property
    def primary(self) -> str:
        return primary_of(self.policies.profile)

    @property
    def unscored_topics(self) -> tuple[int, str]:
        """The topics that have no primary score by their own, and what their lists lack."""
        if self.policies.profile is Profile.RUBRIC:
            return self.no_positive_topics, "a weight above 0"
        return self.no_vital_topics, "a vital nugget"


def leaderboard(choice: NuggetCondition, policies: Policies, tag: str = "") -> Leaderboard:
    sheet = tagged_assignments(choice, tag, policies.profile)
    scores, answers = run_scores(sheet, policies), answer_scores(sheet, policies)
    runs, ends = runs_by_id(choice.campaign), _intervals(answers)
    names = names_of(policies.profile, sizes=True)
    lengths = (~np.isnan(answers.lengths)).sum(axis=0).tolist()
    avoided = _avoid_nuggets(choice, sheet.topic_ids) if policies.profile is Profile.TREC_RAG else 0
    violations = _violations(choice, policies, tag) if avoided else {}
    rows = [
        _row(runs[run_id], scores, place)
        | {name: figures[place] for name, figures in violations.items()}
        | {"intervals": {name: ends[name][place].document for name in names}}
        for place, run_id in enumerate(sheet.run_ids)
    ]
    # Controls are the organizers' own runs: the published closing rows leave them out (docs/metrics.md#nugget-scores).
    judged = np.array([not runs[run_id].control for run_id in sheet.run_ids], dtype=np.bool_)
    spreads = summary(sheet, policies, judged)
    # Without any list there are no scores, and lengths are of all topics (docs/metrics.md#nugget-scores).
    topics = sheet.scorable if sheet.scorable.any() else np.ones_like(sheet.scorable)
    return Leaderboard(
        choice=choice,
        policies=policies,
        names=names,
        topics=int(topics.sum()),
        empty_topics=sheet.empty_topics,
        no_vital_topics=sheet.no_vital_topics,
        no_positive_topics=sheet.no_positive_topics,
        avoid_nuggets=avoided,
        rows=tuple(sorted(rows, key=highest_first(primary_of(policies.profile)))),
        counted={
            run_id: dict(zip(names, [*scores.topics[:, place].tolist(), lengths[place]], strict=True))
            for place, run_id in enumerate(sheet.run_ids)
        },
        summary={end: {name: spreads[name][end] for name in names} for end in ("min", "median", "max")},
    )


def _violations(choice: NuggetCondition, policies: Policies, tag: str) -> dict[str, list[float | None]]:
    """Return the mean violations of each run, to stand beside scores that hold such nuggets out."""
    by_weight = replace(policies, profile=Profile.RUBRIC)
    scores = run_scores(tagged_assignments(choice, tag, Profile.RUBRIC), by_weight)
    return {VIOLATIONS: [defined(mean) for mean in scores.of(VIOLATIONS)]}


def _intervals(answers: AnswerScores) -> dict[str, list[Interval]]:
    """Return the intervals of the runs' means by score, over the condition's own topics, as the means are."""
    by_score = {
        name: mean_intervals(answers.of(name)[answers.topics], BY_NAME[name].bounds) for name in answers.names
    }
    return by_score | {LENGTH: mean_intervals(answers.lengths[answers.length_topics], BY_NAME[LENGTH].bounds)}


def runs_by_id(campaign: Campaign) -> dict[str, Run]:
    return {run.run_id: run for run in campaign.runs.all()}


def run_head(run: Run) -> ScoreRow:
    return {"run_id": run.run_id, "group": run.group, "task": run.task}


def _avoid_nuggets(choice: NuggetCondition, topic_ids: Collection[str]) -> int:
    lists = NuggetList.objects.newest_submitted().filter(nugget_set__in=choice.nugget_sets)
    held = ListedNugget.objects.to_avoid().filter(
        nugget_list__in=lists, nugget_list__topic__topic_id__in=topic_ids
    )
    places = list(held.values_list("nugget_list__nugget_set", "nugget_list__topic__pk"))
    return sum(place in choice.grounds for place in places) if places else 0


def _row(run: Run, scores: RunScores, place: int) -> ScoreRow:
    # Failed, unjudged and excluded are three columns because a reader acts on each in another way: a failed label can
    # be asked for again, an unjudged one waits for somebody, an excluded answer is the unjudged policy at work.
    counts = ("judged", "failed", "unjudged", "excluded", "missing")
    return {
        **run_head(run),
        "topics": int(scores.topics[0, place]),
        **{name: defined(scores.of(name)[place]) for name in scores.names},
        "length": defined(scores.length[place]),
        **{name: int(getattr(scores, name)[place]) for name in counts},
        "control": run.control,
    }


def highest_first(score: str) -> Callable[[ScoreRow], tuple[bool, float, str]]:
    """Return a key of rows by which those without this score come last."""
    # Equal scores are ordered by run, so that two exports of one state have the same bytes.
    return lambda row: (row[score] is None, -(row[score] or 0.0), row["run_id"])


def scores_document(board: Leaderboard) -> dict[str, Any]:
    by_weight = {"no_positive_topics": board.no_positive_topics}
    return {
        "condition": str(board.choice),
        "nuggets": board.choice.sets_text,
        "judge": board.choice.judges_text,
        "policies": policies_document(board.policies),
        "topics": board.topics,
        "empty_topics": board.empty_topics,
        "no_vital_topics": board.no_vital_topics,
        "avoid_nuggets": board.avoid_nuggets,
        **(by_weight if board.policies.profile is Profile.RUBRIC else {}),
        "runs": list(board.rows),
        "summary": board.summary,
    }


def scores_rows(board: Leaderboard) -> list[dict[str, Any]]:
    """Return the runs and the closing rows, for a terminal: a CSV has the runs alone, so `import_scores` reads it."""
    # A line of a terminal has no room for more than the interval of the primary score.
    runs = [row | {"intervals": {board.primary: row["intervals"][board.primary]}} for row in board.rows]
    return [*runs, *({"run_id": name} | scores for name, scores in board.summary.items())]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run against another: the difference of their means, on how many topics, and Holm's p; None where undefined."""

    score: Score
    other: str
    difference: float | None
    interval: Interval
    p: float | None
    adjusted: float | None
    topics: int

    @property
    def verdict(self) -> str:
        """`higher` or `lower` than the other where the test says so, else nothing."""
        # By the corrected p alone: of a hundred uncorrected tests five say "differs" by chance.
        if self.adjusted is None or self.difference is None or self.adjusted >= SIGNIFICANT:
            return ""
        return "higher" if self.difference > 0 else "lower"

    @property
    def tone(self) -> str:
        """`better` or `worse` than the other, which of a number of faults is the lower and the higher."""
        if not self.verdict or self.difference is None:
            return ""
        return "better" if self.score.is_better(self.difference, 0) else "worse"

    @property
    def mark(self) -> str:
        return {"higher": "▲", "lower": "▼"}.get(self.verdict, "")


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Every two of some runs, the best first; `left_out` counts runs beyond the most that are compared."""

    runs: tuple[str, ...]
    rows: tuple[tuple[Comparison, ...], ...]
    exact: bool
    left_out: int
    topics: int
    groups: tuple[frozenset[str], ...]
    """Largest groups of runs of which no two differ."""

    @property
    def smallest_p(self) -> float:
        return smallest_p(self.topics, self.pairs)

    @property
    def can_differ(self) -> bool:
        return self.smallest_p < SIGNIFICANT

    @property
    def significant_pairs(self) -> int:
        return sum(bool(comparison.verdict) for row in self.rows for comparison in row) // 2

    @property
    def by_run(self) -> list[tuple[str, tuple[Comparison, ...]]]:
        return list(zip(self.runs, self.rows, strict=True))

    @property
    def pairs(self) -> int:
        # Each test stands in the table twice, once from either run.
        return sum(comparison.p is not None for row in self.rows for comparison in row) // 2


def compare_runs(table: ScoreTable, runs: Sequence[str], score: Score) -> Comparisons:
    """Test every two of the named runs, of more than `MOST_RUNS` only the best."""
    columns = [place for place, run in enumerate(table.run_ids) if run in set(runs)]
    values = table.values[table.topics][:, columns]
    # Tests grow with the square of the runs, and each makes Holm's correction harsher for all: only the best compete.
    by_rank = -values if score.lower_is_better else values
    scored, best = len(best_first(by_rank, len(columns))), best_first(by_rank)
    names = tuple(table.run_ids[columns[place]] for place in best)
    tests = paired_tests(values[:, best])
    ends = difference_intervals(values[:, best], score.bounds)
    rows = tuple(_compared(score, tests, ends[place], names, place) for place in range(len(names)))
    groups = significance_groups(tests.adjusted, SIGNIFICANT)
    return Comparisons(
        names,
        rows,
        tests.exact,
        max(0, scored - MOST_RUNS),
        topics=len(values),
        groups=tuple(frozenset(names[place] for place in group) for group in groups),
    )


def _compared(
    score: Score, tests: PairTests, ends: list[Interval], names: tuple[str, ...], place: int
) -> tuple[Comparison, ...]:
    return tuple(
        Comparison(
            score=score,
            other=other,
            difference=defined(tests.difference[place, column]),
            interval=ends[column],
            p=defined(tests.p[place, column]),
            adjusted=defined(tests.adjusted[place, column]),
            topics=int(tests.topics[place, column]),
        )
        for column, other in enumerate(names)
    )


def comparison_rows(comparisons: Comparisons) -> list[dict[str, Any]]:
    """Return every two runs once: the one with the higher mean first where they differ."""
    return [
        {"run_id": run, "other": comparison.other, "difference": comparison.difference}
        | {"p": comparison.p, "adjusted": comparison.adjusted, "topics": comparison.topics}
        | {"intervals": {"difference": comparison.interval.document}}
        for place, (run, row) in enumerate(comparisons.by_run)
        for comparison in row[place + 1 :]
    ]


def topic_scores(
    choice: NuggetCondition | CitationCondition, policies: Policies | SupportPolicies
) -> Iterator[dict[str, Any]]:
    """Yield the scores of every run on each of the condition's topics; None where one is not in the run's mean."""
    profile = policies.profile if isinstance(policies, Policies) else Profile.CITATIONS
    with consistent_read():
        tables = {name: table_of(choice, name, policies) for name in names_of(profile, sizes=True)}
    table = next(iter(tables.values()))
    for place in table.topics.nonzero()[0].tolist():
        for column, run_id in enumerate(table.run_ids):
            scores = {name: defined(table.values[place, column]) for name, table in tables.items()}
            yield {"run_id": run_id, "topic_id": table.topic_ids[place], **scores}
