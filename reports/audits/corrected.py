"""Corrected leaderboards: each run's score by an audit's labels, its interval, ranks, differences, and the tau."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from evaluation.domain.labels import CITATION_LABELS, NUGGET_LABELS
from evaluation.models import Study
from evaluation.terms import StudyKind
from reports.audits.drawing import frame_arrays
from reports.audits.frame import (
    REFUSED,
    GivenLabels,
    StoredFrame,
    current_labels,
    people_judgments,
    people_of,
    stored_frame,
)
from reports.audits.population import Population, pair_names, population_of
from reports.leaderboard.scores import PRIMARY, number
from reports.metrics.alpha import alpha_ordinal
from reports.metrics.arrays import Booleans, Counts, Floats
from reports.metrics.audit.draw import KNOWN, NO_LABEL, STRATUM_NAMES
from reports.metrics.audit.estimate import (
    FEWEST_JUDGED,
    NORMAL,
    AuditSample,
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
from reports.metrics.audit.weights import values_of
from reports.metrics.policies import Policies, SupportPolicies, listed_policies, policies_document
from reports.metrics.scores import SCORE_NAMES
from reports.metrics.support import PRECISION, RECALL
from web.consistent_read import consistent_read
from web.text import plural

THESE, NEW = TARGETS = ("these", "new")
"""What an interval is for: the topics that are here, or topics like them."""

FEW = 30
MANY_REFUSED = 0.05
TOO_FEW = "too few judgments"
UNFINISHED = "other runs are not all judged"


def scores_of(kind: str) -> tuple[str, ...]:
    """The scores that an audit of a kind corrects, the primary one first."""
    return SCORE_NAMES if kind == StudyKind.ASSIGNMENT else (PRECISION, RECALL)


def primary_score(kind: str) -> str:
    return PRIMARY if kind == StudyKind.ASSIGNMENT else PRECISION


@dataclass(frozen=True)
class AuditState:
    """An audit as it is now: its frame, today's population, and what people said.

    `place` Q, where a stored pair is in the population, -1 for one that no list or answer has any more.
    """

    study: Study
    policies: Policies | SupportPolicies
    frame: StoredFrame
    population: Population
    labels: GivenLabels
    place: Counts
    sample: AuditSample
    refused: Booleans

    @property
    def present(self) -> Booleans:
        return self.place >= 0

    @cached_property
    def run(self) -> Counts:
        """Run of each pair that is still there, as `sample` has them."""
        return self.sample.frame.run

    def count(self, pairs: Booleans) -> Counts:
        return np.bincount(self.run[pairs], minlength=len(self.population.run_ids))

    @property
    def drawn(self) -> Booleans:
        drawn: Booleans = (self.sample.chances > 0) & (self.sample.frame.label != KNOWN)
        return drawn

    @property
    def finished(self) -> Booleans:
        """Runs of which every drawn pair is judged or refused, R."""
        finished: Booleans = self.count(self.drawn & ~self.sample.judged & ~self.refused) == 0
        return finished

    @property
    def outside(self) -> Counts:
        """Pairs of each run that came after the draw, R."""
        new = ~np.isin(self.population.keys, self.frame.keys)
        return np.bincount(self.population.run[new], minlength=len(self.population.run_ids))

    @property
    def stale(self) -> Counts:
        """Pairs of each run whose LLM label is another by now, R."""
        there = self.place[self.present]
        return self.count(self.population.label[there] != self.frame.machine_label[self.present])

    def weights(self, score: str) -> Floats:
        return self.population.weights[score][self.place[self.present]]


def audit_state(study: Study, policies: Policies | SupportPolicies) -> AuditState:
    """Read an audit from one state of the database."""
    with consistent_read() as alias:
        frame, population = stored_frame(study, alias), population_of(study, policies)
        labels = current_labels(study, people_of(study), alias)
        people = people_judgments(study, frame, labels, alias)
    place = frame.places_in(population.keys)
    there = place >= 0
    kept = replace(
        frame,
        **{name: getattr(frame, name)[there] for name in ("machine_label", "block", "size", "place", "known")},
    )
    arrays = frame_arrays(kept, population.run[place[there]], len(population.run_ids))
    sample = AuditSample(arrays, frame.chance[there], people.shares[there], population.topic[place[there]])
    return AuditState(study, policies, frame, population, labels, place, sample, people.refused[there])


@dataclass(frozen=True, slots=True)
class CorrectedRun:
    """One run: scores are (value, low, high), None where there is none; `reason` says why."""

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
    reason: str
    refused_bounds: tuple[float, float] | None

    @property
    def few(self) -> bool:
        return self.judged < FEW


@dataclass(frozen=True, slots=True)
class CorrectedDifference:
    """a - b with its interval; `more`: pairs of each run that would tell them apart, 0 where they are, None never."""

    a: str
    b: str
    value: float
    low: float
    high: float
    more: int | None

    @property
    def apart(self) -> bool:
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class CorrectedReport:
    """All runs of an audit in one score; `tau`: of the LLM's order and the corrected one, with its interval."""

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


