"""Sentences and citations of answers as they were written: what belongs together, and nothing lost."""

# ruff: noqa: RUF001 (the marks of many scripts look like each other)

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.rules.answer_sentences import answer_sentences
from tests.speed import at_most

THREE = ["a", "b", "c"]

SENTENCES = {
    "a title, a number, a list": (
        "Dr. Lee paid 3.5 euros [1]. Why? See e.g. the list.\n- One\n- Two",
        ["Dr. Lee paid 3.5 euros.", "Why?", "See e.g. the list.", "One", "Two"],
    ),
    "No before a number, and as an answer": ("No. 5 is red. No. Ask me.", ["No. 5 is red.", "No.", "Ask me."]),
    "a figure without a number": ("See Fig. B now. It falls.", ["See Fig. B now.", "It falls."]),
    "no figure": ("Save the config. Then go.", ["Save the config.", "Then go."]),
    "brackets": (
        "He left (so they say. Nobody saw it). Then rain.",
        ["He left (so they say. Nobody saw it).", "Then rain."],
    ),
    "a bracket that is never closed": ("He (left. Then rain.", ["He (left.", "Then rain."]),
    "a quotation": ("「本当？」と言った。明日は晴れ！", ["「本当？」と言った。", "明日は晴れ！"]),
    "an address": ("See www.example.org/a.B for more. Go.", ["See www.example.org/a.B for more.", "Go."]),
    "lines of one paragraph": ("The river\nFloods the plain.", ["The river Floods the plain."]),
    "paragraphs": ("On rivers\n\nWater spreads.", ["On rivers", "Water spreads."]),
    "headings": ("## Why? Rain\nIt fell.", ["## Why? Rain", "It fell."]),
    "numbered items keep their numbers": (
        "Causes:\n1. Rain\n2) Wind. Ice",
        ["Causes:", "1. Rain", "2) Wind.", "Ice"],
    ),
    "a table": ("|a|b|\n|--|--|\n| It fell. It rose. | [1] |", ["|a|b|\n|--|--|", "| It fell. It rose. | |"]),
    "a block of code": (
        "Run:\n```\nx[1]\n\nprint. Go\n```\nDone.",
        ["Run:", "```\nx[1]\n\nprint. Go\n```", "Done."],
    ),
    "a line between paragraphs": ("On rivers\n\n* * *\nWater spreads.", ["On rivers\n* * *", "Water spreads."]),
    "marks alone": ("***\n\n---", ["***\n---"]),
    "nothing": (" \n", []),
}


@pytest.mark.parametrize(("text", "sentences"), SENTENCES.values(), ids=SENTENCES.keys())
def test_an_answer_is_cut_where_a_reader_would(text: str, sentences: list[str]) -> None:
    assert [sentence.text for sentence in answer_sentences(text, THREE)] == sentences


CITATIONS = {
    "inside and at the end": ("It [2] moves [1].", [("It moves.", "ba")]),
    "after the full stop": ("It moves. [1] It settles.[2][3]", [("It moves.", "a"), ("It settles.", "bc")]),
    "several in one": ("It moves [1, 3].", [("It moves.", "ac")]),
    "a range": ("It moves [1-3].", [("It moves.", "abc")]),
    "a footnote": ("It moves [^2].", [("It moves.", "b")]),
    "wide brackets": ("It moves 【1†x】 and 【3】.", [("It moves and.", "ac")]),
    "a line of its own": ("It moves.\n\n[1]\n\nIt settles.", [("It moves.", "a"), ("It settles.", "")]),
    "at the beginning": ("[1] says so. It moves.", [("says so.", "a"), ("It moves.", "")]),
    "of an item": ("It moves.\n- [2] says so", [("It moves.", ""), ("says so", "b")]),
    "a year": ("It moved in [2024] [1].", [("It moved in [2024].", "a")]),
    "past the references": (
        "It moves [1][9] and [2-5]. So. [7] Go.",
        [("It moves [9] and [2-5].", "a9bc2-5"), ("So. [7]", "7"), ("Go.", "")],
    ),
    "an interval": (
        "The pH is in [6, 8], p in [0, 1] [1].\n\n[4, 5]\n\nIt moves [2].",
        [("The pH is in [6, 8], p in [0, 1].\n[4, 5]", "[6, 8]a[0, 1]a[4, 5]"), ("It moves.", "b")],
    ),
    "an index": ("Level a[0], flow a[1] and b[2] [3].", [("Level a[0], flow a[1] and b[2].", "[0]abc")]),
    "an isotope": ("[18]F decays [1].", [("[18]F decays.", "18a")]),
    "between two words": ("It moves [9]and [1]settles.", [("It moves [9]and settles.", "9a")]),
    "none that leads anywhere": ("See [9] and [2024].", [("See [9] and [2024].", "")]),
    "a link": ("See [1](https://a.example) [2].", [("See [1](https://a.example).", "b")]),
    "code": ("Take `x[1]` [2].", [("Take `x[1]`.", "b")]),
    "what footnotes are called": (
        "It moves [^1]. It settles [^2].\n\n[^1]: On sand. By Lee.\n[^2]: On silt [3].",
        [("It moves.", "a"), ("It settles.\n[^1]: On sand. By Lee.\n[^2]: On silt [3].", "b")],
    ),
}


