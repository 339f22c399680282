"""Regular expressions that somebody typed."""

import pytest

from evaluation.errors import Refused
from evaluation.rules.text import LONGEST_PATTERN, matcher
from tests.speed import at_most


@pytest.mark.parametrize(
    ("pattern", "found"),
    [("bend", True), ("RIVERS? b", True), ("^why.*bend$", True), (r"t\d", False), ("b(e|u)nd", True)],
)
def test_it_is_looked_for_anywhere_in_capitals_or_not(pattern: str, found: bool) -> None:
    assert matcher(pattern)("Why rivers bend") is found


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "unclosed group"),
        ("[a", "unclosed character class"),
        ("*", "repetition operator missing expression"),
        ("x)|(y", "unopened group"),
        (r"(a)\1", "backreferences are not supported"),
        ("(?=a)", "look-around"),
        ("a{5000}{5000}", "too large"),
        ("a" * (LONGEST_PATTERN + 1), "at most 200 characters"),
    ],
)
def test_what_is_no_pattern_is_said_to_be_none(pattern: str, message: str) -> None:
    with pytest.raises(Refused, match=message):
        matcher(pattern)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*$", "(a|aa)+$", "(.*a){20}$", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_no_pattern_is_slow(pattern: str) -> None:
    with at_most(2):
        matcher(pattern)("a" * 5_000 + "!")
