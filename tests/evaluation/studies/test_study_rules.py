"""The draw: seeded, without replacement, the same in every database; and who is independent."""

import random
from collections import Counter
from fractions import Fraction
from itertools import product
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import Refused
from evaluation.rules.studies import Cell, LabelledPair, check_independent, draw, draw_decoys, shares
from evaluation.rules.tasks import AssessorFacts
from evaluation.stages import POST_EDIT, SUPPORT_SCRATCH
from evaluation.terms import Role

CELLS: list[Cell] = [(person, machine) for person, machine in product(range(3), repeat=2) if person != machine]
PAIRS = st.lists(
    st.builds(
        LabelledPair, st.sampled_from(["t1", "t2", "t3"]), st.integers(0, 60).map(str), st.sampled_from(CELLS)
    ),
    unique_by=lambda pair: (pair.topic, pair.key),
)
SIZES = st.dictionaries(st.sampled_from(CELLS), st.integers(1, 400), min_size=1)


@given(PAIRS, st.integers(1, 20), st.integers(0, 5), st.booleans(), st.randoms())
def test_the_order_in_which_pairs_come_changes_nothing(
    pairs: list[LabelledPair], number: int, seed: int, stratified: bool, chance: random.Random
) -> None:
    drawn = draw(pairs, number, seed=seed, stratified=stratified)
    chance.shuffle(pairs)
    assert draw(pairs, number, seed=seed, stratified=stratified) == drawn


@given(PAIRS, st.integers(1, 20), st.integers(0, 5), st.booleans())
def test_each_topic_gives_so_many_and_none_twice(
    pairs: list[LabelledPair], number: int, seed: int, stratified: bool
) -> None:
    drawn = draw(pairs, number, seed=seed, stratified=stratified)
    assert len(set(drawn)) == len(drawn)
    assert set(drawn) <= set(pairs)
    there = Counter(pair.topic for pair in pairs)
    assert Counter(pair.topic for pair in drawn) == {topic: min(number, count) for topic, count in there.items()}


@given(PAIRS, st.integers(1, 20), st.booleans())
def test_a_topic_s_draw_depends_on_no_other_topic(
    pairs: list[LabelledPair], number: int, stratified: bool
) -> None:
    def of_first(subset: list[LabelledPair]) -> list[LabelledPair]:
        return [pair for pair in draw(subset, number, seed=1, stratified=stratified) if pair.topic == "t1"]

    assert of_first(pairs) == of_first([pair for pair in pairs if pair.topic == "t1"])


@given(PAIRS, st.integers(1, 20))
def test_more_pairs_keep_those_that_fewer_had(pairs: list[LabelledPair], number: int) -> None:
    fewer, more = (draw(pairs, size, seed=3, stratified=False) for size in (number, number + 5))
    assert set(fewer) <= set(more)


@given(PAIRS, st.integers(0, 75))
def test_decoys_are_a_share_of_each_topic_s_pairs(pairs: list[LabelledPair], share: int) -> None:
    drawn = draw(pairs, 5, seed=2, stratified=False)
    agreed = [LabelledPair(topic, str(number), (1, 1)) for topic in ("t1", "t2", "t4") for number in range(40)]
    decoys = draw_decoys(agreed, drawn, share, seed=2)
    for topic in ("t1", "t2", "t3", "t4"):
        disputed, mixed = (sum(pair.topic == topic for pair in some) for some in (drawn, decoys))
        if topic == "t3":
            assert mixed == 0
        else:
            assert mixed == ceil(Fraction(disputed * share, 100 - share))


def test_every_pair_has_the_same_chance() -> None:
    pairs = [LabelledPair("t1", str(number), (0, 2)) for number in range(10)]
    times = Counter(pair.key for seed in range(2000) for pair in draw(pairs, 3, seed=seed, stratified=False))
    assert all(500 < count < 700 for count in times.values())  # 600 expected, five standard deviations are 102


@given(SIZES, st.integers(1, 500))
def test_cells_share_in_proportion_to_their_sizes(sizes: dict[Cell, int], number: int) -> None:
    given_ = shares(sizes, number)
    total = sum(sizes.values())
    assert sum(given_.values()) == min(number, total)
    for cell, size in sizes.items():
        assert given_[cell] <= size
        assert abs(given_[cell] - Fraction(min(number, total) * size, total)) < 1


def test_a_stratified_draw_has_each_cell_s_share() -> None:
    pairs = [
        LabelledPair("t1", f"{cell}{n}", cell) for cell, size in (((0, 2), 40), ((2, 0), 20)) for n in range(size)
    ]
    drawn = draw(pairs, 15, seed=0, stratified=True)
    assert Counter(pair.cell for pair in drawn) == {(0, 2): 10, (2, 0): 5}


ASSESSOR = frozenset({Role.ASSESSOR})


@pytest.mark.parametrize(
    ("person", "knows", "code"),
    [
        (AssessorFacts("Ann", ASSESSOR), {}, None),
        (AssessorFacts("Ann", ASSESSOR, stages=frozenset({POST_EDIT}), seen_drafts=True), {}, None),
        (AssessorFacts("Ann", ASSESSOR, judged=frozenset({SUPPORT_SCRATCH})), {}, "not_independent"),
        (AssessorFacts("Ann", ASSESSOR, makes=frozenset({"manual-Ann"})), {}, "makes_another"),
        (AssessorFacts("Ann", ASSESSOR), {"gave_labels": True}, "not_independent"),
        (AssessorFacts("Ann", ASSESSOR), {"made_nuggets": True}, "not_independent"),
        (AssessorFacts("Ann", frozenset()), {}, "not_assessor"),
        (AssessorFacts("Ann", ASSESSOR | {Role.RESEARCHER}), {}, "unblinded"),
        (AssessorFacts("Ann", ASSESSOR, staff=True), {}, "staff"),
        (AssessorFacts("Ann", ASSESSOR, active=False), {}, "inactive"),
    ],
)
def test_who_is_independent(person: AssessorFacts, knows: dict[str, bool], code: str | None) -> None:
    facts = {"gave_labels": False, "made_nuggets": False} | knows
    if code is None:
        check_independent(person, **facts)
        return
    with pytest.raises(Refused) as refused:
        check_independent(person, **facts)
    assert refused.value.code == code
