"""Scores of two conditions and their three taus, from rows to numbers, by Assay and by what else one would use."""

import numpy as np
import pandas as pd
from django.db import connection
from numpy.typing import NDArray
from scipy.stats import kendalltau

from benchmarks import synthetic
from benchmarks.measuring import Measured
from benchmarks.sizes import Size
from evaluation.models import Campaign, Judge
from evaluation.terms import Condition, JudgeKind, Origin
from reports.choices import resolve_condition
from reports.correlation import correlate, table_of
from reports.frames import assignment_sheet
from reports.leaderboard import PRIMARY
from reports.metrics.agreement import LEVELS, Agreement, agreement
from reports.metrics.bootstrap import intervals
from reports.metrics.policies import Policies
from reports.metrics.scores import RunScores, run_scores

SLUG = "track"
LLM, PERSON = "bench-llm", "bench-person"
SEEDS = (1, 2)
Table = NDArray[np.float64]


def prepare(size: Size, _turn: int) -> Measured:
    """Make a campaign with labels under A/A and E/M."""
    campaign = synthetic.make_campaign(SLUG, size.topics)
    synthetic.make_answers(campaign, size)
    auto = synthetic.make_nuggets(campaign, size, Origin.AUTO, "bench-nuggetizer")
    edited = synthetic.make_nuggets(campaign, size, Origin.EDITED, "bench-nuggetizer")
    synthetic.store_labels(auto, size, LLM, JudgeKind.LLM, SEEDS[0])
    synthetic.store_labels(edited, size, PERSON, JudgeKind.HUMAN, SEEDS[1])
    return Measured()


def assay(size: Size, _turn: int) -> Measured:
    """What a report does: resolve two conditions, read their labels, score every run, three taus. Then again."""
    measured = Measured(rows=2 * size.labels)
    campaign = _campaign()
    with measured.timing("cold"):
        _, found = _report(campaign)
    with measured.timing("warm"):
        _report(campaign)
    measured.values = {level: getattr(found, level) for level in LEVELS}
    return measured


def with_intervals(size: Size, _turn: int) -> Measured:
    """Bootstrap intervals of the three taus, 1000 resamples, from sheets already in memory; and the whole page."""
    measured = Measured(rows=2 * size.labels)
    campaign = _campaign()
    x, y = (resolve_condition(campaign, one) for one in (Condition.AA, Condition.EM))
    left, right = (table_of(one, PRIMARY, Policies()) for one in (x, y))
    with measured.timing("intervals"):
        intervals(left, right)
    with measured.timing("page"):
        correlate(campaign, x, y, PRIMARY, Policies())
    return measured


def bare(size: Size, _turn: int) -> Measured:
    """Read the same rows with a cursor and do nothing with them."""
    measured = Measured(rows=2 * size.labels)
    judges = [Judge.objects.get(name=name).pk for name in (LLM, PERSON)]
    with measured.timing("all"):
        rows = [_fetch(judge) for judge in judges]
    if sum(map(len, rows)) != measured.rows:
        raise SystemExit("the labels are not all there")
    return measured


def pandas(size: Size, _turn: int) -> Measured:
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
        x, y = ((one[:, :, vital] == 2).sum(axis=2) / vital.sum() for one in cells)
    with measured.timing("taus"):
        taus = (
            kendalltau(x.mean(axis=0).round(10), y.mean(axis=0).round(10)).statistic,
            np.nanmean([_tau_of_topic(*rows) for rows in zip(x, y, strict=True)]),
            kendalltau(x.ravel(), y.ravel()).statistic,
        )
    measured.values = dict(zip(LEVELS, map(float, taus), strict=True))
    return measured


def _campaign() -> Campaign:
    return Campaign.objects.get(slug=SLUG)


def _report(campaign: Campaign) -> tuple[list[RunScores], Agreement]:
    x, y = (resolve_condition(campaign, one) for one in (Condition.AA, Condition.EM))
    scores = [run_scores(assignment_sheet(one), Policies()) for one in (x, y)]
    return scores, agreement(table_of(x, PRIMARY, Policies()), table_of(y, PRIMARY, Policies()))


def _fetch(judge: int) -> list[tuple[int, int, int]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT answer_id, nugget_version_id, label FROM evaluation_assignment WHERE judge_id = %s", [judge]
        )
        rows: list[tuple[int, int, int]] = cursor.fetchall()
    return rows


def _pandas_scores(judge: int) -> pd.DataFrame:
    labels = pd.DataFrame(_fetch(judge), columns=["answer", "nugget", "label"])
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
