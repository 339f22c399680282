"""Runs that answered a topic several times: how far their samples agree and are scored alike."""

import math
from typing import Any, Final, cast

import numpy as np

from evaluation.domain.conditions import NuggetCondition
from evaluation.errors import Refused
from evaluation.models import Campaign
from evaluation.terms import Condition
from reports.agreement.page import NUGGET_SCORES
from reports.document import (
    Document,
    Option,
    chosen_labels,
    condition_options,
    nugget_policies,
    policy_line,
    policy_options,
)
from reports.frames import tagged_assignments
from reports.metrics.arrays import defined
from reports.metrics.policies import Policies, policies_document
from reports.metrics.registry import primary_of
from reports.metrics.samples import sample_figures
from reports.profiles import profile_of
from reports.registry import Choices, document

THRESHOLD: Final = 0.5
FIGURES: Final = ("mean", "sd", "consistency", "pass_all")

SampleRow = dict[str, Any]
"""One run with several samples of a topic: these topics, the samples of them, and FIGURES, None where undefined."""


def sample_rows(
    choice: NuggetCondition, policies: Policies, score: str, tag: str = "", threshold: float = THRESHOLD
) -> list[SampleRow]:
    sheet = tagged_assignments(choice, tag, policies.profile)
    if len(sheet.column_run) == len(sheet.run_ids):
        return []
    figures = sample_figures(sheet, policies, score, threshold)
    return [
        {
            "run_id": sheet.run_ids[run],
            **{name: int(figures[name][run]) for name in ("topics", "samples")},
            **{name: defined(figures[name][run]) for name in FIGURES},
        }
        for run in np.flatnonzero(figures["topics"]).tolist()
    ]


@document(
    "samples",
    "Runs that answered topics several times: how far their samples agree and are scored alike.",
    (
        *condition_options(Condition),
        Option("score", "which score; the primary one where none is named", NUGGET_SCORES),
        Option("threshold", f"the score that all samples of a topic must reach, for pass_all ({THRESHOLD})"),
        *policy_options(Condition),
    ),
)
def samples_report(campaign: Campaign, choices: Choices) -> Document:
    condition = cast(NuggetCondition, chosen_labels(campaign, choices))
    policies, threshold = nugget_policies(campaign, choices), _threshold(choices["threshold"])
    score = choices["score"] or primary_of(profile_of(campaign))
    rows = sample_rows(condition, policies, score, threshold=threshold)
    content = {
        "condition": str(condition),
        "judge": condition.judges_text,
        "score": score,
        "threshold": threshold,
        "policies": policies_document(policies),
        "topics": int(tagged_assignments(condition, "", policies.profile).scorable.sum()),
        "runs": rows,
    }
    return Document(content, rows, policy_line(content))


def _threshold(text: str) -> float:
    try:
        number = float(text or THRESHOLD)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise Refused("usage", f"A number, found {text[:40]}.", field="threshold")
    return number
