"""Scores by topic as files: of a condition, or of a table that somebody's files brought."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import isnan
from typing import Any

import numpy as np

from evaluation.domain.conditions import NuggetCondition
from evaluation.errors import Refused
from evaluation.formats.lines import json_line
from evaluation.formats.score_files import ALL, FORMS, ScoreForm, TopicScore
from evaluation.terms import PROVENANCE_KEY
from reports.frames import assignment_sheet
from reports.judges.tables import JudgeTable
from reports.metrics.arrays import defined
from reports.metrics.policies import Policies, policies_document
from reports.metrics.registry import Profile, scores_of
from reports.metrics.scores import answer_scores, run_scores

Tables = Sequence[JudgeTable]
DIGITS: Mapping[str, Callable[[float], str]] = {"17": repr, "6": "{:.6g}".format}
"""How a value is written: as it is, every digit of it, or rounded."""


def score_file_lines(form: ScoreForm, tables: Tables, options: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line per measure, run and topic, and then the aggregates. Raises `Refused` where a run is to be named."""
    runs = sorted({run_id for table in tables for run_id in table.run_scores})
    if options["run"] and options["run"] not in runs:
        raise Refused("no_such_run", f"No scores of a run {options['run']}.", field="run", choices=runs)
    if form.is_of_one_run and not options["run"]:
        raise Refused("usage", f"{form.name} needs one file per run.", field="run", choices=runs)
    written = DIGITS[options["digits"]]
    return (
        form.line(score, written(score.value)) for score in _scores(tables) if options["run"] in ("", score.run_id)
    )


SCORE_FILES = {name: partial(score_file_lines, form) for name, form in FORMS.items()}


def _scores(tables: Tables) -> Iterator[TopicScore]:
    for table in tables:
        topics = table.scores.topic_ids
        for run_id, column in zip(table.scores.run_ids, table.scores.values.T.tolist(), strict=True):
            for topic_id, value in zip(topics, column, strict=True):
                if not isnan(value):
                    yield TopicScore(0, run_id, topic_id, table.measure, value)
    for table in tables:
        for run_id, value in sorted(table.run_scores.items()):
            yield TopicScore(0, run_id, ALL, table.measure, value)


def score_fields(profile: Profile) -> dict[str, str]:
    """Fields of a profile's scores: what nuggetizer calls them, and our own names where it has none."""
    return {score.name: score.field or score.name for score in scores_of(profile)}


def score_lines(choice: NuggetCondition, policies: Policies) -> Iterator[str]:
    """Yield a line per run and topic with a score, and after each run its means as `qid: all`."""
    sheet = assignment_sheet(choice, policies.profile)
    fields = score_fields(policies.profile)
    answers, means = answer_scores(sheet, policies), run_scores(sheet, policies)
    assay = {
        "condition": str(choice),
        "nuggets": choice.sets_text,
        "judge": choice.judges_text,
        "policies": policies_document(policies),
    }
    for run, run_id in enumerate(sheet.run_ids):
        for topic in np.flatnonzero(answers.counted[:, run]):
            scores = {field: defined(answers.of(name)[topic, run]) for name, field in fields.items()}
            yield json_line({"qid": sheet.topic_ids[topic], "run_id": run_id}, scores)
        if sheet.labelled[run]:
            average = {field: defined(means.of(name)[run]) for name, field in fields.items()}
            yield json_line({"qid": "all", "run_id": run_id}, average | {PROVENANCE_KEY: assay})
