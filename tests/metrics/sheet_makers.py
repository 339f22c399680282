"""Small sheets from plain lists, for tests that state their case in a line or two."""

from collections.abc import Sequence

import numpy as np

from evaluation.labels import CITATION_LABELS
from reports.metrics.agreement import ScoreTable
from reports.metrics.label_matrix import UNJUDGED, AssignmentSheet, SupportSheet

IMPORTANCE = {"v": 2, "o": 1, "?": 0}


def assignment_sheet(
    lists: Sequence[str | None],
    labels: Sequence[Sequence[int]],
    answered: Sequence[Sequence[bool]] | None = None,
    words: Sequence[Sequence[int]] | None = None,
    labelled: Sequence[bool] | None = None,
    weight: Sequence[float] | None = None,
    column_run: Sequence[int] | None = None,
) -> AssignmentSheet:
    """`lists` holds one string per topic, such as "vvo" (None: no list); `labels` one row per nugget, and `weight`."""
    columns = len(labels[0]) if labels else len((answered or [[True]])[0])
    run = np.array(range(columns) if column_run is None else column_run, dtype=np.int32)
    cells = np.array(labels, dtype=np.int8).reshape(-1, columns)
    shape = (len(lists), columns)
    given = (cells != UNJUDGED).any(axis=0)
    return AssignmentSheet(
        run_ids=tuple("ABCDEFGH"[: len(set(run.tolist()))]),
        column_run=run,
        topic_ids=tuple(f"t{index}" for index in range(len(lists))),
        listed=np.array([each is not None for each in lists]),
        nugget_topic=np.repeat(np.arange(len(lists)), [len(each or "") for each in lists]).astype(np.int32),
        importance=np.array([IMPORTANCE[c] for each in lists for c in each or ""], dtype=np.int8),
        weight=np.full(len(cells), np.nan) if weight is None else np.array(weight, dtype=np.float64),
        labels=cells,
        answered=np.ones(shape, dtype=np.bool_) if answered is None else np.array(answered),
        words=np.full(shape, 10, dtype=np.int32) if words is None else np.array(words, dtype=np.int32),
        labelled=np.bincount(run, given) > 0 if labelled is None else np.array(labelled),
    )


def support_sheet(
    answers: Sequence[Sequence[Sequence[Sequence[int]] | None]], column_run: Sequence[int] | None = None
) -> SupportSheet:
    """`answers[topic][run]` lists sentences, each a list of the codes of its citations' labels; None: no answer."""
    columns = len(answers[0])
    run = np.array(range(columns) if column_run is None else column_run, dtype=np.int32)
    flat = [(t * columns + c, each) for t, row in enumerate(answers) for c, each in enumerate(row)]
    sentences = [(answer, labels) for answer, each in flat for labels in each or []]
    units = [(index, label) for index, (_, labels) in enumerate(sentences) for label in labels]
    return SupportSheet(
        run_ids=tuple("ABCDEFGH"[: len(set(run.tolist()))]),
        topic_ids=tuple(f"t{index}" for index in range(len(answers))),
        column_run=run,
        answered=np.array([[each is not None for each in row] for row in answers]),
        sentence_answer=np.array([answer for answer, _ in sentences], dtype=np.int32),
        unit_sentence=np.array([index for index, _ in units], dtype=np.int32),
        unit_label=np.array([label if label < 0 else CITATION_LABELS.place(label) for _, label in units], np.int8),
        cited=np.array([bool(labels) for _, labels in sentences], dtype=np.bool_),
    )


def table(rows: Sequence[Sequence[float]], topics: str = "abcdefgh", runs: str = "ABCDEFGH") -> ScoreTable:
    values = np.array(rows, dtype=np.float64)
    return ScoreTable(
        tuple(runs[: values.shape[1]]), tuple(topics[: len(rows)]), values, np.ones(len(rows), dtype=np.bool_)
    )