@pytest.mark.parametrize(("text", "sentences"), CITATIONS.values(), ids=CITATIONS.keys())
def test_marks_become_citations_of_the_sentence_before_them(text: str, sentences: list[tuple[str, str]]) -> None:
    found = [
        (sentence.text, "".join(citation.docid or citation.raw for citation in sentence.citations))
        for sentence in answer_sentences(text, THREE)
    ]
    assert found == sentences


def test_a_citation_that_leads_nowhere_has_a_name_that_can_be_stored() -> None:
    [sentence] = answer_sentences(f"It moves [{', '.join(['99'] * 90)}] [1].", THREE)
    assert [len(citation.raw) for citation in sentence.citations] == [101, 1]


def test_the_first_reference_may_have_another_number() -> None:
    [sentence] = answer_sentences("It moves [0][2][3].", THREE, marks_from=0)
    assert [(citation.docid, citation.raw) for citation in sentence.citations] == [
        ("a", "0"),
        ("c", "2"),
        (None, "3"),
    ]


WORDS = [
    "Dr.",
    "No.",
    "The",
    "sand",
    "3.5",
    "e.g.",
    "Fig.",
    "雨。",
    "“So?”",
    "(he",
    "left.)",
    "Why?",
    "# x",
    "|",
    "✓",
]
CITED = ["[1]", "[2, 3]", "[1-3]", "[^3]", "【2†x】"]
MARKS = [*CITED, "[7]"]
LINES = st.tuples(
    st.sampled_from(["", "- ", "* ", "• ", "1. ", "# "]),
    st.lists(st.sampled_from([*WORDS, *MARKS]), max_size=12),
)


@given(st.lists(LINES, max_size=12), st.sampled_from(["\n", "\n\n", "\r\n"]))
def test_nothing_is_lost_but_marks_and_list_dashes(lines: list[tuple[str, list[str]]], end: str) -> None:
    text = end.join([*(start + " ".join(words) for start, words in lines), "", "End [1]."])
    kept = [
        *(
            ("" if start in {"- ", "* ", "• "} else start) + "".join(_without_marks(words))
            for start, words in lines
        )
    ]
    sentences = answer_sentences(text, THREE)
    assert _letters("".join(sentence.text for sentence in sentences)) == _letters("".join([*kept, "End."]))
    cited = sum(len(sentence.citations) for sentence in sentences)
    numbers = {"[2, 3]": 2, "[1-3]": 3}
    assert cited == 1 + sum(numbers.get(word, 1) for _, words in lines for word in words if word in MARKS)


@given(st.text(), st.integers(0, 3))
def test_any_text_keeps_its_words(text: str, references: int) -> None:
    sentences = answer_sentences(text, THREE[:references])
    if not any(sentence.citations for sentence in sentences):
        dashes = "-*+•‣–▪◦·"
        assert _letters("".join(sentence.text for sentence in sentences), dashes) == _letters(text, dashes)


def _without_marks(words: list[str]) -> list[str]:
    return [word for word in words if word not in CITED]


def _letters(text: str, but: str = "") -> str:
    return "".join(letter for letter in text if not letter.isspace() and letter not in but)


@pytest.mark.parametrize(
    "piece", ["(", "It. ", "[1] ", "[1] x[7] ", "`", "|", "- a\n", "(It. ) ", "【1", "```\n", "[1, "]
)
def test_a_long_answer_takes_time_in_proportion_to_its_length(piece: str) -> None:
    with at_most(8):
        answer_sentences(piece * (400_000 // len(piece)), THREE)
