"""Intervals of agreement, kappa and alpha where few topics hold a pair with two labels, or none does."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta
from scipy.stats import t as student_t

from reports.metrics.alpha import overlap
from reports.metrics.arrays import Counts, Floats
from reports.metrics.confusion import KAPPA, confusion, label_intervals, topic_tables
from reports.metrics.intervals import Interval
from reports.metrics.jackknife import clopper_pearson, jackknife

GRADED = ("kappa_linear", "alpha")
STRICTNESS = "ordinal_strictness"


def tables_of(topics: int, pairs: int, apart: dict[int, list[tuple[int, int]]], labels: tuple[int, ...]) -> Counts:
    """Counts of two judges who give the labels in turn, but for the pairs `apart` of some topics."""
    tables = np.zeros((topics, 3, 3), dtype=np.int64)
    for topic in range(topics):
        given = [(label, label) for label in np.resize(labels, pairs)]
        given[: len(apart.get(topic, []))] = apart.get(topic, [])
        for row, column in given:
            tables[topic, row, column] += 1
    return tables


def half_by_chance(differing: int) -> Counts:
    """20 topics of 6 pairs, of which by chance half are equal: labels 0 and 2, as often as each other on both sides."""
    return tables_of(20, 6, {0: [(0, 2)] * differing}, (0, 2))


def test_one_pair_in_120_has_the_digits_of_the_rule() -> None:
    """Half of the pairs agree by chance only where both sides give both labels as often: to 1e-4 with a pair apart."""
    found = label_intervals(half_by_chance(1))
    assert found["agreement"].ends == pytest.approx((0.933185, 0.999979), abs=5e-7)
    pe = by_chance(half_by_chance(1))
    assert found["kappa"].ends == pytest.approx((1 - 0.0668152 / (1 - pe), 1 - 0.0000213 / (1 - pe)), abs=5e-7)
    assert found["kappa"].ends == pytest.approx((0.866370, 0.999957), abs=1e-4)
    assert found[STRICTNESS] == Interval(reason="too many equal labels")


def test_equal_labels_have_the_digits_of_the_rule() -> None:
    found = label_intervals(half_by_chance(0))
    assert found["agreement"].ends == pytest.approx((0.948776, 1), abs=5e-7)
    assert found["kappa"].ends == pytest.approx((0.897552, 1), abs=5e-7)
    # Where nothing differs, a pair that did would be three quarters of the scale apart.
    for name in GRADED:
        expected = by_distance(half_by_chance(0), name)
        assert found[name].ends == pytest.approx((1 - 0.0512239 * 0.75 / expected[1], 1), abs=5e-7)
    assert found[STRICTNESS].reason == "too many equal labels"


def by_chance(tables: Counts) -> float:
    counts = tables.sum(axis=0)
    return float((counts.sum(axis=1) * counts.sum(axis=0)).sum() / counts.sum() ** 2)


def by_distance(tables: Counts, name: str) -> tuple[float, float]:
    """Mean distance of the pairs that differ, 0 where none does, and that expected by chance, the largest being 1."""
    counts = tables.sum(axis=0).astype(float)
    size = counts.shape[0]
    if name == "kappa_linear":
        rows, columns, drawn = counts.sum(axis=1), counts.sum(axis=0), counts.sum() ** 2
        scale = np.arange(size, dtype=float)
        distance = abs(scale[:, np.newaxis] - scale) / (size - 1)
    else:
        rows = columns = counts.sum(axis=0) + counts.sum(axis=1)
        drawn = rows.sum() * (rows.sum() - 1)
        middle = np.cumsum(rows) - rows / 2
        distance = (middle[:, np.newaxis] - middle) ** 2
        distance /= distance.max()
    apart = counts.sum() - np.trace(counts)
    return float((counts * distance).sum() / apart) if apart else 0.0, float(
        (np.outer(rows, columns) * distance).sum() / drawn
    )


def slow_ends(tables: Counts, name: str) -> tuple[float, float]:
    """The rule as it is written, with SciPy's distributions."""
    topics, pairs = len(tables), tables.sum(axis=(1, 2))
    differing = pairs - np.trace(tables, axis1=1, axis2=2)
    total, m = pairs.sum(), differing.sum() / pairs.sum()
    effects = [1.0]
    if m not in (0, 1):
        v = topics / (topics - 1) * ((differing - m * pairs) ** 2).sum() / total**2
        effects.append(v / (m * (1 - m) / total))
    if differing.sum() < 5:
        effects.append(1 + (total / topics - 1) * 0.1)
    n = total / max(effects) * (1.96 / student_t.ppf(0.975, topics - 1)) ** 2
    low = beta.ppf(0.025, m * n, n - m * n + 1) if m > 0 else 0.0
    high = beta.ppf(0.975, m * n + 1, n - m * n) if m < 1 else 1.0
    if name == "agreement":
        near, far, expected = 1.0, 1.0, 1.0
    elif name == "kappa":
        near, far, expected = 1.0, 1.0, 1 - by_chance(tables)
    else:
        near, expected = by_distance(tables, name)
        far = max(near, 0.5) if differing.any() else 0.75
    return max(1 - high * far / expected, -1), min(1 - low * near / expected, 1)


