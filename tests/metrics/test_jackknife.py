"""Intervals of kappa by the jackknife on z: against a slow one, Student's t, and the digits of the list-QA study."""

import json
from math import atanh, sqrt, tanh
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student_t
from sklearn.metrics import cohen_kappa_score

from reports.metrics.arrays import Counts
from reports.metrics.confusion import FIGURES, KAPPA
from reports.metrics.intervals import Interval, student
from reports.metrics.jackknife import jackknife


def tables_of(rows: list[list[int]], columns: list[list[int]]) -> Counts:
    """Labels topic by topic as T x 1 x 3 x 3 counts."""
    tables = np.zeros((len(rows), 1, 3, 3), dtype=np.int64)
    for topic, (left, right) in enumerate(zip(rows, columns, strict=True)):
        for a, b in zip(left, right, strict=True):
            tables[topic, 0, a, b] += 1
    return tables


def made(topics: int, seed: int, pairs: int = 12) -> tuple[list[list[int]], list[list[int]]]:
    """Labels of two judges who give the same label two times in three."""
    draw = np.random.default_rng(seed)
    rows = draw.integers(0, 3, (topics, pairs))
    columns = np.where(draw.random((topics, pairs)) < 2 / 3, rows, draw.integers(0, 3, (topics, pairs)))
    return rows.tolist(), columns.tolist()


@pytest.mark.parametrize("weights", [None, "linear"])
@pytest.mark.parametrize("topics", [5, 9, 20])
def test_interval_is_that_of_the_plain_slow_way(weights: str | None, topics: int) -> None:
    rows, columns = made(topics, seed=topics)

    def kappa(left_out: int | None) -> float:
        kept = [place for place in range(topics) if place != left_out]
        left, right = ([label for place in kept for label in side[place]] for side in (rows, columns))
        return float(cohen_kappa_score(left, right, labels=[0, 1, 2], weights=weights))

    without = [atanh(kappa(topic)) for topic in range(topics)]
    mean = sum(without) / topics
    se = sqrt((topics - 1) / topics * sum((z - mean) ** 2 for z in without))
    reach = float(student_t.ppf(0.975, topics - 1)) * se
    whole = atanh(kappa(None))
    found = jackknife(tables_of(rows, columns), FIGURES["kappa_linear"] if weights else KAPPA)
    assert found.value == pytest.approx(kappa(None), abs=1e-12)
    assert found.interval.ends == pytest.approx((tanh(whole - reach), tanh(whole + reach)), abs=1e-9)
    assert (found.topics, found.interval.reason) == (topics, "")


def test_student_s_t_is_that_of_the_tables() -> None:
    digits = {4: 2.776445, 9: 2.262157, 19: 2.093024, 48: 2.010635}
    for freedom, expected in digits.items():
        assert student(freedom) == pytest.approx(expected, abs=5e-7)
    for freedom in range(1, 120):
        assert student(freedom) == pytest.approx(float(student_t.ppf(0.975, freedom)), abs=1e-8)


def test_fewer_than_five_topics_have_no_interval() -> None:
    found = jackknife(tables_of(*made(4, seed=1)), KAPPA)
    assert found.value is not None
    assert found.interval.ends is None
    assert found.interval.reason == "too few topics"


def test_topics_without_pairs_are_no_topics() -> None:
    tables = np.concatenate([tables_of(*made(4, seed=1)), np.zeros((3, 1, 3, 3), dtype=np.int64)])
    assert jackknife(tables, KAPPA).topics == 4


def test_what_is_undefined_without_a_topic_has_no_interval() -> None:
    same = [[2, 2]] * 5
    found = jackknife(tables_of([*same, [0, 2]], [*same, [2, 0]]), KAPPA)
    assert found.value is not None
    assert (found.interval.ends, found.interval.reason) == (None, "undefined without one of the topics")
    nothing = jackknife(tables_of(same, same), KAPPA)
    assert (nothing.value, nothing.interval) == (None, Interval(reason="undefined: all labels equal"))


def test_pairs_of_judges_are_pooled_whichever_is_first() -> None:
    first, second = tables_of(*made(6, seed=1)), tables_of(*made(6, seed=2))
    both = jackknife(np.concatenate([first, second], axis=1), KAPPA)
    turned = jackknife(np.concatenate([second.swapaxes(2, 3), first], axis=1), KAPPA)
    assert both.value == pytest.approx(turned.value)
    alone = [jackknife(tables, KAPPA).value or 0 for tables in (first, second)]
    assert min(alone) <= (both.value or 0) <= max(alone)


LIST_QA = {
    "agreement": (0.936111, 0.910294, 0.954675),
    "kappa": (0.860002, 0.809704, 0.897757),
    "kappa_linear": (0.910714, 0.875151, 0.936490),
    "alpha": (0.944082, 0.915176, 0.963326),
    "ordinal_strictness": (-0.059524, -0.084216, -0.034832),
}


@pytest.mark.parametrize("figure", LIST_QA)
def test_t18_list_qa_labels_have_their_intervals(figure: str, shared_data: Path) -> None:
    """Edited nuggets labelled by the LLM and by people, 49 topics."""
    tables = list_qa(shared_data / "qampari-list-qa" / "assignments")
    found = jackknife(tables, FIGURES[figure])
    assert found.topics == 49
    assert found.interval.ends is not None
    assert (found.value, *found.interval.ends) == pytest.approx(LIST_QA[figure], abs=5e-7)


def list_qa(folder: Path) -> Counts:
    """Labels of the LLM (rows) and of people, by topic."""
    labels = ["not_support", "partial_support", "support"]
    sides = [given(folder / f"edited-nuggets.{by}-assign") for by in ("auto", "manual")]
    topics = sorted({topic for topic, *_ in sides[0]})
    tables = np.zeros((len(topics), 1, 3, 3), dtype=np.int64)
    for item in sides[0].keys() & sides[1].keys():
        tables[topics.index(item[0]), 0, labels.index(sides[0][item]), labels.index(sides[1][item])] += 1
    return tables


def given(folder: Path) -> dict[tuple[str, str, int], str]:
    """Labels by topic, run and place of the nugget in its list."""
    lines = [json.loads(line) for file in sorted(folder.iterdir()) for line in file.read_text().splitlines()]
    return {
        (line["qid"], line["run_id"], place): nugget["assignment"]
        for line in lines
        for place, nugget in enumerate(line["nuggets"])
    }
