"""Scores by topic as files: of a condition, or of a table that somebody's files brought."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import isnan
from typing import Any

from evaluation.errors import Refused
from evaluation.formats.score_files import ALL, FORMS, ScoreForm, TopicScore
from reports.judges.tables import JudgeTable

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
