"""The order of reading, and what was read before."""

from collections.abc import Sequence
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from assessor.rules.display import GradedPlace, reading_order, repeats
from evaluation.terms import PassageOrder

RANK, SHUFFLE = PassageOrder.RANK, PassageOrder.SHUFFLE
NAMES = [f"{document}#{number}" for document in ("ash", "bay", "elm") for number in range(12)]


@st.composite
def graded_places(draw: st.DrawFn) -> list[GradedPlace]:
    """A topic's graded segments, of few documents."""
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=12))
    starts = st.one_of(st.none(), st.integers(0, 5_000))
    return [GradedPlace(name, name[:3], draw(st.integers(1, 3)), draw(starts)) for name in names]


def docids(places: Sequence[GradedPlace]) -> list[str]:
    return [place.docid for place in places]


@given(graded_places(), st.sampled_from(PassageOrder), st.booleans(), st.randoms(use_true_random=False))
def test_the_order_depends_on_nothing_but_the_segments_and_the_seed(
    places: list[GradedPlace], order: PassageOrder, grouped: bool, chance: Random
) -> None:
    first = reading_order(places, order, "seed", grouped)
    shuffled = chance.sample(places, len(places))
    assert reading_order(shuffled, order, "seed", grouped) == first
    assert sorted(docids(first)) == sorted(docids(places))


@given(graded_places())
def test_rank_is_grade_then_docid(places: list[GradedPlace]) -> None:
    ordered = reading_order(places, RANK, "seed", False)
    assert [(-place.grade, place.docid) for place in ordered] == sorted(
        (-place.grade, place.docid) for place in places
    )


@given(graded_places(), st.sampled_from(PassageOrder))
def test_a_document_stands_together_where_its_first_segment_stood(
    places: list[GradedPlace], order: PassageOrder
) -> None:
    apart = reading_order(places, order, "seed", False)
    together = reading_order(places, order, "seed", True)
    firsts = list(dict.fromkeys(place.document for place in apart))
    changes = [
        place.document for place, before in zip(together, [None, *together], strict=False) if _turns(place, before)
    ]
    assert changes == firsts


def _turns(place: GradedPlace, before: GradedPlace | None) -> bool:
    return before is None or place.document != before.document


def test_segments_of_a_document_are_read_in_its_order() -> None:
    ranked = [
        GradedPlace("d#10", "d", 3, None),
        GradedPlace("d#9", "d", 2, None),
        GradedPlace("d#2", "d", 1, None),
    ]
    assert docids(reading_order(ranked, RANK, "", True)) == ["d#2", "d#9", "d#10"]
    started = [GradedPlace("d#1", "d", 3, 900), GradedPlace("d#2", "d", 2, 0)]
    assert docids(reading_order(started, RANK, "", True)) == ["d#2", "d#1"]


@given(graded_places(), graded_places())
def test_a_segment_that_comes_later_leaves_the_shuffle_of_the_others(
    places: list[GradedPlace], later: list[GradedPlace]
) -> None:
    there = {place.docid for place in places}
    more = [*places, *(place for place in later if place.docid not in there)]
    kept = [place for place in reading_order(more, SHUFFLE, "seed", False) if place.docid in there]
    assert kept == reading_order(places, SHUFFLE, "seed", False)


def test_another_topic_has_another_shuffle() -> None:
    places = [GradedPlace(name, name[:3], 1) for name in NAMES]
    assert reading_order(places, SHUFFLE, "one", False) != reading_order(places, SHUFFLE, "two", False)


def test_a_sentence_repeats_where_its_document_said_it_before() -> None:
    repeat_marks = repeats(
        [
            ("a", ["Water spreads. ", "Sand settles. ", "Sand settles. "]),
            ("b", ["Sand settles."]),
            ("a", ["SAND  settles.", "Levees rise.\n"]),
            ("a", ["Levees rise.", "\uff37ater spreads.", "It ends."]),
        ]
    )
    assert repeat_marks == [[None, None, None], [None], [0, None], [2, 0, None]]


SENTENCES = st.lists(st.sampled_from(["One.", "Two. ", "three", "TWO."]), max_size=5)


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), SENTENCES), max_size=8))
def test_what_repeats_is_nowhere_missing(passages: list[tuple[str, list[str]]]) -> None:
    """Reading only what is not greyed, one reads every sentence of every document."""
    kept = {
        (document, text.strip().casefold()) for document, texts, unmarked in _marked(passages) for text in unmarked
    }
    assert kept == {(document, text.strip().casefold()) for document, texts in passages for text in texts}


def _marked(passages: list[tuple[str, list[str]]]) -> list[tuple[str, list[str], list[str]]]:
    repeat_marks = repeats(passages)
    return [
        (document, texts, [text for text, mark in zip(texts, marks, strict=True) if mark is None])
        for (document, texts), marks in zip(passages, repeat_marks, strict=True)
    ]
