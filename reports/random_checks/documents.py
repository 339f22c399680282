"""Corrected leaderboards outside their page: document, table with its note, and the sentences of Methods."""

from dataclasses import replace
from typing import Any

from evaluation.campaigns.pseudonyms import without_people
from evaluation.errors import Refused
from evaluation.models import Campaign
from evaluation.terms import StudyKind
from reports.document import (
    MEASURE,
    NO_CITED,
    OF_NUGGETS,
    STUDY,
    Document,
    Option,
    nugget_policies,
    support_policies,
)
from reports.files import as_table
from reports.metrics.policies import Policies, SupportPolicies, listed_policies, policies_document
from reports.metrics.random_check.estimate import FEWEST_JUDGED
from reports.random_checks.corrected import (
    CORRECTED_SCORES,
    TARGETS,
    THESE,
    CorrectedReport,
    CorrectedRun,
    corrected_by,
    corrected_report,
    primary_score,
    scores_corrected,
)
from reports.random_checks.frame import drawn_rows, random_check_named, random_checks_of, stored_frame
from reports.random_checks.population import default_policies, drawn_profile, measure_of
from reports.random_checks.state import random_check_state
from reports.registry import Choices, document
from web.text import plural

ENDS = ("value", "low", "high")
COUNTS = ("pairs", "drawn", "judged", "refused", "stale", "outside")


def corrected_document(report: CorrectedReport) -> dict[str, Any]:
    return {
        "study": report.study.name,
        "score": report.score,
        "target": report.target,
        "policies": policies_document(report.policies),
        "seed": report.study.design["seed"],
        "runs": [_run_document(run) for run in report.runs],
        "differences": [
            {name: getattr(gap, name) for name in ("a", "b", *ENDS, "more")} for gap in report.differences
        ],
        "tau": dict(zip(ENDS, report.tau or (None,) * 3, strict=True)),
        "judges": list(report.judges),
        "judged_twice": report.judged_twice,
        "alpha": report.alpha,
    }


def _run_document(run: CorrectedRun) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "llm": run.llm,
        "people": dict(zip(ENDS, run.people, strict=True)),
        "corrected": dict(zip(ENDS, run.corrected, strict=True)) | {"sd": run.sd},
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


def corrected_rows(report: CorrectedReport) -> list[dict[str, Any]]:
    return [
        {"run_id": run.run_id, "llm": run.llm}
        | dict(zip(("people", "people_low", "people_high"), run.people, strict=True))
        | dict(zip(("corrected", "low", "high"), run.corrected, strict=True))
        | {"sd": run.sd}
        | dict(zip(("best_rank", "worst_rank"), run.rank or (None, None), strict=True))
        | {name: getattr(run, name) for name in COUNTS}
        | {"reason": run.reason}
        for run in report.ordered
    ]


def corrected_note(report: CorrectedReport) -> str:
    """Note below the table: number of judgments, target, policies, tau, and warnings."""
    topics = "these topics" if report.target == THESE else "new topics"
    lines = [
        f"{report.score}, corrected by {report.basis}; 95 % intervals, for {topics}.",
        f"Policies: {listed_policies(policies_document(report.policies))}. Seed {report.study.design['seed']}.",
    ]
    lines += [report.unit_text] if report.unit_text else []
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


def methods_sentences(campaign: Campaign) -> list[str]:
    reports = (
        corrected_by(study, default_policies(study), primary_score(study)) for study in random_checks_of(campaign)
    )
    return [_methods_sentence(report) for report in reports if report.complete][::-1]


def _methods_sentence(report: CorrectedReport) -> str:
    study, drawn = report.study, sum(run.drawn for run in report.runs)
    people = f" by {len(report.judges)} {plural(len(report.judges), 'person', 'people')}" if report.judges else ""
    refused = sum(run.refused for run in report.runs)
    known_pairs = stored_frame(study).known.sum()
    return " ".join(
        [
            f"Of the {report.pairs:,} pairs that {study.judge.name} labelled, {drawn:,} were drawn within run and",
            "label with chances proportional to their weight (sequential Poisson sampling,",
            f"seed {without_people(study.campaign, study.design['seed'])}) and judged blind{people}.",
            *([report.unit_text] if report.unit_text else []),
            *([f"{refused:,} of them could not be judged."] if refused else []),
            *(
                [f"{known_pairs:,} pairs that were judged before count by those labels alone."]
                if known_pairs
                else []
            ),
            "Scores are post-stratified (Dirichlet 1/2); 95 % intervals, for these topics.",
        ]
    )


@document(
    "corrected",
    "Runs by score, corrected by a random check, with intervals.",
    (
        replace(STUDY, text="which random check"),
        Option("score", "the primary score where none is named", CORRECTED_SCORES),
        Option("target", "intervals for these topics (default), or for new topics like them", TARGETS, TARGETS[0]),
        Option(
            "least_judged",
            f"judged pairs that a run needs (default {FEWEST_JUDGED}); "
            "another number lifts the rule for strata too",
            default=FEWEST_JUDGED,
            is_count=True,
        ),
        *OF_NUGGETS,
        replace(MEASURE, text="of citations: that of the draw, which is meant where none is named"),
        NO_CITED,
        Option("pairs", "each drawn pair with its labels as well", default=False, is_flag=True, in_api=False),
    ),
)
def corrected_scores(campaign: Campaign, choices: Choices) -> Document:
    study = random_check_named(campaign, choices["study"])
    score = choices["score"] or primary_score(study)
    if score not in scores_corrected(study):
        raise Refused("usage", f"{study} corrects {', '.join(scores_corrected(study))}.", field="score")
    if study.kind == StudyKind.ASSIGNMENT:
        policies: Policies | SupportPolicies = replace(
            nugget_policies(campaign, choices), profile=drawn_profile(study)
        )
    else:
        policies = support_policies(choices, measure_of(study))
    state = random_check_state(study, policies)
    report = corrected_report(
        state,
        score,
        target=choices["target"],
        least_judged=choices["least_judged"],
        complete_only=choices.get("complete_only", False),
    )
    content, rows = corrected_document(report), corrected_rows(report)
    pairs = drawn_rows(study) if choices["pairs"] else []
    # For new topics more judgments alone tell nothing apart, and nobody counts them.
    never = "never" if report.target == THESE else None
    gaps = [gap | {"more": never if gap["more"] is None else gap["more"]} for gap in content["differences"]]
    tables = [as_table(part) for part in (gaps, [row | {"labels": str(row["labels"])} for row in pairs]) if part]
    text = "\n".join(["", *tables, corrected_note(report)])
    if not choices["pairs"]:
        return Document(content, rows, text)
    return Document(content | {"pairs": pairs}, pairs, text, rows)
