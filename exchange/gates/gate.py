"""The gate: is a run no worse than another, or better? One answer for the command, the API and the client."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final

import numpy as np
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS
from django.urls import reverse

from accounts.models import User
from evaluation.campaigns.pseudonyms import Names
from evaluation.domain.conditions import CitationCondition, NuggetCondition
from evaluation.errors import Refused
from evaluation.labels import NUGGET_LABELS
from evaluation.models import AnswerProvenance, Campaign
from evaluation.terms import Condition, Importance, SupportCondition
from exchange.gates.baseline import (
    ACCEPTED,
    Baseline,
    Basis,
    accept_baseline,
    accepted_baseline,
    baseline_of,
)
from exchange.gates.fingerprint import differences
from jobs.models import Job, WorkItem
from llmjobs.models import LlmJob
from reports.document import chosen_labels, policies_of
from reports.frames import assignment_keys, assignment_sheet, nugget_texts
from reports.metrics.gate import GateRule, GateVerdict, ScoredGate, decide, worst
from reports.metrics.label_matrix import FULL, AssignmentSheet
from reports.metrics.policies import policies_document
from reports.metrics.registry import BY_NAME, Profile, primary_of
from reports.metrics.support import PRECISION, SUPPORT_NAMES
from reports.profiles import profile_of
from web.consistent_read import consistent_read
from web.text import p_value

FEWEST_TOPICS, MOST_MISSING = 10, 0.05
SEED: Final = 0
VERSION: Final = 1
"""Of the rules: another one may give another verdict on the same labels."""


@dataclass(frozen=True, slots=True)
class GateOrder:
    """What a gate is asked. `baseline`: a run's name, ACCEPTED, or what a file holds.

    `choices`: judge, nuggets and policies by the names of reports' options. `rebaseline`: nothing is compared, the
    candidate is the new baseline. `accept`: where the candidate passes, it is the accepted one from now on.
    """

    campaign: Campaign
    condition: str
    candidate: str
    baseline: str | Baseline
    rule: GateRule
    scores: tuple[str, ...] = ()
    choices: Mapping[str, Any] = field(default_factory=dict)
    fewest_topics: int = FEWEST_TOPICS
    most_missing: float = MOST_MISSING
    no_new_violations: bool = False
    rebaseline: bool = False
    accept: bool = False
    actor: User | None = None

    @property
    def baseline_name(self) -> str:
        return self.baseline.run if isinstance(self.baseline, Baseline) else self.baseline


Change = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Changes:
    """Each list is None where one side has scores alone, or the labels are of citations."""

    lost: list[Change] | None
    gained: list[Change] | None
    violations: list[Change] | None


NO_CHANGES: Final = Changes(None, None, None)


@dataclass(frozen=True, slots=True)
class GateResult:
    """A verdict with all it rests on. `reason`: a sentence; `kept`: the candidate, as a baseline to come."""

    order: GateOrder
    verdict: GateVerdict
    reason: str
    scores: tuple[ScoredGate, ...] = ()
    changes: Changes = NO_CHANGES
    policies: Mapping[str, Any] = field(default_factory=dict)
    kept: Baseline | None = None

    @property
    def document(self) -> dict[str, Any]:
        order, rule = self.order, self.order.rule
        content = {
            "verdict": self.verdict,
            "reason": self.reason,
            "campaign": order.campaign.slug,
            "condition": order.condition,
            "baseline": order.baseline_name,
            "candidate": order.candidate,
            "scores": [_score_document(scored, rule) for scored in self.scores],
            "alpha": rule.alpha,
            "level": rule.level,
            "fingerprint": self.kept.fingerprint.sha256 if self.kept else None,
            "lost": self.changes.lost,
            "gained": self.changes.gained,
            "violations_new": self.changes.violations,
            "policies": dict(self.policies),
            "seed": SEED,
            "versions": {"gate": VERSION},
        }
        cleaned: dict[str, Any] = Names([order.campaign], DEFAULT_DB_ALIAS).clean(order.campaign.pk, content)
        return cleaned


def _score_document(scored: ScoredGate, rule: GateRule) -> dict[str, Any]:
    return {
        "score": scored.score,
        "baseline": scored.baseline,
        "candidate": scored.candidate,
        "difference": scored.difference,
        "interval": list(scored.interval),
        "p": scored.p,
        "least": rule.least,
        "goal": rule.goal,
        "topics": scored.topics,
        "verdict": scored.verdict,
        "more_topics": scored.more_topics,
    }


def run_gate(order: GateOrder) -> GateResult:
    """Decide, and keep what is accepted. Whatever cannot be compared is broken, with the reason."""
    try:
        _check_usage(order)
        result = _decided(order)
    except Refused as refused:
        return GateResult(order, GateVerdict.BROKEN, refused.message)
    if result.kept and _is_accepted(order, result.verdict):
        accept_baseline(order.campaign, order.condition, result.kept, order.actor)
    return result


def _is_accepted(order: GateOrder, verdict: GateVerdict) -> bool:
    if order.rebaseline:
        return order.baseline == ACCEPTED
    return order.accept and verdict is GateVerdict.PASSED


def _check_usage(order: GateOrder) -> None:
    rule = order.rule
    if rule.goal == "no-worse" and not 0 < rule.least < inf and not order.rebaseline:
        raise Refused("usage", "least: above 0: how large a loss would not matter?")
    if not 0 <= rule.least < inf:
        raise Refused("usage", "least: 0 or more: how large a gain would matter?")
    for name, value in (("alpha", rule.alpha), ("level", rule.level)):
        if not 0 < value < 1:
            raise Refused("usage", f"{name}: between 0 and 1, found {value:g}")
    if order.fewest_topics < 2:
        raise Refused("usage", "fewest topics: at least 2: one difference has no interval")
    if order.rebaseline and order.baseline not in ("", ACCEPTED) and isinstance(order.baseline, str):
        raise Refused("usage", "rebaseline: with the baseline of a file, or the accepted one")
    if not order.baseline and not order.rebaseline:
        raise Refused("usage", "baseline: a run, the accepted one, or a file")


def _decided(order: GateOrder) -> GateResult:
    basis = _basis(order)
    _check_jobs(order)
    candidate = baseline_of(basis, order.candidate)
    policies = policies_document(basis.policies)
    _check_labels(candidate, order.most_missing)
    if order.rebaseline:
        reason = f"no comparison was made: {order.candidate} is the new baseline"
        return GateResult(order, GateVerdict.PASSED, reason, policies=policies, kept=candidate)
    baseline = _baseline(order, basis)
    _check_labels(baseline, order.most_missing)
    _check_comparable(baseline, candidate)
    scores = tuple(_scored(order, score, baseline, candidate) for score in basis.scores)
    is_of_runs = isinstance(order.baseline, str) and order.baseline != ACCEPTED
    changes = changes_between(basis.choice, order.baseline_name, order.candidate) if is_of_runs else NO_CHANGES
    verdict, reason = worst([scored.verdict for scored in scores]), _reason(scores)
    if order.no_new_violations:
        if not is_of_runs:
            raise Refused("usage", "new violations: this needs both runs, and this baseline has scores alone")
        if changes.violations:
            verdict = worst([verdict, GateVerdict.FAILED])
            reason = f"{len(changes.violations)} newly said that an answer must avoid; {reason}"
    return GateResult(order, verdict, reason, scores, changes, policies, candidate)


def _basis(order: GateOrder) -> Basis:
    campaign = order.campaign
    conditions = SupportCondition if order.condition in list(SupportCondition) else Condition
    of_citations = conditions is SupportCondition
    scores = order.scores or (PRECISION if of_citations else primary_of(profile_of(campaign)),)
    for score in scores:
        if score not in BY_NAME or (score in SUPPORT_NAMES) is not of_citations:
            raise Refused("usage", f"{order.condition} has no score {score}")
    profiles = {BY_NAME[score].profile for score in scores} - {None}
    if len(profiles) > 1:
        raise Refused("usage", f"score: of one profile, found {', '.join(sorted(map(str, profiles)))}")
    scored = next((score for score in scores if BY_NAME[score].profile is not None), "")
    choices = {"condition": order.condition, "score": scored, **order.choices}
    choice = chosen_labels(campaign, choices)
    if len({judge.kind for judge in choice.judges}) > 1:
        raise Refused(
            "mixed_labels", f"labels under {order.condition} are of people and of an LLM; name one judge"
        )
    return Basis(choice, policies_of(campaign, choices, conditions), tuple(scores))


def _baseline(order: GateOrder, basis: Basis) -> Baseline:
    if isinstance(order.baseline, Baseline):
        return order.baseline
    if order.baseline == ACCEPTED:
        return accepted_baseline(order.campaign, order.condition)
    return baseline_of(basis, order.baseline)


def unfinished_jobs(order: GateOrder) -> list[int]:
    """Return the jobs that still label answers of the candidate, or of the run it is compared with."""
    runs = order.campaign.runs.filter(run_id__in=[order.candidate, order.baseline_name])
    answers = set(AnswerProvenance.objects.filter(run__in=runs).values_list("answer", flat=True))
    pks = set(runs.values_list("pk", flat=True))
    sentences = set(AnswerProvenance.objects.filter(run__in=runs).values_list("answer__sentences", flat=True))
    going = LlmJob.objects.filter(campaign=order.campaign, job__state=Job.State.RUNNING).values("job")
    items = WorkItem.objects.filter(job__in=going, state__in=[WorkItem.State.QUEUED, WorkItem.State.LEASED])
    return sorted(
        {
            job
            for job, payload in items.values_list("job", "payload").iterator()
            if payload.get("answer") in answers
            or payload.get("sentence") in sentences
            or not pks.isdisjoint(payload.get("then_runs") or ())
        }
    )


def _check_jobs(order: GateOrder) -> None:
    if jobs := unfinished_jobs(order):
        numbers = ", ".join(map(str, jobs))
        raise Refused("job_unfinished", f"job {numbers} still labels these runs; wait for it, or cancel it")


def _check_labels(run: Baseline, most_missing: float) -> None:
    share = run.missing / run.labels if run.labels else 1.0
    if share > most_missing:
        raise Refused(
            "labels_missing",
            f"{share:.1%} of the labels of run {run.run} are unjudged or failed ({run.missing} of {run.labels}), at "
            f"most {most_missing:.1%} may be; judge them, or allow more",
        )


def _check_comparable(baseline: Baseline, candidate: Baseline) -> None:
    sentences = list(differences(baseline.fingerprint.model_dump(), candidate.fingerprint.model_dump()))
    if sentences:
        raise Refused("fingerprints_differ", f"{'; '.join(sentences)}, or make the candidate the baseline")


def _scored(order: GateOrder, score: str, baseline: Baseline, candidate: Baseline) -> ScoredGate:
    before, after = baseline.scores.get(score), candidate.scores[score]
    if before is None:
        names = ", ".join(sorted(baseline.scores))
        raise Refused("no_such_score", f"the baseline has no score {score} (scores: {names})")
    topics = len(before.keys() & after.keys())
    if topics < order.fewest_topics:
        raise Refused(
            "too_few_topics",
            f"{topics} topics have a score {score} in both, at least {order.fewest_topics} are needed; judge more, "
            "or allow fewer",
        )
    return decide(score, before, after, order.rule, lower_is_better=BY_NAME[score].lower_is_better)


def _reason(scores: tuple[ScoredGate, ...]) -> str:
    return "; ".join(
        f"{scored.score} {scored.difference:+.4f} [{scored.interval[0]:.4f}, {scored.interval[1]:.4f}], p "
        f"{p_value(scored.p, 4)}, {scored.topics} topics"
        + (f", about {scored.more_topics} more topics would decide" if scored.more_topics else "")
        for scored in scores
    )


def changes_between(choice: NuggetCondition | CitationCondition, baseline: str, candidate: str) -> Changes:
    """Compare the labels of two runs, vital nuggets first; of several samples the one with the fullest label."""
    if not isinstance(choice, NuggetCondition):
        return NO_CHANGES
    with consistent_read():
        # A rubric's sheet has all nuggets, also those that an answer must not contain.
        sheet = assignment_sheet(choice, Profile.RUBRIC)
        texts, (_, answers) = nugget_texts(choice, Profile.RUBRIC), assignment_keys(choice, Profile.RUBRIC)
    columns = [sheet.columns_of(np.array([sheet.run_ids.index(run)])) for run in (baseline, candidate)]
    before, after = (sheet.labels[:, of_run].max(axis=1) for of_run in columns)
    fullest = columns[1][sheet.labels[:, columns[1]].argmax(axis=1)]
    judged = (before >= 0) & (after >= 0)
    avoided = sheet.weight < 0
    masks = (
        judged & (after < before) & ~avoided,
        judged & (after > before) & ~avoided,
        avoided & (after == FULL) & (before >= 0) & (before < FULL),
    )

    def change(place: int) -> Change:
        topic = int(sheet.nugget_topic[place])
        address = reverse(
            "organizer:answer_labels", args=[choice.campaign.slug, int(answers[topic, fullest[place]])]
        )
        return {
            "topic": sheet.topic_ids[topic],
            "nugget": texts[place],
            "importance": Importance(int(sheet.importance[place])).name.lower(),
            "from": NUGGET_LABELS.scale[before[place]],
            "to": NUGGET_LABELS.scale[after[place]],
            "url": f"{settings.PUBLIC_URL}{address}",
        }

    return Changes(*([change(place) for place in _in_order(sheet, mask.nonzero()[0].tolist())] for mask in masks))


def _in_order(sheet: AssignmentSheet, places: list[int]) -> list[int]:
    return sorted(places, key=lambda place: (-int(sheet.importance[place]), int(sheet.nugget_topic[place]), place))
