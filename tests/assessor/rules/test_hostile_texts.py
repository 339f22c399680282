"""Text that a run wrote to stop a desk takes time in proportion to its length, like any other text."""

import time

import pytest

from assessor.rules.citation_marks import CitationName, pieces_of

LENGTH, GROWTH = 3000, 4
HOSTILE = ["**0 - ", "\u2003", "[a](", "[1, ", "【1,", "(source ", "[1, 1]", "[doc", "†"]
CITED = [CitationName("1", "d", 1)]


def seconds(text: str) -> float:
    tries = []
    for _ in range(3):
        started = time.process_time()
        pieces_of([(text, CITED)])
        tries.append(time.process_time() - started)
    return min(tries)


@pytest.mark.parametrize("piece", HOSTILE)
def test_four_times_the_text_takes_about_four_times_the_time(piece: str) -> None:
    text = piece * (LENGTH // len(piece))
    assert seconds(text * GROWTH + "x]") < 8 * seconds(text + "x]") + 0.01
