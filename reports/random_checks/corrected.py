"""Corrected leaderboards: each run's score by a random check, its interval, ranks, differences, and the tau."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Final

import numpy as np
from django.db.models import Max

from evaluation.models import Study
from evaluation.terms import StudyKind
from reports.cache import cached_report
from reports.frames import cells_of
from reports.metrics.alpha import alpha_ordinal
from reports.metrics.arrays import Booleans, Counts, Floats, defined
from reports.metrics.policies import Policies, SupportPolicies
from reports.metrics.random_check.draw import KNOWN
from reports.metrics.random_check.estimate import (
    FEWEST_JUDGED,
    NORMAL,
    RunEstimates,
    TopicEstimates,
    differ,
    estimates,
    more_to_separate,
    people_only,
    rank_ranges,
    tau_with,
    topic_estimates,
    variances_ahead,
)
from reports.metrics.random_check.weights import values_of
from reports.metrics.registry import BY_NAME, SCORES, Profile
from reports.metrics.significance import significance_groups
from reports.models import Adjudication
from reports.random_checks.frame import CANT_JUDGE
from reports.random_checks.population import drawn_profile, draws_sentences
from reports.random_checks.state import RandomCheckState, random_check_state
from web.templatetags.assay import score as score_text
from web.text import plural

THESE, NEW = TARGETS = ("these", "new")
"""Targets of an interval: the topics that are here, or topics like them."""

FEW = 30
MOST_NAMED = 3
"""Runs that are named one by one where something is still to be judged."""
MANY_CANT_JUDGE = 0.05
TOO_FEW = "too few judgments"
NO_TOPIC = "no topic counts"
UNFINISHED = "other runs are not all judged"


CORRECTED_SCORES: Final = tuple(score.name for score in SCORES if score.is_fraction)
"""Scores that are sums over pairs of weight and label."""


def scores_corrected(study: Study) -> tuple[str, ...]:
    """The scores that a random check corrects, the primary one first."""
    profile = drawn_profile(study) if study.kind == StudyKind.ASSIGNMENT else Profile.CITATIONS
    return tuple(name for name in CORRECTED_SCORES if BY_NAME[name].is_of(profile))


def primary_score(study: Study) -> str:
    return scores_corrected(study)[0]


@dataclass(frozen=True, slots=True)
class CorrectedRun:
    """One run: scores are (value, low, high), None where there is none; `reason` says why.

    `known`: pairs whose labels by people were taken over, and which were not drawn.
    """

    run_id: str
    llm: float | None
    people: tuple[float | None, float | None, float | None]
    corrected: tuple[float | None, float | None, float | None]
    sd: float | None
    rank: tuple[int, int] | None
    pairs: int
    drawn: int
    judged: int
    refused: int
    stale: int
    outside: int
    known: int
    reason: str
    refused_bounds: tuple[float, float] | None

    @property
    def few(self) -> bool:
        return self.judged + self.known < FEW

    @property
    def answered(self) -> int:
        return self.judged + self.refused

    @property
    def complete(self) -> bool:
        return self.answered >= self.drawn

    @property
    def error(self) -> float:
        """Error of the LLM's score, positive where it is too high; 0 where one of the two scores is missing."""
        value = self.corrected[0]
        return 0.0 if value is None or self.llm is None else self.llm - value

    @property
    def distance(self) -> float:
        return abs(self.error)

    @property
    def doubts(self) -> list[str]:
        doubts = []
        if self.outside:
            doubts.append(f"{self.outside:,} {plural(self.outside, 'pair')} came after the draw: extend the check")
        elif self.reason == TOO_FEW:
            doubts.append(f"too few judgments: {self.judged}")
        elif self.reason:
            doubts.append(self.reason)
        elif self.few:
            doubts.append(f"few judgments: {self.judged}")
        if self.refused_bounds:
            low, high = map(score_text, self.refused_bounds)
            ends = f"{low} with none supported, {high} with all"
            doubts.append(f"{self.refused} of {self.drawn} could not be judged: {ends}")
        if self.stale:
            doubts.append(f"{self.stale:,} LLM {plural(self.stale, 'label')} changed since the draw")
        return doubts


