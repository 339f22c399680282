"""Paragraphs of a passage, and the share of a sentence's content words that each holds."""

import pytest

from evaluation.rules.places import (
    MOST_SENTENCES,
    PassageWords,
    best_first,
    best_part,
    content_words,
    paragraphs_of,
    sentence_with,
    words_in,
)
from evaluation.rules.sentences import split

TEXT = """# Rivers

Rivers carry sand. They are old.

Beavers build dams.
The current slows behind a dam.
- a list item
"""


def test_paragraphs_and_headings_are_kept_and_no_word_is_lost() -> None:
    paragraphs = paragraphs_of(TEXT)
    assert [paragraph.text.strip() for paragraph in paragraphs] == [
        "# Rivers",
        "Rivers carry sand. They are old.",
        "Beavers build dams.",
        "The current slows behind a dam.",
        "- a list item",
    ]
    assert [paragraph.is_heading for paragraph in paragraphs] == [True, False, False, False, False]
    assert "".join(paragraph.text for paragraph in paragraphs) == TEXT
    assert [sentence for paragraph in paragraphs for sentence in paragraph.sentences] == list(split(TEXT))
    assert [paragraph.first for paragraph in paragraphs] == [0, 1, 3, 4, 5]


def test_a_line_that_the_document_names_as_a_heading_is_one() -> None:
    paragraphs = paragraphs_of("Early years\nShe was born in Kent.", {"Early years"})
    assert [paragraph.is_heading for paragraph in paragraphs] == [True, False]


def test_a_page_without_line_ends_comes_in_parts() -> None:
    text = " ".join(f"Sentence number {number} is here." for number in range(2 * MOST_SENTENCES + 1))
    paragraphs = paragraphs_of(text)
    assert [len(paragraph.sentences) for paragraph in paragraphs] == [MOST_SENTENCES, MOST_SENTENCES, 1]
    assert "".join(paragraph.text for paragraph in paragraphs) == text


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("The Beavers build a dam [1, 2].", "en", {"beavers", "build", "dam"}),
        ("Der Fluß über den Äckern", "de-AT", {"fluss", "ackern", "uber"}),
        ("It was so.", "", {"it", "was", "so"}),
        ("河が曲がる", "ja", {"河", "か", "曲", "る"}),
        ("Ελλάδα 2026", "el", {"ελλαδα", "2026"}),
        ("น้ำท่วม", "th", {"นำท", "ำทว", "ทวม"}),
    ],
)
def test_content_words(text: str, language: str, words: set[str]) -> None:
    assert content_words(text, language) == words


def test_places_hold_the_share_of_the_words_and_the_sentence_with_most_of_them() -> None:
    places = PassageWords(paragraphs_of(TEXT)).places("Beavers slow the current with dams.", "en")
    assert [(place.paragraph, place.share, place.sentence) for place in places] == [(2, 0.5, 3), (3, 0.25, 4)]
    places = PassageWords(paragraphs_of(TEXT)).places("A dam of sand", "en")
    assert [place.paragraph for place in best_first(places)] == [1, 3]
    assert PassageWords(paragraphs_of(TEXT)).places("Nothing shared", "en") == []


@pytest.mark.parametrize(
    ("most", "part"),
    [
        (9, "[...]\n\nBeavers build dams.\n\nThe current slows behind a dam.\n\n[...]"),
        (6, "[...]\n\nBeavers build dams.\n\n[...]"),
        (2, "[...]\n\nBeavers build [...]\n\n[...]"),
    ],
)
def test_the_best_part_has_the_best_paragraphs_in_the_order_of_the_passage(most: int, part: str) -> None:
    assert best_part(TEXT, "Beavers slow the current with dams.", "en", most) == part


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Rain  fell\u00a0- at 3 p.m.\n", 6),
        ("海平面上升。天气变暖。", 9),
        ("2026 年のWHO「指針」 v1", 7),
        ("ภาษาไทยเป็นภาษาที่ใช้กันในประเทศไทย", 10),
        ("ພາສາລາວເປັນພາສາ", 5),
        ("ភាសាខ្មែរ", 2),
        ("မြန်မာဘာသာစကား။ WHO", 4),
        (" \n", 0),
    ],
)
def test_words_are_counted_where_no_blank_parts_them(text: str, words: int) -> None:
    assert words_in(text) == words


@pytest.mark.parametrize(
    ("most", "part"),
    [
        (12, "[...]\n\n海平面上升。很快。\n\n天气变暖。"),
        (7, "[...]\n\n海平面上升。很快。\n\n[...]"),
        (3, "[...]\n\n海平面 [...]\n\n[...]"),
    ],
)
def test_the_best_part_has_no_more_words_where_no_blank_parts_them(most: int, part: str) -> None:
    assert best_part("狗整夜叫。\n海平面上升。很快。\n天气变暖。", "海平面变化", "zh", most) == part


def test_a_paragraph_of_thai_is_told_by_its_words() -> None:
    places = PassageWords(paragraphs_of("แมวนอนหลับทั้งวัน\nน้ำท่วมกรุงเทพ\n")).places("กรุงเทพน้ำท่วม", "th")
    assert best_first(places)[0].paragraph == 1
    assert best_part("แมวนอนหลับทั้งวัน\nน้ำท่วมกรุงเทพ\n", "กรุงเทพน้ำท่วม", "th", 5) == "[...]\n\nน้ำท่วมกรุงเทพ"


def test_without_a_shared_word_the_best_part_is_the_beginning() -> None:
    assert best_part(TEXT, "Nothing shared", "en", 3) == "# Rivers\n\n[...]"


@pytest.mark.parametrize(
    ("quote", "sentence"),
    [
        ("They are old.", 2),
        ("are  old. Beavers\nbuild", 2),
        ("behind a dam", 4),
        ("# Rivers", 0),
        ("they are old.", None),
        (" ", None),
    ],
)
def test_the_sentence_in_which_a_quote_begins(quote: str, sentence: int | None) -> None:
    assert sentence_with(TEXT, quote) == sentence


@pytest.mark.parametrize(
    ("text", "quote", "sentence"),
    [
        ("天气很好。世界和平。海平面上升。", "海平面上升", 2),
        ("Rain fell at 3 p.m. 東京も雨だ。雪も降った。 It stopped. Then snow came.", "Then snow", 3),
        ("नमस्ते।दुनिया।", "दुनिया", 1),
    ],
)
def test_a_quote_is_found_where_no_blank_stands_between_sentences(text: str, quote: str, sentence: int) -> None:
    assert sentence_with(text, quote) == sentence
