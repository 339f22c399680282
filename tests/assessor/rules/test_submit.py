"""What an assessor reads before submitting: every count, every name, and what stands in the way."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assessor.rules.nugget_ops import Row
from assessor.rules.submit import check_complete, numbers_of, review_of
from evaluation.errors import Refused
from evaluation.terms import Decision, Importance, Making


def row(key: str, position: float, **fields: object) -> Row:
    plain = Row(
        key=key,
        position=position,
        text=f"fact {key}",
        making=Making.PROPOSED,
        decision=Decision.KEPT,
        importance=Importance.VITAL,
        evidence=(("p1", 0),),
        draft=f"fact {key}",
        number=0,
    )
    return replace(plain, **fields)  # type: ignore[arg-type]


def by_key(*rows: Row) -> dict[str, Row]:
    return {nugget_row.key: nugget_row for nugget_row in rows}


def test_a_finished_list_is_counted_by_how_its_nuggets_came_about() -> None:
    review = review_of(
        by_key(
            row("kept", 1),
            row("reworded", 2, text="said otherwise"),
            row("rejected", 3, decision=Decision.REJECTED),
            row("added", 4, making=Making.ADDED, draft=None, evidence=()),
            row("parent", 5, decision=Decision.REPLACED),
            row("other parent", 6, decision=Decision.REPLACED),
            row("merged", 5, making=Making.MERGED, draft=None, parents=("parent", "other parent")),
        ),
        limit=None,
    )
    assert (review.kept, review.rejected, review.added, review.merged, review.split) == (4, 1, 1, 1, 0)
    assert review.reworded == 1
    assert review.without_evidence == ("added",)
    assert review.is_complete


def test_undecided_nuggets_stand_in_the_way_and_are_named_in_order() -> None:
    rows = by_key(
        row("late", 9, number=3, decision=Decision.UNDECIDED),
        row("done", 5, number=2),
        row("early", 1, number=1, decision=Decision.UNDECIDED, importance=Importance.UNKNOWN),
    )
    review = review_of(rows, limit=None)
    assert review.undecided == ("early", "late")
    assert [numbers_of(rows)[key] for key in review.undecided] == [1, 3]
    assert review.without_importance == ()
    assert not review.is_complete


def test_a_kept_nugget_without_importance_blocks_submitting() -> None:
    rejected = row("b", 2, importance=Importance.UNKNOWN, decision=Decision.REJECTED)
    review = review_of(by_key(row("a", 1, importance=Importance.UNKNOWN), rejected), limit=None)
    assert review.without_importance == ("a",)
    assert not review.is_complete


@pytest.mark.parametrize(("limit", "over"), [(None, 0), (3, 0), (2, 0), (1, 1)])
def test_the_limit_counts_kept_nuggets_only(limit: int | None, over: int) -> None:
    rows = by_key(row("a", 1), row("b", 2), row("c", 3, decision=Decision.REJECTED))
    review = review_of(rows, limit)
    assert review.over_limit == over
    assert review.is_complete is (over == 0)


def test_an_empty_list_may_be_submitted() -> None:
    assert review_of({}, limit=20).is_complete


def test_numbers_stay_and_what_was_merged_away_shows_none() -> None:
    replaced = row("b", 2, number=2, decision=Decision.REPLACED)
    rows = by_key(row("a", 1, number=1), replaced, row("c", 3, number=3), row("d", 0.5, number=4))
    assert numbers_of(rows) == {"a": 1, "c": 3, "d": 4}
    rows["c"] = replace(rows["c"], decision=Decision.REJECTED)
    assert numbers_of(rows) == {"a": 1, "c": 3, "d": 4}


ROWS = st.lists(
    st.builds(row, key=st.just("k"), position=st.floats(0, 9), decision=st.sampled_from(Decision),
              importance=st.sampled_from(Importance)),
    max_size=8,
)  # fmt: skip


@given(ROWS, st.none() | st.integers(0, 8))
def test_the_summary_and_the_server_agree_on_what_may_be_submitted(rows: list[Row], limit: int | None) -> None:
    named = by_key(*(replace(nugget_row, key=f"k{number}") for number, nugget_row in enumerate(rows)))
    try:
        check_complete(named, limit)
        allowed = True
    except Refused:
        allowed = False
    assert review_of(named, limit).is_complete is allowed