def corrected_report(
    state: AuditState,
    score: str,
    *,
    target: str = THESE,
    least_judged: int = FEWEST_JUDGED,
    complete_only: bool = False,
) -> CorrectedReport:
    """Correct every run's score. A run has none before all its drawn pairs are judged or refused.

    `complete_only`: before those of all runs are, no run has one.

    `least_judged`: judged pairs that a run needs; any other number than the usual one lifts the rule for strata too.
    """
    weights, values = state.weights(score), values_of(score)
    found = estimates(state.sample, weights, values)
    topics = topic_estimates(state.sample, found, weights, values, state.population.counted[score])
    reasons = _reasons(state, found, topics if target == NEW else None, least_judged)
    finished = state.finished
    withheld = complete_only and not finished.all()
    if withheld:
        reasons = [UNFINISHED if done else reason for done, reason in zip(finished, reasons, strict=True)]
    known = np.array([not reason for reason in reasons], dtype=np.bool_)
    places = np.flatnonzero(known)
    runs = _runs(state, score, found, topics if target == NEW else None, reasons)
    llm = state.population.machine[score]
    ranked = places[~np.isnan(llm[places])]
    alpha, twice = _alpha(state)
    return CorrectedReport(
        study=state.study,
        score=score,
        target=target,
        policies=state.policies,
        runs=tuple(runs),
        differences=tuple(_differences(state, weights, found, topics if target == NEW else None, places)),
        tau=tau_with(llm[ranked], found.value[ranked], found.sd[ranked]),
        alpha=None if withheld else alpha,
        judged_twice=twice,
        judges=tuple(sorted({judge for given in state.labels.values() for judge in given})),
    )


def _reasons(
    state: AuditState, found: RunEstimates, topics: TopicEstimates | None, least_judged: int
) -> list[str]:
    """Why each run has no corrected score, '' where it has one."""
    drawn, judged = state.count(state.drawn), state.count(state.drawn & state.sample.judged)
    refused, outside = state.count(state.drawn & state.refused), state.outside
    open_ = state.count(~state.sample.judged)
    usual = least_judged == FEWEST_JUDGED
    reasons = []
    for run, run_id in enumerate(state.population.run_ids):
        done = int(judged[run] + refused[run])
        if outside[run]:
            number_outside = int(outside[run])
            are = plural(number_outside, "pair of " + run_id + " is", f"pairs of {run_id} are")
            reasons.append(f"{number_outside:,} {are} outside the audit: extend it")
        elif done < drawn[run]:
            reasons.append(f"{done} of {int(drawn[run])} judged")
        # A run of which every pair is judged needs no rate, however few pairs it has.
        elif open_[run] and (judged[run] < least_judged or (usual and not found.enough[run])):
            reasons.append(TOO_FEW)
        elif topics and np.isnan(topics.half_width[run]):
            reasons.append("too few topics")
        else:
            reasons.append("")
    return reasons


