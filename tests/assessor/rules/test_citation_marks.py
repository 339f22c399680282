"""Marks of citations in an answer: only what its own sentence cites is one, and the text is whole."""

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assessor.blind.judging import ShownSentence
from assessor.rules.citation_marks import CitationName, pieces_of
from assessor.templatetags.desk import marked
from evaluation.rules.answer_sentences import answer_sentences

PIECES = [
    *(
        "[1]",
        "[0]",
        "[2]",
        "[3]",
        "[^1]",
        "[1, 2]",
        "[1-3]",
        "【1†source】",
        "(source 2)",
        "[[1]]",
        "(1)",
        "[6, 8]",
    ),
    "【東京】",
    "a[0]",
    "> 90%",
    "- 5 °C",
    "12. ",
    "<b and c>",
    "<br>",
    "&amp;",
    "**so**",
    "`x`",
    "$[0, 1)$",
    *(
        "[18]F",
        "\n",
        "  ",
        "\t",
        "\u00a0",
        "m²",
        ".¹",
        "[https://example.org/a]",
        "[see](u)",
        "# ",
        "ab",
        "é",
        "_i_",
    ),
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=12).map("".join)
CITED = st.lists(st.integers(0, 4), max_size=4, unique=True)


def by_index(*indexes: int) -> list[CitationName]:
    return [CitationName(str(index), f"msmarco_{index}#0_0", place + 1) for place, index in enumerate(indexes)]


def by_docid(*docids: str) -> list[CitationName]:
    return [CitationName(docid, docid, place + 1) for place, docid in enumerate(docids)]


def marks(text: str, cited: list[CitationName]) -> list[str]:
    (pieces,) = pieces_of([(text, cited)])
    return [piece.text for piece in pieces if piece.is_mark]


class Text(HTMLParser):
    """Text that a browser would show of a page's part."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.feed(html)
        self.close()

    def handle_data(self, data: str) -> None:
        self.text += data


@settings(deadline=None)
@given(st.lists(st.tuples(TEXTS, CITED), max_size=4))
def test_what_a_run_writes_is_shown_to_the_last_character(
    answer: list[tuple[str, list[int]]],
) -> None:
    sentences = [(text, by_index(*cited)) for text, cited in answer]
    for (text, _), pieces in zip(sentences, pieces_of(sentences), strict=True):
        assert Text(str(marked(ShownSentence(0, pieces, ())))).text == text


@given(TEXTS)
def test_an_answer_without_citations_has_no_mark(text: str) -> None:
    assert marks(text, []) == []


@pytest.mark.parametrize(
    "text",
    [
        "The safe pH lies in [6, 8] for most fish.",
        "> 90% of the dams are older than 50 years.",
        "【東京】では雨が降った。",
        "- 5 °C is the freezing point of this brine.",
        "In the code, a[0] is the level and a[1] the flow.",
        "The isotope [18]F is used.",
        "see [source code] of it",
        "Use a <b and c> d test.",
        "12. The twelfth dam broke.",
        "5. März war der Tag der Flut.",
        r"\[x^{2}\] and $[0, 1)$ are open.",
        "The complex [Fe(CN)6]4- is stable.",
        "Options are (1) and (2).",
        "Range [1-3] is cited in part only.",
        "[3] is not cited here.",
    ],
)
def test_what_no_citation_accounts_for_is_text(text: str) -> None:
    assert marks(text, by_index(0)) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Sand [1].", ["[1]"]),
        ("Sand[1][2].", ["[1]", "[2]"]),
        ("Sand [1, 2] and [1-2] and [1\u20132].", ["[1, 2]", "[1-2]", "[1\u20132]"]),
        ("Sand 【1†source】.", ["【1†source】"]),
        ("Sand [^2] (sources 1, 2) [[1]].", ["[^2]", "(sources 1, 2)", "[1]"]),
        ("Sand [1, 3] and [2].", ["[2]"]),
        ("In a[1] and a[9] there is sand [2].", ["[2]"]),
    ],
)
def test_a_number_that_the_sentence_cites_is_a_mark(text: str, shown: list[str]) -> None:
    assert marks(text, by_index(0, 1)) == shown


def test_whether_a_run_counts_from_0_is_told_by_its_whole_answer() -> None:
    pieces = pieces_of([("Sand [0].", by_index(0)), ("Mud [1].", by_index(1)), ("Both [2].", by_index(1))])
    assert [[piece.text for piece in sentence if piece.is_mark] for sentence in pieces] == [["[0]"], ["[1]"], []]


def test_a_docid_in_a_mark_is_shown_as_its_number_on_the_screen() -> None:
    cited = by_docid("msmarco_v2.1_doc_1#0_2", "b, c")
    assert marks("Sand [msmarco_v2.1_doc_1#0_2].", cited) == ["[1]"]
    assert marks("Sand [docid: msmarco_v2.1_doc_1#0_2; msmarco_v2.1_doc_1#0_2] [b, c].", cited) == [
        "[docid: 1; 1]",
        "[2]",
    ]
    assert marks("Sand [msmarco_v2.1_doc_9#0_0] (b).", cited) == []


@pytest.mark.parametrize("text", ["The pH is in [6, 8], p in [0, 1] [1].", "Level a[0], flow a[1] [1]."])
def test_intervals_and_indexes_of_a_trace_are_text(text: str) -> None:
    [sentence] = answer_sentences(text, ["a"])
    cited = [CitationName(cited.raw, cited.docid, number) for number, cited in enumerate(sentence.citations, 1)]
    assert sentence.text == text.replace(" [1]", "")
    assert marks(sentence.text, cited) == []