@dataclass(frozen=True, slots=True)
class CorrectedDifference:
    """a - b with its interval; `more`: pairs of each run that would tell them apart, 0 where they are, None never.

    `half`: of the interval, None where the two have too few topics in common.
    """

    a: str
    b: str
    value: float
    half: float | None
    more: int | None

    @property
    def low(self) -> float | None:
        return None if self.half is None else self.value - self.half

    @property
    def high(self) -> float | None:
        return None if self.half is None else self.value + self.half

    @property
    def apart(self) -> bool:
        return self.half is not None and abs(self.value) > self.half

    @property
    def turned(self) -> "CorrectedDifference":
        return replace(self, a=self.b, b=self.a, value=-self.value)


@dataclass(frozen=True, slots=True)
class CorrectedReport:
    """All runs of a random check in one score; `tau`: of the LLM's order and the corrected one, with its interval."""

    study: Study
    score: str
    target: str
    policies: Policies | SupportPolicies
    runs: tuple[CorrectedRun, ...]
    differences: tuple[CorrectedDifference, ...]
    tau: tuple[float, float, float] | None
    alpha: float | None
    judged_twice: int
    judges: tuple[str, ...]

    @property
    def unit_text(self) -> str:
        if not draws_sentences(self.study):
            return ""
        return (
            "A pair here is a sentence with all citations that count: precision takes their mean, recall the best."
        )

    @property
    def complete(self) -> bool:
        return bool(self.runs) and all(run.complete for run in self.runs)

    @property
    def judged(self) -> int:
        return sum(run.judged for run in self.runs)

    @property
    def pairs(self) -> int:
        return sum(run.pairs for run in self.runs)

    @property
    def known(self) -> int:
        return sum(run.known for run in self.runs)

    @property
    def basis(self) -> str:
        judged, known_labels = self.judged, self.known
        people = [f"{judged:,} human {plural(judged, 'judgment')}"] if judged or not known_labels else []
        earlier = [f"{known_labels:,} known {plural(known_labels, 'label')}"] if known_labels else []
        return f"{' and '.join([*people, *earlier])} of {self.pairs:,}"

    @property
    def has_doubts(self) -> bool:
        return any(run.doubts for run in self.runs)

    @property
    def people(self) -> str:
        return ", ".join(name.removesuffix(f", study {self.study.name}") for name in self.judges)

    @property
    def farthest(self) -> CorrectedRun:
        return max(self.runs, key=lambda run: run.distance)

    @property
    def ordered(self) -> list[CorrectedRun]:
        """Best first; a run without a corrected score never stands before one that has it."""
        return sorted(self.runs, key=lambda run: (run.corrected[0] is None, -(run.corrected[0] or 0), run.run_id))

    @property
    def by_pair(self) -> dict[tuple[str, str], CorrectedDifference]:
        gaps = [each for gap in self.differences for each in (gap, gap.turned)]
        return {(gap.a, gap.b): gap for gap in gaps}

    @property
    def groups(self) -> tuple[frozenset[str], ...]:
        names, gaps = [run.run_id for run in self.ordered if not run.reason], self.by_pair
        alike = np.array([[a == b or not gaps[a, b].apart for b in names] for a in names], dtype=np.float64)
        groups = significance_groups(alike.reshape(len(names), len(names)), 0.5)
        return tuple(frozenset(names[place] for place in group) for group in groups)

    @property
    def neighbours(self) -> list[CorrectedDifference]:
        gaps = self.by_pair
        differences = [gaps.get((a.run_id, b.run_id)) for a, b in pairwise(self.ordered)]
        return [gap for gap in differences if gap and not gap.apart]

    def numbers_with(self, gap: CorrectedDifference) -> list[tuple[str, int]]:
        return [(run, self.study.design["per_run"].get(run, 0) + (gap.more or 0)) for run in (gap.a, gap.b)]

    @property
    def to_judge(self) -> str:
        late = [run for run in self.runs if not run.complete]
        if len(late) <= MOST_NAMED:
            return ", ".join(f"{run.answered:,} of {run.drawn:,} pairs judged of {run.run_id}" for run in late)
        answered, drawn = (sum(getattr(run, name) for run in self.runs) for name in ("answered", "drawn"))
        return f"{answered:,} of {drawn:,} pairs judged, {len(late)} of {len(self.runs)} runs not complete"


