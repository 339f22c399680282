"""Sentences of passages: nothing lost, nothing that depends on chance, and the numbers people would count."""

# ruff: noqa: RUF001 (the marks of many scripts look like each other)

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.rules.sentences import SPLITTER_VERSION, split
from tests.speed import at_most

WORDS = [
    "Dr",
    "J",
    "U.S",
    "e.g",
    "No",
    "The",
    "sand",
    "Rivers",
    "3",
    "3.14",
    "雨",
    "です",
    "नदी",
    "نهر",
    "é",
    "🌊",
]
MARKS = [".", "!", "?", "…", "。", "॥", "؟", '"', "”", "「", "」", "(", ")", "[12]", "- ", "1. "]
PIECES = st.sampled_from([*WORDS, *MARKS, " ", "  ", "\n", "\n\n", "\r\n", "\t"])
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=60).map("".join))

CASES = {
    "titles and initials": ("Dr. Smith met J. R. Tolkien. They spoke.", 2),
    "an acronym inside a sentence": ("In the U.S. Army he served. He left.", 2),
    "an acronym at the end of one": ("He served in the U.S. The war ended.", 2),
    "a company": ("Apple Inc. Chief Tim Cook spoke. It grew.", 2),
    "decimals and versions": ("It cost 3.14 dollars in v2.0. Then it fell.", 2),
    "numbers that an abbreviation announces": ("See Fig. 3 and No. 5. Then stop.", 2),
    "No as a word": ("Was it so? No. He left.", 3),
    "Latin": ("Sediment, e.g. Sand, moves. It settles, i.e. Sinks.", 2),
    "a year before a stop": ("It flooded in 1990. Then it dried.", 2),
    "a German date": ("Am 3. Oktober 1990 war es so. Dann nicht.", 2),
    "a citation mark": ("It moves.[12] It settles.[3][4] It stays.", 3),
    "speech": ("“Really?” she asked. “Yes.” He left.", 3),
    "dots in a row": ("Wait... what? Well... Then go.", 3),
    "an address": ("See www.example.org/a.b for more. It helps.", 2),
    "a list": ("Causes:\n- sand\n- silt\n1. Floods\n2. Droughts", 5),
    "lines that go on in lower case": ("Water spreads\nover the plain\nand stops. Then it dries.", 2),
    "a heading and a paragraph": ("On rivers\n\nwater spreads. It stops.", 3),
    "Japanese": ("今日は雨。「本当？」と言った。明日は晴れ！", 3),
    "full-width decimals": ("円周率は３．１４だ．次へ．", 2),
    "Chinese with ASCII marks": ("你好!我们走吧?好。", 3),
    "Hindi": ("नदी बहती है। बाढ़ आती है। रेत जमती है।", 3),
    "Arabic": ("هل يفيض النهر؟ نعم. ثم يجف.", 3),
    "Russian": ("А. С. Пушкин жил на ул. Мойка. Он писал.", 2),
    "Korean": ("강이 흐른다. 비가 온다.", 2),
    "ornament": ("*** \nRivers bend.\n***\nThey move.", 2),
}


@pytest.mark.parametrize(("text", "count"), CASES.values(), ids=CASES)
def test_sentences_are_those_a_reader_would_count(text: str, count: int) -> None:
    assert len(split(text)) == count, split(text)


@given(TEXTS)
def test_nothing_is_lost(text: str) -> None:
    assert "".join(split(text)) == text


@given(TEXTS)
def test_every_sentence_has_a_word_if_the_text_has_one(text: str) -> None:
    sentences = split(text)
    assert all(sentences)
    if any(character.isalnum() for character in text):
        assert all(any(character.isalnum() for character in sentence) for sentence in sentences)
    else:
        assert len(sentences) <= 1


@given(TEXTS)
def test_white_space_stands_at_the_end_of_a_sentence(text: str) -> None:
    assert [sentence for sentence in split(text)[1:] if sentence[:1].isspace()] == []


@given(TEXTS, TEXTS)
def test_a_paragraph_does_not_change_the_numbers_before_it(text: str, more: str) -> None:
    before = split(f"{text}Rivers bend.\n\n")
    after = split(f"{text}Rivers bend.\n\nAnd {more}")
    assert after[: len(before)] == before


def test_the_numbers_of_this_version_do_not_change() -> None:
    """Judgments rest on these. If this fails, raise SPLITTER_VERSION and say so in the changelog; do not edit it."""
    text = (
        "Dr. Smith measured 3.5 m. in the U.S. Geological Survey's flume.[2] Why? “Sand moves.” etc.\n- one\n- two"
    )
    assert SPLITTER_VERSION == 1
    assert split(text) == (
        "Dr. Smith measured 3.5 m. in the U.S. Geological Survey's flume.[2] ",
        "Why? ",
        "“Sand moves.” etc.\n",
        "- one\n",
        "- two",
    )


@pytest.mark.parametrize("bad", [".", ". ", ".)", "a.", "\n", ". \n", "[1]", "。」", " ", "Dr. "])
def test_no_text_takes_long(bad: str) -> None:
    with at_most(2):
        split(bad * 30_000)
