"""Which items each stage asks for, and that they come first."""

import pytest

from assessor.practice.rules import PRACTICE_LABELS, Offered, check_done, codes_of, items_of_stage, word_of
from evaluation.errors import Refused
from evaluation.stages import (
    ASSIGN,
    BATTLE,
    GRADE,
    MANUAL,
    POST_EDIT,
    STAGES,
    SUPPORT_POST_EDIT,
    SUPPORT_SCRATCH,
    Stage,
)
from evaluation.terms import PracticeKind

OFFERED = [
    Offered(1, PracticeKind.SUPPORT),
    Offered(2, PracticeKind.IMPORTANCE),
    Offered(3, PracticeKind.SUPPORT, shows=True),
    Offered(4, PracticeKind.ASSIGN),
    Offered(5, PracticeKind.SUPPORT),
    Offered(6, PracticeKind.GRADE),
    Offered(7, PracticeKind.BATTLE),
]


@pytest.mark.parametrize(
    ("stage", "items"),
    [
        (POST_EDIT, (2,)),
        (MANUAL, (2,)),
        (ASSIGN, (4,)),
        (SUPPORT_SCRATCH, (1, 5)),
        (SUPPORT_POST_EDIT, (3,)),
        (GRADE, (6,)),
        (BATTLE, (7,)),
    ],
)
def test_a_stage_asks_for_the_items_of_its_kind(stage: Stage, items: tuple[int, ...]) -> None:
    assert items_of_stage(stage, OFFERED) == items


def test_without_shown_labels_both_support_stages_ask_for_the_same() -> None:
    plain = [offered for offered in OFFERED if not offered.shows]
    assert items_of_stage(SUPPORT_POST_EDIT, plain) == items_of_stage(SUPPORT_SCRATCH, plain) == (1, 5)


def test_an_item_with_a_shown_label_never_reaches_scratch_judging() -> None:
    assert items_of_stage(SUPPORT_SCRATCH, [Offered(3, PracticeKind.SUPPORT, shows=True)]) == ()


@pytest.mark.parametrize("stage", STAGES.values())
def test_without_items_nothing_is_asked(stage: Stage) -> None:
    assert items_of_stage(stage, []) == ()


@pytest.mark.parametrize(("left", "message"), [(1, "1 item."), (5, "5 items.")])
def test_what_is_left_comes_first(left: int, message: str) -> None:
    with pytest.raises(Refused) as refusal:
        check_done(left)
    assert refusal.value.code == "practice"
    assert message in refusal.value.message


def test_with_nothing_left_a_task_may_start() -> None:
    check_done(0)


@pytest.mark.parametrize("kind", PracticeKind)
def test_each_word_names_its_own_code(kind: PracticeKind) -> None:
    codes = codes_of(kind)
    assert len(codes) == len(PRACTICE_LABELS[kind])
    assert {word: word_of(kind, code) for word, code in codes.items()} == {word: word for word in codes}
