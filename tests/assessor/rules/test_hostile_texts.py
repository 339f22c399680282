"""Text that a run wrote to stop a desk takes time in proportion to its length, like any other text."""

import time

import pytest

from assessor.rules.display import plain

LENGTH, GROWTH = 3000, 4
HOSTILE = ["**0 - ", "\u2003", "\n\t", "[a](", "[1, ", " .", "<a ", "`", "[doc"]


def seconds(text: str) -> float:
    """Return the processor's time, the least of three tries."""
    tries = []
    for _ in range(3):
        started = time.process_time()
        plain(text)
        tries.append(time.process_time() - started)
    return min(tries)


@pytest.mark.parametrize("piece", HOSTILE)
def test_four_times_the_text_takes_about_four_times_the_time(piece: str) -> None:
    text = piece * (LENGTH // len(piece))
    assert seconds(text * GROWTH + "x") < 8 * seconds(text + "x") + 0.01
