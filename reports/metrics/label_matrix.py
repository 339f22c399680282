"""Labels as arrays, one sheet per condition: the input of the metrics, with no database behind it.

Symbols in every docstring of this package: R runs, T topics, N nuggets, S sentences, U judged or
judgeable (sentence, cited segment) units. C columns of answers: a run has one, and where it answered a topic several
times one for each sample; a score of a run and topic is the mean over its samples. A cell has the place of a label on
the scale of its set, from the lowest: one that holds no ordinal label is negative.
"""

from dataclasses import dataclass, replace

import numpy as np

from evaluation.labels import CITATION_LABELS, NUGGET_LABELS, AssignmentLabel, LabelSet
from reports.metrics.arrays import Booleans, Bytes, Counts, Floats, Indices, sum_by_run

UNJUDGED, FAILED, UNJUDGEABLE = -1, -2, -3
"""Below 0, so that no sum of labels takes one in by mistake: `labels < 0` finds all of them."""


def points_of(labels: LabelSet) -> Bytes:
    """Points of each label of a scale, K: from 0 to those of the fullest label, the last."""
    return np.array([label.points for label in labels.ascending], dtype=np.int8)


def points_in(cells: Bytes, points: Bytes) -> Bytes:
    """Points of each cell, of any shape; 0 of one without a label."""
    # Label by label, because NumPy compares a million cells ten times as fast as it looks them up.
    worth = np.zeros(cells.shape, dtype=np.int8)
    for place in np.flatnonzero(points):
        worth += (cells == place) * points[place]
    return worth


NUGGET_POINTS, CITATION_POINTS = points_of(NUGGET_LABELS), points_of(CITATION_LABELS)
LABEL_COUNT = len(NUGGET_LABELS)
NOT, FULL = NUGGET_LABELS.place(AssignmentLabel.NOT_SUPPORT), LABEL_COUNT - 1
"""Places on the scale of nugget labels."""
VITAL, OKAY, UNKNOWN = 2, 1, 0


@dataclass(frozen=True, slots=True)
class AssignmentSheet:
    """One condition's nuggets and labels (Pradeep et al. 2025: nugget assignment).

    Shapes: `column_run` C, ascending indices into `run_ids`; `listed` T (the topic has a list here, maybe an empty
    one); `nugget_topic` N, ascending indices into `topic_ids`; `importance` N (2 vital, 1 okay, 0 unknown); `weight` N,
    nan outside rubrics; `labels` N x C (a place, UNJUDGED or FAILED); `answered` T x C; `words` T x C, whitespace
    words, 0 without an answer; `labelled` R, the run takes part in this condition. Raises ValueError when shapes do
    not fit.
    """

    run_ids: tuple[str, ...]
    topic_ids: tuple[str, ...]
    column_run: Indices
    listed: Booleans
    nugget_topic: Indices
    importance: Bytes
    weight: Floats
    labels: Bytes
    answered: Booleans
    words: Indices
    labelled: Booleans

    def __post_init__(self) -> None:
        """Refuse arrays that do not belong together: a wrong shape would broadcast into wrong scores."""
        columns, topics, nuggets = len(self.column_run), len(self.topic_ids), len(self.nugget_topic)
        _check_columns(self.column_run, len(self.run_ids))
        _check_shapes(self, listed=(topics,), importance=(nuggets,), weight=(nuggets,), labels=(nuggets, columns))
        _check_shapes(self, answered=(topics, columns), words=(topics, columns), labelled=(len(self.run_ids),))
        _check_indices("nugget_topic", self.nugget_topic, topics)
        # `np.add.reduceat` sums neighbours: nuggets of one topic must lie together.
        _check_ascending("nugget_topic", self.nugget_topic)

    def of_topics(self, topics: Booleans) -> "AssignmentSheet":
        # `labelled` stays as it is: a run takes part in a condition even where it has no label in these topics.
        nuggets = topics[self.nugget_topic]
        return replace(
            self,
            topic_ids=_names_in(self.topic_ids, topics),
            listed=self.listed[topics],
            nugget_topic=_renumbered(topics)[self.nugget_topic[nuggets]],
            importance=self.importance[nuggets],
            weight=self.weight[nuggets],
            labels=self.labels[nuggets],
            answered=self.answered[topics],
            words=self.words[topics],
        )

    def of_runs(self, runs: Counts) -> "AssignmentSheet":
        columns = self.columns_of(runs)
        return replace(
            self,
            run_ids=tuple(self.run_ids[run] for run in runs),
            column_run=np.repeat(np.arange(len(runs)), np.bincount(self.column_run)[runs]).astype(np.int32),
            labels=self.labels[:, columns],
            answered=self.answered[:, columns],
            words=self.words[:, columns],
            labelled=self.labelled[runs],
        )

    def columns_of(self, runs: Counts) -> Counts:
        """Return the columns of some runs, those of one run beside each other."""
        columns: Counts = np.flatnonzero(self.column_run == runs[:, np.newaxis]) % max(len(self.column_run), 1)
        return columns

    @property
    def samples(self) -> Counts:
        """Answers of each run to each topic, T x R."""
        return sum_by_run(self.answered, self.column_run)

    @property
    def nuggets_per_topic(self) -> Counts:
        return np.bincount(self.nugget_topic, minlength=len(self.topic_ids))

    @property
    def scorable(self) -> Booleans:
        """Topics with at least one nugget, T: the only ones that enter scores and agreement."""
        return self.nuggets_per_topic > 0

    @property
    def empty_topics(self) -> int:
        """Topics whose list has no nugget: they enter nothing and are only counted."""
        return int(np.count_nonzero(self.listed & ~self.scorable))

    @property
    def no_vital_topics(self) -> int:
        """Topics with nuggets but none of them vital: what the policy `no_vital` is about."""
        vital = np.bincount(self.nugget_topic[self.importance == VITAL], minlength=len(self.topic_ids))
        return int(np.count_nonzero(self.scorable & (vital == 0)))

    @property
    def no_positive_topics(self) -> int:
        """Topics with nuggets but none that weighs more than 0: they have no score by weights."""
        positive = np.bincount(self.nugget_topic[self.weight > 0], minlength=len(self.topic_ids))
        return int(np.count_nonzero(self.scorable & (positive == 0)))