def _runs(
    state: AuditState, score: str, found: RunEstimates, topics: TopicEstimates | None, reasons: list[str]
) -> Iterator[CorrectedRun]:
    weights, values = state.weights(score), values_of(score)
    people = people_only(state.sample, weights, values)
    low, high = found.interval
    sd = found.sd
    if topics:
        low, high = np.maximum(found.value - topics.half_width, 0), np.minimum(found.value + topics.half_width, 1)
        sd = np.sqrt(topics.variance)
    bounds = _refused_bounds(state, weights, values)
    complete = np.flatnonzero([not reason for reason in reasons])
    ranks = dict(zip(complete.tolist(), _ranks(found, topics, complete), strict=True))
    counts = {
        "pairs": state.count(np.ones(len(state.run), dtype=np.bool_)),
        "drawn": state.count(state.drawn),
        "judged": state.count(state.drawn & state.sample.judged),
        "refused": state.count(state.drawn & state.refused),
        "stale": state.stale,
        "outside": state.outside,
    }
    for run, run_id in enumerate(state.population.run_ids):
        reason = reasons[run]
        # People alone have a score by the same pairs, so it waits for the same pairs.
        incomplete = bool(reason) and reason != TOO_FEW
        share = counts["refused"][run] / max(int(counts["drawn"][run]), 1)
        yield CorrectedRun(
            run_id=run_id,
            llm=number(state.population.machine[score][run]),
            people=_three(None if incomplete else people[:, run]),
            corrected=_three(None if reason else np.array([found.value[run], low[run], high[run]])),
            sd=None if reason else float(sd[run]),
            rank=ranks.get(run),
            **{name: int(count[run]) for name, count in counts.items()},
            reason=reason,
            refused_bounds=bounds[run] if share > MANY_REFUSED and not reason else None,
        )


def _three(figures: Floats | None) -> tuple[float | None, float | None, float | None]:
    if figures is None:
        return None, None, None
    value, low, high = (number(figure) for figure in figures)
    return value, low, high


def _refused_bounds(state: AuditState, weights: Floats, values: Floats) -> list[tuple[float, float]]:
    """Scores that result if all refused pairs were not supported, and if all were, by run."""
    ends = []
    for label in (0, 2):
        shares = np.where(state.refused[:, np.newaxis], np.eye(3)[label], state.sample.shares)
        ends.append(estimates(replace(state.sample, shares=shares), weights, values).value)
    return [(float(low), float(high)) for low, high in zip(*ends, strict=True)]


def _ranks(found: RunEstimates, topics: TopicEstimates | None, runs: Counts) -> list[tuple[int, int]]:
    if topics is None:
        part = replace(found, value=found.value[runs], variance=found.variance[runs])
        above = differ(part)
    else:
        above = np.array(
            [[bool(found.value[a] - found.value[b] > topics.difference(a, b)) for b in runs] for a in runs],
            dtype=np.bool_,
        ).reshape(len(runs), len(runs))
    return [(int(best), int(worst)) for best, worst in rank_ranges(above).T]


def _differences(
    state: AuditState, weights: Floats, found: RunEstimates, topics: TopicEstimates | None, runs: Counts
) -> Iterator[CorrectedDifference]:
    design = state.study.design
    per_run = [design["per_run"].get(run_id, 0) for run_id in state.population.run_ids]
    pairs = state.count(state.sample.frame.label != KNOWN)
    # Only of runs that are not apart from some other; the others cost nothing.
    ahead: dict[int, Floats] = {}
    for a, b in combinations(runs.tolist(), 2):
        gap = float(found.value[a] - found.value[b])
        half = NORMAL * float(np.sqrt(found.variance[a] + found.variance[b]))
        more: int | None = 0
        if topics:
            half, more = topics.difference(a, b), None
        elif abs(gap) <= half:
            for run in (a, b):
                if run not in ahead:
                    ahead[run] = variances_ahead(state.sample, found, weights, run, per_run[run], design["least"])
            more = more_to_separate(
                gap, ahead[a], ahead[b], (per_run[a], per_run[b]), (int(pairs[a]), int(pairs[b]))
            )
        names = state.population.run_ids
        yield CorrectedDifference(names[a], names[b], gap, gap - half, gap + half, more)


def _alpha(state: AuditState) -> tuple[float | None, int]:
    """Krippendorff's alpha of the pairs that several people judged, and how many these are."""
    twice = [given for given in state.labels.values() if sum(label != REFUSED for label in given.values()) > 1]
    judges = sorted({judge for given in twice for judge in given})
    table = np.full((len(judges), len(twice)), -1, dtype=np.int8)
    for column, given in enumerate(twice):
        for judge, label in given.items():
            table[judges.index(judge), column] = label if label != REFUSED else -1
    return (alpha_ordinal(table) if twice else None), len(twice)


def corrected_document(report: CorrectedReport) -> dict[str, Any]:
    return {
        "study": report.study.name,
        "score": report.score,
        "target": report.target,
        "policies": policies_document(report.policies),
        "seed": report.study.design["seed"],
        "runs": [_run_document(run) for run in report.runs],
        "differences": [
            {name: getattr(gap, name) for name in ("a", "b", "value", "low", "high", "more")}
            for gap in report.differences
        ],
        "tau": dict(zip(("value", "low", "high"), report.tau or (None,) * 3, strict=True)),
        "judges": list(report.judges),
        "judged_twice": report.judged_twice,
        "alpha": report.alpha,
    }