def corrected_report(
    state: RandomCheckState,
    score: str,
    *,
    target: str = THESE,
    least_judged: int = FEWEST_JUDGED,
    complete_only: bool = False,
) -> CorrectedReport:
    """Correct every run's score. A run has none before all its drawn pairs are judged or refused.

    `complete_only`: before those of all runs are, no run has one. `least_judged`: judged pairs that
    a run needs; any other number than the usual one lifts the rule for strata too.
    """
    state = replace(state, sample=state.sample_for(score))
    weights, values = state.weights(score), values_of(score)
    run_estimates = estimates(state.sample, weights, values)
    topics = None
    if target == NEW:
        topics = topic_estimates(state.sample, run_estimates, weights, values, state.population.counted[score])
    reasons = _reasons(state, score, run_estimates, topics, least_judged)
    finished = state.finished
    withheld = complete_only and not finished.all()
    if withheld:
        reasons = [UNFINISHED if done else reason for done, reason in zip(finished, reasons, strict=True)]
    places = np.flatnonzero([not reason for reason in reasons])
    runs = _runs(state, score, run_estimates, topics, reasons)
    llm = state.population.llm[score]
    ranked = places[~np.isnan(llm[places])]
    alpha, twice = _alpha(state)
    return CorrectedReport(
        study=state.study,
        score=score,
        target=target,
        policies=state.policies,
        runs=tuple(runs),
        differences=tuple(_differences(state, weights, run_estimates, topics, places)),
        tau=tau_with(llm[ranked], run_estimates.value[ranked], run_estimates.sd[ranked]),
        alpha=None if withheld else alpha,
        judged_twice=twice,
        judges=tuple(sorted({judge for labels in state.labels.values() for judge in labels})),
    )


def _reasons(
    state: RandomCheckState,
    score: str,
    run_estimates: RunEstimates,
    topics: TopicEstimates | None,
    least_judged: int,
) -> list[str]:
    """Return the reason why each run has no corrected score, '' where it has one."""
    drawn, judged = state.count(state.drawn), state.count(state.drawn & state.sample.judged)
    refused, outside = state.count(state.drawn & state.refused), state.outside
    open_ = state.count(~state.sample.judged)
    usual = least_judged == FEWEST_JUDGED
    has_topics: Booleans = np.any(state.population.counted[score], axis=1)
    reasons = []
    for run, run_id in enumerate(state.population.run_ids):
        done = int(judged[run] + refused[run])
        if outside[run]:
            number_outside = int(outside[run])
            are = plural(number_outside, "pair of " + run_id + " is", f"pairs of {run_id} are")
            reasons.append(f"{number_outside:,} {are} outside the random check: extend it")
        elif done < drawn[run]:
            reasons.append(f"{done} of {int(drawn[run])} judged")
        elif not has_topics[run]:
            reasons.append(NO_TOPIC)
        # A run of which every pair is judged needs no rate, however few pairs it has.
        elif open_[run] and (judged[run] < least_judged or (usual and not run_estimates.enough[run])):
            reasons.append(TOO_FEW)
        elif topics and np.isnan(topics.half_width[run]):
            reasons.append("too few topics")
        else:
            reasons.append("")
    return reasons


def _runs(
    state: RandomCheckState,
    score: str,
    run_estimates: RunEstimates,
    topics: TopicEstimates | None,
    reasons: list[str],
) -> Iterator[CorrectedRun]:
    weights, values = state.weights(score), values_of(score)
    people = people_only(state.sample, weights, values)
    low, high = run_estimates.interval
    sd = run_estimates.sd
    if topics:
        low, high = (
            np.maximum(run_estimates.value - topics.half_width, BY_NAME[score].bounds[0]),
            np.minimum(run_estimates.value + topics.half_width, BY_NAME[score].bounds[1]),
        )
        sd = np.sqrt(topics.variance)
    bounds = _refused_bounds(state, weights, values)
    complete = np.flatnonzero([not reason for reason in reasons])
    ranks = dict(zip(complete.tolist(), _ranks(run_estimates, topics, complete), strict=True))
    counts = {
        "pairs": state.count(np.ones(len(state.run), dtype=np.bool_)),
        "drawn": state.count(state.drawn),
        "judged": state.count(state.drawn & state.sample.judged),
        "refused": state.count(state.drawn & state.refused),
        "stale": state.stale,
        "outside": state.outside,
        "known": state.count(state.sample.frame.label == KNOWN),
    }
    for run, run_id in enumerate(state.population.run_ids):
        reason = reasons[run]
        # People alone have a score by the same pairs, so it waits for the same pairs.
        incomplete = bool(reason) and reason != TOO_FEW
        share = counts["refused"][run] / max(int(counts["drawn"][run]), 1)
        yield CorrectedRun(
            run_id=run_id,
            llm=defined(state.population.llm[score][run]),
            people=_three(None if incomplete else people[:, run]),
            corrected=_three(None if reason else np.array([run_estimates.value[run], low[run], high[run]])),
            sd=None if reason else float(sd[run]),
            rank=ranks.get(run),
            **{name: int(count[run]) for name, count in counts.items()},
            reason=reason,
            refused_bounds=bounds[run] if share > MANY_CANT_JUDGE and not reason else None,
        )


