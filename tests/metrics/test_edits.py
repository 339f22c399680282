"""The edit taxonomy, with recorded lineage and without."""

import pytest

from reports.metrics.edits import (
    NuggetText,
    difference,
    edit_distance,
    infer_parents,
    jaccard,
    misspelt,
    tokens,
    topic_edits,
)

PARIS, ROME = NuggetText("Paris hosts the Louvre museum"), NuggetText("Rome was built on seven hills")


def classes(drafts: list[NuggetText], edited: list[NuggetText], lineage: list[list[int]] | None) -> set[str]:
    return set(topic_edits(drafts, edited, lineage).classes)


@pytest.mark.parametrize(
    ("edited", "lineage", "expected"),
    [
        ([PARIS, ROME], [[0], [1]], {"no_edit"}),
        ([ROME, PARIS], [[1], [0]], {"no_edit"}),
        ([PARIS, ROME, NuggetText("Oslo")], [[0], [1], []], {"add_nugget"}),
        ([PARIS], [[0]], {"remove_nugget"}),
        ([NuggetText("Paris and Rome")], [[0, 1]], {"major_edit"}),
        ([NuggetText("Paris"), NuggetText("Louvre"), ROME], [[0], [0], [1]], {"major_edit"}),
        ([NuggetText("Paris hosts the Louvre gallery"), ROME], [[0], [1]], {"major_edit"}),
        ([NuggetText("paris hosts a Louvre museum"), ROME], [[0], [1]], {"minor_edit"}),
    ],
)
def test_recorded_lineage_gives_the_class(
    edited: list[NuggetText], lineage: list[list[int]], expected: set[str]
) -> None:
    assert classes([PARIS, ROME], edited, lineage) == expected


@pytest.mark.parametrize(
    ("before", "after", "changed"), [(2, 1, True), (0, 2, False), (1, 0, False), (2, 2, False)]
)
def test_importance_changes_only_between_known_values(before: int, after: int, *, changed: bool) -> None:
    drafts, edited = [NuggetText("Oslo", before)], [NuggetText("Oslo", after)]
    assert classes(drafts, edited, [[0]]) == {"importance_change" if changed else "no_edit"}


def test_several_classes_can_meet_in_one_topic() -> None:
    edited = [NuggetText("Oslo is cold"), NuggetText("Rome was built on ten hills")]
    assert classes([PARIS, ROME], edited, [[], [1]]) == {"add_nugget", "remove_nugget", "major_edit"}


def test_two_empty_lists_are_no_edit() -> None:
    assert classes([], [], None) == {"no_edit"}


def test_a_result_says_whether_its_lineage_was_inferred() -> None:
    assert topic_edits([PARIS], [PARIS]).inferred
    assert not topic_edits([PARIS], [PARIS], [[0]]).inferred


@pytest.mark.parametrize("lineage", [[[0], [0]], [[2]], [[-1]]])
def test_lineage_that_does_not_fit_is_refused(lineage: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="lineage"):
        topic_edits([PARIS, ROME], [PARIS], lineage)


def test_inferred_parents_are_equal_texts_then_the_most_similar() -> None:
    drafts = ["a b c d", "a b c e", "x y"]
    assert infer_parents(drafts, ["A b, c D", "a b c f", "q r"]) == [(0,), (1,), ()]


def test_an_identical_text_wins_over_a_merely_normalised_one() -> None:
    assert infer_parents(["the cat", "The cat"], ["The cat", "the cat"]) == [(1,), (0,)]


def test_repeated_texts_are_matched_in_order() -> None:
    assert infer_parents(["same", "same"], ["same", "same", "same"]) == [(0,), (1,), ()]


def test_similarity_of_exactly_one_half_is_enough() -> None:
    assert jaccard("a b c", "b c d") == 0.5
    assert infer_parents(["a b c"], ["b c d"]) == [(0,)]
    assert infer_parents(["a b c"], ["c d e"]) == [()]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("Paris  hosts it", "Paris hosts it", "none"),
        ("paris", "Paris", "minor"),
        ("The colour red", "The color red", "minor"),
        ("Recieved the prize", "Received the prize", "minor"),
        ("Louvre museum in Paris", "Paris: museum of the Louvre", "minor"),
        ("on-line shop", "online shop", "minor"),
        ("Smith\N{RIGHT SINGLE QUOTATION MARK}s prize", "Smith's prize.", "minor"),
        ("won in 1961", "won in 1962", "major"),
        ("is legal", "is illegal", "major"),
        ("is safe", "is not safe", "major"),
        ("Austria lost", "Australia lost", "major"),
        ("won twice", "lost twice", "major"),
    ],
)
def test_a_rewording_is_minor_where_only_its_form_changes(before: str, after: str, expected: str) -> None:
    assert difference(before, after) == expected


def test_words_keep_the_marks_of_their_script() -> None:
    assert tokens("हिन्दी भाषा") == ("हिन्दी", "भाषा")
    assert tokens("L'École, 3rd!") == ("lécole", "3rd")


def test_a_misspelling_keeps_its_initial_and_has_no_digits() -> None:
    assert misspelt("government", "goverment")
    assert not misspelt("able", "cable")
    assert not misspelt("b737x", "b747x")
    assert not misspelt("cat", "car")


def test_edit_distance_counts_a_swap_once() -> None:
    assert (edit_distance("recieve", "receive"), edit_distance("", "abc"), edit_distance("kitten", "sitting")) == (
        1,
        3,
        3,
    )