CELLS = st.tuples(st.integers(0, 2), st.integers(0, 2))


@given(
    topics=st.integers(5, 30),
    pairs=st.integers(3, 40),
    apart=st.dictionaries(st.integers(0, 4), st.lists(CELLS, max_size=3), max_size=4),
    labels=st.sampled_from([(0, 1, 2), (0, 2), (0, 0, 1, 2), (1, 2)]),
)
def test_every_figure_lies_in_its_interval_which_is_the_slow_ones(
    topics: int, pairs: int, apart: dict[int, list[tuple[int, int]]], labels: tuple[int, ...]
) -> None:
    tables = tables_of(topics, pairs, apart, labels)
    rows, columns = (np.repeat(side.ravel(), tables.sum(axis=0).ravel()) for side in np.indices((3, 3)))
    whole = confusion(rows.astype(np.int8), columns.astype(np.int8), 3)
    for name, found in label_intervals(tables).items():
        if name == STRICTNESS:
            assert found.reason in ("too many equal labels", "undefined: all labels equal")
            continue
        value = getattr(whole, name)
        if value is None:
            assert found.reason == "undefined: all labels equal"
        elif found.ends is None:
            assert found.reason == "undefined without one of the topics"
        else:
            assert -1 <= found.ends[0] <= value <= found.ends[1] <= 1
            assert found.ends == pytest.approx(slow_ends(tables, name), abs=1e-8)


def test_five_topics_that_differ_have_the_jackknife() -> None:
    four, five = (tables_of(20, 6, {topic: [(0, 2)] for topic in range(number)}, (0, 1, 2)) for number in (4, 5))
    assert label_intervals(four)["agreement"].ends == pytest.approx(slow_ends(four, "agreement"), abs=1e-8)
    assert label_intervals(five)["agreement"].ends != pytest.approx(slow_ends(five, "agreement"), abs=1e-4)
    assert label_intervals(five)[STRICTNESS].ends is not None


def test_one_label_alone_leaves_agreement_an_interval() -> None:
    found = label_intervals(tables_of(20, 6, {}, (2,)))
    assert found["agreement"].ends == pytest.approx((0.948776, 1), abs=5e-7)
    assert {found[name].reason for name in ("kappa", *GRADED)} == {"undefined: all labels equal"}


def test_too_few_topics_stay_refused() -> None:
    assert {found.reason for found in label_intervals(tables_of(4, 9, {}, (0, 1, 2))).values()} == {
        "too few topics"
    }


