"""Language tags in one spelling, and who reads which."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.formats.languages import normalised, reads


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("EN", "en"),
        (" en_gb ", "en-GB"),
        ("eng", "en"),
        ("arb", "ar"),
        ("zh-hant-tw", "zh-Hant-TW"),
        ("es-419", "es-419"),
        ("de-1996", "de-1996"),
        ("en-u-CA-gregory", "en-u-ca-gregory"),
        ("tlh", "tlh"),
    ],
)
def test_tags_are_written_in_one_way(text: str, tag: str) -> None:
    assert normalised(text) == tag


@pytest.mark.parametrize("text", ["", "English", "e", "en gb", "en--GB", "-en", "énglish", "x" * 40])
def test_what_is_no_tag_is_none(text: str) -> None:
    assert normalised(text) is None


@given(st.text(st.characters(codec="ascii"), max_size=36))
def test_a_normalised_tag_stays_as_it_is(text: str) -> None:
    tag = normalised(text)
    assert tag is None or normalised(tag) == tag


@pytest.mark.parametrize(
    ("languages", "tag", "expected"),
    [
        ("", "ar", True),
        ("ar", "", True),
        ("en ar", "ar-EG", True),
        ("en-GB", "en-US", True),
        ("en", "ar", False),
        ("zh-Hans", "zh-Hant", False),
        ("zh", "zh-Hant-TW", True),
        ("a", "ar", False),
    ],
)
def test_who_reads_a_language(languages: str, tag: str, expected: bool) -> None:
    assert reads(languages, tag) is expected
