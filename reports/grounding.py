"""Grounding of runs that cite nothing: how far what was retrieved supports each sentence (docs/metrics.md#grounded)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evaluation.domain.conditions import CitationCondition
from evaluation.terms import SupportMeasure
from reports.frames import tagged_support
from reports.leaderboard.scores import runs_by_id
from reports.metrics.arrays import defined
from reports.metrics.intervals import documents_of, mean_intervals
from reports.metrics.policies import SupportPolicies
from reports.metrics.support import RECALL, answer_support, run_support
from reports.report import CITATION_LABEL, ColumnKind, Row, Section, columns, of_kind

RETRIEVED = "retrieved"
GROUNDED = {RECALL: "grounded", "recall_strict": "grounded_strict"}
"""Recall over candidates: a sentence has the label of its best one."""
COUNTS = ("judged", "unjudged", "failed", "unjudgeable")


def grounded_rows(choice: CitationCondition, policies: SupportPolicies, tag: str = "") -> list[dict[str, Any]]:
    """Return the runs with candidates, best first. They have no precision: a system that cites nothing chose none."""
    sheet = tagged_support(choice, tag, with_candidates=True)
    if not sheet.run_ids:
        return []
    policies = replace(policies, measure=SupportMeasure.POOLED)
    answers, scores, runs = (
        answer_support(sheet, policies),
        run_support(sheet, policies),
        runs_by_id(choice.campaign),
    )
    ends = {name: mean_intervals(answers.scores[recall][answers.topics]) for recall, name in GROUNDED.items()}
    rows = [
        {
            "run_id": run_id,
            "group": runs[run_id].group,
            "task": runs[run_id].task,
            "candidates": RETRIEVED,
            "precision": None,
            **{name: defined(scores.means[recall][place]) for recall, name in GROUNDED.items()},
            "topics": int(scores.counted["recall"][place]),
            "sentences": int(scores.sentences_total[place]),
            **{name: int(getattr(scores, name)[place]) for name in COUNTS},
            "intervals": documents_of({name: intervals[place] for name, intervals in ends.items()}),
        }
        for place, run_id in enumerate(scores.run_ids)
    ]
    return sorted(rows, key=lambda row: (row["grounded"] is None, -(row["grounded"] or 0.0), row["run_id"]))


def grounded_section(rows: Sequence[Row]) -> Section:
    return Section(
        name="grounded",
        title="Runs judged by what was retrieved",
        labels=CITATION_LABEL,
        columns=columns(
            ("run_id", "Run", ColumnKind.RUN),
            ("group", "Group"),
            ("candidates", "Candidates"),
            *of_kind(ColumnKind.SCORE, grounded="Grounded", grounded_strict="Grounded, strict"),
            *of_kind(ColumnKind.COUNT, topics="Topics", sentences="Sentences"),
            *of_kind(ColumnKind.COUNT, judged="Judged", unjudged="Unjudged", failed="Failed"),
            primary="grounded",
        ),
        rows=rows,
        note="These runs cite nothing: each sentence has the label of the best of the first five contexts that were "
        "retrieved. They have no precision, and stand in no table with runs that cite.",
        topics="topics",
    )
