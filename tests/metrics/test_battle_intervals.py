"""Intervals of battles over topics that are drawn anew: `python -m loadtest.battles` draws the full number."""

from pathlib import Path

import pytest

from loadtest.battles import interval_tally, world_of
from loadtest.random_checks import list_qa

SEEDS = 100


@pytest.mark.parametrize("rounds", [2, 6])
def test_intervals_hold_and_those_of_independent_battles_do_not(shared_data: Path, rounds: int) -> None:
    world = world_of(list_qa(shared_data / "qampari-list-qa"))
    tally = interval_tally(world, rounds=rounds, seeds=SEEDS, quiet=True)
    for held in (tally.rates, tally.apart, tally.ratings):
        assert 0.92 <= held.mean() <= 0.98
    if rounds == 6:
        assert tally.plain.mean() <= 0.93
