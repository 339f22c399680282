"""Scores per topic as nuggetizer's metrics writes them, a run after the other."""

from collections.abc import Iterator

import numpy as np

from evaluation.domain.conditions import NuggetCondition
from evaluation.formats.lines import json_line
from evaluation.terms import PROVENANCE_KEY
from reports.documents import policies_document
from reports.frames import assignment_sheet
from reports.leaderboard.scores import number
from reports.metrics.policies import Policies
from reports.metrics.scores import SCORE_NAMES, AnswerScores, answer_scores, run_scores

# nuggetizer's names for four of our scores; the weighted ones go by our own.
NAMES = {
    "vital_strict": "strict_vital_score",
    "all_strict": "strict_all_score",
    "vital": "vital_score",
    "all": "all_score",
}


def score_lines(choice: NuggetCondition, policies: Policies) -> Iterator[str]:
    """Yield a line per run and topic with a score, and after each run its means as `qid: all`."""
    sheet = assignment_sheet(choice)
    answers, means = answer_scores(sheet, policies), run_scores(sheet, policies)
    assay = {
        "condition": str(choice),
        "nuggets": choice.sets_text,
        "judge": choice.judges_text,
        "policies": policies_document(policies),
    }
    for run, run_id in enumerate(sheet.run_ids):
        for topic in np.flatnonzero(answers.counted[:, run]):
            yield json_line({"qid": sheet.topic_ids[topic], "run_id": run_id}, _scores(answers, int(topic), run))
        if sheet.labelled[run]:
            average = {_name(name): number(means.of(name)[run]) for name in SCORE_NAMES}
            yield json_line({"qid": "all", "run_id": run_id}, average | {PROVENANCE_KEY: assay})


def _scores(answers: AnswerScores, topic: int, run: int) -> dict[str, float | None]:
    return {_name(name): number(answers.of(name)[topic, run]) for name in SCORE_NAMES}


def _name(score: str) -> str:
    return NAMES.get(score, f"{score}_score")
