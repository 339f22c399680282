"""Verdicts on made judges, by the rule: too little known, as people agree, below people, not settled; weak slices."""

import numpy as np
import pytest

from reports.metrics.arrays import Counts
from reports.metrics.confusion import KAPPA
from reports.metrics.intervals import Interval
from reports.metrics.jackknife import Jackknife, jackknife
from reports.quality.judges import JudgeVerdict, Slice, verdict_of, weak_at


def judge_who_errs(wrong: list[int], pairs: int = 30) -> Counts:
    """Counts of a judge against people, topic by topic: of `pairs` pairs so many are one label off."""
    tables = np.zeros((len(wrong), 1, 3, 3), dtype=np.int64)
    for topic, off in enumerate(wrong):
        tables[topic, 0, 0, 0] = tables[topic, 0, 2, 2] = (pairs - off) // 2
        tables[topic, 0, 0, 2] = off // 2
        tables[topic, 0, 2, 0] = off - off // 2
    return tables


PEOPLE = jackknife(judge_who_errs([4, 6, 4, 6, 4, 6]), KAPPA)
JUDGES = {
    "few pairs": (judge_who_errs([1, 0, 1, 0, 1, 0], pairs=10), JudgeVerdict.TOO_LITTLE),
    "as good as people": (judge_who_errs([4, 5, 4, 5, 4, 5]), JudgeVerdict.AS_PEOPLE),
    "poor": (judge_who_errs([12, 14, 12, 14, 12, 14]), JudgeVerdict.BELOW_PEOPLE),
    "uneven": (judge_who_errs([0, 20, 2, 16, 0, 4]), JudgeVerdict.NOT_SETTLED),
}


@pytest.mark.parametrize("name", JUDGES)
def test_four_made_judges_have_their_verdicts(name: str) -> None:
    """Check 84."""
    tables, expected = JUDGES[name]
    found, reason = verdict_of(jackknife(tables, KAPPA), int(tables.sum()), PEOPLE)
    assert found is expected
    assert reason


def figure(value: float, low: float, high: float, topics: int = 8) -> Jackknife:
    return Jackknife(value, Interval(low, high), topics)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.70, 0.90, JudgeVerdict.AS_PEOPLE),
        (0.69, 0.90, JudgeVerdict.NOT_SETTLED),
        (0.40, 0.70, JudgeVerdict.NOT_SETTLED),
        (0.40, 0.69, JudgeVerdict.BELOW_PEOPLE),
    ],
)
def test_the_bound_is_people_less_a_tenth(low: float, high: float, expected: JudgeVerdict) -> None:
    assert verdict_of(figure((low + high) / 2, low, high), 400, figure(0.80, 0.7, 0.9))[0] is expected


def test_too_little_says_of_what() -> None:
    enough, few = figure(0.8, 0.7, 0.9), Jackknife(0.8, Interval(reason="too few topics"), 4)
    nobody = Jackknife(None, Interval(reason="too few topics"), 0)
    assert verdict_of(enough, 99, enough)[1] == "99 pairs with people of the 100 that it needs"
    assert verdict_of(few, 100, enough)[1] == "4 topics with people of the 5 that it needs"
    assert verdict_of(enough, 100, nobody)[1] == "nothing was judged twice, so there is no figure of people"
    assert verdict_of(enough, 100, few)[1] == "4 topics judged twice by people of the 5 that it needs"


def test_reasons_name_the_end_and_the_figure_of_people() -> None:
    people = figure(0.80, 0.7, 0.9)
    assert verdict_of(figure(0.8, 0.75, 0.85), 400, people)[1] == (
        "the interval begins at 0.75, not below people's 0.80 less 0.10"
    )
    assert verdict_of(figure(0.5, 0.4, 0.6), 400, people)[1] == (
        "the interval ends at 0.60, below people's 0.80 less 0.10"
    )
    assert verdict_of(figure(0.7, 0.6, 0.8), 400, people)[1] == (
        "the interval, 0.60 to 0.80, has people's 0.80 less 0.10 inside"
    )


def test_weak_are_slices_of_thirty_that_lie_far_below() -> None:
    slices = [
        Slice("Arabic", 30, 0.65),
        Slice("Urdu", 29, 0.1),
        Slice("English", 300, 0.66),
        Slice("partial labels", 80, None),
    ]
    assert weak_at(0.80, slices) == ("Arabic",)
    assert weak_at(None, slices) == ()