def _three(figures: Floats | None) -> tuple[float | None, float | None, float | None]:
    if figures is None:
        return None, None, None
    value, low, high = (defined(figure) for figure in figures)
    return value, low, high


def _refused_bounds(state: RandomCheckState, weights: Floats, values: Floats) -> list[tuple[float, float]]:
    """Scores that result if all refused pairs were not supported, and if all were, by run."""
    ends = []
    for end in np.eye(len(values))[[int(values.argmin()), int(values.argmax())]]:
        shares = np.where(state.refused[:, np.newaxis], end, state.sample.shares)
        ends.append(estimates(replace(state.sample, shares=shares), weights, values).value)
    return [(float(low), float(high)) for low, high in zip(*ends, strict=True)]


def _ranks(run_estimates: RunEstimates, topics: TopicEstimates | None, runs: Counts) -> list[tuple[int, int]]:
    if topics is None:
        part = replace(run_estimates, value=run_estimates.value[runs], variance=run_estimates.variance[runs])
        above = differ(part)
    else:
        above = np.array(
            [
                [bool(run_estimates.value[a] - run_estimates.value[b] > topics.difference(a, b)) for b in runs]
                for a in runs
            ],
            dtype=np.bool_,
        ).reshape(len(runs), len(runs))
    return [(int(best), int(worst)) for best, worst in rank_ranges(above).T]


def _differences(
    state: RandomCheckState,
    weights: Floats,
    run_estimates: RunEstimates,
    topics: TopicEstimates | None,
    runs: Counts,
) -> Iterator[CorrectedDifference]:
    design = state.study.design
    per_run = [design["per_run"].get(run_id, 0) for run_id in state.population.run_ids]
    pairs = state.count(state.sample.frame.label != KNOWN)
    # Only of runs that are not apart from some other; the others cost nothing.
    ahead: dict[int, Floats] = {}
    for a, b in combinations(runs.tolist(), 2):
        gap = float(run_estimates.value[a] - run_estimates.value[b])
        half = NORMAL * float(np.sqrt(run_estimates.variance[a] + run_estimates.variance[b]))
        more: int | None = 0
        if topics:
            half, more = topics.difference(a, b), None
        elif abs(gap) <= half:
            for run in (a, b):
                if run not in ahead:
                    ahead[run] = variances_ahead(
                        state.sample, run_estimates, weights, run, per_run[run], design["least"]
                    )
            more = more_to_separate(
                gap, ahead[a], ahead[b], (per_run[a], per_run[b]), (int(pairs[a]), int(pairs[b]))
            )
        names = state.population.run_ids
        yield CorrectedDifference(names[a], names[b], gap, defined(half), more)


def _alpha(state: RandomCheckState) -> tuple[float | None, int]:
    """Krippendorff's alpha of the pairs that several people judged, and how many these are."""
    twice = [
        labels for labels in state.labels.values() if sum(label != CANT_JUDGE for label in labels.values()) > 1
    ]
    judges, cells = sorted({judge for labels in twice for judge in labels}), cells_of(state.frame.labels)
    table = np.full((len(judges), len(twice)), -1, dtype=np.int8)
    for column, labels in enumerate(twice):
        for judge, label in labels.items():
            table[judges.index(judge), column] = -1 if label == CANT_JUDGE else cells[label]
    return (alpha_ordinal(table) if twice else None), len(twice)


def corrected_by(
    study: Study, policies: Policies | SupportPolicies, score: str, target: str = THESE
) -> CorrectedReport:
    """Return the report of a random check; it is kept, because that of a large campaign takes seconds."""
    # A verdict raises no revision, because it changes no label; here it decides where people differ.
    verdicts = Adjudication.objects.filter(campaign=study.campaign).aggregate(newest=Max("pk"))
    return _kept(study, policies, score, target, verdicts["newest"])


@cached_report(size=32)
def _kept(
    study: Study, policies: Policies | SupportPolicies, score: str, target: str, _verdict: int | None
) -> CorrectedReport:
    return corrected_report(random_check_state(study, policies), score, target=target)