def test_several_people_and_several_pairs_have_the_same_interval() -> None:
    """Alpha and agreement of an overlap, and kappa pooled over people, of the same two judges."""
    tables = half_by_chance(1)
    topic, row, column = (np.repeat(side.ravel(), tables.ravel()) for side in np.indices(tables.shape))
    labels = np.stack([row, column]).astype(np.int8)
    two = label_intervals(tables)
    found = overlap(labels, topic.astype(np.int32), 3)
    assert found.alpha_interval.ends == pytest.approx(two["alpha"].ends)
    assert found.agreement_interval.ends == pytest.approx(two["agreement"].ends)
    kappa = jackknife(tables[:, np.newaxis], KAPPA)
    assert kappa.interval.ends == pytest.approx(two["kappa"].ends)
    three = overlap(np.stack([*labels, labels[0]]), topic.astype(np.int32), 3)
    for value, interval in ((three.alpha, three.alpha_interval), (three.agreement, three.agreement_interval)):
        assert interval.ends is not None
        assert interval.ends[0] > 0.8
        assert interval.ends[0] <= (value or 0) <= interval.ends[1]


def test_more_grades_than_three_have_the_rule_too() -> None:
    draw = np.random.default_rng(0)
    rows = draw.integers(0, 5, 400).astype(np.int8)
    columns = rows.copy()
    columns[7] = (rows[7] + 1) % 5
    tables = topic_tables(rows, columns, np.repeat(np.arange(20), 20).astype(np.int32), 5)
    for name, found in label_intervals(tables).items():
        if name != STRICTNESS:
            assert found.ends == pytest.approx(slow_ends(tables, name), abs=1e-8)


@pytest.mark.parametrize(
    ("share", "size"), [(0.0, 70.2), (1 / 120, 70.1479), (0.5, 12.5), (1.0, 33.3), (2e-6, 1.6e6), (0.03, 40_000.5)]
)
def test_ends_of_a_share_are_those_of_scipy(share: float, size: float) -> None:
    x = share * size
    low = beta.ppf(0.025, x, size - x + 1) if share > 0 else 0.0
    high = beta.ppf(0.975, x + 1, size - x) if share < 1 else 1.0
    assert clopper_pearson(share, size) == pytest.approx((low, high), abs=1e-10)


def drawn(draw: np.random.Generator, differing: float, labels: Floats, topics: int, pairs: int) -> Counts:
    alike = 0.1
    chances = draw.beta(differing * (1 / alike - 1), (1 - differing) * (1 / alike - 1), topics)
    rows = draw.choice(3, size=(topics, pairs), p=labels).astype(np.int8)
    off = draw.random((topics, pairs)) < chances[:, np.newaxis]
    # The other label is drawn as often on either side, so that the true figures are those of the many.
    columns = np.where(off, (rows + draw.integers(1, 3, rows.shape)) % 3, rows).astype(np.int8)
    place = np.repeat(np.arange(topics, dtype=np.int32), pairs)
    tables = topic_tables(rows.ravel(), columns.ravel(), place, 3)
    return np.pad(tables, ((0, topics - len(tables)), (0, 0), (0, 0)))


@pytest.mark.parametrize("differing", [0.002, 0.01, 0.03])
def test_true_figures_are_held(differing: float) -> None:
    draw = np.random.default_rng(int(differing * 1000))
    labels = np.array([0.5, 0.2, 0.3])
    many = drawn(draw, differing, labels, 4000, 30).sum(axis=0)
    rows, columns = (np.repeat(side.ravel(), many.ravel()).astype(np.int8) for side in np.indices((3, 3)))
    truth = confusion(rows, columns, 3)
    held: dict[str, list[bool]] = {name: [] for name in ("agreement", "kappa", *GRADED)}
    widths = []
    for _ in range(250):
        found = label_intervals(drawn(draw, differing, labels, 20, 30))
        for name, inside in held.items():
            ends = found[name].ends
            assert ends is not None
            inside.append(ends[0] <= getattr(truth, name) <= ends[1])
        widths.append((found["kappa"].high or 0) - (found["kappa"].low or 0))
    least = 0.93 if differing < 0.02 else 0.91
    assert {name: np.mean(inside) for name, inside in held.items() if np.mean(inside) < least} == {}
    assert np.mean(widths) < 0.12
    assert sqrt(np.var(widths)) < 0.1
