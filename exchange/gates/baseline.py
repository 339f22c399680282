"""A run as a gate knows it: scores by topic, the fingerprint of its labels, and how many labels are missing.

It is made of a run, read from a file, or kept as accepted in the log: the run itself need not be there any more.
"""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from accounts.models import User
from evaluation.domain.conditions import NuggetCondition
from evaluation.errors import BadInput, InputProblem, Refused
from evaluation.formats.problems import field_path, wording
from evaluation.models import Campaign, Event, Run
from exchange.gates.fingerprint import Choice, digest, fingerprint_of
from reports.agreement.figures import table_of
from reports.frames import assignment_sheet, support_sheet
from reports.metrics.label_matrix import UNJUDGEABLE
from reports.metrics.policies import Policies, SupportPolicies
from web.consistent_read import consistent_read

ACCEPTED = "accepted"
"""In place of a run's name: what was accepted last for the campaign and condition."""
GATE_ACCEPTED = "gate.accepted"
MOST = 1e9
"""Above every score there is, and far below where a sum of squares ends."""
Value = Annotated[float, Field(ge=-MOST, le=MOST)]


class FingerprintJudge(BaseModel):
    """A judge; `prompts` have the hash of each text that was sent, by name and version."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    kind: str
    model: str
    host: str
    parameters: dict[str, str]
    prompts: dict[str, str]


class Fingerprint(BaseModel):
    """Parts of what labels rest on. Of two that differ, a sentence says in what."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    condition: str
    policies: dict[str, str]
    labels: list[str]
    judges: list[FingerprintJudge]
    nuggets: dict[str, str]
    topics: dict[str, str]
    protocol: dict[str, Any]

    @property
    def sha256(self) -> str:
        return digest(self.model_dump())


class Baseline(BaseModel):
    """`scores` by name and topic; `labels` counts those that a run should have, `missing` the unjudged and failed."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    campaign: str
    run: str
    scores: dict[str, dict[str, Value]]
    labels: Annotated[int, Field(ge=0)]
    missing: Annotated[int, Field(ge=0)]
    fingerprint: Fingerprint


@dataclass(frozen=True, slots=True)
class Basis:
    """A condition and policies under which runs are compared by some scores."""

    choice: Choice
    policies: Policies | SupportPolicies
    scores: tuple[str, ...]

    @property
    def campaign(self) -> Campaign:
        return self.choice.campaign


def baseline_of(basis: Basis, run_id: str) -> Baseline:
    """Return a run of the campaign. Raises `Refused` for one that it does not have."""
    campaign = basis.campaign
    run = campaign.runs.filter(run_id=run_id).first()
    if run is None:
        names = ", ".join(campaign.runs.order_by("run_id").values_list("run_id", flat=True)) or "none"
        raise Refused("no_such_run", f"run {run_id} is not in {campaign.slug} (runs: {names})")
    if run.has_candidates and not isinstance(basis.choice, NuggetCondition):
        text = f"run {run} cites nothing and is judged by what was retrieved: no gate compares that"
        raise Refused("no_citations", text)
    with consistent_read() as alias:
        labels, missing = _labels(basis, run)
        return Baseline(
            campaign=campaign.slug,
            run=run.run_id,
            scores={score: _by_topic(basis, score, run) for score in basis.scores},
            labels=labels,
            missing=missing,
            fingerprint=Fingerprint(**fingerprint_of(basis.choice, basis.policies, run, alias)),
        )


def _by_topic(basis: Basis, score: str, run: Run) -> dict[str, float]:
    table = table_of(basis.choice, score, basis.policies)
    values = table.values[:, table.run_ids.index(run.run_id)]
    return {
        topic_id: float(value)
        for topic_id, value, counts in zip(table.topic_ids, values, table.topics, strict=True)
        if counts and not np.isnan(value)
    }


def _labels(basis: Basis, run: Run) -> tuple[int, int]:
    """Return how many labels a run should have under a condition, and how many of them are unjudged or failed."""
    if isinstance(basis.choice, NuggetCondition) and isinstance(basis.policies, Policies):
        sheet = assignment_sheet(basis.choice, basis.policies.profile)
        columns = sheet.columns_of(np.array([sheet.run_ids.index(run.run_id)]))
        labels = sheet.labels[:, columns][sheet.answered[sheet.nugget_topic][:, columns]]
        return len(labels), int((labels < 0).sum())
    support = support_sheet(basis.choice)  # type: ignore[arg-type]  # the other kind of condition
    column = support.sentence_answer[support.unit_sentence] % len(support.column_run)
    of_run = support.column_run[column] == support.run_ids.index(run.run_id)
    labels = support.unit_label[of_run & (support.unit_label != UNJUDGEABLE)]
    return len(labels), int((labels < 0).sum())


def read_baseline(raw: bytes, name: str) -> Baseline:
    """Return the baseline of a file. Raises `BadInput`."""
    try:
        return Baseline.model_validate_json(raw)
    except ValidationError as error:
        mistakes = error.errors(include_url=False)
        raise BadInput(
            [InputProblem(name, 1, field_path(each["loc"]), wording(each)) for each in mistakes]
        ) from error


def accepted_baseline(campaign: Campaign, condition: str) -> Baseline:
    """Return what was accepted last under a condition. Raises `Refused` where nothing was."""
    events = Event.objects.filter(campaign=campaign, kind=GATE_ACCEPTED, payload__condition=condition)
    event = events.order_by("-id").first()
    if event is None:
        raise Refused(
            "no_baseline",
            f"no baseline is accepted for {condition} in {campaign.slug}; make a candidate the accepted "
            "baseline first",
        )
    return Baseline.model_validate(event.payload["baseline"])


def accept_baseline(campaign: Campaign, condition: str, baseline: Baseline, actor: User | None) -> None:
    payload = {"condition": condition, "name": baseline.run, "baseline": baseline.model_dump()}
    Event.objects.create(campaign=campaign, kind=GATE_ACCEPTED, actor=actor, payload=payload)
