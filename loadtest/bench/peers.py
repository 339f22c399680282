"""The same scores and taus by what one would use instead, and by the arithmetic alone.

Apart from `scores`, because pandas and scipy would count in the peak memory of everything that imports them.
"""

import numpy as np
import pandas as pd
from django.db import connection
from numpy.typing import NDArray
from scipy.stats import kendalltau

from evaluation.models import Judge
from loadtest.bench import synthetic
from loadtest.bench.measuring import Measured
from loadtest.bench.scores import LLM, PERSON, SEEDS, fetch_labels
from loadtest.bench.sizes import Size
from reports.metrics.agreement import LEVELS

Table = NDArray[np.float64]


def with_pandas(size: Size, _turn: int) -> Measured:
    """The script one would write: labels to frames, group by run and topic, three times scipy's kendalltau."""
    measured = Measured(rows=2 * size.labels)
    judges = [Judge.objects.get(name=name).pk for name in (LLM, PERSON)]
    with measured.timing("all"):
        x, y = (_pandas_scores(judge) for judge in judges)
        both = x.join(y, lsuffix="_x", rsuffix="_y", how="inner").reset_index()
        means = both.groupby("run")[["score_x", "score_y"]].mean().round(10)
        topics = [
            kendalltau(topic["score_x"].round(10), topic["score_y"].round(10)).statistic
            for _, topic in both.groupby("topic")
        ]
        pooled = kendalltau(both["score_x"].round(10), both["score_y"].round(10)).statistic
        taus = (kendalltau(means["score_x"], means["score_y"]).statistic, np.nanmean(topics), pooled)
    measured.values = dict(zip(LEVELS, map(float, taus), strict=True))
    return measured


def floor(size: Size, _turn: int) -> Measured:
    """The arithmetic alone: label arrays already in memory, no database."""
    measured = Measured(rows=2 * size.labels)
    cells = [synthetic.label_cells(size, seed) for seed in SEEDS]
    vital = np.array([synthetic.importance(place).name == "VITAL" for place in range(size.nuggets)])
    with measured.timing("scores"):
        x, y = ((labels[:, :, vital] == 2).sum(axis=2) / vital.sum() for labels in cells)
    with measured.timing("taus"):
        taus = (
            kendalltau(x.mean(axis=0).round(10), y.mean(axis=0).round(10)).statistic,
            np.nanmean([_tau_of_topic(*rows) for rows in zip(x, y, strict=True)]),
            kendalltau(x.ravel(), y.ravel()).statistic,
        )
    measured.values = dict(zip(LEVELS, map(float, taus), strict=True))
    return measured


def _pandas_scores(judge: int) -> pd.DataFrame:
    labels = pd.DataFrame(fetch_labels(judge), columns=["answer", "nugget", "label"])
    with connection.cursor() as cursor:
        cursor.execute("SELECT answer_id, run_id, topic_id FROM evaluation_answerprovenance")
        answers = pd.DataFrame(cursor.fetchall(), columns=["answer", "run", "topic"])
        cursor.execute("SELECT nugget_version_id, importance FROM evaluation_listednugget")
        nuggets = pd.DataFrame(cursor.fetchall(), columns=["nugget", "importance"])
    frame = labels.merge(nuggets, on="nugget").merge(answers, on="answer")
    vital = frame[frame["importance"] == 2]
    scores = (vital["label"] == 2).groupby([vital["run"], vital["topic"]]).mean()
    return scores.to_frame("score")


def _tau_of_topic(x: Table, y: Table) -> float:
    a, b = (np.sign(side[:, np.newaxis] - side[np.newaxis, :]) for side in (x, y))
    return float((a * b).sum() / np.sqrt(np.abs(a).sum() * np.abs(b).sum()))
