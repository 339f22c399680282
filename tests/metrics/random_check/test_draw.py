"""The draw: splitting n among strata, inclusion probabilities, growing, and what stays."""

import numpy as np
import pytest

from evaluation.labels import NO_LABEL
from reports.metrics.random_check.draw import (
    KNOWN,
    Chances,
    RandomCheckFrame,
    draw,
    place_in_order,
    split,
)


def made_frame(seed: str, runs: int = 3, pairs: int = 60, blocks: int = 1) -> RandomCheckFrame:
    random = np.random.default_rng(1)
    total = runs * pairs
    return RandomCheckFrame(
        run=np.repeat(np.arange(runs), pairs),
        label=random.choice((0, 1, 2, NO_LABEL), total, p=[0.6, 0.1, 0.25, 0.05]),
        block=np.arange(total) % blocks,
        size=random.choice(np.array([0.05, 0.1, 0.2, 0.4]), total),
        order=np.array([place_in_order(seed, pair) for pair in range(total)]),
        runs=runs,
    )


def test_a_split_keeps_the_floors_and_adds_up() -> None:
    counts, slopes = np.array([200, 30, 100, 0]), np.array([20.0, 2 * 2.0, 12.0, 0.0])
    numbers = np.arange(5, 340, 5)
    found = split(counts, slopes, numbers, 5)
    assert (found.sum(axis=1) == np.clip(numbers, 15, 330)).all()
    assert (found[:, :3] >= 5).all()
    assert (found <= counts).all()
    assert found[0].tolist() == [5, 5, 5, 0]
    # 20 : 2 · 2 : 12 of 54 is 30, 6, 18.
    assert split(counts, slopes, np.array([54]), 5)[0].tolist() == [30, 6, 18, 0]


def test_equal_remainders_go_by_label() -> None:
    counts, slopes = np.array([10, 0, 10, 10]), np.array([2.0, 0.0, 2.0, 2 * 1.0])
    assert split(counts, slopes, np.array([7, 8]), 1).tolist() == [[3, 0, 2, 2], [3, 0, 3, 2]]


def test_chances_add_up_to_what_is_drawn() -> None:
    x = np.random.default_rng(0).exponential(size=40)
    for number in range(1, 41):
        chances = Chances(x).of(number)
        assert chances.sum() == pytest.approx(number)
        assert (chances > 0).all()
        assert (chances <= 1).all()
    assert (Chances(np.ones(7)).of(7) == 1).all()


def test_growing_keeps_what_was_drawn() -> None:
    alike = []
    for seed in range(40):
        frame = made_frame(f"s{seed}")
        few = draw(frame, np.full(3, 20), 5)
        grown, at_once = draw(frame, np.full(3, 40), 5, before=few > 0), draw(frame, np.full(3, 40), 5)
        assert (grown[(few > 0) | (at_once > 0)] > 0).all()
        alike.append((grown == at_once).all())
    # Where several large pairs become certain at once, a small one that was drawn before is one too many.
    assert sum(alike) >= 38


def test_one_run_can_be_grown_alone() -> None:
    frame = made_frame("s")
    few = draw(frame, np.full(3, 20), 5)
    grown = draw(frame, np.array([20, 40, 20]), 5, before=few > 0)
    others = frame.run != 1
    assert (grown[others] == few[others]).all()
    assert (grown[~others] > 0).sum() == 40


def test_an_extension_takes_the_same_fraction_and_leaves_the_rest() -> None:
    frame = made_frame("s", pairs=120, blocks=2)
    first = frame.block == 0
    found = draw(frame, np.full(3, 30), 5)
    for run in range(3):
        mine = frame.run == run
        assert (found[mine & first] > 0).sum() == 30
        assert (found[mine & ~first] > 0).sum() == 30


def test_known_pairs_are_certain_and_take_no_place() -> None:
    frame = made_frame("s")
    frame.label[:10] = KNOWN
    found = draw(frame, np.full(3, 20), 5)
    assert (found[:10] == 1).all()
    assert (found[10:60] > 0).sum() == 20


def test_pairs_are_drawn_as_often_as_they_say() -> None:
    drawn, stored = np.zeros(180), np.zeros(180)
    for seed in range(400):
        found = draw(made_frame(f"s{seed}"), np.full(3, 25), 5)
        drawn += found > 0
        stored = np.maximum(stored, found)
    # Four standard errors of 400 draws beside the .1 that sequential Poisson sampling may be off.
    assert np.abs(drawn / 400 - stored).max() < 0.2
    assert np.abs(drawn / 400 - stored).mean() < 0.03