COUNTS = ("pairs", "drawn", "judged", "refused", "stale", "outside")


def _run_document(run: CorrectedRun) -> dict[str, Any]:
    names = ("value", "low", "high")
    return {
        "run_id": run.run_id,
        "llm": run.llm,
        "people": dict(zip(names, run.people, strict=True)),
        "corrected": dict(zip(names, run.corrected, strict=True)) | {"sd": run.sd},
        "rank": list(run.rank) if run.rank else None,
        **{name: getattr(run, name) for name in COUNTS},
        "few": run.few,
        "reason": run.reason or None,
        "warning": (
            {"reason": "refused", "low": run.refused_bounds[0], "high": run.refused_bounds[1]}
            if run.refused_bounds
            else None
        ),
    }


def best_first(report: CorrectedReport) -> list[CorrectedRun]:
    """The runs, those without a corrected score last."""
    return sorted(report.runs, key=lambda run: (run.corrected[0] is None, -(run.corrected[0] or 0), run.run_id))


def corrected_rows(report: CorrectedReport) -> list[dict[str, Any]]:
    return [
        {"run_id": run.run_id, "llm": run.llm}
        | dict(zip(("people", "people_low", "people_high"), run.people, strict=True))
        | dict(zip(("corrected", "low", "high"), run.corrected, strict=True))
        | {"sd": run.sd}
        | dict(zip(("best_rank", "worst_rank"), run.rank or (None, None), strict=True))
        | {name: getattr(run, name) for name in COUNTS}
        | {"reason": run.reason}
        for run in best_first(report)
    ]


def drawn_rows(study: Study) -> list[dict[str, Any]]:
    """Every pair that was drawn or taken over, with its stratum, u, x, pi and people's labels, as files have it."""
    frame, labels = stored_frame(study), current_labels(study, people_of(study))
    drawn = np.flatnonzero(frame.chance > 0)
    words = NUGGET_LABELS.scale if study.kind == StudyKind.ASSIGNMENT else CITATION_LABELS.scale
    rows = []
    for place, name in zip(
        drawn.tolist(), pair_names(study.campaign, study.kind, frame.items[drawn]), strict=True
    ):
        item = (int(frame.items[place, 0]), int(frame.items[place, 1]))
        machine, block = int(frame.machine_label[place]), int(frame.block[place])
        stratum = STRATUM_NAMES[KNOWN if frame.known[place] else machine]
        rows.append(
            name
            | {
                "machine": "none" if machine == NO_LABEL else words[machine],
                "stratum": f"{stratum}, extension {block}" if block else stratum,
                "u": float(frame.place[place]),
                "x": float(frame.size[place]),
                "pi": float(frame.chance[place]),
                "labels": {
                    judge: "refused" if label == REFUSED else words[label]
                    for judge, label in sorted(labels.get(item, {}).items())
                },
            }
        )
    return rows


def corrected_note(report: CorrectedReport) -> str:
    """How many judgments stand behind the figures, for these or for new topics, and what to know of them."""
    judged, pairs = (sum(getattr(run, name) for run in report.runs) for name in ("judged", "pairs"))
    topics = "these topics" if report.target == THESE else "new topics"
    lines = [
        f"{report.score}, corrected by {judged:,} human judgments of {pairs:,}; 95 % intervals, for {topics}.",
        f"Policies: {listed_policies(policies_document(report.policies))}. Seed {report.study.design['seed']}.",
    ]
    if report.tau:
        value, low, high = report.tau
        lines.append(f"Tau of the LLM's order and the corrected one: {value:.4f} ({low:.4f} to {high:.4f}).")
    if report.judged_twice:
        alpha = "-" if report.alpha is None else f"{report.alpha:.4f}"
        lines.append(f"Judged by several people: {report.judged_twice:,} pairs, alpha {alpha}.")
    for run in report.runs:
        if run.refused_bounds:
            low, high = run.refused_bounds
            text = (
                f"{run.refused} of {run.drawn} pairs of {run.run_id} refused: {low:.4f} if all were not supported"
            )
            lines.append(f"Warning: {text}, {high:.4f} if all were.")
        if run.stale:
            lines.append(f"{run.run_id}: {run.stale:,} labels of the LLM have changed since the draw.")
    return "\n".join(lines)
