"""Objects of answers as their Markdown reads: nothing but marks goes, and nothing is loaded or linked."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.rules.markdown import as_read, without_marks

MARKS = [
    "# ",
    "### ",
    "- ",
    "  * ",
    "12. ",
    "3) ",
    "**",
    "*",
    "_",
    "__",
    "~~",
    "`",
    "``",
    "```",
    "| ",
    " |",
    "|---|",
]
MARKS += ["\n", "\n\n", "    ", "\\", "---", "***", "> ", "<b>", "<!--", "-->", "&amp;", "[", "]", "!", "(", ")"]
WORDS = ["Sand", "moves", "12", "<script>", "x=1", "水", "été", "pH", "ريح", "a_b", "\U000f0000", "</span>"]


class Text(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.tags: set[str] = set()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def read(text: str) -> Text:
    return Text(as_read([(text, False)]))


def characters_of_words(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def plain(parts: list[str] | str) -> str:
    """Text without links: those show their words alone, whatever stands in their brackets."""
    return "".join(parts).replace("](", "] (")


@given(st.lists(st.sampled_from([*MARKS, *WORDS, " "])).map(plain))
def test_no_word_of_a_text_is_lost(text: str) -> None:
    reading = read(text)
    assert characters_of_words("".join(reading.parts)) == characters_of_words(text)
    assert reading.tags <= {"span", "strong", "em", "s", "code", "br"}


@given(st.text().map(plain))
def test_no_word_of_any_text_is_lost(text: str) -> None:
    assert characters_of_words("".join(read(text).parts)) == characters_of_words(text)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("A **bold** and *soft* `x < y`.", "A <strong>bold</strong> and <em>soft</em> <code>x &lt; y</code>."),
        ("See [the page](https://example.org/a) and ![a dam](dam.png).", "See the page and a dam."),
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
        ("[1](2), [3]: https://example.org", "[1](2), [3]: https://example.org"),
        ("f[x](0.5) and [95% CI](1.2)", "f[x](0.5) and [95% CI](1.2)"),
        *((text, text) for text in ("on[name](event.data)", "[sic](p.12)", "[CI](approx.)", "[v](km/h)")),
        ("[a](/b) [c](#d) [e](../f) [g](h.org/i) [j](k.HTML) [l](mailto:m@n.org)", "a c e g j l"),
        ("See [](https://example.org/a_b) and ![](dam.png).", "See https://example.org/a_b and dam.png."),
        ("[ ](https://example.org)", "https://example.org"),
        ("2*3*4 = 24, a*b*c", "2*3*4 = 24, a*b*c"),
        ("沙*子*沙 and **2**", "沙<em>子</em>沙 and <strong>2</strong>"),
        ("> 90% of 2 * 3 &amp; snake_case", "&gt; 90% of 2 * 3 &amp;amp; snake_case"),
        ("## Rivers", '<span class="md-heading md-heading-2" role="heading" aria-level="3">Rivers</span>'),
        ("3. third", '<span class="md-item md-depth-1">3. third\n</span>'),
        ("  - within", '<span class="md-item md-depth-2 md-bullet">within\n</span>'),
        (
            "| a |  |",
            '<span class="md-row"><span class="md-cell">a</span>\n<span class="md-cell"></span>\n</span>',
        ),
        ("|---|:-:|", '<span class="md-row"></span>'),
        ("```python\nx\n```", '<span class="md-code">python\nx</span>'),
    ],
)
def test_marks_become_what_they_mean(text: str, html: str) -> None:
    assert as_read([(text, False)]).rstrip() == html


@pytest.mark.parametrize("text", ["***", "---", "* * *", "#", "- ", "```\n```", "| | |", "[^1]: A title"])
def test_an_object_without_a_word_is_shown_as_it_was_written(text: str) -> None:
    assert as_read([(text, False)]) == without_marks(text) == text


def test_citation_marks_stay_apart_from_the_text_around_them() -> None:
    mark = '<span class="citation-mark">[1]</span>'
    assert as_read([('**"So it is."**', False), ("[1]", True), (" And *[so]*", False)]) == (
        f'<strong>"So it is."</strong>{mark} And <em>[so]</em>'
    )
    assert as_read([("| a ", False), ("[1]", True), (" | b |", False)]).count(mark) == 1