@dataclass(frozen=True, slots=True)
class SupportSheet:
    """One support condition's sentences and labels (Thakur et al. 2025: support evaluation).

    Shapes: `column_run` C, ascending indices into `run_ids`; `answered` T x C; `sentence_answer` S, flat index
    topic * C + column of each sentence; `unit_sentence` U, ascending sentence indices, only the first k citations that
    the campaign counts; `unit_label` U (a place, UNJUDGED, FAILED or UNJUDGEABLE); `cited` S, the sentence has a
    citation. A citation that resolves to nothing belongs in as UNJUDGEABLE, so that it is counted. Raises ValueError
    when shapes do not fit.
    """

    run_ids: tuple[str, ...]
    topic_ids: tuple[str, ...]
    column_run: Indices
    answered: Booleans
    sentence_answer: Indices
    unit_sentence: Indices
    unit_label: Bytes
    cited: Booleans

    def __post_init__(self) -> None:
        columns, topics, sentences = len(self.column_run), len(self.topic_ids), len(self.sentence_answer)
        units = self.unit_sentence.shape
        _check_columns(self.column_run, len(self.run_ids))
        _check_shapes(self, answered=(topics, columns), unit_label=units, cited=(sentences,))
        _check_indices("sentence_answer", self.sentence_answer, topics * columns)
        _check_indices("unit_sentence", self.unit_sentence, sentences)
        _check_ascending("unit_sentence", self.unit_sentence)
        # Recall takes an uncited sentence as unsupported, whatever label a unit of it might have.
        if not self.cited[self.unit_sentence].all():
            raise ValueError("unit_sentence names a sentence that cites nothing")

    def of_topics(self, topics: Booleans) -> "SupportSheet":
        columns = len(self.column_run)
        topic, column = np.divmod(self.sentence_answer, max(columns, 1))
        sentences = topics[topic]
        units = sentences[self.unit_sentence]
        return replace(
            self,
            topic_ids=_names_in(self.topic_ids, topics),
            answered=self.answered[topics],
            sentence_answer=(_renumbered(topics)[topic[sentences]] * columns + column[sentences]).astype(np.int32),
            unit_sentence=_renumbered(sentences)[self.unit_sentence[units]],
            unit_label=self.unit_label[units],
            cited=self.cited[sentences],
        )

    def of_runs(self, runs: Booleans) -> "SupportSheet":
        """Return the part of some runs, a mask R."""
        kept = runs[self.column_run]
        topic, column = np.divmod(self.sentence_answer, max(len(self.column_run), 1))
        sentences = kept[column]
        units = sentences[self.unit_sentence]
        flat = topic[sentences] * int(kept.sum()) + _renumbered(kept)[column[sentences]]
        return replace(
            self,
            run_ids=_names_in(self.run_ids, runs),
            column_run=_renumbered(runs)[self.column_run[kept]],
            answered=self.answered[:, kept],
            sentence_answer=flat.astype(np.int32),
            unit_sentence=_renumbered(sentences)[self.unit_sentence[units]],
            unit_label=self.unit_label[units],
            cited=self.cited[sentences],
        )

    @property
    def samples(self) -> Counts:
        """Answers of each run to each topic, T x R."""
        return sum_by_run(self.answered, self.column_run)


def _names_in(names: tuple[str, ...], rows: Booleans) -> tuple[str, ...]:
    return tuple(name for name, is_in in zip(names, rows, strict=True) if is_in)


def _renumbered(rows: Booleans) -> Indices:
    """Return the new place of each chosen row among the chosen ones."""
    return (np.cumsum(rows) - 1).astype(np.int32)


def _check_shapes(sheet: object, **expected: tuple[int, ...]) -> None:
    for name, shape in expected.items():
        actual = getattr(sheet, name).shape
        if actual != shape:
            raise ValueError(f"{name} has shape {actual}, expected {shape}")


def _check_columns(column_run: Indices, runs: int) -> None:
    _check_ascending("column_run", column_run)
    # A run without a column would shift the scores of all after it.
    if not np.array_equal(np.unique(column_run), np.arange(runs)):
        raise ValueError(f"column_run has not each of 0..{runs - 1}")


def _check_indices(name: str, indices: Indices, size: int) -> None:
    if len(indices) and not (indices.min() >= 0 and indices.max() < size):
        raise ValueError(f"{name} holds an index outside 0..{size - 1}")


def _check_ascending(name: str, indices: Indices) -> None:
    if np.any(np.diff(indices) < 0):
        raise ValueError(f"{name} is not ascending")
