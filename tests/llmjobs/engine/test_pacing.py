"""The pace of requests: never over the limit in any minute, however the workers look, and hardly below it."""

from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmjobs.engine.limits import BURST, GONE_AFTER, PERIOD, SLACK, WINDOW, Limits, LimitState, Visit
from llmjobs.engine.send import Turns

# Seconds to the next look, how many requests wait then, whose look it is, and how late each of them leaves.
LOOKS = st.lists(
    st.tuples(
        st.floats(0, 20), st.integers(0, 40), st.sampled_from(["one", "two", "three"]), st.floats(0, 0.999 * SLACK)
    ),
    max_size=80,
)


def most_in_a_window(moments: list[float]) -> int:
    ordered = sorted(moments)
    return max((sum(start <= moment < start + WINDOW for moment in ordered) for start in ordered), default=0)


@given(limit=st.integers(1, 300), looks=LOOKS)
def test_in_no_minute_more_requests_arrive_than_the_limit(
    limit: int, looks: list[tuple[float, int, str, float]]
) -> None:
    use, now, arrived = LimitState(), 1_000.0, list[float]()
    for later, number, worker, late in looks:
        now += later
        gone, _ = use.admit(Visit(worker, Limits(requests=limit), 0, [1] * number), now)
        arrived += [now + late] * gone
    assert most_in_a_window(arrived) <= limit


@given(limit=st.integers(1, 50_000), cost=st.integers(1, 60_000), looks=LOOKS)
def test_in_no_minute_more_tokens_arrive_than_the_limit(
    limit: int, cost: int, looks: list[tuple[float, int, str, float]]
) -> None:
    """Of requests that are alike; one that alone is over the limit goes alone."""
    use, now, arrived = LimitState(), 1_000.0, list[float]()
    for later, number, worker, late in looks:
        now += later
        gone, _ = use.admit(Visit(worker, Limits(tokens=limit), 0, [cost] * number), now)
        arrived += [now + late] * gone
    assert most_in_a_window(arrived) <= max(1, limit // cost)


@pytest.mark.parametrize("limit", [1, 7, 60, 600, 30_000])
def test_who_looks_often_gets_nearly_the_limit(limit: int) -> None:
    use, gone, minutes = LimitState(), 0, 10
    for look in range(minutes * 600):
        gone += use.admit(Visit("w", Limits(requests=limit), 0, [1] * 600), 1_000 + look / 10)[0]
    assert 0.97 * limit * minutes - 1 <= gone <= limit * minutes


def test_the_wait_that_is_told_is_as_long_as_it_has_to_be() -> None:
    use, limits = LimitState(), Limits(requests=6)
    gone, wait = use.admit(Visit("w", limits, 0, [1, 1]), 1_000)
    assert (gone, wait) == (1, PERIOD / 6 - BURST)
    assert use.admit(Visit("w", limits, 0, [1]), 1_000 + wait - 0.01)[0] == 0
    assert use.admit(Visit("w", limits, 0, [1]), 1_000 + wait)[0] == 1


def test_what_replies_cost_beyond_the_estimate_is_made_up_for() -> None:
    limits = Limits(tokens=6_000)
    dear, cheap = LimitState(), LimitState()
    for use in (dear, cheap):
        use.admit(Visit("w", limits, 0, [100]), 1_000)
    dear.admit(Visit("w", limits, beyond=500), 1_000)
    cheap.admit(Visit("w", limits, beyond=-50), 1_000)
    assert dear.tokens_until == pytest.approx(1_000 + 6 * PERIOD / 60)
    assert cheap.tokens_until == pytest.approx(1_000 + PERIOD / 120)


def test_all_workers_together_have_no_more_under_way_than_the_limit() -> None:
    use, limits = LimitState(), Limits(at_once=5)
    assert use.admit(Visit("one", limits, 0, [1] * 3), 1_000) == (3, 0.0)
    assert use.admit(Visit("two", limits, 0, [1] * 9), 1_000) == (2, 0.0)
    assert use.admit(Visit("two", limits, 2, [1] * 9), 1_001)[0] == 0
    assert use.admit(Visit("one", limits, 1, []), 1_002)[0] == 0
    assert use.admit(Visit("two", limits, 2, [1] * 9), 1_003)[0] == 2


def test_what_a_worker_had_under_way_that_is_gone_is_nobodys() -> None:
    use, limits = LimitState(), Limits(at_once=2)
    use.admit(Visit("dead", limits, 0, [1, 1]), 1_000)
    assert use.admit(Visit("heir", limits, 0, [1]), 1_000 + GONE_AFTER / 2)[0] == 0
    assert use.admit(Visit("heir", limits, 0, [1]), 1_000 + GONE_AFTER)[0] == 1


def test_a_clock_that_was_set_back_stops_nobody_for_long() -> None:
    use = LimitState(requests_until=1_000_000.0)
    _, wait = use.admit(Visit("w", Limits(requests=60), 0, [1]), 1_000)
    assert wait <= 5 * PERIOD


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(), "no limit"),
        (Limits(requests=1_500), "1,500 requests a minute"),
        (Limits(tokens=90_000, at_once=8), "90,000 tokens a minute, 8 requests at once"),
    ],
)
def test_limits_are_said_in_words(limits: Limits, words: str) -> None:
    assert (str(limits), bool(limits)) == (words, words != "no limit")


def go_in_turns(jobs: str, priorities: dict[str, int] | None = None, one_at_a_time: int = 1) -> str:
    turns, left, gone = Turns(), list(enumerate(jobs)), ""
    ranks = {ord(job): rank for job, rank in (priorities or {}).items()}
    for _ in range(ceil(len(jobs) / one_at_a_time)):
        for entry in turns.in_order(left, lambda waiting: ord(waiting[1]), ranks)[:one_at_a_time]:
            left.remove(entry)
            gone += entry[1]
            turns.take(ord(entry[1]))
    return gone


def test_jobs_that_wait_for_one_endpoint_go_in_turns() -> None:
    assert go_in_turns("aaaaabb") == "ababaaa"
    assert go_in_turns("aaaaabb", one_at_a_time=3) == "ababaaa"


def test_a_job_of_higher_priority_goes_first() -> None:
    assert go_in_turns("aaabb", {"b": 1}) == "bbaaa"


def test_a_job_that_comes_late_does_not_go_alone() -> None:
    turns = Turns()
    for _ in range(100):
        turns.in_order(["old"] * 3, lambda _: 1, {})
        turns.take(1)
    order = turns.in_order(["old", "old", "new", "new"], lambda job: 1 if job == "old" else 2, {})
    assert order == ["old", "new", "old", "new"]
