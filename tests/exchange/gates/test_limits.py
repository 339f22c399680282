"""A verdict at a limit itself: the last bits of a mean decide nothing."""

import pytest

from reports.metrics.gate import GateRule, decide

TOPICS = range(12)


@pytest.mark.parametrize(
    ("goal", "before", "after", "least", "verdict"),
    [
        ("no-worse", 0.3, 0.28, 0.02, "fail"),
        ("no-worse", 0.8, 0.7, 0.1, "fail"),
        ("better", 0.28, 0.3, 0.02, "pass"),
        ("better", 0.7, 0.8, 0.1, "pass"),
    ],
)
@pytest.mark.parametrize("lower_is_better", [False, True])
def test_a_difference_as_large_as_the_limit_reaches_it(
    goal: str, before: float, after: float, least: float, verdict: str, lower_is_better: bool
) -> None:
    old, new = ({str(topic): score for topic in TOPICS} for score in (before, after))
    sides = (new, old) if lower_is_better else (old, new)
    rule = GateRule(goal, least, 0.05, 0.95)  # type: ignore[arg-type]
    found = decide("score", *sides, rule, lower_is_better=lower_is_better)
    assert (found.verdict, found.topics) == (verdict, 12)


def test_no_number_of_topics_decides_what_lies_on_the_limit() -> None:
    old = dict.fromkeys(map(str, TOPICS), 0.3)
    new = {topic: 0.28 + (0.2 if int(topic) % 2 else -0.2) for topic in old}
    found = decide("score", old, new, GateRule("no-worse", 0.02, 0.05, 0.95))
    assert (found.verdict, found.more_topics) == ("undecided", None)
